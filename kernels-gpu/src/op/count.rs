//! The number of elements for which a predicate holds.

use super::{Op, Value, unrolled};
use crate::element::{Element, Number};

/// A condition on an element.
pub trait Predicate<T: Element>: Value {
    /// Whether the condition holds for the element.
    fn holds(&self, element: T) -> bool;
}

/// Counts the elements for which the predicate holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Count<P>(pub P);

// SAFETY: `repr(C)`, and its field is a value.
unsafe impl<P: Value> Value for Count<P> {}

impl<T: Element, P: Predicate<T>> Op<T> for Count<P> {
    type Acc = u64;
    type Output = u64;
    const ABSORBS: bool = true;
    const ANY_ORDER: bool = true;

    #[inline(always)]
    fn identity(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn lift(&self, element: T, _: u64) -> u64 {
        self.0.holds(element).into()
    }

    #[inline(always)]
    fn combine(&self, a: u64, b: u64) -> u64 {
        a + b
    }

    /// One 32-bit addition per element, and one 64-bit addition for all `rows`.
    #[inline(always)]
    fn absorb<const N: usize, const K: usize>(
        &self,
        count: u64,
        rows: [[T; N]; K],
        _: [u64; K],
    ) -> u64 {
        let mut here = 0u32;
        unrolled!(|k < K, e < N| here += u32::from(self.0.holds(rows[k][e])));
        count + u64::from(here)
    }

    #[inline(always)]
    fn finish(&self, count: u64) -> u64 {
        count
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $predicate:ident, |$element:ident, $value:ident| $holds:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub struct $predicate<T>(pub T);

        // SAFETY: `repr(C)`, and its fields are plain data.
        unsafe impl<T: Element> Value for $predicate<T> {}

        impl<T: Number> Predicate<T> for $predicate<T> {
            #[inline(always)]
            fn holds(&self, element: T) -> bool {
                let ($element, $value) = (element.widen(), self.0.widen());
                $holds
            }
        }
    )* };
}

comparisons! {
    /// The element equals the value. -0.0 equals 0.0; a NaN equals nothing.
    Equal, |element, value| element == value;
    /// The element is less than the value. False if either is a NaN.
    Less, |element, value| element < value;
    /// The element is greater than the value. False if either is a NaN.
    Greater, |element, value| element > value;
}

/// The element is in a half-open range: at least the first value, and less than the second. False for a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct InRange<T>(pub T, pub T);

// SAFETY: `repr(C)`, and its fields are plain data.
unsafe impl<T: Element> Value for InRange<T> {}

impl<T: Number> Predicate<T> for InRange<T> {
    #[inline(always)]
    fn holds(&self, element: T) -> bool {
        let element = element.widen();
        self.0.widen() <= element && element < self.1.widen()
    }
}

/// The element is a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsNan;

impl<T: Number> Predicate<T> for IsNan {
    #[inline(always)]
    fn holds(&self, element: T) -> bool {
        let element = element.widen();
        element.partial_cmp(&element).is_none()
    }
}
