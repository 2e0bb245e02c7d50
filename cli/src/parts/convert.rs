//! The elements of each type in the types that have kernels for parts.

use warpfold::{Number, bf16, f16};

use crate::by_key::{Fill, converted};
use crate::parts::column::Printed;
use crate::reading::Reading;
use crate::sources::Elements;

/// The elements as they are.
pub fn own<'a, T: Number + Default>(
    mut elements: Elements<'a, T>,
    reading: &'a Reading,
) -> Fill<'a, T> {
    Box::new(move |piece| elements.read(piece, reading))
}

/// Elements that are converted to the types of the kernels for parts.
pub trait Convert: Number + Printed + PartialOrd {
    /// The type of [`ArgMin`](warpfold::ArgMin) and [`ArgMax`](warpfold::ArgMax); the values are the same.
    type Ordered: Number + Default;

    /// The type of [`Product`](warpfold::Product); integers wrap to the same product.
    type Factor: Number + Default;

    /// The type of [`MeanVariance`](warpfold::MeanVariance) and [`SumSquares`](warpfold::SumSquares): `f64` for integers.
    type Real: Number + Default;

    /// The type of [`magnitude`](Self::magnitude): `u64` for integers.
    type Magnitude: Number + Default;

    /// Whether the sum of the elements may not fit into 64 bits.
    const IS_LONG: bool = false;

    fn ordered<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, Self::Ordered>;
    fn of_ordered(value: Self::Ordered) -> Self;

    fn factors<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, Self::Factor>;
    fn of_factor(product: Self::Factor) -> Self;

    fn reals<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, Self::Real>;

    /// The absolute value; exact.
    fn magnitude(self) -> Self::Magnitude;
}

/// A fill that converts, unless the types are the same.
macro_rules! fill {
    ($elements:ident $reading:ident same) => {
        own($elements, $reading)
    };
    ($elements:ident $reading:ident $to:ty) => {
        converted($elements, $reading, |x| x as $to, |_| {})
    };
}

macro_rules! integers {
    ($($integer:ident $long:literal, $ordered:ident ($($of:tt)+), $factor:ident ($($by:tt)+);)*) => { $(
        impl Convert for $integer {
            type Ordered = $ordered;
            type Factor = $factor;
            type Real = f64;
            type Magnitude = u64;
            const IS_LONG: bool = $long;

            fn ordered<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, $ordered> {
                fill!(elements reading $($of)+)
            }

            fn of_ordered(value: $ordered) -> Self {
                value as Self
            }

            fn factors<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, $factor> {
                fill!(elements reading $($by)+)
            }

            fn of_factor(product: $factor) -> Self {
                product as Self
            }

            fn reals<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, f64> {
                fill!(elements reading f64)
            }

            fn magnitude(self) -> u64 {
                (self as i128).unsigned_abs() as u64
            }
        }
    )* };
}

integers! {
    i8 false, i32 (i32), i32 (i32);
    i16 false, i32 (i32), i32 (i32);
    i32 false, i32 (same), i32 (same);
    i64 true, i64 (same), i64 (same);
    u8 false, i32 (i32), i32 (i32);
    u16 false, i32 (i32), i32 (i32);
    u32 false, u32 (same), i32 (i32);
    u64 true, u64 (same), i64 (i64);
}

macro_rules! floats {
    ($($float:ident, $factor:ident, |$elements:ident, $reading:ident| $factors:expr, |$product:ident| $of:expr;)*) => { $(
        impl Convert for $float {
            type Ordered = Self;
            type Factor = $factor;
            type Real = Self;
            type Magnitude = Self;

            fn ordered<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, Self> {
                own(elements, reading)
            }

            fn of_ordered(value: Self) -> Self {
                value
            }

            fn factors<'a>($elements: Elements<'a, Self>, $reading: &'a Reading) -> Fill<'a, $factor> {
                $factors
            }

            fn of_factor($product: $factor) -> Self {
                $of
            }

            fn reals<'a>(elements: Elements<'a, Self>, reading: &'a Reading) -> Fill<'a, Self> {
                own(elements, reading)
            }

            fn magnitude(self) -> Self {
                Self::from_bits(self.to_bits() << 1 >> 1)
            }
        }
    )* };
}

floats! {
    f16, f32, |elements, reading| converted(elements, reading, f32::from, |_| {}), |product| Self::from_f32(product);
    bf16, f32, |elements, reading| converted(elements, reading, f32::from, |_| {}), |product| Self::from_f32(product);
    f32, f32, |elements, reading| own(elements, reading), |product| product;
    f64, f64, |elements, reading| own(elements, reading), |product| product;
}
