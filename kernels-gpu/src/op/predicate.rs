//! Questions about an element.

use crate::element::{Element, Number};

/// A question about an element and a value beside it.
pub trait Predicate<T: Element>: Copy + Send + Sync + 'static {
    /// The predicate's name as it stands in the names of entry points: `"less"`.
    const NAME: &'static str;

    /// The answer.
    fn holds(element: T, value: T) -> bool;
}

macro_rules! predicates {
    ($($(#[$doc:meta])* $predicate:ident, $name:literal, |$element:ident, $value:ident| $holds:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $predicate;

        impl<T: Number> Predicate<T> for $predicate {
            const NAME: &'static str = $name;

            #[inline(always)]
            fn holds(element: T, value: T) -> bool {
                let ($element, $value) = (element.widen(), value.widen());
                $holds
            }
        }
    )* };
}

predicates! {
    /// The element equals the value. The two zeros of floats do; a NaN equals nothing.
    Equal, "equal", |element, value| element == value;
    /// The element is less than the value. A NaN is not, nor is anything less than it.
    Less, "less", |element, value| element < value;
    /// The element is greater than the value. A NaN is not, nor is anything greater than it.
    Greater, "greater", |element, value| element > value;
    /// The element is a NaN, whatever the value.
    IsNan, "is_nan", |element, _value| element.partial_cmp(&element).is_none();
}
