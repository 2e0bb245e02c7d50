//! The weighted mean.

use super::Op;
use crate::element::Number;

/// The weighted mean `sum(w * x) / sum(w)` over pairs `(x, w)` of two arrays, in `f64`, as NumPy's `average`.
///
/// One pass over both arrays. `None` if the weights add up to 0, and for empty input. The accumulator has the
/// sum of the products and the sum of the weights. Products of floats of up to 32 bits are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedMean;

impl<T: Number> Op<(T, T)> for WeightedMean {
    type Acc = [f64; 2];
    type Output = Option<f64>;

    #[inline(always)]
    fn identity(&self) -> [f64; 2] {
        [-0.0; 2]
    }

    #[inline(always)]
    fn lift(&self, (value, weight): (T, T), _: u64) -> [f64; 2] {
        let weight = weight.to_f64();
        [value.to_f64() * weight, weight]
    }

    #[inline(always)]
    fn combine(&self, [a, weight_of_a]: [f64; 2], [b, weight_of_b]: [f64; 2]) -> [f64; 2] {
        [a + b, weight_of_a + weight_of_b]
    }

    #[inline(always)]
    fn finish(&self, [sum, weight]: [f64; 2]) -> Option<f64> {
        (weight != 0.0).then(|| sum / weight)
    }
}
