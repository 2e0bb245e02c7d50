//! One sum by every kernel of the ladder and of the Kepler families, with its time.
//!
//! `cargo run --release --features teaching --example 05-algorithms`

use warpfold::{Algorithm, Device, Sum};

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let n = 1 << 20;
    let data: Vec<i32> = (0..n).map(|i| i % 7).collect();
    let right: i32 = data.iter().sum();
    let x = device.upload(&data)?;
    println!("{n} elements on {device}; the first run also loads the kernel");
    for algorithm in Algorithm::all() {
        // Checked and allocated once, run many times.
        let mut plan = device.reduce(&x, Sum).algorithm(algorithm).plan()?;
        plan.enqueue()?;
        assert_eq!(plan.result()?, right, "{algorithm:?}");
        let milliseconds = device.time(|| plan.enqueue())?;
        println!("{milliseconds:9.4} ms  {algorithm:?}");
    }
    Ok(())
}
