//! The CPU device, and the errors on a machine without a GPU.

#[path = "gpu/oracle.rs"]
mod oracle;

use oracle::{Oracle, Subject, close, same};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMin, Determinism, Device, Error, Indexed, KeyedAlgorithm, Max, MeanVariance, Min, Sum,
};

/// Sizes around 0, and around the CPU's piece of 2^16 elements.
const SIZES: [usize; 11] = [
    0, 1, 2, 31, 33, 1023, 65_535, 65_536, 65_537, 131_071, 131_073,
];

fn agrees<T: Subject, O: Oracle<T>>() {
    let seed: u64 = rand::random();
    let mut rng = StdRng::seed_from_u64(seed);
    let device = Device::cpu();
    for n in SIZES {
        let what = format!("{} of {}, n = {n} (seed {seed})", O::NAME, T::NAME);
        for (element, chain) in [
            (T::whole as fn(&mut StdRng) -> T, 0.0),
            (T::rough, n as f64),
        ] {
            let data: Vec<T> = (0..n + 3).map(|_| element(&mut rng)).collect();
            let x = device.upload(&data).unwrap();
            let view = x.view(3..).unwrap();
            let expected = O::expected(&data[3..]);
            let got = O::value(device.reduce(view, O::OP).run().unwrap(), n);
            close(got, &expected, chain).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            let again = O::value(device.reduce(view, O::OP).run().unwrap(), n);
            assert!(
                same(got, again),
                "{what}: {got:?} in the first run, {again:?} in the second"
            );
        }
    }
}

macro_rules! agree {
    ($($name:ident: $op:ident of [$($element:ident)*];)*) => { $(
        #[test]
        fn $name() {
            $(agrees::<$element, $op>();)*
        }
    )* };
}

agree! {
    sums_agree_with_the_naive_loop: Sum of [i32 u32 i64 u64 f32 f64];
    minima_agree_with_the_naive_loop: Min of [i32 u32 i64 u64 f32 f64];
    maxima_agree_with_the_naive_loop: Max of [i32 u32 i64 u64 f32 f64];
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let mut rng = StdRng::seed_from_u64(7);
    let data: Vec<f32> = (0..300_007).map(|_| rng.random()).collect();
    let sum = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let device = Device::cpu();
            device
                .sum(&device.upload(&data).unwrap())
                .unwrap()
                .to_bits()
        })
    };
    assert_eq!(sum(1), sum(3));
}

#[test]
fn empty_input() {
    let device = Device::cpu();
    let (ints, floats) = (
        device.upload::<i32>(&[]).unwrap(),
        device.alloc::<f32>(0).unwrap(),
    );
    assert_eq!(device.sum(&ints), Ok(0));
    assert_eq!(device.sum(&floats).unwrap().to_bits(), 0);
    assert_eq!(
        (device.min(&ints), device.max(&floats)),
        (Ok(None), Ok(None))
    );
    assert_eq!(device.reduce(&ints, Max).run(), Ok(None));
    assert!(ints.is_empty() && ints.download().unwrap().is_empty());
    assert_eq!(ints.as_device_ptr(), 0);
}

#[test]
fn extrema_of_elements_are_some() {
    let device = Device::cpu();
    let x = device.upload(&[3, -1, 2]).unwrap();
    assert_eq!(
        (device.min(&x), device.max(&x)),
        (Ok(Some(-1)), Ok(Some(3)))
    );
}

#[test]
fn calls_by_name() {
    let device = Device::cpu();
    let bytes = device.upload(&[200u8, 100, 7]).unwrap();
    assert_eq!(device.sum(&bytes), Ok(51));
    assert_eq!(device.sum_wide(&bytes), Ok(307));
    assert_eq!(device.product(&bytes), Ok(224)); // 140,000 modulo 256
    assert_eq!(device.argmax(&bytes), Ok(Some(0)));
    assert_eq!(device.argmin(bytes.view(1..).unwrap()), Ok(Some(1)));

    let floats = device.upload(&[2.0f32, f32::NAN, -0.0, 0.0, 2.0]).unwrap();
    assert!(device.min(&floats).unwrap().unwrap().is_nan());
    let smallest = device.nan_min(&floats).unwrap().unwrap();
    assert!(smallest == 0.0 && smallest.is_sign_negative());
    assert_eq!(device.nan_max(&floats), Ok(Some(2.0)));
    assert_eq!(device.argmin(&floats), Ok(Some(1)));
    let numbers = floats.view(2..).unwrap();
    assert_eq!(
        (device.argmin(numbers), device.argmax(numbers)),
        (Ok(Some(0)), Ok(Some(2)))
    );
    assert_eq!(device.sum_wide(numbers), Ok(2.0f64));

    let empty = device.alloc::<f64>(0).unwrap();
    assert_eq!(device.product(&empty), Ok(1.0));
    assert_eq!(device.sum_wide(&empty).unwrap().to_bits(), 0.0f64.to_bits());
    assert_eq!(
        (device.nan_min(&empty), device.nan_max(&empty)),
        (Ok(None), Ok(None))
    );
    assert_eq!(
        (device.argmin(&empty), device.argmax(&empty)),
        (Ok(None), Ok(None))
    );
}

#[test]
fn views_are_parts_of_buffers() {
    let device = Device::cpu();
    let x = device.upload(&[1, 2, 4, 8, 16]).unwrap();
    assert_eq!(device.sum(x.view(1..=3).unwrap()), Ok(14));
    let part = x.view(1..).unwrap();
    assert_eq!(part.view(2..).unwrap().download(), Ok(vec![8, 16]));
    let error = part.view(..5).unwrap_err();
    assert_eq!(
        error,
        Error::ViewRange {
            start: 0,
            end: 5,
            len: 4
        }
    );
    assert_eq!(
        error.to_string(),
        "elements 0..5 are out of range: the buffer has 4 elements"
    );
    assert!(x.view(6..).is_err() && x.view(..=usize::MAX).is_err());
    assert_eq!(x.view(5..).unwrap().len(), 0);
}

#[test]
fn a_plan_runs_repeatedly() {
    let device = Device::cpu();
    let x = device.upload(&[1u64; 1000]).unwrap();
    let mut plan = device.reduce(&x, Sum).plan().unwrap();
    let kernel = "single_pass";
    assert_eq!(plan.result(), Err(Error::NotEnqueued { kernel }));
    for _ in 0..3 {
        assert!(device.time(|| plan.enqueue()).unwrap() >= 0.0);
        assert_eq!(plan.result(), Ok(1000));
    }
    assert!(plan.passes().is_empty());
}

#[test]
fn bad_grids_of_a_single_pass_are_errors() {
    let device = Device::cpu();
    let x = device.upload(&[1.5f32, 2.0]).unwrap();
    let (kernel, limit) = ("single_pass", 1024);
    for threads in [0, 1, 31, 48, 2048, u32::MAX] {
        let error = Error::BlockSize {
            kernel,
            threads,
            limit,
        };
        assert_eq!(device.reduce(&x, Sum).threads(threads).run(), Err(error));
    }
    assert_eq!(device.reduce(&x, Sum).threads(32).run(), Ok(3.5));
    // On a GPU, a block has at most 512 threads; the CPU has no blocks.
    assert_eq!(
        device
            .reduce(&x, MeanVariance)
            .threads(512)
            .run()
            .unwrap()
            .map(|moments| moments.mean()),
        Some(1.75)
    );
}

#[test]
fn inputs_that_do_not_match_are_errors() {
    let device = Device::cpu();
    let (a, b) = (
        device.upload(&[1, 2]).unwrap(),
        device.upload(&[1]).unwrap(),
    );
    assert_eq!(
        device.dot(&a, &b).unwrap_err().to_string(),
        "arrays of 2 and 1 elements cannot be reduced together; they must have the same length"
    );
    let (mut cells, mut scratch) = (device.alloc::<i32>(1).unwrap(), device.scratch().unwrap());
    let error = device.reduce_into(&a, Sum, &mut cells, 1, &mut scratch);
    assert!(matches!(error, Err(Error::ViewRange { start: 1, .. })));
    device
        .reduce_into(&a, Sum, &mut cells, 0, &mut scratch)
        .unwrap();
    assert_eq!(cells.download().unwrap(), [3]);
    let mut cells = device.upload(&[1, 2, 3]).unwrap();
    assert!(cells.write(2, &[7, 8]).is_err());
    cells.write(1, &[7, 8]).unwrap();
    assert_eq!(cells.download().unwrap(), [1, 7, 8]);
    // SAFETY: the CPU has no streams, so the pointer is not used.
    let error = unsafe { device.on_stream_ptr(std::ptr::null_mut()) }.unwrap_err();
    assert!(error.to_string().contains("needs a CUDA device"), "{error}");
}

#[test]
fn too_little_host_memory_is_an_error() {
    let error = Device::cpu().alloc::<u64>(1 << 59).unwrap_err();
    assert_eq!(error, Error::OutOfHostMemory { wanted: 1 << 62 });
}

#[test]
fn a_device_may_be_used_from_several_threads() {
    let device = Device::cpu();
    let x = device.upload(&(1..=100_000).collect::<Vec<i64>>()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(device.sum(&x), Ok(5_000_050_000)));
        }
    });
}

#[test]
fn the_cpu_is_a_device() {
    let device = Device::cpu();
    assert_eq!(
        (device.is_gpu(), device.name(), device.info()),
        (false, "CPU", None)
    );
    assert_eq!(device.fallback_reason(), None);
    assert!(device.stream_ptr().is_null());
    assert_eq!(device.synchronize(), Ok(()));
    assert_eq!(device.to_string(), "the CPU");
}

/// With a driver, `tests/gpu` checks the errors.
#[test]
fn without_a_driver_the_reason_is_named() {
    let (first, auto) = (Device::first(), Device::auto());
    match libcuda::driver() {
        Err(missing) => {
            let error = first.unwrap_err();
            let (tried, reason) = (missing.tried, missing.reason.clone());
            assert_eq!(error, Error::NoDriver { tried, reason });
            assert!(error.to_string().contains("libcuda.so.1"), "{error}");
            let device = auto.unwrap();
            assert!(!device.is_gpu());
            assert_eq!(device.fallback_reason(), Some(&error));
            assert_eq!(Device::nth(3).unwrap_err(), error);
        }
        Ok(()) => {
            assert!(!matches!(first, Err(Error::NoDriver { .. })), "{first:?}");
            if let Ok(auto) = auto {
                assert_eq!(auto.is_gpu(), auto.fallback_reason().is_none());
            }
        }
    }
}

#[test]
fn values_are_combined_into_the_cells_of_their_keys() {
    let device = Device::cpu().determinism(Determinism::Fast);
    let keys = device.upload(&[3i32, 0, -1, 3, 4]).unwrap();
    let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0, 16.0]).unwrap();
    let mut cells = device.cells(4, Sum).unwrap();
    for algorithm in [KeyedAlgorithm::Match, KeyedAlgorithm::Runs] {
        cells = cells.algorithm(algorithm);
        cells.combine(&keys, &values).unwrap();
    }
    assert_eq!(cells.download().unwrap(), [4.0, 0.0, 0.0, 18.0]);
    assert_eq!(cells.rejected().unwrap(), 4, "-1 and 4, twice");
    cells.clear().unwrap();
    assert_eq!(cells.download().unwrap(), [0.0; 4]);

    let keys = device.upload(&[1u32, 0, 1]).unwrap();
    let values = device
        .upload(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0, 0.5, 0.25, 0.125])
        .unwrap();
    let mut cells = device.cell_arrays(3, 2, Sum).unwrap();
    cells.combine(&keys, &values).unwrap();
    assert_eq!(
        cells.download().unwrap(),
        [2.0, 4.0, 20.0, 40.0, 0.25, 0.625]
    );
    let extrema = device
        .reduce_by_key(&keys, values.view(..3).unwrap(), 3, Max)
        .unwrap();
    assert_eq!(extrema.cells, [2.0, 3.0, f32::NEG_INFINITY]);
}

#[test]
fn keys_and_values_that_do_not_match_are_errors() {
    let device = Device::cpu();
    let keys = device.upload(&[1u32, 0]).unwrap();
    let values = device.upload(&[1i64, 2, 3]).unwrap();
    let error = device
        .cells(2, Sum)
        .unwrap()
        .combine(&keys, &values)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 keys and 3 values in 1 array(s); each array must have one value per key"
    );
    let mut cells = device.cells(2, Sum).unwrap().algorithm(KeyedAlgorithm::Cas);
    let error = cells.combine(&keys, values.view(..2).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no kernel keyed_cas for the sum of i64 with keys of type u32 and 1 array(s) of values"
    );
    let mut cells = device.cells(2, Sum).unwrap().threads(48);
    let error = cells.combine(&keys, values.view(..2).unwrap()).unwrap_err();
    assert!(
        matches!(error, Error::BlockSize { threads: 48, .. }),
        "{error}"
    );
}

#[test]
fn extrema_of_indexed_values_keep_the_index() {
    let device = Device::cpu();
    let indexed = [(3.0f32, 7), (1.0, 9), (1.0, 4), (f32::INFINITY, 1)];
    let indexed = indexed.map(|(value, index)| Indexed::new(value, index));
    let x = device.upload(&indexed).unwrap();
    assert_eq!(device.reduce(&x, ArgMin).run(), Ok(Some(indexed[2])));
    let empty = x.view(..0).unwrap();
    assert_eq!(device.reduce(empty, ArgMin).run(), Ok(None));
}

/// Kernels of this program, without PTX.
mod user_kernels {
    use kernels_gpu::prelude::*;
    use warpfold::{Device, Error};

    /// A point in the plane.
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Point {
        x: [f32; 2],
    }

    /// The largest distance from a centre.
    #[derive(Clone, Copy, Debug, Value)]
    #[repr(C)]
    struct Farthest {
        centre: Point,
    }

    impl Op<Point> for Farthest {
        type Acc = f32;
        type Output = f32;

        fn identity(&self) -> f32 {
            0.0
        }

        fn lift(&self, point: Point, _: u64) -> f32 {
            let [x, y] = [0, 1].map(|i| point.x[i] - self.centre.x[i]);
            x.hypot(y)
        }

        fn combine(&self, a: f32, b: f32) -> f32 {
            a.max(b)
        }

        fn finish(&self, distance: f32) -> f32 {
            distance
        }
    }

    /// The sum of the elements of two arrays.
    #[derive(Clone, Copy, Debug, Value)]
    struct SumOfBoth;

    impl Op<(i32, u8)> for SumOfBoth {
        type Acc = i32;
        type Output = i32;

        fn identity(&self) -> i32 {
            0
        }

        fn lift(&self, (a, b): (i32, u8), _: u64) -> i32 {
            a + i32::from(b)
        }

        fn combine(&self, a: i32, b: i32) -> i32 {
            a + b
        }

        fn finish(&self, sum: i32) -> i32 {
            sum
        }
    }

    kernels! {
        /// The rows.
        static KERNELS:
        single_pass {
            Farthest: Point;
            SumOfBoth: (i32, u8);
        }
        segments {
            SumOfBoth: (i32, u8);
        }
        runs {
            PartialEq: Point;
        }
    }

    fn not_registered(entry: &'static str) -> Error {
        let package = KERNELS.name;
        Error::NotRegistered { entry, package }
    }

    #[test]
    fn kernels_that_are_not_registered_are_errors_on_the_cpu() {
        let device = Device::cpu();
        let centre = Point { x: [1.0, 1.0] };
        let points = device.upload(&[centre, Point { x: [4.0, 5.0] }]).unwrap();
        let error = not_registered("single_pass_farthest_point");
        assert!(error.to_string().contains("Device::with"), "{error}");
        let op = Farthest { centre };
        assert_eq!(device.reduce(&points, op).run(), Err(error.clone()));
        assert_eq!(
            device.reduce(&points, op).plan().map(drop),
            Err(error.clone())
        );
        assert_eq!(
            device.count_runs(&points),
            Err(not_registered("find_runs_point"))
        );
        let mut cells = device.alloc::<f32>(1).unwrap();
        let mut scratch = device.scratch().unwrap();
        let into = device.reduce_into(&points, op, &mut cells, 0, &mut scratch);
        assert_eq!(into, Err(error.clone()));
        let refused = device.graph(points, op).map(drop).unwrap_err();
        assert_eq!((refused.error, refused.given.len()), (error, 2));
        let (a, b) = (device.upload(&[1]).unwrap(), device.upload(&[2u8]).unwrap());
        assert_eq!(
            device.reduce((&a, &b), SumOfBoth).run(),
            Err(not_registered("single_pass_sum_of_both_i32_u8"))
        );
    }

    #[test]
    fn the_cpu_reduces_with_registered_kernels() {
        // The CPU does not need the PTX.
        static EMBEDDED: warpfold::Embedded = warpfold::Embedded {
            kernels: &KERNELS,
            arches: &[],
        };
        let plain = Device::cpu();
        let device = plain.with(&EMBEDDED).unwrap();
        let centre = Point { x: [1.0, 1.0] };
        let points = plain.upload(&[centre, Point { x: [4.0, 5.0] }]).unwrap();
        assert_eq!(device.reduce(&points, Farthest { centre }).run(), Ok(5.0));
        let centre = Point { x: [4.0, 4.0] };
        let farthest = Farthest { centre };
        assert_eq!(
            device.new_stream().unwrap().reduce(&points, farthest).run(),
            Ok(18f32.sqrt())
        );
        let (a, b) = (
            plain.upload(&[1, 2, 3]).unwrap(),
            plain.upload(&[4u8, 5, 6]).unwrap(),
        );
        assert_eq!(device.reduce((&a, &b), SumOfBoth).run(), Ok(21));
        let nan = Point { x: [f32::NAN, 0.0] };
        let keys = plain.upload(&[centre, centre, nan]).unwrap();
        let runs = device.reduce_runs(&keys, (&a, &b), SumOfBoth).unwrap();
        assert_eq!((runs.lengths, runs.results), (vec![2, 1], vec![12, 9]));
        // A key with a NaN differs from itself.
        let keys = plain.upload(&[nan, nan]).unwrap();
        assert_eq!(device.count_runs(&keys).unwrap().lengths, [1, 1]);
        // The library's kernels still work.
        assert_eq!(device.sum(&a), Ok(6));
        assert!(plain.reduce((&a, &b), SumOfBoth).run().is_err());
    }
}

/// The algorithms of the feature `teaching`.
#[cfg(feature = "teaching")]
mod teaching {
    use warpfold::{Algorithm, Device, Element, Error, Ladder, SinglePass, Sum};

    #[test]
    fn a_plan_names_its_kernel() {
        let device = Device::cpu();
        let x = device.upload(&[1u64; 1000]).unwrap();
        let mut plan = device
            .reduce(&x, Sum)
            .algorithm(Algorithm::Reduce3)
            .plan()
            .unwrap();
        let kernel = "reduce_3";
        assert_eq!(plan.result(), Err(Error::NotEnqueued { kernel }));
        plan.enqueue().unwrap();
        assert_eq!(plan.result(), Ok(1000));
        assert!(plan.passes().is_empty());
        let x = device.upload(&[1i64; 1000]).unwrap();
        assert_eq!(device.read_ceiling(&x).unwrap().run(), Ok(1000));
    }

    #[test]
    fn bad_input_has_the_errors_of_a_gpu() {
        fn run<T: Element>(one: T, algorithm: Algorithm, threads: u32) -> Result<T, Error>
        where
            Sum: SinglePass<T, Output = T> + Ladder<T>,
        {
            let device = Device::cpu();
            let x = device.upload(&[one])?;
            let reduction = device.reduce(&x, Sum).algorithm(algorithm);
            reduction.threads(threads).run()
        }
        let default = Algorithm::Reduce5 { chunks: 8 };
        for threads in [0, 1, 31, 48, 2048, u32::MAX] {
            let (kernel, limit) = ("reduce_5_x8", 1024);
            let error = Error::BlockSize {
                kernel,
                threads,
                limit,
            };
            assert_eq!(run(1, default, threads), Err(error));
        }
        assert!(matches!(
            run(1, Algorithm::Reduce5 { chunks: 3 }, 256),
            Err(Error::Chunks { chunks: 3, .. })
        ));
        assert!(matches!(
            run(1, Algorithm::Stable { vector: 3 }, 256),
            Err(Error::Vector { vector: 3, .. })
        ));
        let redux = Algorithm::Reduce4Redux;
        assert_eq!(
            run(1.0f32, redux, 256).unwrap_err().to_string(),
            "there is no kernel reduce_4_redux for the sum of f32"
        );
        assert_eq!(run(5u32, redux, 256), Ok(5));
    }
}
