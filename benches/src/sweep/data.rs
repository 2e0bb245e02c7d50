//! The elements of whole-array reductions, and what naive loops make of them.
//!
//! All answers are exact, so that one element left out is found: integers wrap, and the floats are
//! odd multiples of 1/128 (`f64`: multiples of 2^-31) from -1 to 1, whose sums and partial sums no order
//! of additions rounds.

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

/// Elements drawn from one generator; each chunk has its own, so that chunks are drawn in parallel
/// and the same seed gives the same elements on every machine.
pub const CHUNK: usize = 1 << 18;

/// Additions that an element goes through, at most: some in its thread, and one for each level above.
pub const TREE: f64 = 96.0;

/// An element type of whole-array reductions.
pub trait Number: kernels_gpu::element::Number {
    /// An element of these random bits.
    fn draw(bits: u64) -> Self;

    /// The sum of all, as the library defines it for the type.
    fn sum(values: &[Self]) -> Self;

    /// The same by a loop that anyone would write.
    fn naive_sum(values: &[Self]) -> Self;

    /// Whether this is below the other: no NaN is among the elements.
    fn is_below(self, other: Self) -> bool;

    /// Whether it is zero.
    fn is_zero(self) -> bool;

    /// Whether it is no number, by which nothing can be compared.
    fn is_nan(self) -> bool;

    /// How far a sum of these may be off, by the roundings of any tree of additions.
    fn roundings(values: &[Self]) -> f64;

    /// How far it is from the other.
    fn distance(self, other: Self) -> f64;

    /// The sum of the products in 64 bits, and that of their magnitudes, which is 0 of integers.
    fn dot(a: &[Self], b: &[Self]) -> (Answer<Self>, f64);

    /// The sum of the products by a loop that anyone would write.
    fn naive_dot(a: &[Self], b: &[Self]) -> Answer<Self>;

    /// What a float of this size may be off, as a part of it: half a unit in the last place, twice; 0 of integers.
    const PRECISION: f64;

    /// Whether there are values below zero.
    const IS_SIGNED: bool;

    /// Its bytes, behind others.
    fn append(self, bytes: &mut Vec<u8>);

    /// What another library writes: a wider integer is wrapped.
    fn parse(text: &str) -> Option<Self>;

    /// One that is below all that are drawn, and one above them, where many of those are alike.
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

            fn roundings(_: &[Self]) -> f64 {
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
    ($($float:ident $precision:expr, $draw:expr, $to:expr, $from:expr, $widen:expr, $round:expr, $beyond:expr;)*) => { $(
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

            fn roundings(values: &[Self]) -> f64 {
                let magnitudes = values.par_chunks(CHUNK);
                let magnitude: f64 = magnitudes
                    .map(|chunk| chunk.iter().map(|x| $to(*x).abs()).sum::<f64>())
                    .sum();
                // Of the additions, in their own type or in f32, and of the result.
                let last = $to($float::EPSILON);
                TREE * last.min(f64::from(f32::EPSILON)) * magnitude + last * magnitude
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

/// One of the 128 odd multiples of 1/128 from -1 to 1. Their mean is zero: of 2^32 of them the sum is
/// some 2^22 units, and an `f32` holds 2^24.
pub fn in_128ths(bits: u64) -> f32 {
    f32::from((bits as i8) | 1) / 128.0
}

floats! {
    f16 1.0 / 1024.0, |bits| f16::from_f32(in_128ths(bits)), f64::from, f16::from_f64, f32::from, f16::from_f32,
        Some((f16::from_f32_const(-2.0), f16::from_f32_const(2.0)));
    bf16 1.0 / 128.0, |bits| bf16::from_f32(in_128ths(bits)), f64::from, bf16::from_f64, f32::from, bf16::from_f32,
        Some((bf16::from_f32_const(-2.0), bf16::from_f32_const(2.0)));
    f32 f32::EPSILON as f64, in_128ths, f64::from, |sum: f64| sum as f32, |x| x, |sum| sum, Some((-2.0, 2.0));
    f64 f64::EPSILON, |bits| f64::from(bits as i32) / 2f64.powi(31), |x| x, |sum| sum, |x| x, |sum| sum, None;
}

/// `n` elements drawn from `seed`.
pub fn draw<T: Number>(n: usize, seed: u64) -> Result<Vec<T>> {
    draw_by(n, seed, T::draw)
}

/// `n` elements, each made of random bits that are drawn from `seed`.
pub fn draw_by<T: Element>(
    n: usize,
    seed: u64,
    of: impl Fn(u64) -> T + Copy + Send + Sync,
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
        (0..CHUNK.min(n - chunk * CHUNK)).map(move |_| of(rng.next_u64()))
    }));
    Ok(values)
}

/// The elements as a file of their bytes.
pub fn file<T: Number>(values: &[T]) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new().context("cannot make a temporary file")?;
    let mut bytes = Vec::new();
    for chunk in values.chunks(CHUNK) {
        bytes.clear();
        chunk.iter().for_each(|value| value.append(&mut bytes));
        file.write_all(&bytes)
            .context("cannot write a temporary file")?;
    }
    Ok(file)
}

/// `n` elements: of the file, if there is one, otherwise drawn.
pub fn elements<T: Number>(file: Option<&Path>, n: usize, seed: u64) -> Result<Vec<T>> {
    let Some(file) = file else {
        return draw(n, seed);
    };
    let mut values: Vec<T> = read_npy(file)?;
    values.truncate(n);
    Ok(values)
}

/// Refuses elements by which a wrong answer would not be found, and which some hardware is faster on.
pub fn refuse_useless<T: Number>(values: &[T]) -> Result<()> {
    ensure!(
        !values.par_iter().any(|value| value.is_nan()),
        "there is a NaN among the elements: no answer can be compared with one"
    );
    let zeros = values.par_iter().all(|value| value.is_zero());
    ensure!(
        !zeros,
        "all {} elements are zero: nothing could tell a right answer from a kernel that does nothing",
        values.len()
    );
    Ok(())
}

/// What the reduction of an array gives, and how far an answer may be off.
#[derive(Clone, Copy, Debug)]
pub struct Expected<T> {
    pub value: T,
    /// Zero for elements that are drawn here.
    pub within: f64,
}

impl<T> Expected<T> {
    /// No other answer is right.
    pub fn exactly(value: T) -> Self {
        Self { value, within: 0.0 }
    }
}

/// What the reduction of these elements gives, which are drawn here or `foreign`: sums of foreign floats are
/// rounded.
pub fn expected<T: Number>(values: &[T], op: Op, foreign: bool) -> Option<Expected<T>> {
    let value = extreme_or_sum(values, op)?;
    let within = match op {
        Op::Sum if foreign => T::roundings(values),
        _ => 0.0,
    };
    Some(Expected { value, within })
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

/// What a loop that anyone would write gives of them, on one core.
pub fn naive<T: Number>(values: &[T], op: Op) -> T {
    match op {
        Op::Sum => T::naive_sum(values),
        _ => naive_extreme(values, op).1,
    }
}

/// The first index of the extreme, and the extreme, by such a loop.
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

/// Where many elements are alike, the extreme that is looked for is made the only one of its kind, so that a
/// kernel which skips its place is found out. What was there, and where.
pub fn plant<T: Number>(values: &mut [T], op: Op, seed: u64) -> Option<(usize, T)> {
    let extreme = match (op, T::BEYOND) {
        (Op::Min, Some((below, _))) => below,
        (Op::Max, Some((_, above))) => above,
        _ => return None,
    };
    // Anywhere, and elsewhere for every size.
    let at = SmallRng::seed_from_u64(seed ^ values.len() as u64).next_u64();
    let at = ((u128::from(at) * values.len() as u128) >> 64) as usize;
    let place = values.get_mut(at)?;
    Some((at, std::mem::replace(place, extreme)))
}

/// Compares what came out with what should have; a NaN is never right. A result of some elements may be an
/// `Option`.
pub fn check<T: Number>(got: impl Into<Option<T>>, expected: Expected<T>) -> Verdict {
    let Expected { value, within } = expected;
    let Some(got) = got.into() else {
        return Err(("None".into(), format!("{value:?}")));
    };
    match got == value || got.distance(value) <= within {
        true => Ok(()),
        false => Err((format!("{got:?}"), format!("{value:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_elements_whatever_n() {
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
    fn one_element_left_out_is_wrong_and_so_is_nan() {
        let values = draw::<f32>(1 << 16, 5).unwrap();
        let sum = f32::sum(&values);
        let one = values.iter().find(|x| **x != 0.0).unwrap();
        let sum = Expected::exactly(sum);
        assert!(check(sum.value, sum).is_ok());
        assert!(check(sum.value - one, sum).is_err());
        assert!(check(f32::NAN, sum).is_err());
    }

    #[test]
    fn sums_of_foreign_floats_may_be_rounded_and_no_more() {
        let values = vec![0.1f32; 1000];
        let sum = expected(&values, Op::Sum, true).unwrap();
        let rounded = values.iter().fold(0.0, |sum, x| sum + x);
        assert!(rounded != sum.value && check(rounded, sum).is_ok());
        assert!(check(sum.value + 0.1, sum).is_err());
        assert!(check(f32::NAN, sum).is_err());
        assert!(check(1, expected(&[2, 0], Op::Sum, true).unwrap()).is_err());
    }

    #[test]
    fn answers_of_others_are_wrapped_and_rounded() {
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
    fn memory_that_cannot_be_had_is_an_error() {
        let error = draw::<i32>(usize::MAX / 8, 1).unwrap_err();
        assert!(error.to_string().contains("no host memory"), "{error}");
    }
}
