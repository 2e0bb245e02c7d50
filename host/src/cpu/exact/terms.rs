//! The terms of a sum: what an item contributes.

use kernels_gpu::exact::{Accumulator, Float};

use super::exponents::{Exponents, exponents};

/// Items of one array, or pairs of items of two.
pub(super) trait Items: Copy + Send + Sync {
    type Item: Copy;

    fn len(self) -> usize;

    /// The items from `start` to `end`.
    fn part(self, start: usize, end: usize) -> Self;

    fn iter(self) -> impl ExactSizeIterator<Item = Self::Item>;

    /// The exponents of each array, twice if there is one; `None` if an item is infinite or NaN.
    fn exponents(self) -> Option<[Exponents; 2]>;
}

impl<T: Float> Items for &[T] {
    type Item = T;

    #[inline(always)]
    fn len(self) -> usize {
        <[T]>::len(self)
    }

    #[inline(always)]
    fn part(self, start: usize, end: usize) -> Self {
        &self[start..end]
    }

    #[inline(always)]
    fn iter(self) -> impl ExactSizeIterator<Item = T> {
        <[T]>::iter(self).copied()
    }

    #[inline(always)]
    fn exponents(self) -> Option<[Exponents; 2]> {
        exponents(self).map(|of_all| [of_all; 2])
    }
}

impl<T: Float> Items for (&[T], &[T]) {
    type Item = (T, T);

    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn part(self, start: usize, end: usize) -> Self {
        (&self.0[start..end], &self.1[start..end])
    }

    #[inline(always)]
    fn iter(self) -> impl ExactSizeIterator<Item = (T, T)> {
        self.0.iter().copied().zip(self.1.iter().copied())
    }

    #[inline(always)]
    fn exponents(self) -> Option<[Exponents; 2]> {
        Some([exponents(self.0)?, exponents(self.1)?])
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
    /// Whether every finite term is an `f32`.
    const IS_NARROW: bool;

    /// Whether a term can have an error.
    const HAS_ERROR: bool;

    /// Whether a term is the product of two items, or of one with itself.
    const IS_PRODUCT: bool;

    /// The parts of the term. The error is exact if its lowest bit is that of an `f64`.
    fn parts(item: I) -> Parts;

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
    const IS_NARROW: bool = T::SIGNIFICAND <= f32::SIGNIFICAND;
    const HAS_ERROR: bool = false;
    const IS_PRODUCT: bool = false;

    #[inline(always)]
    fn parts(item: T) -> Parts {
        exact(item.exactly(), 1.0)
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add(item);
    }
}

/// The absolute value.
pub(super) struct Magnitude;

impl<T: Float> Term<T> for Magnitude {
    const IS_NARROW: bool = T::SIGNIFICAND <= f32::SIGNIFICAND;
    const HAS_ERROR: bool = false;
    const IS_PRODUCT: bool = false;

    #[inline(always)]
    fn parts(item: T) -> Parts {
        exact(item.exactly().abs(), 1.0)
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add_abs(item);
    }
}

/// The square.
pub(super) struct Square;

impl<T: Float> Term<T> for Square {
    const IS_NARROW: bool = false;
    const HAS_ERROR: bool = has_error::<T>();
    const IS_PRODUCT: bool = true;

    #[inline(always)]
    fn parts(item: T) -> Parts {
        product(item, item)
    }

    fn add(sum: &mut Accumulator, item: T) {
        sum.add_square(item);
    }
}

/// The product of two items.
pub(super) struct Product;

impl<T: Float> Term<(T, T)> for Product {
    const IS_NARROW: bool = false;
    const HAS_ERROR: bool = has_error::<T>();
    const IS_PRODUCT: bool = true;

    #[inline(always)]
    fn parts((a, b): (T, T)) -> Parts {
        product(a, b)
    }

    fn add(sum: &mut Accumulator, (a, b): (T, T)) {
        sum.add_product(a, b);
    }
}

/// Whether a product can have more bits than an `f64`.
const fn has_error<T: Float>() -> bool {
    2 * T::SIGNIFICAND > f64::SIGNIFICAND
}

/// A product that is an `f64`.
#[inline(always)]
fn exact(a: f64, b: f64) -> Parts {
    Parts {
        factors: [a, b],
        error: 0.0,
    }
}

/// A product with its rounding error.
#[inline(always)]
fn product<T: Float>(a: T, b: T) -> Parts {
    let (a, b) = (a.exactly(), b.exactly());
    if !has_error::<T>() {
        return exact(a, b);
    }
    let product = a * b;
    Parts {
        factors: [product, 1.0],
        error: a.mul_add(b, -product),
    }
}
