//! Comparison of two results.

use std::fmt::Debug;

use libtest_mimic::{Failed, Trial};

use super::answers::Part;
use super::number::Number;

/// An error that names `what`, unless both are equal.
pub fn is<T: PartialEq + Debug>(got: T, right: T, what: &str) -> Result<(), Failed> {
    match got == right {
        true => Ok(()),
        false => Err(format!("{what}: {got:?} instead of {right:?}").into()),
    }
}

/// The same bits, or both NaN.
pub fn same<T: Number>(got: T, numpy: T) -> Result<(), String> {
    match got.bits() == numpy.bits() {
        true => Ok(()),
        false => Err(format!("{got:?} instead of {numpy:?}")),
    }
}

/// Equality for results that do not exist for every input.
pub fn equal<T: PartialEq + Debug>(got: T, numpy: T) -> Result<(), String> {
    match got == numpy {
        true => Ok(()),
        false => Err(format!("{got:?} instead of {numpy:?}")),
    }
}

/// Compares a rounded float sum or product with `exact`.
///
/// In any order, n - 1 additions or multiplications with unit roundoff u have an error of at most gamma(n)
/// times `magnitude`, where gamma(n) = n u / (1 - n u): the sum of the magnitudes for a sum, the magnitude of
/// the result for a product. `exact` is rounded to f64, and the result to `T`, which may also underflow or
/// overflow.
pub fn close<T: Number>(
    got: T,
    exact: f64,
    n: usize,
    magnitude: f64,
    u: f64,
) -> Result<(), String> {
    if exact.is_nan() || exact.is_infinite() {
        return same(got, T::from_f64(exact));
    }
    let nu = n as f64 * u;
    let off = nu / (1.0 - nu) * magnitude + exact.abs() * f64::EPSILON;
    // Rounding is monotonic, so the result is between the rounded bounds.
    let (least, greatest) = (T::from_f64(exact - off), T::from_f64(exact + off));
    let got = got.to_f64();
    // Written so that a NaN fails.
    if least.to_f64() - T::LEAST <= got && got <= greatest.to_f64() + T::LEAST {
        return Ok(());
    }
    Err(format!(
        "{got:e} instead of {exact:e} (off by no more than {off:e})"
    ))
}

/// The prefix of an error.
pub fn context<T: Number>(array: &str, part: &Part) -> String {
    let (start, n) = (part.start, part.n);
    format!("{array} of {}, {n} from {start}", T::NAME)
}

fn close_f32(got: f32, exact: f64) -> bool {
    close(got, exact, 10, 10.0, f32::ROUNDOFF).is_ok()
}

/// Tests that the comparisons detect wrong results.
pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, holds: fn() -> bool| {
        let check = move || {
            if holds() {
                Ok(())
            } else {
                Err("the comparison is wrong".into())
            }
        };
        Trial::test(format!("compare/{name}"), check)
    };
    vec![
        trial("a_nan_is_only_close_to_a_nan", || {
            !close_f32(f32::NAN, 1.0)
                && !close_f32(1.0, f64::NAN)
                && !close_f32(f32::NAN, f64::INFINITY)
                && close_f32(-f32::NAN, f64::NAN)
        }),
        trial("infinities_have_signs", || {
            close_f32(f32::INFINITY, f64::INFINITY)
                && !close_f32(f32::NEG_INFINITY, f64::INFINITY)
                && !close_f32(f32::MAX, f64::INFINITY)
                && !close_f32(f32::INFINITY, f32::MAX.into())
        }),
        trial("the_bound_is_that_of_n_roundings", || {
            // gamma(10) of a magnitude of 10 is 50 units in the last place of 1.
            close_f32(1.0 + 49.0 * f32::EPSILON, 1.0) && !close_f32(1.0 + 53.0 * f32::EPSILON, 1.0)
        }),
        trial("zeros_have_signs", || {
            same(0.0, -0.0).is_err() && same(-0.0, -0.0).is_ok()
        }),
    ]
}
