//! Memory of other crates', without a copy: here, of `cust`'s.
//!
//! `cargo run --release --example 09-interop`

use std::error::Error;

use cust::memory::{CopyDestination, DeviceBuffer};
use warpfold::{Device, Sum};

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU, and so no memory of another crate's on one: {reason}");
        return Ok(());
    }

    let theirs = DeviceBuffer::from_slice(&[1.0f32, 2.0, 3.0])?;

    // By its address. What is there stays theirs.
    let address = theirs.as_device_ptr().as_raw();
    // SAFETY: three elements that nobody writes before `theirs` is used again below, after a wait.
    let view = unsafe { device.view_ptr::<f32>(address, 3) }?;
    assert_eq!(device.sum(view)?, 6.0);

    // Taken over, with the duty to free it, and given back.
    let x = device.buffer_from_cust(theirs)?;
    assert_eq!(device.sum(&x)?, 6.0);
    let theirs = x.into_cust()?;

    // A result where other code wants it.
    let mut cell = DeviceBuffer::from_slice(&[0.0f32])?;
    {
        // SAFETY: one element that nobody else uses before the buffer has been dropped.
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
