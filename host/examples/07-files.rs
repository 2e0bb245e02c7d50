//! Files: read at once, mapped, and in chunks if they are larger than memory.
//!
//! `cargo run --release --example 07-files`

use std::error::Error;
use std::fs;

use warpfold::file::{self, Elements, Mapped};
use warpfold::{ArgMax, Device, SumWide};

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let values: Vec<f32> = (0..100_000).map(|i| (i % 1000) as f32).collect();
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let path = std::env::temp_dir().join(format!("warpfold-07-files-{}", std::process::id()));
    fs::write(&path, bytes)?;

    // (`read_npy`, `Mapped::npy` and `Elements::open_npy` do the same for NumPy's files.)
    let all = device.upload(&file::read_raw::<f32>(&path)?)?;
    assert_eq!(device.sum(&all)?, 49_950_000.0);

    // SAFETY: no other program uses this file.
    let mapped = unsafe { Mapped::<f32>::raw(&path) }?;
    let part = device.upload(&mapped[..1000])?; // reads only this part
    assert_eq!(device.max(&part)?, Some(999.0));
    drop(mapped);

    // While one chunk is reduced, the next is copied, and the one after it is read.
    let mut elements = Elements::<f32>::open_raw(&path)?;
    let sum = device.reduce_chunks(SumWide, 30_000, |chunk| elements.read(chunk))?;
    println!("the sum of the file in chunks on {device}: {sum}");
    assert_eq!(sum, 49_950_000.0);
    let mut elements = Elements::<f32>::open_raw(&path)?;
    let largest = device.reduce_chunks(ArgMax, 30_000, |chunk| elements.read(chunk))?;
    let largest = largest.expect("the file has elements");
    assert_eq!((largest.value(), largest.index()), (999.0, 999));

    fs::remove_file(&path)?;
    Ok(())
}
