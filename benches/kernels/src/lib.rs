//! Operators and elements of a crate of its own, which the suite `operators` measures beside CUB with the
//! same functors: `peers/functors.cu` has them in CUDA C++.

#![no_std]

use kernels_gpu::prelude::*;

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Complex {
    /// The real part.
    pub re: f32,
    /// The imaginary part.
    pub im: f32,
}

/// The library's operator over an element of this crate.
impl Op<Complex> for Sum {
    type Acc = Complex;
    type Output = Complex;

    #[inline(always)]
    fn identity(&self) -> Complex {
        Complex { re: -0.0, im: -0.0 }
    }

    #[inline(always)]
    fn lift(&self, x: Complex, _index: u64) -> Complex {
        x
    }

    #[inline(always)]
    fn combine(&self, a: Complex, b: Complex) -> Complex {
        Complex {
            re: a.re + b.re,
            im: a.im + b.im,
        }
    }

    #[inline(always)]
    fn finish(&self, acc: Complex) -> Complex {
        acc
    }
}

/// The sum of the squared distances from a value: an operator that holds something.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct SquaresAbout {
    /// The value.
    pub centre: f32,
}

impl Op<f32> for SquaresAbout {
    type Acc = f32;
    type Output = f32;

    #[inline(always)]
    fn identity(&self) -> f32 {
        0.0
    }

    #[inline(always)]
    fn lift(&self, x: f32, _index: u64) -> f32 {
        (x - self.centre) * (x - self.centre)
    }

    #[inline(always)]
    fn combine(&self, a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn finish(&self, acc: f32) -> f32 {
        acc
    }
}

/// A point in space: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point {
    /// The first coordinate.
    pub x: f32,
    /// The second coordinate.
    pub y: f32,
    /// The third coordinate.
    pub z: f32,
}

/// An axis-aligned box: the smallest and the largest of each coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Box3 {
    /// The smallest coordinates.
    pub min: Point,
    /// The largest coordinates.
    pub max: Point,
}

/// The bounding box of points; for empty input, a box whose minima are above its maxima. A coordinate that
/// is NaN is ignored, as by `fminf` and `fmaxf`.
#[derive(Clone, Copy, Debug, Value)]
pub struct BoundingBox;

impl Op<Point> for BoundingBox {
    type Acc = Box3;
    type Output = Box3;

    #[inline(always)]
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

    #[inline(always)]
    fn lift(&self, point: Point, _index: u64) -> Box3 {
        Box3 {
            min: point,
            max: point,
        }
    }

    #[inline(always)]
    fn combine(&self, a: Box3, b: Box3) -> Box3 {
        Box3 {
            min: Point {
                x: a.min.x.min(b.min.x),
                y: a.min.y.min(b.min.y),
                z: a.min.z.min(b.min.z),
            },
            max: Point {
                x: a.max.x.max(b.max.x),
                y: a.max.y.max(b.max.y),
                z: a.max.z.max(b.max.z),
            },
        }
    }

    #[inline(always)]
    fn finish(&self, acc: Box3) -> Box3 {
        acc
    }
}

/// A candidate with its score.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Scored {
    /// The larger, the better.
    pub score: f32,
    /// The candidate.
    pub id: u32,
}

/// The pair with the largest score; of equal scores, the one with the smallest id.
///
/// A NaN score loses to every other pair: a comparison with it is false, and `lift` replaces it by the
/// identity. For empty input, and where all scores are NaN: a score of minus infinity with the id
/// [`u32::MAX`].
#[derive(Clone, Copy, Debug, Value)]
pub struct Best;

impl Op<Scored> for Best {
    type Acc = Scored;
    type Output = Scored;

    #[inline(always)]
    fn identity(&self) -> Scored {
        Scored {
            score: f32::NEG_INFINITY,
            id: u32::MAX,
        }
    }

    #[inline(always)]
    fn lift(&self, pair: Scored, _index: u64) -> Scored {
        if pair.score.is_nan() {
            return self.identity();
        }
        pair
    }

    #[inline(always)]
    fn combine(&self, a: Scored, b: Scored) -> Scored {
        let b_wins = b.score > a.score || (b.score == a.score && b.id < a.id);
        if b_wins { b } else { a }
    }

    #[inline(always)]
    fn finish(&self, acc: Scored) -> Scored {
        acc
    }
}

/// A matrix of two rows and two columns, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Mat2 {
    /// The rows.
    pub rows: [[f32; 2]; 2],
}

/// The product of matrices in their order.
#[derive(Clone, Copy, Debug, Value)]
pub struct MatProduct;

impl Op<Mat2> for MatProduct {
    type Acc = Mat2;
    type Output = Mat2;
    const COMMUTATIVE: bool = false;

    #[inline(always)]
    fn identity(&self) -> Mat2 {
        Mat2 {
            rows: [[1.0, 0.0], [0.0, 1.0]],
        }
    }

    #[inline(always)]
    fn lift(&self, matrix: Mat2, _index: u64) -> Mat2 {
        matrix
    }

    #[inline(always)]
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

    #[inline(always)]
    fn finish(&self, acc: Mat2) -> Mat2 {
        acc
    }
}

/// The sum of the products of three arrays: each product and the sum in `f64`.
#[derive(Clone, Copy, Debug, Value)]
pub struct Dot3;

impl Op<(f32, f32, f32)> for Dot3 {
    type Acc = f64;
    type Output = f64;

    #[inline(always)]
    fn identity(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn lift(&self, (x, y, z): (f32, f32, f32), _index: u64) -> f64 {
        f64::from(x) * f64::from(y) * f64::from(z)
    }

    #[inline(always)]
    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline(always)]
    fn finish(&self, acc: f64) -> f64 {
        acc
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
    }
}
