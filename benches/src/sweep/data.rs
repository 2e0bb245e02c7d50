//! The elements of whole-array reductions, and their expected answers.
//!
//! All answers are exact, so that a missing element is detected. Integers wrap. Floats are odd multiples of
//! 1/128 (`f64`: multiples of 2^-31) from -1 to 1, whose sums are exact in every order of additions.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kernels_gpu::element::{Element, bf16, f16, name_of};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use tempfile::NamedTempFile;
use warpfold::file::read_npy;

use super::answers::Answer;
use super::options::Op;
use super::rounds::Verdict;

/// Elements per random generator. Each chunk has its own generator, so that chunks are drawn in parallel and
/// a seed gives the same elements on every machine.
pub const CHUNK: usize = 1 << 18;

/// The maximum number of additions from an element to the sum: some in its thread, then one per level.
pub const TREE: f64 = 96.0;

/// An element type of whole-array reductions.
pub trait Number: kernels_gpu::element::Number {
    /// Makes an element of random bits.
    fn draw(bits: u64) -> Self;

    /// The sum, as the library defines it for the type.
    fn sum(values: &[Self]) -> Self;

    /// The sum by a plain loop.
    fn naive_sum(values: &[Self]) -> Self;

    /// Whether `self < other`; neither is a NaN.
    fn is_below(self, other: Self) -> bool;

    fn is_zero(self) -> bool;

    /// Whether it is a NaN; false for integers.
    fn is_nan(self) -> bool;

    /// The maximum rounding error of the sum, by any tree of additions.
    fn rounding_error(values: &[Self]) -> f64;

    /// The absolute difference; infinite for integers that differ.
    fn distance(self, other: Self) -> f64;

    /// The sum of the products in 64 bits, and the sum of their magnitudes, 0 for integers.
    fn dot(a: &[Self], b: &[Self]) -> (Answer<Self>, f64);

    /// The sum of the products by a plain loop.
    fn naive_dot(a: &[Self], b: &[Self]) -> Answer<Self>;

    /// The relative precision: one unit in the last place; 0 for integers.
    const PRECISION: f64;

    /// Whether the type has negative values.
    const IS_SIGNED: bool;

    /// Appends its bytes.
    fn append(self, bytes: &mut Vec<u8>);

    /// Parses the text of another library; wraps wider integers.
    fn parse(text: &str) -> Option<Self>;

    /// A value below, and one above, all drawn values; for types with few values, where many elements are equal.
    const BEYOND: Option<(Self, Self)>;
}

/// The wrapping sum of the products of two slices of integers.
macro_rules! products {
    ($wide:ident $a:ident $b:ident) => {{
        let pairs = $a.iter().zip($b);
        let products = pairs.map(|(a, b)| (*a as $wide).wrapping_mul(*b as $wide));
        products.fold(0, $wide::wrapping_add)
    }};
}

macro_rules! integers {
    ($($integer:ident in $wide:ident)*) => { $(
        impl Number for $integer {
            fn draw(bits: u64) -> Self {
                bits as Self
            }

            fn sum(values: &[Self]) -> Self {
                let chunks = values.par_chunks(CHUNK);
                let sums = chunks.map(|chunk| chunk.iter().fold(0, |sum: Self, x| sum.wrapping_add(*x)));
                sums.reduce(|| 0, Self::wrapping_add)
            }

            fn naive_sum(values: &[Self]) -> Self {
                values.iter().fold(0, |sum: Self, x| sum.wrapping_add(*x))
            }

            fn is_below(self, other: Self) -> bool {
                self < other
            }

            fn is_zero(self) -> bool {
                self == 0
            }

            fn is_nan(self) -> bool {
                false
            }

            fn rounding_error(_: &[Self]) -> f64 {
                0.0
            }

            fn distance(self, other: Self) -> f64 {
                if self == other { 0.0 } else { f64::INFINITY }
            }

            fn dot(a: &[Self], b: &[Self]) -> (Answer<Self>, f64) {
                let chunks = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
                let sums = chunks.map(|(a, b)| products!($wide a b));
                let sum = sums.reduce(|| 0, $wide::wrapping_add);
                (Answer::Integer(sum.into()), 0.0)
            }

            fn naive_dot(a: &[Self], b: &[Self]) -> Answer<Self> {
                Answer::Integer(products!($wide a b).into())
            }

            const PRECISION: f64 = 0.0;
            const IS_SIGNED: bool = $integer::MIN != 0;

            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }

            fn parse(text: &str) -> Option<Self> {
                Some(text.parse::<i128>().ok()? as Self)
            }

            const BEYOND: Option<(Self, Self)> = None;
        }
    )* };
}

integers!(i8 in i64 i16 in i64 i32 in i64 i64 in i64 u8 in u64 u16 in u64 u32 in u64 u64 in u64);

macro_rules! floats {
    ($($float:ident $precision:expr, $draw:expr, $to:expr, $from:expr, $widen:expr, $round:expr,
        $beyond:expr;)*) => { $(
        impl Number for $float {
            fn draw(bits: u64) -> Self {
                $draw(bits)
            }

            fn sum(values: &[Self]) -> Self {
                let chunks = values.par_chunks(CHUNK);
                let sums = chunks.map(|chunk| chunk.iter().map(|x| $to(*x)).sum::<f64>());
                $from(sums.sum())
            }

            fn naive_sum(values: &[Self]) -> Self {
                $round(values.iter().fold(0.0, |sum, x| sum + $widen(*x)))
            }

            fn is_below(self, other: Self) -> bool {
                self < other
            }

            fn is_zero(self) -> bool {
                $to(self) == 0.0
            }

            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }

            fn rounding_error(values: &[Self]) -> f64 {
                let magnitudes = values.par_chunks(CHUNK);
                let magnitude: f64 = magnitudes
                    .map(|chunk| chunk.iter().map(|x| $to(*x).abs()).sum::<f64>())
                    .sum();
                // Additions round in the element type or in f32; the result is rounded to the element type.
                let epsilon = $to($float::EPSILON);
                TREE * epsilon.min(f64::from(f32::EPSILON)) * magnitude + epsilon * magnitude
            }

            fn distance(self, other: Self) -> f64 {
                ($to(self) - $to(other)).abs()
            }

            fn dot(a: &[Self], b: &[Self]) -> (Answer<Self>, f64) {
                let products = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| {
                    let products = a.iter().zip(b).map(|(a, b)| $to(*a) * $to(*b));
                    products.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()))
                });
                let (sum, all): (f64, f64) = products.reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                (Answer::Float(sum), all)
            }

            fn naive_dot(a: &[Self], b: &[Self]) -> Answer<Self> {
                Answer::Float(a.iter().zip(b).map(|(a, b)| $to(*a) * $to(*b)).sum())
            }

            const PRECISION: f64 = $precision;
            const IS_SIGNED: bool = true;

            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }

            fn parse(text: &str) -> Option<Self> {
                Some($from(text.parse().ok()?))
            }

            const BEYOND: Option<(Self, Self)> = $beyond;
        }
    )* };
}

/// One of the 128 odd multiples of 1/128 from -1 to 1. Their mean is zero: the sum of 2^32 of them is about
/// 2^22/128, and an `f32` is exact up to 2^24/128.
pub fn in_128ths(bits: u64) -> f32 {
    f32::from((bits as i8) | 1) / 128.0
}

floats! {
    f16 1.0 / 1024.0, |bits| f16::from_f32(in_128ths(bits)), f64::from, f16::from_f64,
        f32::from, f16::from_f32, Some((f16::from_f32_const(-2.0), f16::from_f32_const(2.0)));
    bf16 1.0 / 128.0, |bits| bf16::from_f32(in_128ths(bits)), f64::from, bf16::from_f64,
        f32::from, bf16::from_f32, Some((bf16::from_f32_const(-2.0), bf16::from_f32_const(2.0)));
    f32 f32::EPSILON as f64, in_128ths, f64::from, |sum: f64| sum as f32, |x| x, |sum| sum, Some((-2.0, 2.0));
    f64 f64::EPSILON, |bits| f64::from(bits as i32) / 2f64.powi(31), |x| x, |sum| sum, |x| x, |sum| sum, None;
}

/// `n` elements drawn from `seed`.
pub fn draw<T: Number>(n: usize, seed: u64) -> Result<Vec<T>> {
    draw_by(n, seed, T::draw)
}

/// `n` elements, each made from random bits that are drawn from `seed`.
pub fn draw_by<T: Element>(
    n: usize,
    seed: u64,
    make: impl Fn(u64) -> T + Copy + Send + Sync,
) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(n).with_context(|| {
        let bytes = n.saturating_mul(size_of::<T>());
        format!(
            "no host memory for {n} elements of {} ({bytes} bytes)",
            name_of::<T>()
        )
    })?;
    let chunks = (0..n.div_ceil(CHUNK)).into_par_iter();
    values.par_extend(chunks.flat_map_iter(|chunk| {
        let mut rng = SmallRng::seed_from_u64(seed.wrapping_add((chunk as u64) << 32));
        (0..CHUNK.min(n - chunk * CHUNK)).map(move |_| make(rng.next_u64()))
    }));
    Ok(values)
}

/// Writes the elements' bytes to a temporary file.
pub fn file<T: Number>(values: &[T]) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new().context("cannot create a temporary file")?;
    let mut bytes = Vec::new();
    for chunk in values.chunks(CHUNK) {
        bytes.clear();
        chunk.iter().for_each(|value| value.append(&mut bytes));
        file.write_all(&bytes)
            .context("cannot write a temporary file")?;
    }
    Ok(file)
}

/// `n` elements: from the file if there is one, otherwise drawn.
pub fn elements<T: Number>(file: Option<&Path>, n: usize, seed: u64) -> Result<Vec<T>> {
    let Some(file) = file else {
        return draw(n, seed);
    };
    let mut values: Vec<T> = read_npy(file)?;
    values.truncate(n);
    Ok(values)
}

/// Refuses a NaN, and only zeros: wrong answers would not be detected. Zeros also make some GPUs faster.
pub fn refuse_useless<T: Number>(values: &[T]) -> Result<()> {
    ensure!(
        !values.par_iter().any(|value| value.is_nan()),
        "at least one element is a NaN; no answer can be compared with it"
    );
    let zeros = values.par_iter().all(|value| value.is_zero());
    ensure!(
        !zeros,
        "all {} elements are zero; a kernel that does nothing would not be detected",
        values.len()
    );
    Ok(())
}

/// The expected result of a reduction, and its tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Expected<T> {
    pub value: T,
    /// Zero for drawn elements.
    pub tolerance: f64,
}

impl<T> Expected<T> {
    /// An expected result without tolerance.
    pub fn exactly(value: T) -> Self {
        Self {
            value,
            tolerance: 0.0,
        }
    }
}

/// The expected result for these elements, which were drawn or read from a file; `None` for empty input. Only
/// sums of floats from a file have a tolerance.
pub fn expected<T: Number>(values: &[T], op: Op, is_from_file: bool) -> Option<Expected<T>> {
    let value = extreme_or_sum(values, op)?;
    let tolerance = match op {
        Op::Sum if is_from_file => T::rounding_error(values),
        _ => 0.0,
    };
    Some(Expected { value, tolerance })
}

fn extreme_or_sum<T: Number>(values: &[T], op: Op) -> Option<T> {
    let first = |a: T, b: T, wins: fn(T, T) -> bool| if wins(b, a) { b } else { a };
    let all = values.par_iter().copied();
    match op {
        Op::Sum => Some(T::sum(values)),
        Op::Min => all.reduce_with(|a, b| first(a, b, |b, a| b.is_below(a))),
        Op::Max => all.reduce_with(|a, b| first(a, b, |b, a| a.is_below(b))),
    }
}

/// The result of a plain loop on one core.
pub fn naive<T: Number>(values: &[T], op: Op) -> T {
    match op {
        Op::Sum => T::naive_sum(values),
        _ => naive_extreme(values, op).1,
    }
}

/// The first index of the extreme, and the extreme, by a plain loop.
pub fn naive_extreme<T: Number>(values: &[T], op: Op) -> (usize, T) {
    let wins = |a: T, b: T| match op {
        Op::Min => b.is_below(a),
        _ => a.is_below(b),
    };
    let mut best = (0, values.first().copied().unwrap_or(T::naive_sum(&[])));
    for (index, value) in values.iter().copied().enumerate() {
        if wins(best.1, value) {
            best = (index, value);
        }
    }
    best
}

/// For types with few values, overwrites one element with a unique extreme, so that a kernel that skips this
/// element is detected. Returns the index and the previous value.
pub fn plant<T: Number>(values: &mut [T], op: Op, seed: u64) -> Option<(usize, T)> {
    let extreme = match (op, T::BEYOND) {
        (Op::Min, Some((below, _))) => below,
        (Op::Max, Some((_, above))) => above,
        _ => return None,
    };
    // A random index, different for every size.
    let bits = SmallRng::seed_from_u64(seed ^ values.len() as u64).next_u64();
    let index = ((u128::from(bits) * values.len() as u128) >> 64) as usize;
    let element = values.get_mut(index)?;
    Some((index, std::mem::replace(element, extreme)))
}

/// Compares a result with the expected one; a NaN is never right.
pub fn check<T: Number>(got: impl Into<Option<T>>, expected: Expected<T>) -> Verdict {
    let Expected { value, tolerance } = expected;
    let Some(got) = got.into() else {
        return Err(("None".into(), format!("{value:?}")));
    };
    match got == value || got.distance(value) <= tolerance {
        true => Ok(()),
        false => Err((format!("{got:?}"), format!("{value:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_elements_for_every_n() {
        let long = draw::<i32>(3 * CHUNK + 5, 7).unwrap();
        let short = draw::<i32>(CHUNK + 9, 7).unwrap();
        assert_eq!(long.len(), 3 * CHUNK + 5);
        assert_eq!(long[..short.len()], short);
        assert_ne!(draw::<i32>(100, 8).unwrap(), long[..100]);
        assert_ne!(long[..100], long[CHUNK..CHUNK + 100], "chunks differ");
    }

    #[test]
    fn sums_of_floats_are_exact_in_any_order() {
        let values = draw::<f32>(1 << 20, 3).unwrap();
        let forward = values.iter().fold(0.0, |sum, x| sum + x);
        let backward = values.iter().rev().fold(0.0, |sum, x| sum + x);
        assert_eq!((forward, forward), (backward, f32::sum(&values)));
        let values = draw::<f64>(1 << 20, 3).unwrap();
        let backward = values.iter().rev().fold(0.0, |sum, x| sum + x);
        assert_eq!(backward, f64::sum(&values));
    }

    #[test]
    fn naive_answers() {
        let values = [3i8, -7, 100, 100];
        let of = |op| expected(&values, op, false).unwrap().value;
        assert_eq!((of(Op::Sum), of(Op::Min), of(Op::Max)), (-60, -7, 100));
        assert!(expected::<f32>(&[], Op::Min, false).is_none());
        for op in [Op::Sum, Op::Min, Op::Max] {
            assert_eq!(naive(&values, op), of(op));
        }
    }

    #[test]
    fn a_missing_element_and_a_nan_are_wrong() {
        let values = draw::<f32>(1 << 16, 5).unwrap();
        let sum = f32::sum(&values);
        let one = values.iter().find(|x| **x != 0.0).unwrap();
        let sum = Expected::exactly(sum);
        assert!(check(sum.value, sum).is_ok());
        assert!(check(sum.value - one, sum).is_err());
        assert!(check(f32::NAN, sum).is_err());
    }

    #[test]
    fn sums_of_floats_from_a_file_have_a_small_tolerance() {
        let values = vec![0.1f32; 1000];
        let sum = expected(&values, Op::Sum, true).unwrap();
        let rounded = values.iter().fold(0.0, |sum, x| sum + x);
        assert!(rounded != sum.value && check(rounded, sum).is_ok());
        assert!(check(sum.value + 0.1, sum).is_err());
        assert!(check(f32::NAN, sum).is_err());
        assert!(check(1, expected(&[2, 0], Op::Sum, true).unwrap()).is_err());
    }

    #[test]
    fn parsed_texts_are_wrapped_and_rounded() {
        assert_eq!(i32::parse("4294967295"), Some(-1));
        assert_eq!(u8::parse("-1"), Some(255));
        assert_eq!(f32::parse("0.1"), Some(0.1));
        assert_eq!(i32::parse("1.5"), None);
        assert!(f64::parse("nan").is_some_and(f64::is_nan));
        let mut bytes = vec![9];
        (-2i16).append(&mut bytes);
        assert_eq!(bytes[1..], (-2i16).to_ne_bytes());
    }

    #[test]
    fn zeros_and_nans_are_refused() {
        assert!(refuse_useless(&[0.0f32, -0.0]).is_err());
        assert!(refuse_useless(&[0i32, 1]).is_ok());
        let error = refuse_useless(&[0u8; 3]).unwrap_err().to_string();
        assert!(error.starts_with("all 3 elements are zero"), "{error}");
        assert!(refuse_useless(&[1.0, f64::NAN]).is_err());
    }

    #[test]
    fn too_many_elements_are_an_error() {
        let error = draw::<i32>(usize::MAX / 8, 1).unwrap_err();
        assert!(error.to_string().contains("no host memory"), "{error}");
    }
}
