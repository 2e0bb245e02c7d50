//! The terms of a sum: what an item contributes.

use kernels_gpu::exact::{Accumulator, Float};

use super::exponents::{Exponents, of_narrow};
use super::rows::Rows;

/// Items of one array, or pairs of items of two.
pub(super) trait Items: Rows + Send + Sync {
    /// Whether the items are floats of at most 32 bits.
    const ARE_NARROW: bool;

    /// The exponents of narrow items, or of the products of pairs; `None` if one is infinite or NaN.
    fn exponents(self) -> Option<Exponents>;
}

impl<T: Float> Items for &[T] {
    const ARE_NARROW: bool = size_of::<T>() <= 4;

    #[inline(always)]
    fn exponents(self) -> Option<Exponents> {
        of_narrow(self)
    }
}

impl<T: Float> Items for (&[T], &[T]) {
    const ARE_NARROW: bool = size_of::<T>() <= 4;

    #[inline(always)]
    fn exponents(self) -> Option<Exponents> {
        Some(of_narrow(self.0)? + of_narrow(self.1)?)
    }
}

/// A term: the product of two factors, which is an `f64`, and an error.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) factors: [f64; 2],
    /// At most half a unit in the last place of the product.
    pub(super) error: f64,
}

impl Parts {
    /// The term without the error.
    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        self.factors[0] * self.factors[1]
    }
}

/// What an item contributes to a sum.
pub(super) trait Term<I>: Send + Sync {
    /// The digits of the term.
    const DIGITS: u32;

    /// Whether a term can have more digits than an `f64`.
    const HAS_ERROR: bool = Self::DIGITS > f64::SIGNIFICAND;

    /// Two numbers whose product is the term.
    fn factors(item: I) -> (f64, f64);

    /// The parts of the term. The error is exact if its lowest bit is that of an `f64`.
    #[inline(always)]
    fn parts(item: I) -> Parts {
        let (a, b) = Self::factors(item);
        if !Self::HAS_ERROR {
            return Parts {
                factors: [a, b],
                error: 0.0,
            };
        }
        let product = a * b;
        Parts {
            factors: [product, 1.0],
            error: a.mul_add(b, -product),
        }
    }

    /// The exponents of the terms, by those of the items or pairs.
    #[inline(always)]
    fn exponents(of_items: Exponents) -> Exponents {
        of_items
    }

    /// Adds the term of an item to a sum, and counts the item.
    fn add(sum: &mut Accumulator, item: I);

    /// Whether the term is -0.0; may be true for a tiny negative number.
    #[inline(always)]
    fn is_negative_zero(item: I) -> bool {
        Self::parts(item).value().to_bits() == (-0.0f64).to_bits()
    }
}

/// The item.
pub(super) struct Value;

impl<T: Float> Term<T> for Value {
    const DIGITS: u32 = T::SIGNIFICAND;

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        (item.exactly(), 1.0)
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add(item);
    }
}

/// The absolute value.
pub(super) struct Magnitude;

impl<T: Float> Term<T> for Magnitude {
    const DIGITS: u32 = T::SIGNIFICAND;

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        (item.exactly().abs(), 1.0)
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add_abs(item);
    }
}

/// The square.
pub(super) struct Square;

impl<T: Float> Term<T> for Square {
    const DIGITS: u32 = 2 * T::SIGNIFICAND;

    #[inline(always)]
    fn exponents(of_items: Exponents) -> Exponents {
        of_items + of_items
    }

    #[inline(always)]
    fn factors(item: T) -> (f64, f64) {
        (item.exactly(), item.exactly())
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add_square(item);
    }
}

/// The product of two items.
pub(super) struct Product;

impl<T: Float> Term<(T, T)> for Product {
    const DIGITS: u32 = 2 * T::SIGNIFICAND;

    #[inline(always)]
    fn factors((a, b): (T, T)) -> (f64, f64) {
        (a.exactly(), b.exactly())
    }

    fn add(sum: &mut Accumulator, (a, b): (T, T)) {
        sum.add_product(a, b);
    }
}
