//! Sums of floats without any rounding, in floats of fixed exponents.
//!
//! The sums of a level start at 1.5 times a power of two, and are never so far from it that their exponent changes. So
//! they are multiples of a *unit*, that in their last place. Adding a term rounds it to a multiple of the unit. The rest of
//! the term is exact, at most half a unit, and goes to the next level.
//!
//! ```text
//!            2^end
//! level 0     |---- 50 bits, less those for the number of terms ----|
//! level 1                                                            |---- as many bits ----|
//! ```
//!
//! The last level does not round if all terms are multiples of its unit.

use kernels_gpu::exact::Accumulator;

use super::exponents::{Exponents, Magnitudes};
use super::terms::{Items, Term};

/// The most levels.
const LEVELS: usize = 4;

/// The number of sums of a level.
const LANES: usize = 32;

/// The number of rows that are added at a time, because sums are loaded and stored once for all. With more, or with longer
/// rows, the processor's prefetchers could not follow.
const ROWS: usize = 2;

/// The bits of a significand below the leading one.
const BELOW_LEADING: i32 = f64::MANTISSA_DIGITS as i32 - 1;

/// The bits of a sum less three: the leading one, one for the sign, and one lest the sum reach the next power of two.
const BITS: i32 = f64::MANTISSA_DIGITS as i32 - 3;

/// The exponent of the smallest positive value.
pub(super) const LEAST: i32 = f64::MIN_EXP - f64::MANTISSA_DIGITS as i32;

/// The logarithm of the most terms of a lane: so few that their number does not overflow.
const MOST_TERMS: i32 = 40;

/// For at most so many blocks [`Levels::try_add`] does nothing.
const MOST_PATIENCE: u32 = 16;

/// The sums of a level, which start with a cache line, so that no vector of them is in two.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lanes([f64; LANES]);

/// Sums of terms with exponents in a range.
pub(super) struct Levels {
    exponents: Exponents,
    /// The number of terms that can still be added to each lane.
    left: usize,
    /// The number of levels that have sums.
    used: usize,
    /// The exponent of each level's unit.
    units: [i32; LEVELS],
    starts: [f64; LEVELS],
    sums: [Lanes; LEVELS],
    /// For so many more blocks [`try_add`](Self::try_add) does nothing.
    waits: u32,
    /// That number after its next failure. It doubles with each, and is 0 again after a success.
    patience: u32,
}

impl Levels {
    pub(super) const fn new() -> Self {
        Self {
            exponents: Exponents { lowest: 0, end: 0 },
            left: 0,
            used: 0,
            units: [0; LEVELS],
            starts: [0.0; LEVELS],
            sums: [Lanes([0.0; LANES]); LEVELS],
            waits: 0,
            patience: 0,
        }
    }

    /// Adds a block of terms, and returns true; or returns false, because not all exponents are in range, or perhaps not.
    ///
    /// The exponents are found at the same time, which is faster than before; if they are not in range, the new sums are
    /// dropped. All calls, also of [`add`](Self::add), have the same number of levels `K`.
    #[inline(always)]
    pub(super) fn try_add<I: Items, O: Term<I::Item>, const K: usize, const FUSED: bool>(
        &mut self,
        items: I,
    ) -> bool {
        let (terms, part) = (items.len() / LANES, ROWS * LANES);
        if terms > self.left || !items.len().is_multiple_of(part) {
            return false;
        }
        if self.waits > 0 {
            self.waits -= 1;
            return false;
        }
        let mut sums = self.first::<K>();
        let mut magnitudes = Magnitudes::NONE;
        for start in (0..items.len()).step_by(part) {
            let items = items.part(start, start + part);
            items.prefetch();
            magnitudes.extend(add_rows::<I, O, K, ROWS, FUSED>(&mut sums, items));
        }
        let exponents = magnitudes.exponents::<O, I::Item>();
        if exponents.is_some_and(|exponents| self.exponents.hold(exponents)) {
            self.keep(&sums, terms);
            self.patience = 0;
            return true;
        }
        self.waits = self.patience;
        self.patience = (2 * self.patience + 1).min(MOST_PATIENCE);
        false
    }

    /// Adds a block of terms with these exponents, which are at least [`LEAST`], and returns true; or returns false, because
    /// the levels cannot hold them.
    #[inline(always)]
    pub(super) fn add<I: Items, O: Term<I::Item>, const K: usize, const FUSED: bool>(
        &mut self,
        items: I,
        exponents: Exponents,
        sum: &mut Accumulator,
    ) -> bool {
        let terms = items.len().div_ceil(LANES);
        let has_room = terms <= self.left && self.exponents.hold(exponents);
        if !has_room && !self.begin::<K>(exponents, terms, O::HAS_ERROR, sum) {
            return false;
        }
        let mut sums = self.first::<K>();
        let mut start = 0;
        while start + ROWS * LANES <= items.len() {
            add_rows::<I, O, K, ROWS, FUSED>(&mut sums, items.part(start, start + ROWS * LANES));
            start += ROWS * LANES;
        }
        while start < items.len() {
            let end = items.len().min(start + LANES);
            add_rows::<I, O, K, 1, FUSED>(&mut sums, items.part(start, end));
            start = end;
        }
        self.keep(&sums, terms);
        true
    }

    /// Adds all levels to `sum`; then there is no room.
    pub(super) fn flush(&mut self, sum: &mut Accumulator) {
        for level in 0..self.used {
            let start = self.starts[level].to_bits();
            let units = |lane: &f64| lane.to_bits().wrapping_sub(start) as i64;
            let total: i64 = self.sums[level].0.iter().map(units).sum();
            sum.add_integer(total.into(), self.units[level]);
        }
        self.used = 0;
        self.left = 0;
    }

    /// The sums of the first levels.
    #[inline(always)]
    fn first<const K: usize>(&self) -> [Lanes; K] {
        std::array::from_fn(|level| self.sums[level])
    }

    /// Replaces these sums, to which so many terms were added.
    #[inline(always)]
    fn keep<const K: usize>(&mut self, sums: &[Lanes; K], terms: usize) {
        self.sums[..K].copy_from_slice(sums);
        self.left -= terms;
    }

    /// Adds all levels to `sum`, and makes room for so many terms in each lane; or returns false if that is not possible.
    fn begin<const K: usize>(
        &mut self,
        Exponents { lowest, end }: Exponents,
        terms: usize,
        has_error: bool,
        sum: &mut Accumulator,
    ) -> bool {
        let for_terms = terms.next_power_of_two().ilog2() as i32;
        let spare = lowest - units::<K>(end, for_terms, has_error)[K - 1];
        if spare < 0 {
            return false;
        }
        // Lest the next block begin again: its exponents may differ a little, and it has terms too.
        let (above, below) = (spare / 8, spare / 2);
        let for_terms = (for_terms + (spare - above - below) / K as i32).min(MOST_TERMS);
        // The last unit is at least the smallest positive value.
        let last = units::<K>(end + above, for_terms, has_error)[K - 1];
        let end = end + above + (LEAST - last).max(0);
        let units = units::<K>(end, for_terms, has_error);
        if units[0] + BELOW_LEADING >= f64::MAX_EXP {
            return false;
        }
        self.flush(sum);
        self.used = K;
        for (level, unit) in units.into_iter().enumerate() {
            self.units[level] = unit;
            self.starts[level] = 1.5 * power(unit + BELOW_LEADING);
            self.sums[level] = Lanes([self.starts[level]; LANES]);
        }
        let lowest = units[K - 1];
        self.exponents = Exponents { lowest, end };
        self.left = 1 << for_terms;
        true
    }
}

/// The exponent of each level's unit, for so many terms below 2^`end` in each lane.
#[inline(always)]
fn units<const K: usize>(end: i32, for_terms: i32, has_error: bool) -> [i32; K] {
    let mut end = end;
    std::array::from_fn(|level| {
        // The first level takes the values, a further one what is left of them and of the errors.
        let twice = i32::from(has_error && level > 0);
        let unit = end + for_terms + twice - BITS;
        end = unit - 1;
        unit
    })
}

/// Adds the terms of `R` rows of items, or of less than a row, and returns bounds of their magnitudes.
///
/// The same for all lanes, so that LLVM can vectorise it.
#[inline(always)]
fn add_rows<I: Items, O: Term<I::Item>, const K: usize, const R: usize, const FUSED: bool>(
    sums: &mut [Lanes; K],
    items: I,
) -> Magnitudes {
    let mut magnitudes = Magnitudes::NONE;
    for lane in 0..LANES.min(items.len()) {
        let mut of_lane: [f64; K] = std::array::from_fn(|level| sums[level].0[lane]);
        for row in 0..R {
            let parts = O::parts(items.get(row * LANES + lane));
            if O::HAS_ERROR {
                // What is left of a value in the last level but one is a multiple of its unit: the error is smaller.
                add_product::<FUSED>(&mut of_lane[..K - 1], parts.factors);
                add_product::<FUSED>(&mut of_lane[1..], [parts.error, 1.0]);
            } else {
                add_product::<FUSED>(&mut of_lane, parts.factors);
            }
            magnitudes.add::<O, I::Item>(parts.value());
        }
        for (sums, sum) in sums.iter_mut().zip(of_lane) {
            sums.0[lane] = sum;
        }
    }
    magnitudes
}

/// Adds a product, which is an `f64`, to levels, the last of which takes all that is left.
#[inline(always)]
fn add_product<const FUSED: bool>(levels: &mut [f64], [mut a, mut b]: [f64; 2]) {
    let plus = |a: f64, b: f64, c: f64| if FUSED { a.mul_add(b, c) } else { a * b + c };
    let (last, levels) = levels.split_last_mut().expect("there is a level");
    for level in levels {
        let rounded = plus(a, b, *level);
        (a, b) = (plus(a, b, *level - rounded), 1.0);
        *level = rounded;
    }
    *last = plus(a, b, *last);
}

/// 2^`exponent`, for the exponent of a normal value.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + f64::MAX_EXP - 1) as u64) << BELOW_LEADING)
}
