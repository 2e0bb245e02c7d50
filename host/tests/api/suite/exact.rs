//! Levels of determinism, and exact sums, compared with sums of one item after another.

use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    Accumulator, Determinism, Device, Dot, Error, Float, Max, MeanVariance, Number, Product,
    ReducedBy, SinglePass, Sum, SumAbs, SumSquares, SumWide, bf16, f16,
};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("exact: sums of f16", sums::<f16>),
        Test::new("exact: sums of bf16", sums::<bf16>),
        Test::new("exact: sums of f32", sums::<f32>),
        Test::new("exact: sums of f64", sums::<f64>),
        Test::new("exact: chunks", chunks),
        Test::new("exact: means of integers", integers),
        Test::new("exact: what cannot be promised", refused),
        Test::new("exact: levels of reductions by key", by_key),
    ]
}

/// A float of random kinds.
trait Kinds: Float {
    const BITS: u32;

    fn from_bits(bits: u64) -> Self;
}

macro_rules! kinds {
    ($($float:ident as $bits:ident),*) => { $(
        impl Kinds for $float {
            const BITS: u32 = $bits::BITS;

            fn from_bits(bits: u64) -> Self {
                $float::from_bits(bits as $bits)
            }
        }
    )* };
}

kinds!(f16 as u16, bf16 as u16, f32 as u32, f64 as u64);

/// The kinds of data.
const KINDS: usize = 7;

/// Data of a kind: from 0 on, of similar magnitude; of all magnitudes; in pairs that cancel; subnormal; with NaN and
/// infinities; only -0.0; and of the smallest magnitudes whose products are not zero.
fn data<T: Kinds>(kind: usize, n: usize, random: &mut StdRng) -> Vec<T> {
    let significand = T::SIGNIFICAND - 1;
    let sign = 1 << (T::BITS - 1);
    let fraction = (1 << significand) - 1;
    let exponents = (sign - 1) >> significand;
    let float =
        |exponent: u64, bits: u64| T::from_bits(bits & (sign | fraction) | exponent << significand);
    let one = exponents / 2;
    let mut x: Vec<T> = (0..n)
        .map(|_| {
            let bits = random.random::<u64>();
            match kind {
                0 => float(one - random.random_range(0..8), bits),
                3 => float(0, bits),
                5 => T::from_bits(sign),
                6 => float(one / 2 - random.random_range(0..one / 2), bits),
                _ => float(random.random_range(0..exponents), bits),
            }
        })
        .collect();
    if kind == 2 {
        for i in 0..n / 2 {
            let bits = random.random_range(0..n / 2);
            x[n - 1 - i] = negative(x[i]);
            x.swap(i, bits);
        }
    }
    if kind == 4 && n > 0 {
        for _ in 0..random.random_range(1..4) {
            let special = [0, 1, 2][random.random_range(0..3)];
            let infinity = exponents << significand;
            let bits = [infinity, infinity | sign, infinity | 1 << (significand - 1)][special];
            x[random.random_range(0..n)] = T::from_bits(bits);
        }
    }
    x
}

fn negative<T: Kinds>(x: T) -> T {
    T::from_bits(bits(x) ^ 1 << (T::BITS - 1))
}

fn bits<T: Kinds>(x: T) -> u64 {
    // SAFETY: a float of this many bytes.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const x).cast::<u8>(), size_of::<T>()) };
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// The same bits, or both NaN.
fn same<T: Number>(got: T, right: T, what: &str) -> Result<(), Failed> {
    let (a, b) = (got.to_f64(), right.to_f64());
    match a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() {
        true => Ok(()),
        false => Err(format!("{what}: {got:?} instead of {right:?}").into()),
    }
}

fn sums<T>(device: &Device) -> Result<(), Failed>
where
    T: Kinds
        + ReducedBy<Sum, Output = T>
        + ReducedBy<SumWide, Output = f64>
        + ReducedBy<SumAbs, Output = f64>,
    Dot: SinglePass<(T, T), Output = f64>,
{
    let seed = rand::random();
    let mut random = StdRng::seed_from_u64(seed);
    let exact = device.determinism(Determinism::Exact);
    is(exact.level(), Determinism::Exact, "the level")?;
    let mut sizes = vec![1, 2, 31, 32, 33, 511, 512, 513, 1023, 1025];
    sizes.extend((0..4).map(|_| random.random_range(1..4000)));
    if device.info().is_some_and(|info| info.multiprocessors > 32) {
        sizes.extend([100_000, 1_000_003]);
    }
    for n in sizes {
        let kind = random.random_range(0..KINDS);
        let (start, other) = (random.random_range(0..32), random.random_range(0..32));
        let what = format!("{n} items of kind {kind} from {start} and {other}, seed {seed}");
        let memory = data::<T>(kind, n + 32, &mut random);
        let second = data::<T>(kind, n + 32, &mut random);
        let (x, y) = (&memory[start..start + n], &second[other..other + n]);
        let (on_device, on_device_y) = (device.upload(&memory)?, device.upload(&second)?);
        let view = on_device.view(start..start + n)?;
        let view_y = on_device_y.view(other..other + n)?;

        let mut sum = Accumulator::new();
        sum.add_all(x);
        is(device.reduce(view, Sum).accumulate()?, sum.clone(), &what)?;
        same(exact.sum(view)?, sum.sum(), &what)?;
        same(exact.sum_wide(view)?, sum.sum::<f64>(), &what)?;
        same(exact.mean(view)?.expect("a mean"), sum.mean::<f64>(), &what)?;

        let mut magnitudes = Accumulator::new();
        x.iter().for_each(|x| magnitudes.add_abs(*x));
        is(
            device.reduce(view, SumAbs).accumulate()?,
            magnitudes.clone(),
            &what,
        )?;
        same(exact.norm_l1(view)?, magnitudes.sum::<f64>(), &what)?;

        let mut squares = Accumulator::new();
        x.iter().for_each(|x| squares.add_square(*x));
        is(
            device.reduce(view, SumSquares).accumulate()?,
            squares.clone(),
            &what,
        )?;
        same(exact.norm_l2(view)?, squares.sqrt::<f64>(), &what)?;

        let mut dot = Accumulator::new();
        x.iter().zip(y).for_each(|(x, y)| dot.add_product(*x, *y));
        is(
            device.reduce((view, view_y), Dot).accumulate()?,
            dot.clone(),
            &what,
        )?;
        same(
            exact.reduce((view, view_y), Dot).run()?,
            dot.sum::<f64>(),
            &what,
        )?;
    }
    let empty = device.upload::<T>(&[])?;
    is(
        device.reduce(&empty, Sum).accumulate()?,
        Accumulator::new(),
        "empty",
    )?;
    same(exact.sum_wide(&empty)?, 0.0, "the sum of an empty array")?;
    is(exact.mean(&empty)?, None, "the mean of an empty array")?;
    same(exact.norm_l2(&empty)?, 0.0, "the norm of an empty array")
}

fn chunks(device: &Device) -> Result<(), Failed> {
    let seed = rand::random();
    let mut random = StdRng::seed_from_u64(seed);
    let exact = device.determinism(Determinism::Exact);
    for _ in 0..4 {
        let n = random.random_range(0..20_000);
        let (x, y) = (
            data::<f64>(1, n, &mut random),
            data::<f64>(0, n, &mut random),
        );
        let what = format!("{n} items, seed {seed}");
        let mut sum = Accumulator::new();
        sum.add_all(&x);
        let pieces = || x.chunks(777).map(Ok::<_, Error>);
        same(exact.reduce_iter(Sum, pieces())?, sum.sum::<f64>(), &what)?;

        let mut dot = Accumulator::new();
        x.iter().zip(&y).for_each(|(x, y)| dot.add_product(*x, *y));
        let len = random.random_range(1..6000);
        let chunks = (device.chunks::<f64>(len)?, device.chunks::<f64>(len)?);
        let mut start = 0;
        let got = device.accumulate_chunks_of(Dot, chunks, |(to_x, to_y)| {
            let n = (n - start).min(random.random_range(0..=to_x.len()));
            to_x[..n].copy_from_slice(&x[start..start + n]);
            to_y[..n].copy_from_slice(&y[start..start + n]);
            start += n;
            Ok((start < x.len() || n > 0).then_some(n))
        })?;
        is(got, dot, &what)?;
    }
    Ok(())
}

fn integers(device: &Device) -> Result<(), Failed> {
    let exact = device.determinism(Determinism::Exact);
    let x = exact.upload(&[i32::MAX, i32::MAX, -1])?;
    is(exact.sum_wide(&x)?, 2 * i64::from(i32::MAX) - 1, "a sum")?;
    is(exact.max(&x)?, Some(i32::MAX), "a maximum")?;
    // The sum is 2^53 + 1, which an f64 cannot hold: rounded first, the mean would be 2^53 / 3.
    let mean = warpfold::Mean::mean((1_i64 << 53) + 1, 3);
    is(
        mean,
        Some(3_002_399_751_580_331.0),
        "the mean of a large sum",
    )?;
    is(
        exact.mean(&x)?,
        Some((2.0 * f64::from(i32::MAX) - 1.0) / 3.0),
        "a mean",
    )?;
    let zeros = exact.upload(&[0_i8; 3])?;
    let mean = exact.mean(&zeros)?.map(f64::to_bits);
    is(mean, Some(0), "the mean of zeros")
}

/// An error that names the level.
fn is_refused<R>(got: Result<R, Error>, level: Determinism, what: &str) -> Result<(), Failed> {
    match got {
        Err(Error::Determinism { level: of, .. }) if of == level => Ok(()),
        Err(error) => Err(format!("{what}: {error}").into()),
        Ok(_) => Err(format!("{what} has a result").into()),
    }
}

fn refused(device: &Device) -> Result<(), Failed> {
    let exact = device.determinism(Determinism::Exact);
    let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
    let of_exact = |got: Result<(), Error>, what| is_refused(got, Determinism::Exact, what);
    of_exact(exact.product(&x).map(drop), "a product")?;
    of_exact(exact.mean_variance(&x).map(drop), "a variance")?;
    of_exact(exact.nan_sum(&x).map(drop), "a sum without NaN")?;
    of_exact(exact.weighted_mean(&x, &x).map(drop), "a weighted mean")?;
    of_exact(exact.reduce(&x, Sum).plan().map(drop), "a plan")?;
    let (mut cells, mut scratch) = (device.alloc::<f32>(1)?, device.scratch()?);
    let stored = exact.reduce_into(&x, Sum, &mut cells, 0, &mut scratch);
    of_exact(stored, "a result on the device")?;
    let owned = exact.owned_plan(device.upload(&[1.0_f32])?, Sum);
    of_exact(
        owned.map(drop).map_err(|refused| refused.error),
        "a plan of its own",
    )?;
    let graph = exact.graph(device.upload(&[1.0_f32])?, Sum);
    of_exact(graph.map(drop).map_err(|refused| refused.error), "a graph")?;
    let integers = device.upload(&[1_i64, 2])?;
    of_exact(
        device.reduce(&integers, Sum).accumulate().map(drop),
        "integers",
    )?;
    of_exact(exact.mean(&integers).map(drop), "a mean in 64 bits")?;
    of_exact(
        device.reduce(&x, MeanVariance).accumulate().map(drop),
        "moments",
    )?;
    let error = device.reduce(&x, Product).accumulate().unwrap_err();
    let right = "single_pass_product_f32: cannot keep the promise of Determinism::Exact: no kernel reduces these \
                 items without rounding";
    is(error.to_string().as_str(), right, "the text")?;
    // What is the same in any order.
    is(exact.reduce(&x, Max).plan()?.run()?, Some(3.0), "a maximum")?;
    is(exact.sum(&integers)?, 3, "an integer sum")
}

fn by_key(device: &Device) -> Result<(), Failed> {
    let (keys, x) = (
        device.upload(&[0_u32, 1, 0])?,
        device.upload(&[1.5_f64, 2.0, 3.0])?,
    );
    for level in [Determinism::Reproducible, Determinism::Exact] {
        let device = device.determinism(level);
        is_refused(
            device.reduce_by_key(&keys, &x, 2, Sum),
            level,
            "a sum by key",
        )?;
        let max = device.reduce_by_key(&keys, &x, 2, Max)?;
        is(max.cells, vec![3.0, 2.0], "a maximum by key")?;
    }
    let fast = device.determinism(Determinism::Fast);
    is(
        fast.reduce_by_key(&keys, &x, 2, Sum)?.cells,
        vec![4.5, 2.0],
        "a sum by key",
    )
}
