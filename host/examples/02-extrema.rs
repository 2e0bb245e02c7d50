//! Minima, maxima, and where they are; what of an empty array, and of a NaN.
//!
//! `cargo run --release --example 02-extrema`

use warpfold::Device;

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    let x = device.upload(&[3.0f32, -1.0, 4.0, -1.0, 5.0])?;
    assert_eq!(device.min(&x)?, Some(-1.0));
    assert_eq!(device.argmin(&x)?, Some(1)); // the first of those that are equal
    let extrema = device.min_max(&x)?.expect("there are elements"); // in one pass
    println!("from {} to {} on {device}", extrema.min(), extrema.max());
    assert_eq!((extrema.min(), extrema.max()), (-1.0, 5.0));

    // There is no smallest of nothing.
    assert_eq!(device.min(x.view(..0)?)?, None);

    // A NaN is the result, and its place the place; `nan_min` and `nan_max` look past it.
    let y = device.upload(&[3.0, f64::NAN, 4.0])?;
    assert!(device.max(&y)?.is_some_and(f64::is_nan));
    assert_eq!(device.argmax(&y)?, Some(1));
    assert_eq!(device.nan_max(&y)?, Some(4.0));
    Ok(())
}
