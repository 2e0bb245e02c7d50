//! Mean and variance in one pass.

use super::{Op, unrolled};
use crate::element::{Moments, Number};

/// Count, mean and squared distances from the mean, as [`Moments`], from which the variance follows; `None` for
/// empty input.
///
/// The textbook formula `E[x^2] - E[x]^2` subtracts two nearly equal large numbers and loses most digits. This
/// operator instead updates distances from a running mean: after B. P. Welford (1962) for the elements that a
/// thread loads, several at once; after T. F. Chan, G. H. Golub and R. J. LeVeque (1979) when the moments of
/// two threads are combined.
///
/// Elements are converted to `f64`, with rounding for 64-bit integers. Mean and variance are NaN if an element
/// is infinite or NaN, or if a squared distance overflows `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeanVariance;

/// [`MeanVariance`] of the floats that are not NaN, as NumPy's `nanmean` and `nanvar`; the count is their
/// number. `None` if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanMeanVariance;

impl<T: Number> Op<T> for MeanVariance {
    type Acc = Moments;
    type Output = Option<Moments>;
    const ABSORBS: bool = true;

    #[inline(always)]
    fn identity(&self) -> Moments {
        Moments::NONE
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> Moments {
        Moments::new(1.0, value.to_f64(), 0.0)
    }

    #[inline(always)]
    fn combine(&self, a: Moments, b: Moments) -> Moments {
        combined(a, b)
    }

    /// Welford's update for several elements at once, with a single division. `d` are the distances of the new
    /// elements from the old mean; the distances of the old elements add up to 0:
    ///
    /// ```text
    /// mean'    = mean + sum(d) / count'
    /// squares' = squares + sum(d^2) - sum(d)^2 / count'
    /// ```
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        &self,
        acc: Moments,
        rows: [[T; N]; K],
        _: [u64; K],
    ) -> Moments {
        // If there is no mean yet, any number near the elements will do.
        let mean = if acc.count() == 0.0 {
            rows[0][0].to_f64()
        } else {
            acc.mean()
        };
        let (mut distances, mut squares) = (0.0, 0.0);
        unrolled!(|k < K, e < N| {
            let distance = rows[k][e].to_f64() - mean;
            distances += distance;
            squares += distance * distance;
        });
        let count = acc.count() + (N * K) as f64;
        let shift = distances / count;
        let squares = acc.squares() + (squares - distances * shift);
        Moments::new(count, mean + shift, squares)
    }

    #[inline(always)]
    fn finish(&self, acc: Moments) -> Option<Moments> {
        finished(acc)
    }
}

impl<T: Number> Op<T> for NanMeanVariance {
    type Acc = Moments;
    type Output = Option<Moments>;
    const ABSORBS: bool = true;

    #[inline(always)]
    fn identity(&self) -> Moments {
        Moments::NONE
    }

    #[inline(always)]
    fn lift(&self, value: T, _: u64) -> Moments {
        let value = value.to_f64();
        match value.is_nan() {
            true => Moments::NONE,
            false => Moments::new(1.0, value, 0.0),
        }
    }

    #[inline(always)]
    fn combine(&self, a: Moments, b: Moments) -> Moments {
        combined(a, b)
    }

    /// As for [`MeanVariance`], but a NaN has no distance and is not counted. A long row is absorbed
    /// separately, because more elements, each of which is used twice, would need too many registers.
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        &self,
        mut acc: Moments,
        rows: [[T; N]; K],
        _: [u64; K],
    ) -> Moments {
        if const { N < LONG } {
            return absorb_numbers(acc, rows);
        }
        unrolled!(|k < K, e < N| if e == 0 {
            acc = absorb_numbers(acc, [rows[k]]);
        });
        acc
    }

    #[inline(always)]
    fn finish(&self, acc: Moments) -> Option<Moments> {
        finished(acc)
    }
}

/// The number of elements of a row that is absorbed separately.
const LONG: usize = 8;

/// Combines the accumulator with the elements that are not NaN.
#[inline(always)]
fn absorb_numbers<T: Number, const N: usize, const K: usize>(
    acc: Moments,
    rows: [[T; N]; K],
) -> Moments {
    let (mut mean, mut count) = (acc.mean(), acc.count());
    unrolled!(|k < K, e < N| {
        let value = rows[k][e].to_f64();
        // If there is no mean yet, any number near the elements will do.
        mean = if count == 0.0 { value } else { mean };
        count += if value.is_nan() { 0.0 } else { 1.0 };
    });
    if count == 0.0 {
        return Moments::NONE;
    }
    let (mut distances, mut squares) = (0.0, 0.0);
    unrolled!(|k < K, e < N| {
        let value = rows[k][e].to_f64();
        let distance = if value.is_nan() { 0.0 } else { value - mean };
        distances += distance;
        squares += distance * distance;
    });
    let shift = distances / count;
    let squares = acc.squares() + (squares - distances * shift);
    Moments::new(count, mean + shift, squares)
}

/// The update of Chan, Golub and LeVeque. The mean is computed from the lower mean towards the higher one, so
/// that both orders give the same bits.
#[inline(always)]
fn combined(a: Moments, b: Moments) -> Moments {
    if a.count() == 0.0 {
        return b;
    }
    if b.count() == 0.0 {
        return a;
    }
    let count = a.count() + b.count();
    // Equal counts are frequent, and the division is long; the quotient is the same.
    let (of_a, of_b) = match a.count() == b.count() {
        true => (0.5, 0.5),
        false => (a.count() / count, b.count() / count),
    };
    let (low, high, of_high) = if a.mean() <= b.mean() {
        (a.mean(), b.mean(), of_b)
    } else {
        (b.mean(), a.mean(), of_a)
    };
    let apart = high - low;
    let mean = low + apart * of_high;
    let between = apart * apart * (of_a * of_b * count);
    Moments::new(count, mean, a.squares() + b.squares() + between)
}

/// The moments, if there is at least one element.
fn finished(acc: Moments) -> Option<Moments> {
    let moments = match acc.squares().is_finite() {
        true => acc,
        false => Moments::new(acc.count(), f64::NAN, f64::NAN),
    };
    (acc.count() > 0.0).then_some(moments)
}
