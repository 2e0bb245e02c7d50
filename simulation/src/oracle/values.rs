//! Element types.

use std::cmp::Ordering;

use cuda_sim::Plain;
use kernels_gpu::element::{Element, Indexed, Number, bf16, f16};
use rand::RngExt;
use rand::rngs::StdRng;

use super::{Expected, gamma};
use crate::kernels::Point;

/// An element of an array on the device.
pub trait Value: Element + Plain {
    /// The unit roundoff, half a unit in the last place of 1; 0 for exact types.
    const ROUNDOFF: f64 = 0.0;
    /// Whether the bits are equal, or both are NaN.
    fn same(self, other: Self) -> bool;
    /// The nearest `f64`; NaN for values with several numbers.
    fn to_f64(self) -> f64 {
        f64::NAN
    }
}

/// A type with random arrays.
pub trait Drawn: Value {
    /// A random integer; a float from -1 to 1.
    fn rough(rng: &mut StdRng) -> Self;
    /// A random integer; a float from -4 to 4 with an integer value. The sum of 2^22 of them is exact in
    /// every order, even in f32.
    fn whole(rng: &mut StdRng) -> Self;
    /// The greatest finite value.
    const GREATEST: Self;
    /// Zeros of both signs; for integers, zero and the integer with all bits set.
    const ZEROES: [Self; 2];
    /// NaN, or the smallest integer.
    const ODD: Self;
}

/// A number type for tests.
pub trait Subject: Drawn + Number {
    /// A total order in which -0.0 is less than 0.0.
    fn order(&self, other: &Self) -> Ordering;
    /// Whether it is NaN.
    fn is_nan(&self) -> bool;
}

/// A number type with sums and products.
pub trait Total: Subject {
    /// The sum, wrapped or rounded once; and the data for the error bound of another order.
    fn sum(values: &[Self]) -> Expected<Self>;
    /// The product, wrapped or rounded; and the error bound for another order.
    fn product(values: &[Self]) -> Expected<Self>;
}

macro_rules! integers {
    ($($element:ident)*) => {
        $(impl Value for $element {
            fn same(self, other: Self) -> bool { self == other }
            fn to_f64(self) -> f64 { self as f64 }
        }

        impl Drawn for $element {
            const GREATEST: Self = Self::MAX;
            const ZEROES: [Self; 2] = [0, !0];
            const ODD: Self = Self::MIN;
            fn rough(rng: &mut StdRng) -> Self { rng.random() }
            fn whole(rng: &mut StdRng) -> Self { rng.random() }
        }

        impl Subject for $element {
            fn order(&self, other: &Self) -> Ordering { self.cmp(other) }
            fn is_nan(&self) -> bool { false }
        })*
    };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($element:ident: $digits:expr, $rough:expr;)*) => {
        $(impl Value for $element {
            const ROUNDOFF: f64 = 1.0 / (1u64 << $digits) as f64;
            fn same(self, other: Self) -> bool {
                (self.is_nan() && other.is_nan()) || self.to_bits() == other.to_bits()
            }
            fn to_f64(self) -> f64 { f64::from(self) }
        }

        impl Drawn for $element {
            const GREATEST: Self = Self::MAX;
            const ZEROES: [Self; 2] = [Self::from_bits(0), Self::from_bits(1 << (size_of::<Self>() * 8 - 1))];
            const ODD: Self = Self::NAN;
            fn rough(rng: &mut StdRng) -> Self { $rough(rng) }
            fn whole(rng: &mut StdRng) -> Self { Self::from(rng.random_range(-4i8..=4)) }
        }

        impl Subject for $element {
            fn order(&self, other: &Self) -> Ordering { self.total_cmp(other) }
            fn is_nan(&self) -> bool { $element::is_nan(*self) }
        })*
    };
}

// The bits of the significand, including the implicit one.
floats! {
    f16: 11, |rng: &mut StdRng| f16::from_f32(rng.random::<f32>() * 2.0 - 1.0);
    bf16: 8, |rng: &mut StdRng| bf16::from_f32(rng.random::<f32>() * 2.0 - 1.0);
    f32: 24, |rng: &mut StdRng| rng.random::<f32>() * 2.0 - 1.0;
    f64: 53, |rng: &mut StdRng| rng.random::<f64>() * 2.0 - 1.0;
}

impl<V: Value> Value for Indexed<V>
where
    Indexed<V>: Element + Plain,
{
    fn same(self, other: Self) -> bool {
        self.value().same(other.value()) && self.index() == other.index()
    }
}

/// At random positions, mostly a different one in each array.
impl<V: Drawn> Drawn for Indexed<V>
where
    Indexed<V>: Value,
{
    const GREATEST: Self = Indexed::new(V::GREATEST, 7);
    const ZEROES: [Self; 2] = [
        Indexed::new(V::ZEROES[0], 1 << 32),
        Indexed::new(V::ZEROES[1], 9),
    ];
    const ODD: Self = Indexed::new(V::ODD, 8);

    fn rough(rng: &mut StdRng) -> Self {
        Indexed::new(V::rough(rng), rng.random())
    }

    fn whole(rng: &mut StdRng) -> Self {
        Indexed::new(V::whole(rng), rng.random())
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn same(self, other: Self) -> bool {
        (0..N).all(|i| self[i].same(other[i]))
    }
}

/// Each number is random.
impl<T: Drawn, const N: usize> Drawn for [T; N] {
    const GREATEST: Self = [T::GREATEST; N];
    const ZEROES: [Self; 2] = [[T::ZEROES[0]; N], [T::ZEROES[1]; N]];
    const ODD: Self = [T::ODD; N];

    fn rough(rng: &mut StdRng) -> Self {
        std::array::from_fn(|_| T::rough(rng))
    }

    fn whole(rng: &mut StdRng) -> Self {
        std::array::from_fn(|_| T::whole(rng))
    }
}

impl Value for Point {
    fn same(self, other: Self) -> bool {
        self.x.same(other.x)
    }
}

impl Drawn for Point {
    const GREATEST: Self = Self { x: Drawn::GREATEST };
    const ZEROES: [Self; 2] = {
        let [x, y] = <[f32; 3] as Drawn>::ZEROES;
        [Self { x }, Self { x: y }]
    };
    const ODD: Self = Self { x: Drawn::ODD };

    fn rough(rng: &mut StdRng) -> Self {
        Self {
            x: Drawn::rough(rng),
        }
    }

    fn whole(rng: &mut StdRng) -> Self {
        Self {
            x: Drawn::whole(rng),
        }
    }
}

macro_rules! integer_totals {
    ($($acc:ident)*) => { $(
        impl Total for $acc {
            // The low bits of a wider result are the wrapped result.
            fn sum(values: &[Self]) -> Expected<Self> {
                let wide = values.iter().map(|value| i128::from(*value));
                Expected::exact(wide.fold(0, i128::wrapping_add) as Self)
            }

            fn product(values: &[Self]) -> Expected<Self> {
                let wide = values.iter().map(|value| i128::from(*value));
                Expected::exact(wide.fold(1, i128::wrapping_mul) as Self)
            }
        }
    )* };
}

integer_totals!(i32 i64 u32 u64);

macro_rules! float_totals {
    ($($acc:ident)*) => { $(
        impl Total for $acc {
            fn sum(values: &[Self]) -> Expected<Self> {
                let (high, low) = double_sum(values.iter().map(|value| f64::from(*value)));
                // Without rounding, the sum is returned unchanged; its zero has a sign.
                let value = if low == 0.0 { high } else { high + low } as Self;
                Expected {
                    value,
                    rest: (high - f64::from(value)) + low,
                    magnitude: values.iter().map(|value| f64::from(*value).abs()).sum(),
                    spread: 0.0,
                }
            }

            fn product(values: &[Self]) -> Expected<Self> {
                let wide = || values.iter().map(|value| f64::from(*value));
                let value = wide().product::<f64>();
                let mut expected = Expected::exact(value as Self);
                // The largest possible value for a subset.
                let grown: f64 = wide().map(|value| value.abs().max(1.0)).product();
                if (grown as Self).is_finite() {
                    // Each multiplication rounds. Below the normal numbers the error is up to the smallest
                    // number, which later factors multiply.
                    let n = values.len() as f64;
                    let smallest = f64::from(Self::from_bits(1));
                    expected.spread =
                        gamma(2.0 * n * Self::ROUNDOFF) * value.abs() + n * smallest * grown;
                } else if wide().any(|value| value.abs() < 1.0) {
                    expected.spread = f64::INFINITY;
                }
                expected
            }
        }
    )* };
}

float_totals!(f32 f64);

/// The sum in about twice the precision of f64: the rounding errors of additions are summed separately.
fn double_sum(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((-0.0, -0.0), |(high, low), value| {
        let sum = high + value;
        if !sum.is_finite() {
            return (sum, -0.0);
        }
        let part = sum - high;
        let lost = (high - (sum - part)) + (value - part);
        (sum, low + lost)
    })
}
