//! Sums of blocks of floats, exact by integers in three bins.
//!
//! Bin `k` counts multiples of a power of two, its unit. A float `x` below 2^`e` in magnitude is rounded to such a
//! multiple by adding 1.5 * 2^(`e` + 1): the sum has a fixed exponent, so its last place is the unit, and its bits are
//! an integer that counts units. The difference to `x` is exact, and goes to the next bin.
//!
//! ```text
//!            2^e                                          f64: the units of the bins are
//! bin 0       |---- 51 bits ----|                         2^(e - 51), 2^(e - 103), 2^(e - 155)
//! bin 1                          |---- 52 bits ----|
//! bin 2                                             |---- 52 bits ----|
//! ```
//!
//! Terms pass through bins 0 and 1, their errors through bins 1 and 2. Nothing is left of them if their lowest bits are at
//! the unit of the last bin or above.

use kernels_gpu::exact::Accumulator;
use std::iter::zip;
use std::ops::{Add, BitOr, BitXor, Sub};

use super::exponents::Exponents;
use super::terms::Parts;

/// The bins: two for terms, and one more for errors.
const BINS: usize = 3;

/// A float whose bits are added as integers.
pub(super) trait Real: Copy + Add<Output = Self> + Sub<Output = Self> {
    type Bits: Copy + BitOr<Output = Self::Bits> + BitXor<Output = Self::Bits>;

    /// The bits of zero.
    const ZERO: Self::Bits;

    /// The digits of the significand, also the leading one.
    const SIGNIFICAND: i32;

    /// A finite value is below 2 to the power of this.
    const MAX_EXPONENT: i32;

    /// The exponent of the least normal value.
    const MIN_EXPONENT: i32;

    /// The value, if it can be represented.
    fn of(value: f64) -> Self;

    /// `a * b + c` for an exact `a * b`: with one rounding in either case.
    fn multiply_add<const FUSED: bool>(a: Self, b: Self, c: Self) -> Self;

    fn bits(self) -> Self::Bits;

    /// `a + b`, which wraps.
    fn plus(a: Self::Bits, b: Self::Bits) -> Self::Bits;

    /// 1.5 * 2^`exponent`, for the exponent of a normal value.
    fn one_and_a_half(exponent: i32) -> Self;

    /// Whether the bits differ at most in the significand.
    fn has_same_exponent(difference: Self::Bits) -> bool;

    /// Whether the bits are those of a zero.
    fn is_zero(bits: Self::Bits) -> bool;

    /// `sum`, from which the bits of `n` times `start` are subtracted, as a signed number.
    fn since(sum: Self::Bits, n: usize, start: Self) -> i64;
}

macro_rules! reals {
    ($($real:ident as $bits:ident, $signed:ident;)*) => { $(
        impl Real for $real {
            type Bits = $bits;
            const ZERO: $bits = 0;
            const SIGNIFICAND: i32 = $real::MANTISSA_DIGITS as i32;
            const MAX_EXPONENT: i32 = $real::MAX_EXP;
            const MIN_EXPONENT: i32 = $real::MIN_EXP - 1;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $real
            }

            #[inline(always)]
            fn multiply_add<const FUSED: bool>(a: Self, b: Self, c: Self) -> Self {
                if FUSED { a.mul_add(b, c) } else { a * b + c }
            }

            #[inline(always)]
            fn bits(self) -> $bits {
                self.to_bits()
            }

            #[inline(always)]
            fn plus(a: $bits, b: $bits) -> $bits {
                a.wrapping_add(b)
            }

            #[inline(always)]
            fn one_and_a_half(exponent: i32) -> Self {
                let field = (exponent + Self::MAX_EXPONENT - 1) as $bits;
                $real::from_bits((2 * field + 1) << (Self::SIGNIFICAND - 2))
            }

            #[inline(always)]
            fn has_same_exponent(difference: $bits) -> bool {
                difference >> (Self::SIGNIFICAND - 1) == 0
            }

            #[inline(always)]
            fn is_zero(bits: $bits) -> bool {
                bits << 1 == 0
            }

            #[inline(always)]
            fn since(sum: $bits, n: usize, start: Self) -> i64 {
                let all = (n as $bits).wrapping_mul(start.to_bits());
                sum.wrapping_sub(all) as $signed as i64
            }
        }
    )* };
}

reals! {
    f32 as u32, i32;
    f64 as u64, i64;
}

/// Sums of units.
pub(super) struct Bins<R> {
    /// Terms below 2 to the power of this are added.
    exponent: i32,
    totals: [i128; BINS],
    /// For each bin the number whose last place is the unit.
    starts: [R; BINS],
}

impl<R: Real> Bins<R> {
    /// The number of terms of a block, so few that sums of units do not wrap.
    pub(super) const BLOCK: usize = match R::SIGNIFICAND {
        24 => 448,
        _ => 2048,
    };

    /// The least exponent for which all starts are normal. The last bin's unit is then the least value.
    const LEAST: i32 = R::MIN_EXPONENT + (BINS as i32 - 1) * (R::SIGNIFICAND - 1) - 1;

    /// The greatest exponent for which the sum of the first start and a term is finite, even if it is rounded up.
    const GREATEST: i32 = R::MAX_EXPONENT - 3;

    pub(super) fn new() -> Self {
        let mut bins = Self {
            exponent: 0,
            totals: [0; BINS],
            starts: [R::one_and_a_half(0); BINS],
        };
        bins.begin(Self::LEAST);
        bins
    }

    /// Adds a block of at most [`BLOCK`](Self::BLOCK) terms with these exponents, and returns true; or returns false,
    /// because the bins cannot hold them.
    #[inline(always)]
    pub(super) fn add<const ERRORS: bool, const FUSED: bool>(
        &mut self,
        terms: impl ExactSizeIterator<Item = Parts>,
        Exponents { lowest, end }: Exponents,
        sum: &mut Accumulator,
    ) -> bool {
        // From the exponent to the unit of the last bin.
        let depth = if ERRORS { BINS } else { BINS - 1 } as i32 * (R::SIGNIFICAND - 1) - 1;
        if end > self.exponent || lowest < self.exponent - depth {
            // If possible, twice as large as this block needs, lest the next one begin again.
            let exponent = (end + 1).min(lowest + depth).max(Self::LEAST);
            if end > exponent || lowest < exponent - depth || exponent > Self::GREATEST {
                return false;
            }
            self.flush(sum);
            self.begin(exponent);
        }
        self.add_units::<ERRORS, FUSED, false>(terms)
    }

    /// Adds a block of terms without errors if the bins can hold them as they are, and returns whether they can.
    ///
    /// Slower than [`add`](Self::add), but faster than to find the exponents before.
    #[inline(always)]
    pub(super) fn try_add<const FUSED: bool>(
        &mut self,
        terms: impl ExactSizeIterator<Item = Parts>,
    ) -> bool {
        self.add_units::<false, FUSED, true>(terms)
    }

    /// Adds the bins to `sum`.
    pub(super) fn flush(&mut self, sum: &mut Accumulator) {
        for (bin, total) in self.totals.iter_mut().enumerate() {
            let unit = self.exponent - (bin as i32 + 1) * (R::SIGNIFICAND - 1) + 1;
            sum.add_integer(*total, unit);
            *total = 0;
        }
    }

    fn begin(&mut self, exponent: i32) {
        self.exponent = exponent;
        for (bin, start) in self.starts.iter_mut().enumerate() {
            *start = R::one_and_a_half(exponent + 1 - bin as i32 * (R::SIGNIFICAND - 1));
        }
    }

    /// Adds a block of terms. With `CHECK` returns whether they are in range and nothing is left of them; if not, the bins
    /// are as before.
    ///
    /// Only integers are accumulated, which LLVM vectorises.
    #[inline(always)]
    fn add_units<const ERRORS: bool, const FUSED: bool, const CHECK: bool>(
        &mut self,
        terms: impl ExactSizeIterator<Item = Parts>,
    ) -> bool {
        const {
            // A term has at most 2^(SIGNIFICAND - 2) units of a bin in magnitude, and an error a quarter of that.
            let quarters = Self::BLOCK * if ERRORS { 5 } else { 4 };
            assert!(!(CHECK && ERRORS), "errors are not checked");
            assert!(quarters < 4 << (8 * size_of::<R>() as i32 - R::SIGNIFICAND + 1));
        }
        let n = terms.len();
        let starts = self.starts;
        let [mut high, mut middle, mut low] = [R::ZERO; BINS];
        let [mut exponents, mut left] = [R::ZERO; 2];
        for parts in terms {
            let [a, b] = parts.factors.map(R::of);
            let rounded = R::multiply_add::<FUSED>(a, b, starts[0]);
            high = R::plus(high, rounded.bits());
            let rest = R::multiply_add::<FUSED>(a, b, starts[0] - rounded);
            let next = rest + starts[1];
            middle = R::plus(middle, next.bits());
            if CHECK {
                exponents = exponents | (rounded.bits() ^ starts[0].bits());
                left = left | (rest.bits() ^ (next - starts[1]).bits());
            }
            if ERRORS {
                let error = R::of(parts.error);
                let rounded = error + starts[1];
                middle = R::plus(middle, rounded.bits());
                low = R::plus(low, (error - (rounded - starts[1]) + starts[2]).bits());
            }
        }
        if !R::has_same_exponent(exponents) || !R::is_zero(left) {
            return false;
        }
        let errors = if ERRORS { n } else { 0 };
        let added = [(high, n), (middle, n + errors), (low, errors)];
        for (bin, (total, (bits, n))) in zip(&mut self.totals, added).enumerate() {
            *total += i128::from(R::since(bits, n, starts[bin]));
        }
        true
    }
}
