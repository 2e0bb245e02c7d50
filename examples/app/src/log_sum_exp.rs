//! Compares `LogSumExp` with a sum in `f64`, within the documented error.

use outside_kernels::LogSumExp;
use warpfold::Device;

use crate::{Failure, Numbers};

/// Returns the number of right results.
pub fn check_all(device: &Device, lengths: &[usize]) -> Result<usize, Failure> {
    let mut checks = special(device)?;
    for &n in lengths {
        for (name, data) in inputs(n) {
            // Two views, of which the second starts one element after a multiple of 16 bytes.
            let buffer = device.upload(&data)?;
            for start in [0, 1.min(n)] {
                let got = device.reduce(buffer.view(start..)?, LogSumExp).run()?;
                let what = format!("{name}, {n} from {start}");
                near(&what, got, reference(&data[start..]), n - start)?;
                checks += 1;
            }
        }
    }
    Ok(checks)
}

/// Inputs of `n` numbers: close to each other, far apart, rising, and far from zero.
fn inputs(n: usize) -> [(&'static str, Vec<f32>); 4] {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut draw = |scale: f32, centre: f32| -> Vec<f32> {
        (0..n)
            .map(|_| centre + numbers.quarter() * scale + numbers.quarter() / 64.0)
            .collect()
    };
    // From 0 to 100, so that a thread finds a larger maximum many times.
    let rising = (0..n).map(|i| (i as f64 * 100.0 / n as f64) as f32);
    [
        ("close", draw(1.0, 0.0)),
        ("apart", draw(20.0, 0.0)),
        ("far from zero", draw(1.0, 1e6)),
        ("rising", rising.collect()),
    ]
}

/// The same in `f64`, which has many more digits.
fn reference(data: &[f32]) -> f64 {
    let max = f64::from(data.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    if data.is_empty() {
        return max;
    }
    let terms = data.iter().map(|x| (f64::from(*x) - max).exp());
    max + terms.sum::<f64>().ln()
}

/// An error unless the result of `n` numbers is equal, both are NaN, or it is within the documented error.
fn near(what: &str, got: f64, right: f64, n: usize) -> Result<(), Failure> {
    let bound = (50.0 + 3.5 * (n as f64).ln()) * 2f64.powi(-24) + right.abs() * f64::EPSILON;
    let equal = got == right || (got.is_nan() && right.is_nan());
    // Infinities of different signs, and NaN with a number, are not near.
    if equal || (right.is_finite() && (got - right).abs() <= bound) {
        return Ok(());
    }
    Err(format!("log-sum-exp, {what}: {got} instead of {right}").into())
}

/// Infinities, NaN and the largest numbers, at every index of a few short arrays.
fn special(device: &Device) -> Result<usize, Failure> {
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;
    let mut checks = 0;
    // The value of all elements but one, that one, and the result.
    let cases = [
        (-INF, -INF, f64::NEG_INFINITY),
        (-INF, 2.5, 2.5),
        (-INF, -1e30, f64::from(-1e30f32)),
        (-INF, f32::MAX, f64::from(f32::MAX)),
        (-f32::MAX, f32::MAX, f64::from(f32::MAX)),
        (-1000.0, 1000.0, 1000.0),
        (0.0, INF, f64::INFINITY),
        (-INF, INF, f64::INFINITY),
        (INF, -INF, f64::INFINITY),
        (INF, INF, f64::INFINITY),
        (0.0, NAN, f64::NAN),
        (-INF, NAN, f64::NAN),
        (INF, NAN, f64::NAN),
        (NAN, NAN, f64::NAN),
    ];
    for n in [2, 3, 40] {
        for (others, one, right) in cases {
            for at in 0..n {
                let mut data = vec![others; n];
                data[at] = one;
                let got = device.reduce(&device.upload(&data)?, LogSumExp).run()?;
                let what = format!("{one} at {at} of {n} times {others}");
                near(&what, got, right, n)?;
                checks += 1;
            }
        }
    }
    Ok(checks)
}
