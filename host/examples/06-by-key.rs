//! Sums by key, like a loop that adds into `cells[key]`.
//!
//! `cargo run --release --example 06-by-key`

use warpfold::{Device, KeyedAlgorithm, Max, Sum};

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    // A year of readings, one per minute: the key is the month.
    let minutes = 12 * 30 * 24 * 60u32;
    let months: Vec<u32> = (0..minutes).map(|minute| minute / (30 * 24 * 60)).collect();
    let readings: Vec<i32> = (0..minutes as i32).map(|minute| minute % 100).collect();
    let (keys, values) = (device.upload(&months)?, device.upload(&readings)?);

    let by_month = device.reduce_by_key(&keys, &values, 12, Sum)?;
    println!("sums by month on {device}: {:?}", by_month.cells);
    assert_eq!(by_month.cells, [43_200 / 100 * 4950; 12]);
    assert_eq!(by_month.rejected, 0); // no key is out of range

    // Cells that stay on the device and accumulate one array after another. The keys are sorted, so a thread
    // can combine adjacent values first.
    let mut cells = device.cells(6, Max)?.algorithm(KeyedAlgorithm::Runs);
    cells.combine(&keys, &values)?;
    cells.combine(&keys, &values)?;
    assert_eq!(cells.download()?, [99; 6]);
    assert_eq!(cells.rejected()?, u64::from(minutes)); // months 6 to 11, twice
    Ok(())
}
