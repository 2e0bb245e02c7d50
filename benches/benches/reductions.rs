//! The public calls under criterion: `cargo bench -p warpfold-bench`.
//!
//! On a CUDA device a time is the device's own, between two events; without one the CPU's back-end is
//! measured, by the host's clock. Every call is made once beforehand, and its answer compared with that
//! of a naive loop.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{Buffer, Device, Element, Error, Max, Min, SinglePass, Sum};

/// What the elements are drawn from; the same in every run, as criterion compares runs.
const SEED: u64 = 1;

/// 4 KiB to 256 MiB of `i32`.
const SIZES: [usize; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 26];

/// The times of so many runs of what `work` puts on the device's stream.
fn timed(device: &Device, runs: u64, mut work: impl FnMut() -> Result<(), Error>) -> Duration {
    let ms: f64 = (0..runs)
        .map(|_| device.time(&mut work).expect("a reduction"))
        .sum();
    Duration::from_secs_f64(ms / 1e3)
}

fn whole<T: Element, O: SinglePass<T, Output: Into<Option<T>>>>(
    criterion: &mut Criterion,
    op: O,
    draw: impl Fn(u64) -> T,
    combine: impl Fn(T, T) -> T,
) {
    let device = Device::auto().expect("a device");
    let mut group = criterion.benchmark_group(format!("{}_{}", O::ENTRY.op, O::ENTRY.items));
    for n in SIZES {
        let mut rng = SmallRng::seed_from_u64(SEED);
        let values: Vec<T> = (0..n).map(|_| draw(rng.next_u64())).collect();
        let expected = values.iter().copied().reduce(&combine).expect("elements");
        let input = device.upload(&values).expect("room for the elements");
        let answer = device.reduce(&input, op).run().expect("a reduction");
        let answer = answer.into().expect("a result of some elements");
        assert!(answer == expected, "{answer:?} is not {expected:?}");

        group.throughput(Throughput::Bytes(size_of_val(values.as_slice()) as u64));
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            let mut cell: Buffer<O::Acc> = device.alloc(1).expect("room for a cell");
            let mut scratch = device.scratch().expect("room for scratch");
            bencher.iter_custom(|runs| {
                timed(&device, runs, || {
                    device.reduce_into(black_box(&input), op, &mut cell, 0, &mut scratch)
                })
            });
        });
    }
    group.finish();
}

/// Sums of small whole numbers, which no order of additions rounds.
fn sums(criterion: &mut Criterion) {
    whole(criterion, Sum, |bits| bits as i32, i32::wrapping_add);
    // Odd, so that their mean is zero.
    whole(
        criterion,
        Sum,
        |bits| f32::from(bits as i8 | 1),
        |a, b| a + b,
    );
    whole(criterion, Sum, |bits| f64::from(bits as i32), |a, b| a + b);
}

fn extrema(criterion: &mut Criterion) {
    whole(criterion, Min, |bits| bits as i32, i32::min);
    whole(criterion, Max, |bits| f32::from(bits as i16), f32::max);
}

/// A call that waits, on as few elements as that is most of its time.
fn calls(criterion: &mut Criterion) {
    let device = Device::auto().expect("a device");
    let input = device.upload(&[1i32; 1000]).expect("room for the elements");
    assert_eq!(device.sum(&input).expect("a sum"), 1000);
    criterion.bench_function("call_sum_i32_1000", |bencher| {
        bencher.iter(|| device.sum(black_box(&input)).expect("a sum"));
    });
}

criterion_group!(benches, sums, extrema, calls);
criterion_main!(benches);
