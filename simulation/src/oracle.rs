//! What the right answer is: naive loops in exact or wider arithmetic, and how far a sum or a
//! product of floats may be from it.

mod operators;
mod values;

use kernels_gpu::op::Op;

pub use values::{Drawn, Subject, Total, Value};

/// A right answer.
#[derive(Clone, Copy, Debug)]
pub struct Expected<T> {
    /// The value itself; a sum of floats rounded once.
    pub value: T,
    /// The part of a sum that its rounding lost.
    pub rest: f64,
    /// The sum of the magnitudes.
    pub magnitude: f64,
    /// How far any other order of rounding may be off, however long its chains; infinite where
    /// the order decides everything.
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

/// An operator with its naive loop over accumulators.
pub trait Oracle<A: Value>: Op<A, Acc = A> {
    /// The operator as a value.
    const OP: Self;
    /// Whether floats without a fraction, if they are few and small, are combined without rounding.
    const EXACT_ON_WHOLE: bool = true;
    /// What `values` are together.
    fn expected(values: &[A]) -> Expected<A>;
}

/// The same bits, or both NaN.
pub fn same<T: Value>(one: T, other: T) -> bool {
    one.same(other)
}

/// Judges a sum whose longest chain of additions is `chain`, by the standard bound on
/// floating-point summation in any order: |error| <= gamma(chain) * sum of magnitudes, where
/// gamma(k) = k u / (1 - k u). What does not round must be right to the bit.
pub fn close<T: Value>(got: T, expected: &Expected<T>, chain: f64) -> Result<(), String> {
    if same(got, expected.value) || expected.spread == f64::INFINITY {
        return Ok(());
    }
    let ku = chain * T::ROUNDOFF;
    let tolerance = gamma(ku) * expected.magnitude + expected.spread;
    let error = ((got.to_f64() - expected.value.to_f64()) - expected.rest).abs();
    // What does not round is the same, or wrong: the sign of a zero, an index. Written so that a NaN fails.
    if ku < 1.0 && tolerance > 0.0 && error <= tolerance {
        return Ok(());
    }
    Err(format!(
        "{got:?} instead of {:?} (error {error:e}, tolerance {tolerance:e})",
        expected.value
    ))
}

/// The relative error of as many roundings in a row as `ku` holds units.
fn gamma(ku: f64) -> f64 {
    ku / (1.0 - ku)
}
