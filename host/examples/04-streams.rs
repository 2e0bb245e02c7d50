//! Results that stay on the device, and two streams at the same time.
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

    // The caller owns the temporary storage: no call below allocates or waits.
    let mut sums = device.alloc::<i32>(8)?;
    let mut scratch = device.scratch()?;
    for row in 0..8 {
        let row_of_x = x.view(row * 1000..(row + 1) * 1000)?;
        device.reduce_into(row_of_x, Sum, &mut sums, row, &mut scratch)?;
    }

    // A second stream works at the same time; it needs its own scratch.
    let other = device.new_stream()?;
    let mut others = other.scratch()?;
    let mut largest = device.alloc::<i32>(1)?;
    other.reduce_into(&x, Max, &mut largest, 0, &mut others)?;

    // The sums are reduced on the device, by the stream that has written them.
    let mut largest_sum = device.alloc::<i32>(1)?;
    device.reduce_into(&sums, Max, &mut largest_sum, 0, &mut scratch)?;

    let sums = device.download(&sums)?; // waits
    println!("sums of the rows on {device}: {sums:?}");
    assert_eq!(sums[0], 499_500);
    assert_eq!(device.download(&largest_sum)?, [7_499_500]);
    assert_eq!(other.download(&largest)?, [7999]);
    Ok(())
}
