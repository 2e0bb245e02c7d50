//! Means, variances, norms and counts; each reads the array once.
//!
//! `cargo run --release --example 03-statistics`

use warpfold::{Device, Predicate};

fn main() -> Result<(), warpfold::Error> {
    let device = Device::auto()?;
    if let Some(reason) = device.fallback_reason() {
        println!("no GPU: {reason}");
    }

    // Heights in metres: 1.50, 1.51, up to 1.99, twenty of each.
    let heights: Vec<f32> = (0..1000).map(|i| 1.5 + (i % 50) as f32 / 100.0).collect();
    let x = device.upload(&heights)?;

    let moments = device.mean_variance(&x)?.expect("there are elements");
    println!(
        "mean {:.4}, variance {:.4} on {device}",
        moments.mean(),
        moments.variance()
    );
    assert!((moments.mean() - 1.745).abs() < 1e-6);
    assert!((moments.variance() - 0.020_825).abs() < 1e-6);

    assert_eq!(device.count(&x, Predicate::Less(1.75))?, 500);
    assert_eq!(device.count(&x, Predicate::Nan)?, 0);
    assert!(device.all(&x)?); // no element is zero

    // The squares overflow an f64, but the norm does not, because it is scaled.
    let large = device.upload(&[3e200, 4e200])?;
    assert!((device.norm_l2(&large)? / 5e200 - 1.0).abs() < 1e-15);
    assert_eq!(device.norm_inf(&large)?, Some(4e200));

    let weights = device.upload(&[0.25f32; 1000])?;
    let weighted = device.dot(&x, &weights)?; // an f64
    assert!((weighted - 436.25).abs() < 1e-3);
    Ok(())
}
