//! The exact sum of floats.

use super::fixed::Fixed;
use super::leading::Leading;
use super::{Flags, Float, LOWEST, WORDS};
use core::fmt;

/// An exact sum of floats, of their squares or of products, with the number of items.
///
/// Nothing is rounded before the result. So the result is the nearest float to the true sum, and it has the
/// same bits in any order of the items and after any [`merge`](Self::merge) of parts:
///
/// ```
/// use kernels_gpu::exact::Accumulator;
///
/// let mut sum = Accumulator::new();
/// sum.add_all(&[1e300, 1.0, 1e-300, -1e300]);
/// assert_eq!(sum.sum::<f64>(), 1.0);
/// assert_eq!(sum.count(), 4);
///
/// let mut dot = Accumulator::new();
/// dot.add_product(1e-200, 1e-200); // 1e-400 is no f64, but nothing is lost
/// dot.add_product(1e200, 2e200);
/// dot.add_product(-1e200, 2e200);
/// assert!(!dot.is_empty());
/// assert_eq!(dot.sqrt::<f64>(), 1e-200);
/// ```
///
/// Items of several types can be added to one sum, and the result can be of any type:
///
/// ```
/// use kernels_gpu::element::{bf16, f16};
/// use kernels_gpu::exact::Accumulator;
///
/// let mut sum = Accumulator::new();
/// sum.add(f16::from_f32(0.5));
/// sum.add(bf16::from_f32(-2.0));
/// sum.add(0.1_f64);
/// assert_eq!(sum.sum::<f32>(), -1.4);
/// ```
///
/// # Special values
///
/// They are those of IEEE 754, for any order of the additions:
///
/// | items | sum |
/// |---|---|
/// | some are NaN, or infinity times zero | NaN |
/// | infinities of both signs | NaN |
/// | infinities of one sign | that infinity |
/// | the exact sum is zero | 0.0 |
/// | all are -0.0 | -0.0 |
/// | none | 0.0 |
///
/// A product of finite numbers is never infinite, and it is a zero only if a factor is.
///
/// # Size
///
/// An accumulator has 67 words of 64 bits: sums of 2^64 items cannot overflow. After more items the number of
/// items is wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Accumulator {
    pub(super) fixed: Fixed,
    pub(super) count: u64,
    pub(super) flags: Flags,
}

impl Accumulator {
    /// The sum of no items.
    pub const fn new() -> Self {
        Self {
            fixed: Fixed([0; WORDS]),
            count: 0,
            flags: Flags::NONE,
        }
    }

    /// The number of items.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are no items.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds an item.
    pub fn add<T: Float>(&mut self, x: T) {
        self.add_f64(x.exactly());
    }

    /// Adds the absolute value of an item.
    pub fn add_abs<T: Float>(&mut self, x: T) {
        self.add_f64(x.exactly().abs());
    }

    /// Adds the square of an item, which is not rounded.
    pub fn add_square<T: Float>(&mut self, x: T) {
        self.add_product(x, x);
    }

    /// Adds the product of two numbers, which is not rounded.
    pub fn add_product<T: Float>(&mut self, a: T, b: T) {
        self.add_product_f64(a.exactly(), b.exactly());
    }

    /// Adds all items of a slice.
    pub fn add_all<T: Float>(&mut self, x: &[T]) {
        for x in x {
            self.add(*x);
        }
    }

    /// Adds all items of another sum.
    ///
    /// ```
    /// use kernels_gpu::exact::Accumulator;
    ///
    /// let x = [0.1_f32, 1e30, 0.2, -1e30, 0.3];
    /// let mut whole = Accumulator::new();
    /// whole.add_all(&x);
    ///
    /// let (left, right) = x.split_at(2);
    /// let (mut sum, mut other) = (Accumulator::new(), Accumulator::new());
    /// sum.add_all(right);
    /// other.add_all(left);
    /// sum.merge(&other);
    /// assert_eq!(sum, whole);
    /// ```
    pub fn merge(&mut self, other: &Self) {
        self.fixed.merge(&other.fixed);
        self.count_items(other.count);
        self.add_flags(other.flags);
    }

    /// The nearest value of the type to the exact sum; of two, that with an even significand.
    ///
    /// Infinity if the type's range is exceeded, by the same rule of rounding. A sum that rounds to zero keeps its
    /// sign.
    ///
    /// ```
    /// use kernels_gpu::element::f16;
    /// use kernels_gpu::exact::Accumulator;
    ///
    /// let mut sum = Accumulator::new();
    /// sum.add_all(&[65504.0, 15.99]);
    /// assert_eq!(sum.sum::<f16>(), f16::MAX);
    /// sum.add(0.01);
    /// assert_eq!(sum.sum::<f16>(), f16::INFINITY);
    /// ```
    pub fn sum<T: Float>(&self) -> T {
        self.result(self.is_negative(), |sum| sum)
    }

    /// The nearest value of the type to the exact sum divided by the number of items; NaN if there are none.
    ///
    /// ```
    /// use kernels_gpu::exact::Accumulator;
    ///
    /// let mut sum = Accumulator::new();
    /// sum.add_all(&[f32::MAX, f32::MAX, f32::MAX]);
    /// assert_eq!(sum.mean::<f32>(), f32::MAX);
    /// assert!(Accumulator::new().mean::<f32>().is_nan());
    /// ```
    pub fn mean<T: Float>(&self) -> T {
        if self.is_empty() {
            return T::NAN;
        }
        self.result(self.is_negative(), |sum| sum.divided(self.count))
    }

    /// The nearest value of the type to the square root of the exact sum; NaN if the sum is negative.
    ///
    /// Of a sum of squares it is the Euclidean norm. The root of a zero is 0.0.
    ///
    /// ```
    /// use kernels_gpu::exact::Accumulator;
    ///
    /// let mut squares = Accumulator::new();
    /// squares.add_square(3e300);
    /// squares.add_square(4e300);
    /// assert_eq!(squares.sqrt::<f64>(), 5e300);
    /// ```
    pub fn sqrt<T: Float>(&self) -> T {
        let negative_infinity = self.flags.contains(Flags::NEGATIVE_INFINITY);
        if negative_infinity || self.fixed.is_negative() {
            return T::NAN;
        }
        self.result(false, Leading::sqrt)
    }

    /// The nearest value to the exact sum times 2^`exponent`.
    #[doc(hidden)]
    pub fn scaled_sum<T: Float>(&self, exponent: i32) -> T {
        self.result(self.is_negative(), |sum| sum.scaled(exponent))
    }

    /// Adds `digits[k]` times 2^(`lowest` + 16 `k`), for every `k`. Does not count items and sets no flags.
    #[doc(hidden)]
    pub fn add_digits(&mut self, digits: &[i64], lowest: i32) {
        for (exponent, digit) in (lowest..).step_by(16).zip(digits) {
            self.add_integer(i128::from(*digit), exponent);
        }
    }

    /// Adds `value` times 2^`scale`. Does not count items and sets no flags.
    #[doc(hidden)]
    pub fn add_term(&mut self, value: f64, scale: i32) {
        assert!(value.is_finite(), "the term {value}; must be finite");
        let (significand, exponent) = parts(value);
        self.add_integer(significand, exponent.saturating_add(scale));
    }

    /// Adds `value` times 2^`exponent`. Does not count items and sets no flags.
    #[doc(hidden)]
    pub fn add_integer(&mut self, value: i128, exponent: i32) {
        if value == 0 {
            return;
        }
        // The lowest bit that is set, and the first above all.
        let lowest = i64::from(exponent) + i64::from(value.trailing_zeros());
        let end = i64::from(exponent) + i64::from(128 - value.unsigned_abs().leading_zeros());
        let limit = i64::from(LOWEST) + 64 * WORDS as i64 - 1;
        assert!(
            lowest >= i64::from(LOWEST) && end <= limit,
            "bits from 2^{lowest} to below 2^{end}; must be from 2^{LOWEST} to below 2^{limit}"
        );
        let below = LOWEST.saturating_sub(exponent).max(0);
        self.fixed.add(value >> below, exponent + below);
    }

    /// Counts `items` more items, without adding anything.
    #[doc(hidden)]
    pub fn count_items(&mut self, items: u64) {
        self.count = self.count.wrapping_add(items);
    }

    /// Sets the flags of items that are counted and added apart.
    #[doc(hidden)]
    pub fn add_flags(&mut self, flags: Flags) {
        self.flags |= flags;
    }

    fn add_f64(&mut self, x: f64) {
        self.count_items(1);
        self.add_flags(Flags::of(x));
        if x.is_finite() {
            let (significand, exponent) = parts(x);
            self.fixed.add(significand, exponent);
        }
    }

    fn add_product_f64(&mut self, a: f64, b: f64) {
        if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
            // Infinity, NaN or a zero: exact.
            return self.add_f64(a * b);
        }
        self.count_items(1);
        self.add_flags(Flags::NOT_NEGATIVE_ZERO);
        let ((a, exponent), (b, other)) = (parts(a), parts(b));
        self.fixed.add(a * b, exponent + other);
    }

    /// Whether the sum is below zero or -0.0.
    fn is_negative(&self) -> bool {
        let has_other = self.flags.contains(Flags::NOT_NEGATIVE_ZERO);
        self.fixed.is_negative() || !(self.is_empty() || has_other)
    }

    /// What `change` makes of the sum's magnitude, rounded and with this sign; or the special value.
    fn result<T: Float>(&self, negative: bool, change: impl FnOnce(Leading) -> Leading) -> T {
        let infinity = self.flags.contains(Flags::INFINITY);
        let negative_infinity = self.flags.contains(Flags::NEGATIVE_INFINITY);
        if self.flags.contains(Flags::NAN) || (infinity && negative_infinity) {
            return T::NAN;
        }
        if infinity || negative_infinity {
            return T::from_parts(negative_infinity, 0, T::MAX_EXPONENT);
        }
        match self.fixed.leading() {
            Some(magnitude) => change(magnitude).round(negative),
            None => T::from_parts(negative, 0, T::MIN_EXPONENT),
        }
    }
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("sum", &self.sum::<f64>())
            .field("count", &self.count)
            .field("flags", &self.flags)
            .finish()
    }
}

/// The significand of a finite number with its sign, and the exponent of the significand's lowest bit.
fn parts(value: f64) -> (i128, i32) {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let significand = fraction | u64::from(field != 0) << 52;
    let signed = match value.is_sign_negative() {
        true => -i128::from(significand),
        false => significand.into(),
    };
    (signed, field.max(1) - 1075)
}
