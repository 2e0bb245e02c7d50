//! A CUDA graph: one reduction, launched many times on new data.
//!
//! `cargo run --release --example 08-graph`

use warpfold::{Device, Max};

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let mut graph = device.graph(device.alloc::<i32>(1000)?, Max)?;
    for step in 0..5 {
        // (Another crate's kernel would write to `graph.input().as_device_ptr()`.)
        let data: Vec<i32> = (0..1000).map(|i| (i * 37 + step) % 1000).collect();
        graph.write(0, &data)?;
        graph.launch()?; // returns at once
        let max = graph.result()?; // waits
        println!("step {step} on {device}: {max:?}");
        assert_eq!(max, data.iter().copied().max());
    }
    Ok(())
}
