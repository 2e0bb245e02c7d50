//! The operators with their elements and expected answers, which are exact except for log-sum-exp.

use std::cmp::Reverse;
use std::fmt::Debug;

use anyhow::{Context, Result, ensure};
use outside_kernels as kernels;
use outside_kernels::{Box3, Complex, Mat2, Point, ScaledSum, Scored};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use warpfold::{Element, Op, SinglePass, Sum};
use warpfold_results::schema::By;

use super::arrays::{Arrays, BuffersOf, ItemsOf};
use crate::sweep::data::{draw, draw_by, in_128ths};

/// All integers up to this are exact in `f32`.
const EXACT: i64 = 1 << 24;

/// The output of a case's operator.
pub type OutputOf<C> = <<C as Case>::Op as Op<ItemsOf<C>>>::Output;

/// An operator with its data.
pub trait Case {
    /// The arrays of items.
    type Arrays: Arrays;

    /// The accumulator.
    type Acc: Element + PartialEq + Debug;

    /// The operator.
    type Op: SinglePass<ItemsOf<Self>, Acc = Self::Acc, Output: PartialEq + Debug>;

    const OP: Self::Op;

    /// CUB's function; `None` if CUB does not support the operator.
    const CUB: Option<&'static str>;

    /// Whether CUB also has rows with elements aligned to their size, so that one load reads an element.
    const HAS_ALIGNED: bool = false;

    /// The operator's parameter, for the peer.
    const PARAMETER: f32 = 0.0;

    /// `n` items drawn from `seed`.
    fn draw(n: usize, seed: u64) -> Result<Self::Arrays>;

    /// If several of the first `n` items may give the answer, overwrites single items such that only these
    /// give it; then a kernel that skips one is wrong. `rank` is the index of the size, from the smallest.
    fn plant(
        arrays: &mut Self::Arrays,
        buffers: &mut BuffersOf<Self>,
        n: usize,
        rank: usize,
        seed: u64,
    ) -> Result<()> {
        let _ = (arrays, buffers, n, rank, seed);
        Ok(())
    }

    /// The expected accumulator of the first `n` items.
    fn expected(arrays: &Self::Arrays, n: usize) -> Result<Self::Acc>;

    /// Whether a result is right: by default, whether it is equal. A NaN is never right.
    fn accepts(by: By, got: &OutputOf<Self>, expected: &OutputOf<Self>) -> bool {
        let _ = by;
        got == expected
    }
}

/// Random indices below `n`, distinct if `n >= K`.
fn indices<const K: usize>(n: usize, seed: u64) -> [usize; K] {
    let mut rng = SmallRng::seed_from_u64(seed ^ n as u64);
    let mut drawn = Vec::new();
    while drawn.len() < K {
        let index = ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
        if n < K || !drawn.contains(&index) {
            drawn.push(index);
        }
    }
    std::array::from_fn(|i| drawn[i])
}

/// A value above all drawn values, which are from -1 to 1, and above those planted for smaller sizes.
fn beyond(rank: usize) -> f32 {
    2.0 + rank as f32
}

/// The sum of complex numbers.
pub struct ComplexSum;

impl Case for ComplexSum {
    type Arrays = Vec<Complex>;
    type Acc = Complex;
    type Op = Sum;
    const OP: Sum = Sum;
    const CUB: Option<&'static str> = Some("DeviceReduce::Reduce");
    const HAS_ALIGNED: bool = true;

    fn draw(n: usize, seed: u64) -> Result<Vec<Complex>> {
        draw_by(n, seed, |bits| Complex {
            re: in_128ths(bits),
            im: in_128ths(bits >> 8),
        })
    }

    fn expected(arrays: &Vec<Complex>, n: usize) -> Result<Complex> {
        let parts = arrays[..n].par_iter();
        let parts = parts.map(|z| (f64::from(z.re), f64::from(z.im)));
        let (re, im) = parts.reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let fits = |sum: f64| sum.abs() * 128.0 <= EXACT as f64;
        ensure!(
            fits(re) && fits(im),
            "the sums of {n} elements are not exact in f32"
        );
        Ok(Complex {
            re: re as f32,
            im: im as f32,
        })
    }
}

/// The sum of squared distances.
pub struct SquaresAbout;

impl Case for SquaresAbout {
    type Arrays = Vec<f32>;
    type Acc = f32;
    type Op = kernels::SquaresAbout;
    const OP: Self::Op = kernels::SquaresAbout {
        centre: Self::PARAMETER,
    };
    const CUB: Option<&'static str> = Some("DeviceReduce::TransformReduce");
    const PARAMETER: f32 = 0.5;

    /// Elements at a distance of 0 or 1 from the centre; the larger `n`, the smaller the share at distance 1.
    fn draw(n: usize, seed: u64) -> Result<Vec<f32>> {
        let one_in = (n as u64 >> 23).next_power_of_two().max(2);
        draw_by(n, seed, move |bits| {
            let (sign, rest) = (bits & 1, bits >> 1);
            match (rest % one_in, sign) {
                (0, 0) => Self::PARAMETER - 1.0,
                (0, _) => Self::PARAMETER + 1.0,
                _ => Self::PARAMETER,
            }
        })
    }

    fn expected(arrays: &Vec<f32>, n: usize) -> Result<f32> {
        let squares = arrays[..n].par_iter();
        let squares = squares.map(|x| (f64::from(*x) - f64::from(Self::PARAMETER)).powi(2));
        let sum: f64 = squares.sum();
        ensure!(
            sum <= EXACT as f64,
            "the sum of {n} elements is not exact in f32"
        );
        Ok(sum as f32)
    }
}

/// The bounding box of points.
pub struct BoundingBox;

impl BoundingBox {
    /// From -1 to 1, in steps of 2^-20.
    fn coordinate(bits: u64) -> f32 {
        (bits % (1 << 21)) as f32 / (1 << 20) as f32 - 1.0
    }
}

impl Case for BoundingBox {
    type Arrays = Vec<Point>;
    type Acc = Box3;
    type Op = kernels::BoundingBox;
    const OP: Self::Op = kernels::BoundingBox;
    const CUB: Option<&'static str> = Some("DeviceReduce::TransformReduce");

    fn draw(n: usize, seed: u64) -> Result<Vec<Point>> {
        draw_by(n, seed, |bits| Point {
            x: Self::coordinate(bits),
            y: Self::coordinate(bits >> 21),
            z: Self::coordinate(bits >> 42),
        })
    }

    fn plant(
        points: &mut Vec<Point>,
        buffer: &mut BuffersOf<Self>,
        n: usize,
        rank: usize,
        seed: u64,
    ) -> Result<()> {
        for (side, at) in indices::<6>(n, seed).into_iter().enumerate() {
            let point = &mut points[at];
            let coordinate = match side % 3 {
                0 => &mut point.x,
                1 => &mut point.y,
                _ => &mut point.z,
            };
            *coordinate = if side < 3 {
                beyond(rank)
            } else {
                -beyond(rank)
            };
            buffer.write(at, &[*point])?;
        }
        Ok(())
    }

    fn expected(points: &Vec<Point>, n: usize) -> Result<Box3> {
        let of = |coordinate: fn(&Point) -> f32| {
            let all = points[..n].par_iter().map(coordinate);
            ensure!(!all.clone().any(f32::is_nan), "a coordinate is NaN");
            let min = all.clone().reduce_with(|a, b| if b < a { b } else { a });
            let max = all.reduce_with(|a, b| if b > a { b } else { a });
            min.zip(max).context("there are no points")
        };
        let (x, y, z) = (of(|p| p.x)?, of(|p| p.y)?, of(|p| p.z)?);
        let point = |x, y, z| Point { x, y, z };
        Ok(Box3 {
            min: point(x.0, y.0, z.0),
            max: point(x.1, y.1, z.1),
        })
    }
}

/// The pair with the largest score.
pub struct Best;

impl Case for Best {
    type Arrays = Vec<Scored>;
    type Acc = Scored;
    type Op = kernels::Best;
    const OP: Self::Op = kernels::Best;
    const CUB: Option<&'static str> = Some("DeviceReduce::TransformReduce");
    const HAS_ALIGNED: bool = true;

    fn draw(n: usize, seed: u64) -> Result<Vec<Scored>> {
        draw_by(n, seed, |bits| Scored {
            score: BoundingBox::coordinate(bits),
            id: (bits >> 32) as u32,
        })
    }

    /// Plants the largest score twice, with different ids; the smaller id is the answer.
    fn plant(
        pairs: &mut Vec<Scored>,
        buffer: &mut BuffersOf<Self>,
        n: usize,
        rank: usize,
        seed: u64,
    ) -> Result<()> {
        for (id, at) in (7..).zip(indices::<2>(n, seed)) {
            pairs[at] = Scored {
                score: beyond(rank),
                id,
            };
            buffer.write(at, &[pairs[at]])?;
        }
        Ok(())
    }

    /// Uses the total order, in which a NaN is above all numbers; no NaN is drawn.
    fn expected(pairs: &Vec<Scored>, n: usize) -> Result<Scored> {
        let pairs = pairs[..n].par_iter().copied();
        ensure!(
            !pairs.clone().any(|pair| pair.score.is_nan()),
            "a score is NaN"
        );
        let best = pairs.max_by(|a, b| {
            let scores = a.score.total_cmp(&b.score);
            scores.then(Reverse(a.id).cmp(&Reverse(b.id)))
        });
        best.context("there are no pairs")
    }
}

/// The ordered product of matrices.
pub struct MatProduct;

impl Case for MatProduct {
    type Arrays = Vec<Mat2>;
    type Acc = Mat2;
    type Op = kernels::MatProduct;
    const OP: Self::Op = kernels::MatProduct;
    const CUB: Option<&'static str> = None;

    /// `[[±1, k], [0, ±1]]` with an odd k from -7 to 7. Neighbours do not commute. The upper right entry of a
    /// product is a sum of terms k and -k, which grows as slowly as a random walk.
    fn draw(n: usize, seed: u64) -> Result<Vec<Mat2>> {
        draw_by(n, seed, |bits| {
            let sign = |bit: u64| if bit & 1 == 0 { 1.0 } else { -1.0 };
            let shear = (bits >> 2 & 7) as f32 * 2.0 - 7.0;
            Mat2 {
                rows: [[sign(bits), shear], [0.0, sign(bits >> 1)]],
            }
        })
    }

    /// Computed in integers.
    fn expected(matrices: &Vec<Mat2>, n: usize) -> Result<Mat2> {
        type Integers = [[i64; 2]; 2];
        let product = |a: Integers, b: Integers| {
            let entry = |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
            [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
        };
        let matrices = matrices[..n].par_iter();
        // rayon's `reduce` keeps the order.
        let all = matrices
            .map(|matrix| matrix.rows.map(|row| row.map(|x| x as i64)))
            .reduce(|| [[1, 0], [0, 1]], product);
        let fits = all.as_flattened().iter().all(|x| x.abs() <= EXACT);
        ensure!(fits, "the product of {n} matrices is not exact in f32");
        Ok(Mat2 {
            rows: all.map(|row| row.map(|x| x as f32)),
        })
    }
}

/// The sum of the products of three arrays.
pub struct Dot3;

impl Case for Dot3 {
    type Arrays = [Vec<f32>; 3];
    type Acc = f64;
    type Op = kernels::Dot3;
    const OP: Self::Op = kernels::Dot3;
    const CUB: Option<&'static str> = Some("DeviceReduce::TransformReduce");

    fn draw(n: usize, seed: u64) -> Result<[Vec<f32>; 3]> {
        // Distinct seeds: the seeds of chunks differ in their upper halves only.
        Ok([
            draw(n, seed)?,
            draw(n, seed.wrapping_add(1))?,
            draw(n, seed.wrapping_add(2))?,
        ])
    }

    fn expected([a, b, c]: &[Vec<f32>; 3], n: usize) -> Result<f64> {
        let triples = a[..n].par_iter().zip(&b[..n]).zip(&c[..n]);
        let products = triples.map(|((x, y), z)| f64::from(*x) * f64::from(*y) * f64::from(*z));
        Ok(products.sum())
    }
}

/// The logarithm of the sum of exponentials.
pub struct LogSumExp;

impl Case for LogSumExp {
    type Arrays = Vec<f32>;
    type Acc = ScaledSum;
    type Op = kernels::LogSumExp;
    const OP: Self::Op = kernels::LogSumExp;
    const CUB: Option<&'static str> = Some("DeviceReduce::TransformReduce");

    /// From -1 to 1.
    fn draw(n: usize, seed: u64) -> Result<Vec<f32>> {
        draw_by(n, seed, BoundingBox::coordinate)
    }

    /// Plants a number whose exponential is about as large as the sum of all others.
    fn plant(
        numbers: &mut Vec<f32>,
        buffer: &mut BuffersOf<Self>,
        n: usize,
        _rank: usize,
        seed: u64,
    ) -> Result<()> {
        let [at] = indices::<1>(n, seed);
        numbers[at] = (n as f32).ln();
        Ok(buffer.write(at, &[numbers[at]])?)
    }

    fn expected(numbers: &Vec<f32>, n: usize) -> Result<ScaledSum> {
        let numbers = numbers[..n].par_iter().copied();
        let max = numbers.clone().reduce_with(f32::max);
        let base = f64::from(max.context("there are no numbers")?);
        let sum = numbers.map(|x| (f64::from(x) - base).exp()).sum();
        Ok(ScaledSum { base, sum })
    }

    /// CUB's threads add their terms in `f32`, one after another, with a larger error.
    fn accepts(by: By, got: &f64, expected: &f64) -> bool {
        let tolerance = if by == By::Cub { 1e-4 } else { 1e-5 };
        (got - expected).abs() <= tolerance
    }
}
