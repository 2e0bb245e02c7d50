//! Sums of floats of any exponents, as integers: one for each exponent.

use kernels_gpu::exact::Accumulator;

use super::exponents::Exponents;
use super::levels::LEAST;
use super::terms::{Items, Term};

/// The number of exponents of an `f64`.
const EXPONENTS: usize = 1 << 11;

/// The bits of a significand below the leading one.
const BELOW_LEADING: i32 = f64::MANTISSA_DIGITS as i32 - 1;

/// The most values between carries, because significands have 53 bits.
const MOST: usize = 1 << 9;

/// The bits of a low sum that are left after a carry.
const LOW: u32 = 32;

/// Sums of significands for each exponent field.
pub(super) struct Buckets {
    low: [i64; EXPONENTS],
    /// Multiples of 2^[`LOW`].
    high: [i64; EXPONENTS],
}

impl Buckets {
    /// Sums of no values.
    pub(super) const fn new() -> Self {
        Self {
            low: [0; EXPONENTS],
            high: [0; EXPONENTS],
        }
    }

    /// Adds a block of terms with these exponents, which are at least [`LEAST`].
    #[inline(always)]
    pub(super) fn add<I: Items, O: Term<I::Item>>(&mut self, items: I, exponents: Exponents) {
        let most = if O::HAS_ERROR { MOST / 2 } else { MOST };
        for start in (0..items.len()).step_by(most) {
            let items = items.part(start, items.len().min(start + most));
            self.add_values(items.len(), |i| O::parts(items.get(i)).value());
            if O::HAS_ERROR {
                self.add_values(items.len(), |i| O::parts(items.get(i)).error);
            }
            self.carry(exponents);
        }
    }

    /// Adds values, at most [`MOST`]: first all are converted, as vectors.
    #[inline(always)]
    fn add_values(&mut self, n: usize, value: impl Fn(usize) -> f64) {
        let (mut fields, mut significands) = ([0; MOST], [0; MOST]);
        let n = n.min(MOST);
        for i in 0..n {
            let bits = value(i).to_bits();
            let field = (bits >> BELOW_LEADING) as u32 % EXPONENTS as u32;
            let fraction = bits & ((1 << BELOW_LEADING) - 1);
            let significand = (fraction | u64::from(field != 0) << BELOW_LEADING) as i64;
            // Minus the significand if the sign is -1.
            let sign = bits as i64 >> 63;
            fields[i] = field;
            significands[i] = (significand ^ sign) - sign;
        }
        for (field, significand) in fields[..n].iter().zip(&significands[..n]) {
            self.low[*field as usize % EXPONENTS] += significand;
        }
    }

    /// Carries from the low sums of values with these exponents to the high ones.
    #[inline(always)]
    fn carry(&mut self, Exponents { lowest, end }: Exponents) {
        let field =
            |exponent: i32| (exponent + f64::MAX_EXP - 1).clamp(0, EXPONENTS as i32) as usize;
        let (first, last) = (field(lowest), field(end));
        if first < last {
            let high = self.high[first..last].iter_mut();
            for (low, high) in self.low[first..last].iter_mut().zip(high) {
                *high += *low >> LOW;
                *low &= (1 << LOW) - 1;
            }
        }
    }

    /// Adds all sums to `sum`.
    pub(super) fn flush(&self, sum: &mut Accumulator) {
        // Sums of adjacent exponents are added at once.
        const ADJACENT: usize = 16;
        let total =
            |field: usize| (i128::from(self.high[field]) << LOW) + i128::from(self.low[field]);
        // That of subnormal numbers is the same as the next one.
        sum.add_integer(total(0), LEAST);
        for first in (1..EXPONENTS - 1).step_by(ADJACENT) {
            let fields = first..(first + ADJACENT).min(EXPONENTS - 1);
            let totals = fields.map(|field| total(field) << (field - first));
            sum.add_integer(totals.sum(), LEAST + first as i32 - 1);
        }
    }
}
