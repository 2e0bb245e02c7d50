//! A user's own operators and elements in plain Rust, for the GPU, the CPU and the simulator.

#![no_std]

use kernels_gpu::prelude::*;

mod log_sum_exp;

pub use log_sum_exp::{LogSumExp, ScaledSum};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Complex {
    pub re: f32,
    pub im: f32,
}

/// The library's operator over this crate's element.
impl Op<Complex> for Sum {
    type Acc = Complex;
    type Output = Complex;

    fn identity(&self) -> Complex {
        Complex { re: -0.0, im: -0.0 }
    }

    fn lift(&self, x: Complex, _index: u64) -> Complex {
        x
    }

    fn combine(&self, a: Complex, b: Complex) -> Complex {
        Complex {
            re: a.re + b.re,
            im: a.im + b.im,
        }
    }

    fn finish(&self, acc: Complex) -> Complex {
        acc
    }
}

/// The sum of the squared distances from a value: an operator with a field.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct SquaresAbout {
    pub centre: f32,
}

impl Op<f32> for SquaresAbout {
    type Acc = f32;
    type Output = f32;

    fn identity(&self) -> f32 {
        0.0
    }

    fn lift(&self, x: f32, _index: u64) -> f32 {
        (x - self.centre) * (x - self.centre)
    }

    fn combine(&self, a: f32, b: f32) -> f32 {
        a + b
    }

    fn finish(&self, acc: f32) -> f32 {
        acc
    }
}

/// A point in space: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// An axis-aligned box: the smallest and the largest of each coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Box3 {
    pub min: Point,
    pub max: Point,
}

/// The bounding box of points; for empty input, a box whose minima are above its maxima.
#[derive(Clone, Copy, Debug, Value)]
pub struct BoundingBox;

impl Op<Point> for BoundingBox {
    type Acc = Box3;
    type Output = Box3;

    fn identity(&self) -> Box3 {
        let all = |value| Point {
            x: value,
            y: value,
            z: value,
        };
        Box3 {
            min: all(f32::INFINITY),
            max: all(f32::NEG_INFINITY),
        }
    }

    fn lift(&self, point: Point, _index: u64) -> Box3 {
        Box3 {
            min: point,
            max: point,
        }
    }

    fn combine(&self, a: Box3, b: Box3) -> Box3 {
        let each = |f: fn(f32, f32) -> f32, a: Point, b: Point| Point {
            x: f(a.x, b.x),
            y: f(a.y, b.y),
            z: f(a.z, b.z),
        };
        Box3 {
            min: each(f32::min, a.min, b.min),
            max: each(f32::max, a.max, b.max),
        }
    }

    fn finish(&self, acc: Box3) -> Box3 {
        acc
    }
}

/// A candidate with its score.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Scored {
    pub score: f32,
    pub id: u32,
}

/// The pair with the largest score; of equal scores, the one with the smallest id. A NaN counts as the smallest
/// score.
#[derive(Clone, Copy, Debug, Value)]
pub struct Best;

impl Op<Scored> for Best {
    type Acc = Scored;
    type Output = Option<Scored>;

    fn identity(&self) -> Scored {
        Scored {
            score: f32::NEG_INFINITY,
            id: u32::MAX,
        }
    }

    fn lift(&self, pair: Scored, _index: u64) -> Scored {
        if pair.score.is_nan() {
            return self.identity();
        }
        pair
    }

    fn combine(&self, a: Scored, b: Scored) -> Scored {
        let b_wins = b.score > a.score || (b.score == a.score && b.id < a.id);
        if b_wins { b } else { a }
    }

    fn finish(&self, acc: Scored) -> Option<Scored> {
        (acc.id != u32::MAX).then_some(acc)
    }
}

/// A matrix of two rows.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Mat2 {
    pub rows: [[f32; 2]; 2],
}

/// The product of matrices, in order.
#[derive(Clone, Copy, Debug, Value)]
pub struct MatProduct;

impl Op<Mat2> for MatProduct {
    type Acc = Mat2;
    type Output = Mat2;
    const COMMUTATIVE: bool = false;

    fn identity(&self) -> Mat2 {
        Mat2 {
            rows: [[1.0, 0.0], [0.0, 1.0]],
        }
    }

    fn lift(&self, matrix: Mat2, _index: u64) -> Mat2 {
        matrix
    }

    fn combine(&self, a: Mat2, b: Mat2) -> Mat2 {
        let [[a, b0], [c, d]] = a.rows;
        let [[e, f], [g, h]] = b.rows;
        Mat2 {
            rows: [
                [a * e + b0 * g, a * f + b0 * h],
                [c * e + d * g, c * f + d * h],
            ],
        }
    }

    fn finish(&self, acc: Mat2) -> Mat2 {
        acc
    }
}

/// The sum of the products of three arrays.
#[derive(Clone, Copy, Debug, Value)]
pub struct Dot3;

impl Op<(f32, f32, f32)> for Dot3 {
    type Acc = f64;
    type Output = f64;

    fn identity(&self) -> f64 {
        0.0
    }

    fn lift(&self, (x, y, z): (f32, f32, f32), _index: u64) -> f64 {
        f64::from(x) * f64::from(y) * f64::from(z)
    }

    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn finish(&self, acc: f64) -> f64 {
        acc
    }
}

/// The number of bytes in each of sixteen bins: the largest accumulator, 128 bytes.
#[derive(Clone, Copy, Debug, Value)]
pub struct Histogram;

impl Op<u8> for Histogram {
    type Acc = [u64; 16];
    type Output = [u64; 16];

    fn identity(&self) -> [u64; 16] {
        [0; 16]
    }

    fn lift(&self, x: u8, _index: u64) -> [u64; 16] {
        core::array::from_fn(|bin| u64::from(x >> 4 == bin as u8))
    }

    fn combine(&self, a: [u64; 16], b: [u64; 16]) -> [u64; 16] {
        core::array::from_fn(|bin| a[bin] + b[bin])
    }

    fn finish(&self, acc: [u64; 16]) -> [u64; 16] {
        acc
    }
}

/// The last element that is not 0, and its index, with a mask in a second array: an operator that is not
/// commutative and uses the index.
#[derive(Clone, Copy, Debug, Value)]
pub struct LastValid;

/// A value, if there is one, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Found {
    pub index: u64,
    pub value: i64,
}

impl Op<(i64, u8)> for LastValid {
    type Acc = Found;
    type Output = Option<Found>;
    const COMMUTATIVE: bool = false;

    fn identity(&self) -> Found {
        Found {
            index: u64::MAX,
            value: 0,
        }
    }

    fn lift(&self, (value, valid): (i64, u8), index: u64) -> Found {
        match valid {
            0 => self.identity(),
            _ => Found { index, value },
        }
    }

    fn combine(&self, a: Found, b: Found) -> Found {
        if b.index == u64::MAX { a } else { b }
    }

    fn offset(&self, acc: Found, by: u64) -> Found {
        match acc.index {
            u64::MAX => acc,
            index => Found {
                index: index + by,
                ..acc
            },
        }
    }

    fn finish(&self, acc: Found) -> Option<Found> {
        (acc.index != u64::MAX).then_some(acc)
    }
}

kernels! {
    /// The kernels of this crate.
    pub static KERNELS:
    single_pass {
        Sum: Complex;
        SquaresAbout: f32;
        BoundingBox: Point;
        Best: Scored;
        MatProduct: Mat2;
        Dot3: (f32, f32, f32);
        Histogram: u8;
        LastValid: (i64, u8);
        LogSumExp: f32;
    }
    segments {
        SquaresAbout: f32;
    }
}
