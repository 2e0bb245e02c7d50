//! Minima, maxima and their indices; empty arrays and NaN.
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
    assert_eq!(device.argmin(&x)?, Some(1)); // the first of equal elements
    let extrema = device.min_max(&x)?.expect("there are elements"); // in one pass
    println!("from {} to {} on {device}", extrema.min(), extrema.max());
    assert_eq!((extrema.min(), extrema.max()), (-1.0, 5.0));

    // An empty array has no minimum.
    assert_eq!(device.min(x.view(..0)?)?, None);

    // A NaN is the result, and its index the index; `nan_min` and `nan_max` ignore NaNs.
    let y = device.upload(&[3.0, f64::NAN, 4.0])?;
    assert!(device.max(&y)?.is_some_and(f64::is_nan));
    assert_eq!(device.argmax(&y)?, Some(1));
    assert_eq!(device.nan_max(&y)?, Some(4.0));
    Ok(())
}
