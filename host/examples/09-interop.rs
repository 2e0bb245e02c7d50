//! Memory of other crates, here of `cust`, without a copy.
//!
//! `cargo run --release --example 09-interop`

use std::error::Error;

use cust::memory::{CopyDestination, DeviceBuffer};
use warpfold::{Device, Sum};

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU, so there is no device memory to share: {reason}");
        return Ok(());
    }

    let theirs = DeviceBuffer::from_slice(&[1.0f32, 2.0, 3.0])?;

    // By address. The elements still belong to `theirs`.
    let address = theirs.as_device_ptr().as_raw();
    // SAFETY: three elements; no code writes them before `theirs` is used again below, after a wait.
    let view = unsafe { device.view_ptr::<f32>(address, 3) }?;
    assert_eq!(device.sum(view)?, 6.0);

    // Takes ownership, and returns it below.
    let x = device.buffer_from_cust(theirs)?;
    assert_eq!(device.sum(&x)?, 6.0);
    let theirs = x.into_cust()?;

    // A result in memory of other code.
    let mut cell = DeviceBuffer::from_slice(&[0.0f32])?;
    {
        // SAFETY: one element; no other code uses it before the buffer has been dropped.
        let mut sum = unsafe { device.buffer_ptr::<f32>(cell.as_device_ptr().as_raw(), 1) }?;
        let x = device.buffer_from_cust(theirs)?;
        device.reduce_into(&x, Sum, &mut sum, 0, &mut device.scratch()?)?;
    }
    let mut sum = [0.0];
    cell.copy_to(&mut sum)?;
    println!("the sum on {device}, in another crate's memory: {}", sum[0]);
    assert_eq!(sum, [6.0]);
    cell.copy_from(&[0.0])?;
    Ok(())
}
