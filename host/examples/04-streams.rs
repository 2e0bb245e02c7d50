//! Results that stay on the device, and two streams at once.
//!
//! `cargo run --release --example 04-streams`

use warpfold::{Device, Max, Sum};

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let rows: Vec<i32> = (0..8 * 1000).collect();
    let x = device.upload(&rows)?;

    // What a launch works with is the caller's: no call below allocates or waits.
    let mut sums = device.alloc::<i32>(8)?;
    let mut scratch = device.scratch()?;
    for row in 0..8 {
        let row_of_x = x.view(row * 1000..(row + 1) * 1000)?;
        device.reduce_into(row_of_x, Sum, &mut sums, row, &mut scratch)?;
    }

    // A second stream goes on at the same time; its scratch is its own.
    let other = device.new_stream()?;
    let mut others = other.scratch()?;
    let mut largest = device.alloc::<i32>(1)?;
    other.reduce_into(&x, Max, &mut largest, 0, &mut others)?;

    // The sums are reduced where they are. (On their own stream, which has done them by then.)
    let mut largest_sum = device.alloc::<i32>(1)?;
    device.reduce_into(&sums, Max, &mut largest_sum, 0, &mut scratch)?;

    let sums = device.download(&sums)?; // waits
    println!("sums of the rows on {device}: {sums:?}");
    assert_eq!(sums[0], 499_500);
    assert_eq!(device.download(&largest_sum)?, [7_499_500]);
    assert_eq!(other.download(&largest)?, [7999]);
    Ok(())
}
