//! Operators and kernels of a crate outside the library, for cases that the library's operators do not cover.
//!
//! | operator | items | the only one with |
//! |---|---|---|
//! | [`Horner`] | numbers, 12-byte arrays, a pair of arrays | a value; the index; no commutativity |
//! | [`Spread`] | a structure of 12 bytes | a value of 12 bytes |
//! | [`Volume`] | three arrays of different sizes | three arrays |
//! | [`Parity`] | arrays of 3, 5, 6, 8 and 32 bytes | partial words; vectors at some starts only; two loads |
//! | [`Histogram`] | bytes, words | an accumulator of 128 bytes, also in any order |

use kernels_gpu::prelude::*;

/// A point in space.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point {
    /// Its coordinates.
    pub x: [f32; 3],
}

/// Three long words.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Long {
    /// The words.
    pub words: [u64; 3],
}

/// Evaluates the polynomial whose coefficients are the items, highest power first, modulo 2^32.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct Horner {
    /// The point of evaluation; odd, so that none of its powers is 0.
    pub x: u32,
}

/// A part of a polynomial: its value, and the factor for the value of the preceding part.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Part {
    /// The value.
    pub value: u32,
    /// The factor, a power of `x`.
    pub power: u32,
}

/// Converts an item to a coefficient.
pub trait Coefficient: kernels_gpu::items::Items {
    /// A number that depends on all bytes of the item.
    fn coefficient(self) -> u32;
}

impl Coefficient for u32 {
    fn coefficient(self) -> u32 {
        self
    }
}

impl Coefficient for [u32; 3] {
    fn coefficient(self) -> u32 {
        let [a, b, c] = self;
        a.wrapping_mul(3).wrapping_add(b.wrapping_mul(5)) ^ c
    }
}

impl Coefficient for (u32, u8) {
    fn coefficient(self) -> u32 {
        self.0.wrapping_mul(257).wrapping_add(self.1.into())
    }
}

impl<I: Coefficient> Op<I> for Horner {
    type Acc = Part;
    type Output = u32;
    const COMMUTATIVE: bool = false;

    fn identity(&self) -> Part {
        Part { value: 0, power: 1 }
    }

    fn lift(&self, item: I, index: u64) -> Part {
        Part {
            value: item.coefficient().wrapping_add(index as u32),
            power: self.x,
        }
    }

    fn combine(&self, a: Part, b: Part) -> Part {
        Part {
            value: a.value.wrapping_mul(b.power).wrapping_add(b.value),
            power: a.power.wrapping_mul(b.power),
        }
    }

    fn finish(&self, part: Part) -> u32 {
        part.value
    }
}

/// The sum of squared distances from a centre.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct Spread {
    /// The centre.
    pub centre: Point,
}

impl Op<Point> for Spread {
    type Acc = f64;
    type Output = f64;

    fn identity(&self) -> f64 {
        -0.0
    }

    fn lift(&self, point: Point, _: u64) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|i| f64::from(point.x[i]) - f64::from(self.centre.x[i]));
        x * x + y * y + z * z
    }

    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

/// The sum of the products of three numbers.
#[derive(Clone, Copy, Debug, Value)]
pub struct Volume;

impl Op<(f32, f64, i8)> for Volume {
    type Acc = f64;
    type Output = f64;

    fn identity(&self) -> f64 {
        -0.0
    }

    fn lift(&self, (x, y, z): (f32, f64, i8), _: u64) -> f64 {
        f64::from(x) * y * f64::from(z)
    }

    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

/// The exclusive or of arrays, element by element.
#[derive(Clone, Copy, Debug, Value)]
pub struct Parity;

impl<T, const N: usize> Op<[T; N]> for Parity
where
    T: Element + From<u8> + std::ops::BitXor<Output = T>,
{
    type Acc = [T; N];
    type Output = [T; N];

    fn identity(&self) -> [T; N] {
        [T::from(0); N]
    }

    fn lift(&self, array: [T; N], _: u64) -> [T; N] {
        array
    }

    fn combine(&self, a: [T; N], b: [T; N]) -> [T; N] {
        std::array::from_fn(|i| a[i] ^ b[i])
    }

    fn finish(&self, array: [T; N]) -> [T; N] {
        array
    }
}

/// The number of occurrences of each of the 16 values of the lower four bits.
#[derive(Clone, Copy, Debug, Value)]
pub struct Histogram;

impl<I: kernels_gpu::items::Items + Into<u32>> Op<I> for Histogram {
    type Acc = [u64; 16];
    type Output = [u64; 16];
    const ANY_ORDER: bool = true;

    fn identity(&self) -> [u64; 16] {
        [0; 16]
    }

    fn lift(&self, item: I, _: u64) -> [u64; 16] {
        let mut bins = [0; 16];
        bins[item.into() as usize % 16] = 1;
        bins
    }

    fn combine(&self, a: [u64; 16], b: [u64; 16]) -> [u64; 16] {
        std::array::from_fn(|i| a[i] + b[i])
    }

    fn finish(&self, bins: [u64; 16]) -> [u64; 16] {
        bins
    }
}

kernels! {
    /// The kernels of this crate.
    pub static KERNELS:
    single_pass {
        Horner: u32, [u32; 3], (u32, u8);
        Spread: Point;
        Volume: (f32, f64, i8);
        Parity: [u8; 3], [u8; 5], [u16; 3], [u16; 4], [u64; 4];
        Histogram: u8, u32;
    }
    segments {
        Horner: u32, (u32, u8);
        Spread: Point;
        Volume: (f32, f64, i8);
        Parity: [u16; 3];
        Histogram: u8, u32;
    }
    runs {
        PartialEq: Point, Long;
    }
    axes {
        Horner: u32, (u32, u8);
        Spread: Point;
        Volume: (f32, f64, i8);
        Parity: [u16; 3];
        Histogram: u8;
    }
}
