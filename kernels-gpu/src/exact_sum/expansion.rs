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
    (f64::MANTISSA_DIGITS - bits).saturating_sub(growth(terms))
}

/// That difference if the terms are cut in two: both sums grow.
const fn window_of_two(bits: u32, terms: usize) -> u32 {
    (2 * f64::MANTISSA_DIGITS - bits).saturating_sub(2 * growth(terms))
}

/// The bits by which a sum may be longer than its terms.
const fn growth(terms: usize) -> u32 {
    terms.next_power_of_two().trailing_zeros()
}

/// The exponent field of a float, in its upper word.
const FIELD: u32 = 20;

/// The exponent field of infinities and NaN.
const SPECIAL: u32 = 0x7ff;

/// Products below this may have an error that is no float. In the upper words, the sum of the factors' exponent fields:
/// 2^-900, of which the error is at least 2^-1006.
const SMALL: u32 = (2 * 1023 - 900) << FIELD;

/// The exponents of terms: the largest and the smallest upper word, without signs.
#[derive(Clone, Copy)]
struct Fields {
    largest: u32,
    /// Minus one, so that zeros are larger than all other terms.
    smallest: u32,
}

impl Fields {
    const NONE: Self = Self {
        largest: 0,
        smallest: u32::MAX,
    };

    #[inline(always)]
    fn with(self, term: f64) -> Self {
        Self {
            largest: upper(term).max(self.largest),
            smallest: upper(term).wrapping_sub(1).min(self.smallest),
        }
    }

    /// Whether all terms are finite, and the exponents of those that are not zero differ by no more than this.
    #[inline(always)]
    fn are_within(self, window: u32) -> bool {
        let (largest, smallest) = (self.largest >> FIELD, self.smallest >> FIELD);
        largest <= smallest + window && largest != SPECIAL
    }
}

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
        let mut fields = Fields::NONE;
        unrolled!(|r < R, e < N| {
            let (a, b) = O::factors(items[r][e]);
            let term = a * b;
            sums[r] += term;
            if !Self::fits::<I, O>(N * R) {
                fields = fields.with(term);
            }
        });
        let mut sum = -0.0;
        unrolled!(|r < R| sum += sums[r]);
        let is_exact = match Self::fits::<I, O>(N * R) {
            true => upper(sum) >> FIELD != SPECIAL,
            false => fields.are_within(window(O::BITS, N * R)),
        };
        let (expansion, rest) = self.with::<0, 2>(sum);
        (expansion, is_exact && rest.to_bits() == 0)
    }

    /// Cuts the terms of all items at the same bit, adds the upper parts to each other, the lower parts to each other, and
    /// the two sums to the three floats; also whether that was exact. All terms -0.0 count as 0.0.
    ///
    /// A number much larger than all terms cuts them: added and subtracted again, it leaves the nearest multiple of its
    /// last bit, the upper part. After J. Demmel and H. D. Nguyen, "Fast Reproducible Floating-Point Summation" (2013).
    #[inline(always)]
    pub fn plus_split<I: Items, O: Terms<I>, const N: usize, const R: usize>(
        self,
        items: &[[I; N]; R],
    ) -> (Self, bool) {
        let mut fields = Fields::NONE;
        unrolled!(|r < R, e < N| {
            let (a, b) = O::factors(items[r][e]);
            fields = fields.with(a * b);
        });
        // 1.5 times a power of two, which all terms together do not reach: its exponent is the same after any of them.
        let exponent = (fields.largest >> FIELD) + 1 + growth(N * R);
        let cut = f64::from_bits((u64::from(exponent) << FIELD | 1 << (FIELD - 1)) << 32);
        let (mut uppers, mut lowers) = ([0.0; R], [0.0; R]);
        unrolled!(|r < R, e < N| {
            let (a, b) = O::factors(items[r][e]);
            let term = a * b;
            let upper = (term + cut) - cut;
            uppers[r] += upper;
            lowers[r] += term - upper;
        });
        let (mut upper, mut lower) = (0.0, 0.0);
        unrolled!(|r < R| {
            upper += uppers[r];
            lower += lowers[r];
        });
        let (expansion, rest) = self.with::<0, 3>(upper);
        let (expansion, rest_of_lower) = expansion.with::<1, 3>(lower);
        let is_all = rest.to_bits() | rest_of_lower.to_bits() == 0;
        let is_exact = fields.are_within(window_of_two(O::BITS, N * R));
        (expansion, is_exact && is_all)
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
