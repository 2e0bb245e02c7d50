//! A lane's exact sum as three floats.

use crate::device::mul_add;
use crate::exact::Flags;
use crate::items::Items;
use crate::op::unrolled;

use super::Terms;

/// A sum of terms as an unevaluated sum of three floats, the largest first.
///
/// After D. E. Knuth (the error of an addition), "The Art of Computer Programming", volume 2, section 4.2.2, and
/// J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997).
#[derive(Clone, Copy, Debug)]
pub struct Expansion([f64; 3]);

/// The rounded sum and its error: together exactly `a + b`. The error is a NaN if the sum overflows, or is not finite.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The exponents' difference, in a group, up to which terms of `bits` bits are added without error.
const fn window(bits: u32, terms: usize) -> u32 {
    (f64::MANTISSA_DIGITS - bits).saturating_sub(terms.next_power_of_two().trailing_zeros())
}

/// The exponent field of a float, in its upper word.
const FIELD: u32 = 20;

/// The exponent field of infinities and NaN.
const SPECIAL: u32 = 0x7ff;

/// Products below this may have an error that is no float. In the upper words, the sum of the factors' exponent fields:
/// 2^-900, of which the error is at least 2^-1006.
const SMALL: u32 = (2 * 1023 - 900) << FIELD;

impl Expansion {
    /// The sum of no terms. (-0.0 is the identity of addition.)
    pub const NONE: Self = Self([-0.0, 0.0, 0.0]);

    /// The sum with `term`, which is added to the floats from `FIRST` to `LAST`, and what is left of it behind them.
    #[inline(always)]
    fn with<const FIRST: usize, const LAST: usize>(self, term: f64) -> (Self, f64) {
        let Self(mut terms) = self;
        let mut rest = term;
        unrolled!(|k < LAST| if k >= FIRST {
            (terms[k], rest) = two_sum(terms[k], rest);
        });
        (Self(terms), rest)
    }

    /// Adds the terms of all items to `K` floats; also whether nothing was left.
    #[inline(always)]
    pub fn plus<I: Items, O: Terms<I>, const N: usize, const R: usize, const K: usize>(
        mut self,
        items: &[[I; N]; R],
    ) -> (Self, bool) {
        // The bits of all that is left. (The rest 0.0 has none.)
        let mut left = 0;
        let mut smallest = u32::MAX;
        unrolled!(|r < R, e < N| {
            let (a, b) = O::factors(items[r][e]);
            let term = a * b;
            let (sum, rest) = self.with::<0, K>(term);
            left |= rest.to_bits();
            self = sum;
            if O::IS_LONG {
                let error = mul_add(a, b, -term);
                // It is smaller than the error of the largest float.
                let (sum, rest) = self.with::<1, K>(error);
                left |= rest.to_bits();
                self = sum;
                smallest = smallest.min(upper(a) + upper(b));
            }
        });
        let has_errors = !O::IS_LONG || smallest >= SMALL || are_large::<I, O, N, R>(items);
        (self, left == 0 && has_errors)
    }

    /// Adds the terms of all items to each other, and their sum to the three floats; also whether that was exact.
    #[inline(always)]
    pub fn plus_plain<I: Items, O: Terms<I>, const N: usize, const R: usize>(
        self,
        items: &[[I; N]; R],
    ) -> (Self, bool) {
        // A sum for each row, because an addition waits for the one before.
        let mut sums = [-0.0; R];
        let (mut largest, mut smallest) = (0, u32::MAX);
        unrolled!(|r < R, e < N| {
            let (a, b) = O::factors(items[r][e]);
            let term = a * b;
            sums[r] += term;
            if !Self::fits::<I, O>(N * R) {
                largest = upper(term).max(largest);
                // Zeros, minus one, are the largest numbers.
                smallest = upper(term).wrapping_sub(1).min(smallest);
            }
        });
        let mut sum = -0.0;
        unrolled!(|r < R| sum += sums[r]);
        let is_exact = match Self::fits::<I, O>(N * R) {
            true => upper(sum) >> FIELD != SPECIAL,
            false => {
                let (largest, smallest) = (largest >> FIELD, smallest >> FIELD);
                largest <= smallest + window(O::BITS, N * R) && largest != SPECIAL
            }
        };
        let (expansion, rest) = self.with::<0, 2>(sum);
        (expansion, is_exact && rest.to_bits() == 0)
    }

    /// Whether any terms are added without error, because all their exponents are in the window.
    #[inline(always)]
    const fn fits<I: Items, O: Terms<I>>(terms: usize) -> bool {
        let exponents = (O::HIGHEST - O::LOWEST) as u32 - O::BITS;
        exponents <= window(O::BITS, terms)
    }

    /// The floats, and the flag that some term was not -0.0.
    #[inline(always)]
    pub fn finish(self) -> ([f64; 3], Flags) {
        let is_none = self.0[0].to_bits() == Self::NONE.0[0].to_bits();
        let flags = match is_none {
            true => Flags::NONE,
            false => Flags::NOT_NEGATIVE_ZERO,
        };
        (self.0, flags)
    }
}

/// Whether no product is smaller than [`SMALL`], except zeros, whose error is 0.
#[inline(always)]
fn are_large<I: Items, O: Terms<I>, const N: usize, const R: usize>(items: &[[I; N]; R]) -> bool {
    let mut all = true;
    unrolled!(|r < R, e < N| {
        let (a, b) = O::factors(items[r][e]);
        all &= upper(a) + upper(b) >= SMALL || a == 0.0 || b == 0.0;
    });
    all
}

/// The upper word of a magnitude. It is 0 only for zero and the smallest subnormal numbers.
#[inline(always)]
fn upper(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32 & 0x7fff_ffff
}
