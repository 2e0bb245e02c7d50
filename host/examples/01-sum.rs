//! The sum of an array, on a GPU if there is one.
//!
//! `cargo run --release --example 01-sum`

use warpfold::Device;

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?; // the first CUDA device, or else the CPU
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let numbers: Vec<i32> = (1..=1_000_000).collect();
    let x = device.upload(&numbers)?; // the only copy
    let sum = device.sum_wide(&x)?; // an i64: the sum, about 5 * 10^11, does not fit into an i32
    println!("the sum of 1 to 1,000,000 on {device}: {sum}");
    assert_eq!(sum, 500_000_500_000);

    // In the type of the elements, integers wrap.
    assert_eq!(device.sum(&x)?, 500_000_500_000_i64 as i32);

    // A part of an array needs no copy and may start at any element.
    assert_eq!(device.sum(x.view(..10)?)?, 55);
    assert_eq!(device.sum(x.view(7..7)?)?, 0);
    Ok(())
}
