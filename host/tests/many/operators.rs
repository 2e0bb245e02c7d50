//! Every operator, for any number of ranks and any split: the bits of one device.

use std::fmt::Debug;

use kernels_gpu::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::many::Distributed;
use warpfold::{
    And, ArgMax, ArgMin, Count, Determinism, Device, Dot, Equal, Error, Greater, InRange, IsNan,
    Less, Max, MeanVariance, Min, MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin,
    NanSum, Or, Predicate, Product, SinglePass, Sum, SumAbs, SumSquares, SumWide, WeightedMean,
    Xor, bf16, f16,
};

use crate::embedded::embedded;
use crate::ranks::{SIZES, Split, common, on_ranks, parts};

/// Around nothing, a tile of any element, and several tiles.
const LENGTHS: [usize; 10] = [0, 1, 33, 511, 1024, 1025, 4095, 4097, 9_001, 20_000];

/// An element at random: floats of many magnitudes, now and then a NaN.
trait Random: Element {
    fn random(random: &mut StdRng) -> Self;
}

macro_rules! integers {
    ($($element:ident)*) => { $(
        impl Random for $element {
            fn random(random: &mut StdRng) -> Self {
                // Extrema that appear several times.
                random.random_range(0..120) as u8 as $element
            }
        }
    )* };
}

macro_rules! floats {
    ($($element:ident, $convert:expr;)*) => { $(
        impl Random for $element {
            fn random(random: &mut StdRng) -> Self {
                let magnitude = 2f32.powi(random.random_range(-10..10));
                $convert(random.random_range(-1.0..1.0) * magnitude)
            }
        }
    )* };
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

floats! {
    f16, f16::from_f32;
    bf16, bf16::from_f32;
    f32, |x| x;
    f64, f64::from;
}

fn random<T: Random>(n: usize, seed: u64) -> Vec<T> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..n).map(|_| T::random(&mut random)).collect()
}

/// The bits of the floats in the text are those of the result: it has as many digits as needed.
fn text(result: impl Debug) -> String {
    format!("{result:?}")
}

/// Compares a call on ranks with that on one CPU device, for all lengths, numbers of ranks and splits.
fn compare<T: Random>(
    what: &str,
    one: impl Fn(&Device, &[T]) -> String,
    all: impl Fn(&Distributed, &[T]) -> String + Sync,
) {
    for (case, n) in LENGTHS.into_iter().enumerate() {
        let seed = rand::random();
        let data = random::<T>(n, seed);
        let expected = one(&Device::cpu(), &data);
        let size = SIZES[case % SIZES.len()];
        for split in [Split::Shares, Split::All(size / 2), Split::Random(seed)] {
            let parts = parts(split, n, size);
            let result = |all_ranks: &Distributed| {
                let part = &data[parts[all_ranks.rank()].clone()];
                // The second time each rank knows what the others have.
                let (first, second) = (all(all_ranks, part), all(all_ranks, part));
                assert_eq!(first, second);
                Ok(first)
            };
            let got = common(on_ranks(size, Device::cpu, result));
            assert_eq!(
                got, expected,
                "{what} of {n} items of seed {seed}, {size} ranks, {split:?}"
            );
        }
    }
}

fn one_array<T: Random, O: SinglePass<T, Output: Debug> + Debug>(op: O) {
    compare::<T>(
        &format!("{op:?} of {}", std::any::type_name::<T>()),
        |device, data| {
            text(
                device
                    .reduce(&device.upload(data).unwrap(), op)
                    .run()
                    .unwrap(),
            )
        },
        |all, data| text(all.reduce(&all.device().upload(data).unwrap(), op).unwrap()),
    );
}

fn two_arrays<T: Random, O: SinglePass<(T, T), Output: Debug> + Debug>(op: O) {
    // The second array is the first one backwards.
    let pair = |device: &Device, data: &[T]| {
        let backwards: Vec<T> = data.iter().rev().copied().collect();
        (
            device.upload(data).unwrap(),
            device.upload(&backwards).unwrap(),
        )
    };
    for (case, n) in LENGTHS.into_iter().enumerate() {
        let seed = rand::random();
        let (a, b) = (random::<T>(n, seed), random::<T>(n, seed ^ 1));
        let cpu = Device::cpu();
        let (x, y) = (cpu.upload(&a).unwrap(), cpu.upload(&b).unwrap());
        let expected = text(cpu.reduce((&x, &y), op).run().unwrap());
        let size = SIZES[case % SIZES.len()];
        for split in [Split::Shares, Split::Random(seed)] {
            let parts = parts(split, n, size);
            let got = common(on_ranks(size, Device::cpu, |all| {
                let part = parts[all.rank()].clone();
                let (x, _) = pair(all.device(), &a[part.clone()]);
                let (y, _) = pair(all.device(), &b[part]);
                Ok(text(all.reduce((&x, &y), op)?))
            }));
            assert_eq!(
                got, expected,
                "{op:?} of {n} pairs of seed {seed}, {size} ranks, {split:?}"
            );
        }
    }
}

macro_rules! operators {
    ($($name:ident: $run:ident of $elements:tt by $($op:expr),*;)*) => { $(
        #[test]
        fn $name() {
            $( each!($run $elements $op); )*
        }
    )* };
}

macro_rules! each {
    ($run:ident [$($element:ident)*] $op:expr) => {
        $( $run::<$element, _>($op); )*
    };
}

operators! {
    sums: one_array of [i8 u16 i32 u64 f16 bf16 f32 f64] by Sum, SumWide, SumAbs, SumSquares, Product;
    extrema: one_array of [u8 i16 u32 i64 f16 bf16 f32 f64] by Min, Max, MinMax, ArgMin, ArgMax;
    moments: one_array of [i8 i64 f16 bf16 f32 f64] by MeanVariance;
    without_nan: one_array of [f16 bf16 f32 f64] by NanSum, NanMin, NanMax, NanArgMin, NanArgMax, NanMeanVariance, Count(IsNan);
    bits: one_array of [i8 u16 i32 u64] by And, Or, Xor;
    products_of_pairs: two_arrays of [i8 u32 f16 bf16 f32 f64] by Dot;
    weighted_means: two_arrays of [f16 f32 f64] by WeightedMean;
}

#[test]
fn counts() {
    one_array::<u8, _>(Count(Equal(7u8)));
    one_array::<f32, _>(Count(Less(0.5f32)));
    one_array::<f64, _>(Count(Greater(0.5f64)));
    one_array::<i32, _>(Count(InRange(3, 9)));
    compare::<f32>(
        "count",
        |device, data| {
            text(
                device
                    .count(&device.upload(data).unwrap(), Predicate::Nonzero)
                    .unwrap(),
            )
        },
        |all, data| {
            let x = all.device().upload(data).unwrap();
            text(all.count(&x, Predicate::Nonzero).unwrap())
        },
    );
}

macro_rules! by_name {
    ($($test:ident: [$($call:ident)*] of $elements:tt;)*) => { $(
        #[test]
        fn $test() {
            $( each_name!($call $elements); )*
        }
    )* };
}

macro_rules! each_name {
    ($call:ident [$($element:ident)*]) => { $(
        compare::<$element>(
            concat!(stringify!($call), " of ", stringify!($element)),
            |device, data| text(device.$call(&device.upload(data).unwrap()).unwrap()),
            |all, data| text(all.$call(&all.device().upload(data).unwrap()).unwrap()),
        );
    )* };
}

by_name! {
    calls_by_name: [sum sum_wide product min max min_max argmin argmax mean mean_variance norm_l2] of [u64 f32];
}

/// Exact sums of values that cancel: any split has the bits of the exact result.
#[test]
fn exact_sums() {
    macro_rules! exact {
        ($($call:ident)*) => { $(
            compare::<f64>(
                concat!("exact ", stringify!($call)),
                |device, data| {
                    let exact = device.determinism(Determinism::Exact);
                    text(exact.$call(&device.upload(data).unwrap()).unwrap())
                },
                |all, data| {
                    let exact = all.determinism(Determinism::Exact);
                    text(exact.$call(&all.device().upload(data).unwrap()).unwrap())
                },
            );
        )* };
    }
    exact! { sum sum_wide mean norm_l2 min }
    compare::<f32>(
        "accumulate",
        |device, data| {
            let x = device.upload(data).unwrap();
            text(device.reduce(&x, Sum).accumulate().unwrap())
        },
        |all, data| {
            let x = all.device().upload(data).unwrap();
            text(all.accumulate(&x, Sum).unwrap())
        },
    );
    let error = on_ranks(2, Device::cpu, |all| {
        let x = all.device().upload(&[1.0f32]).unwrap();
        all.determinism(Determinism::Exact).product(&x).unwrap_err()
    });
    error.iter().for_each(|error| {
        assert!(error.to_string().contains("without rounding"), "{error}");
    });
    // The error of one device, which does not depend on the level of the ranks.
    let device = Device::cpu();
    let x = device.upload(&[1.0f32]).unwrap();
    let one = device.reduce(&x, Product).accumulate().unwrap_err();
    let all = on_ranks(2, Device::cpu, |all| {
        let x = all.device().upload(&[1.0f32]).unwrap();
        all.accumulate(&x, Product).unwrap_err()
    });
    assert_eq!(all, [one.clone(), one]);
}

/// `a * x + b`, one after another: not commutative, and different in another order of rounding.
#[derive(Clone, Copy, Debug, Value)]
pub struct Compose;

impl Op<f32> for Compose {
    type Acc = [f32; 2];
    type Output = [f32; 2];

    const COMMUTATIVE: bool = false;

    fn identity(&self) -> [f32; 2] {
        [1.0, -0.0]
    }

    fn lift(&self, x: f32, _: u64) -> [f32; 2] {
        [1.0 + x / 4096.0, x]
    }

    fn combine(&self, [a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
        [a * c, b * c + d]
    }

    fn finish(&self, acc: [f32; 2]) -> [f32; 2] {
        acc
    }
}

kernels! {
    /// The kernels of this test.
    static KERNELS: single_pass { Compose: f32; }
}

#[test]
fn an_operator_of_yours_that_is_not_commutative() {
    let embedded = embedded(&KERNELS);
    compare::<f32>(
        "Compose",
        |device, data| {
            let device = device.with(embedded).unwrap();
            text(
                device
                    .reduce(&device.upload(data).unwrap(), Compose)
                    .run()
                    .unwrap(),
            )
        },
        |all, data| {
            let x = all.device().upload(data).unwrap();
            // A rank that has not registered the kernels says so, and the others too.
            let error = all.reduce(&x, Compose).unwrap_err();
            assert!(error.to_string().contains("are not registered"), "{error}");
            let device = all.device().with(embedded).unwrap();
            text(all.on(device).reduce(&x, Compose).unwrap())
        },
    );
}

/// A simulated GPU on each rank.
#[cfg(feature = "simulator")]
#[test]
fn simulated_gpus_have_the_bits_of_one_cpu() {
    let simulated = || Device::simulated().unwrap();
    for (case, n) in [0, 1, 1025, 9_001].into_iter().enumerate() {
        let data = random::<f32>(n, rand::random());
        let cpu = Device::cpu();
        let x = cpu.upload(&data).unwrap();
        let exact = cpu.determinism(Determinism::Exact);
        let expected = (
            text(cpu.sum(&x).unwrap()),
            text(cpu.mean_variance(&x).unwrap()),
            text(cpu.argmin(&x).unwrap()),
            text(cpu.reduce((&x, &x), Dot).run().unwrap()),
            text(exact.sum(&x).unwrap()),
        );
        let size = [3, 2, 5, 8][case];
        for split in [Split::Shares, Split::Random(rand::random())] {
            let parts = parts(split, n, size);
            let got = common(on_ranks(size, simulated, |all| {
                let x = all.device().upload(&data[parts[all.rank()].clone()])?;
                Ok((
                    text(all.sum(&x)?),
                    text(all.mean_variance(&x)?),
                    text(all.argmin(&x)?),
                    text(all.reduce((&x, &x), Dot)?),
                    text(all.determinism(Determinism::Exact).sum(&x)?),
                ))
            }));
            assert_eq!(got, expected, "{n} items, {size} ranks, {split:?}");
        }
    }
}

/// The reduction of this rank's share, in pieces of odd lengths.
fn by_chunks<O: SinglePass<f32, Output: Debug>>(
    all: &Distributed,
    op: O,
    data: &[f32],
) -> Result<String, Error> {
    let n = data.len() as u64;
    let mut lengths = [5000, 1, 777].into_iter().cycle();
    // More than the share: it is not read.
    let mut rest = &data[all.share(n).start as usize..];
    let chunks = all.device().chunks(6000)?;
    let result = all.reduce_chunks_of(op, n, chunks, |chunk| {
        let n = chunk.len().min(rest.len()).min(lengths.next().unwrap());
        chunk[..n].copy_from_slice(&rest[..n]);
        rest = &rest[n..];
        Ok((n > 0).then_some(n))
    });
    result.map(text)
}

#[test]
fn chunks_have_the_bits_of_the_whole_array() {
    let cpu = Device::cpu();
    for (case, n) in [0, 1, 4096, 4097, 30_000, 100_001].into_iter().enumerate() {
        let data = random::<f32>(n, rand::random());
        let x = cpu.upload(&data).unwrap();
        let exact = cpu.determinism(Determinism::Exact);
        let expected = [
            text(cpu.sum(&x).unwrap()),
            text(cpu.reduce(&x, ArgMax).run().unwrap()),
            text(exact.sum(&x).unwrap()),
        ];
        let size = SIZES[case % SIZES.len()];
        let got = common(on_ranks(size, Device::cpu, |all| {
            Ok([
                by_chunks(all, Sum, &data)?,
                by_chunks(all, ArgMax, &data)?,
                by_chunks(&all.determinism(Determinism::Exact), Sum, &data)?,
            ])
        }));
        assert_eq!(got, expected, "{n} items, {size} ranks");
    }
}
