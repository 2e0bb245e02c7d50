//! Right results: naive loops in exact or wider arithmetic, and error bounds for sums and products of floats.

mod operators;
mod values;

use kernels_gpu::op::Op;

pub use values::{Drawn, Subject, Total, Value};

/// A right result.
#[derive(Clone, Copy, Debug)]
pub struct Expected<T> {
    /// The value itself; a sum of floats rounded once.
    pub value: T,
    /// The part of a sum that was lost by rounding.
    pub rest: f64,
    /// The sum of the magnitudes.
    pub magnitude: f64,
    /// The error bound for any other order, for chains of any length; infinite if the order determines the
    /// result.
    pub spread: f64,
}

impl<T> Expected<T> {
    fn exact(value: T) -> Self {
        Self {
            value,
            rest: 0.0,
            magnitude: 0.0,
            spread: 0.0,
        }
    }
}

/// An operator with a naive loop over accumulators.
pub trait Oracle<A: Value>: Op<A, Acc = A> {
    /// The operator as a value.
    const OP: Self;
    /// Whether a moderate number of small floats with integer values are combined without rounding.
    const EXACT_ON_WHOLE: bool = true;
    /// The combined `values`.
    fn expected(values: &[A]) -> Expected<A>;
}

/// Whether the bits are equal, or both are NaN.
pub fn same<T: Value>(one: T, other: T) -> bool {
    one.same(other)
}

/// Checks a sum whose longest chain of additions is `chain`. The bound is the standard one for floating-point
/// summation in any order: |error| <= gamma(chain) * sum of magnitudes, where gamma(k) = k u / (1 - k u).
/// Results without rounding must be equal bit for bit.
pub fn close<T: Value>(got: T, expected: &Expected<T>, chain: f64) -> Result<(), String> {
    if same(got, expected.value) || expected.spread == f64::INFINITY {
        return Ok(());
    }
    let ku = chain * T::ROUNDOFF;
    let tolerance = gamma(ku) * expected.magnitude + expected.spread;
    let error = ((got.to_f64() - expected.value.to_f64()) - expected.rest).abs();
    // Exact results must be equal, including the sign of a zero, or an index. Written so that a NaN fails.
    if ku < 1.0 && tolerance > 0.0 && error <= tolerance {
        return Ok(());
    }
    Err(format!(
        "{got:?} instead of {:?} (error {error:e}, tolerance {tolerance:e})",
        expected.value
    ))
}

/// The relative error bound for consecutive roundings; `ku` is their number times the unit roundoff.
fn gamma(ku: f64) -> f64 {
    ku / (1.0 - ku)
}
