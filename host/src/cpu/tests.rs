//! Compares every operator for every type with the oracle, at the boundaries of rows, blocks and tasks.

use kernels_gpu::element::{Element, bf16, f16};
use kernels_gpu::keyed::Key;
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Count, Dot, Equal, Greater, IsNan, Less, Max, MeanVariance, Min, MinMax,
    NanMax, NanMin, Or, Predicate, Product, Sum, SumWide, Xor,
};
use kernels_sim::oracle::{Drawn, Oracle, Subject, Value, close, same};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use super::*;
use crate::element::name_of;

/// Sizes around one row and four rows of all widths, and around blocks of elements of 8, 4, 2 and 1 bytes.
const SIZES: [usize; 29] = [
    0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025,
    2047, 2048, 2049, 4097, 6145, 8191, 8192, 8193,
];

/// The maximum number of roundings of an element.
fn chain<T>(n: usize) -> f64 {
    let block = (8 << 10) / size_of::<T>();
    MAX_PER_BLOCK + (n as f64 / block as f64).max(1.0).log2().ceil()
}

/// The maximum within a block: that of sums of 16-bit floats in `f64`, whose rows are the shortest.
const MAX_PER_BLOCK: f64 = 41.0;

/// Compares [`reduce`] with the oracle, also for a slice whose start is not aligned.
fn check<T, O, A>(data: &[T], what: &str)
where
    T: Element,
    O: Op<T, Acc = A> + Oracle<A>,
    A: Value,
{
    let op = <O as Oracle<A>>::OP;
    for start in [0, 1, 3] {
        let data = data.get(start..).unwrap_or_default();
        let lift = |(i, x): (u64, &T)| Op::<T>::lift(&op, *x, i);
        let lifted: Vec<A> = (0..).zip(data).map(lift).collect();
        let expected = O::expected(&lifted);
        let got = reduce::<T, O>(op, data);
        close(got, &expected, chain::<T>(data.len())).unwrap_or_else(|wrong| {
            let (op, element) = (name_of::<O>(), name_of::<T>());
            panic!("{op} of {} {element}, {what}: {wrong}", data.len())
        });
    }
}

/// Random data: whole numbers or numbers with fractions; if `odd` is set, also special values.
fn drawn<T: Drawn>(n: usize, odd: bool, rng: &mut StdRng) -> Vec<T> {
    let special = [T::GREATEST, T::ZEROES[0], T::ZEROES[1], T::ODD];
    let draw = [T::whole, T::rough][rng.random_range(0..2)];
    let mut data: Vec<T> = (0..n).map(|_| draw(rng)).collect();
    // Few special values, so that some arrays have no NaN.
    for _ in 0..if odd { 4.min(n) } else { 0 } {
        data[rng.random_range(0..n)] = special[rng.random_range(0..4)];
    }
    data
}

macro_rules! agrees {
    ($($name:ident: $ops:tt of [$($element:ident)*], odd $odd:literal;)*) => { $(
        #[test]
        fn $name() {
            let seed: u64 = rand::random();
            let mut rng = StdRng::seed_from_u64(seed);
            for n in SIZES {
                let what = format!("seed {seed}");
                $(all!($ops, &drawn::<$element>(n, $odd, &mut rng), &what);)*
            }
        }
    )* };
}

macro_rules! all {
    ([$($op:ident)*], $data:expr, $what:expr) => {{
        let data = $data;
        $(check::<_, $op, _>(data, $what);)*
    }};
}

agrees! {
    sums_and_products_of_integers: [Sum SumWide Product] of [i8 i16 i32 i64 u8 u16 u32 u64], odd true;
    bits_of_integers: [And Or Xor] of [i8 i16 i32 i64 u8 u16 u32 u64], odd true;
    extrema_of_integers: [Min Max ArgMin ArgMax] of [i8 i16 i32 i64 u8 u16 u32 u64], odd true;
    sums_and_products_of_floats: [Sum SumWide Product] of [f16 bf16 f32 f64], odd false;
    extrema_of_floats: [Min Max ArgMin ArgMax] of [f16 bf16 f32 f64], odd true;
    extrema_of_numbers: [NanMin NanMax] of [f16 bf16 f32 f64], odd true;
}

/// The number of combinations of two values that an element takes part in; combining with an identity does
/// not count, because it does not round.
#[derive(Clone, Copy, Debug, kernels_gpu::prelude::Value)]
struct Depth;

macro_rules! depth {
    ($($element:ident in $acc:ident;)*) => { $(
        impl Op<$element> for Depth {
            type Acc = $acc;
            type Output = $acc;

            fn identity(&self) -> $acc {
                $acc::MAX
            }

            fn lift(&self, _: $element, _: u64) -> $acc {
                0
            }

            fn combine(&self, a: $acc, b: $acc) -> $acc {
                match (a, b) {
                    ($acc::MAX, deep) | (deep, $acc::MAX) => deep,
                    _ => a.max(b) + 1,
                }
            }

            fn finish(&self, acc: $acc) -> $acc {
                acc
            }
        }
    )* };
}

depth! {
    f16 in u32;
    f32 in u32;
    f64 in u64;
}

#[test]
fn chains_of_roundings_are_as_short_as_documented() {
    let (mut halves, mut singles, mut doubles) = (0, 0, 0);
    for n in (1..=2048).step_by(7).chain([2048]) {
        halves = halves.max(reduce::<f16, Depth>(Depth, &vec![f16::ONE; n]));
        singles = singles.max(reduce::<f32, Depth>(Depth, &vec![1.0; n.min(1024)]));
        doubles = doubles.max(reduce::<f64, Depth>(Depth, &vec![1.0; n.min(512)]));
    }
    assert_eq!((halves, singles, doubles), (15, 14, 13));
    for doublings in 1..5 {
        let ones = vec![1.0; 1024 << doublings];
        let depth = reduce::<f32, Depth>(Depth, &ones);
        assert!(depth <= 14 + doublings, "{depth} of {}", ones.len());
    }
}

/// The exact sum of `f32` from 2^-40 to 2^40, in units of 2^-64.
fn exact(values: &[f32]) -> i128 {
    let units = |x: &f32| (f64::from(*x) * 2f64.powi(64)) as i128;
    values.iter().map(units).sum()
}

/// The error of the sum, in units of roundoff of the sum of the magnitudes.
fn roundings(got: f32, values: &[f32]) -> f64 {
    let error = exact(&[got]) - exact(values);
    let magnitudes: Vec<f32> = values.iter().map(|x| x.abs()).collect();
    error.abs() as f64 / exact(&magnitudes).max(1) as f64 * 2f64.powi(24)
}

#[test]
fn sums_are_as_accurate_as_documented_unlike_a_loop() {
    const N: usize = 1 << 18;
    let d = 18.0 + 7.0;
    let tenths = vec![0.1f32; N];
    let growing: Vec<f32> = (0..N)
        .map(|i| 2f32.powi((i >> 13) as i32 - 16) * 1.1)
        .collect();
    let one_and_tiny: Vec<f32> = (0..N).map(|i| if i == 0 { 1.0 } else { 5.9e-8 }).collect();
    let cancelling: Vec<f32> = (0..N as i32)
        .map(|i| (i % 1013) as f32 * if i % 2 == 0 { 1e6 } else { -1e6 } + 0.1)
        .collect();
    for (what, values) in [
        ("tenths", &tenths),
        ("growing", &growing),
        ("one and tiny values", &one_and_tiny),
        ("cancelling", &cancelling),
    ] {
        let got = roundings(reduce::<f32, Sum>(Sum, values), values);
        assert!(got <= d, "{what}: {got} roundings");
    }
    for values in [&tenths, &one_and_tiny] {
        let loops = roundings(values.iter().sum(), values);
        assert!(
            loops > 100.0 * d,
            "a loop's sum is wrong by {loops} roundings"
        );
    }
}

proptest! {
    #[test]
    fn sums_of_any_magnitudes_keep_the_bound(
        values in prop::collection::vec((-1.0f32..1.0, -30i32..30), 0..20_000),
    ) {
        let values: Vec<f32> = values.iter().map(|(x, power)| x * 2f32.powi(*power)).collect();
        let values: Vec<f32> = values.into_iter().filter(|x| x.abs() > 2e-12).collect();
        let d = chain::<f32>(values.len()) - MAX_PER_BLOCK + 18.0;
        let got = roundings(reduce::<f32, Sum>(Sum, &values), &values);
        prop_assert!(got <= d, "{} roundings", got);
    }

    #[test]
    fn the_first_of_equal_values_wins(
        values in prop::collection::vec(prop::sample::select(vec![
            f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0,
        ]), 0..20_000),
        without_nan in any::<bool>(),
    ) {
        let is_in = |x: &f32| !(without_nan && x.is_nan());
        let values: Vec<f32> = values.into_iter().filter(is_in).collect();
        check::<f32, ArgMin, _>(&values, "proptest");
        check::<f32, ArgMax, _>(&values, "proptest");
        check::<f32, Min, _>(&values, "proptest");
        check::<f32, NanMax, _>(&values, "proptest");
    }
}

#[test]
fn the_first_index_wins_across_blocks() {
    const BLOCK: usize = 8 << 10;
    let mut input = vec![1u8; 2 * BLOCK + 3];
    for at in [2 * BLOCK + 1, BLOCK, BLOCK - 1, 5] {
        input[at] = 0;
        let found = reduce::<u8, ArgMin>(ArgMin, &input);
        assert_eq!((found.value(), found.index()), (0, at as u64));
        assert_eq!(reduce::<u8, ArgMax>(ArgMax, &input).index(), 0);
    }
    // If every value equals the identity's value, the first index still wins.
    assert_eq!(
        reduce::<f32, ArgMin>(ArgMin, &[f32::INFINITY; 7]).index(),
        0
    );
    assert_eq!(reduce::<u16, ArgMax>(ArgMax, &[0u16; 7]).index(), 0);
    assert_eq!(reduce::<f64, ArgMin>(ArgMin, &[0f64; 0]).index(), u64::MAX);
}

#[test]
fn a_nan_anywhere_wins() {
    for at in [0, 1, 2047, 2048, 8191] {
        let mut input = vec![1.0f32; 8192];
        input[at] = f32::NAN;
        assert!(reduce::<f32, Min>(Min, &input).is_nan());
        assert!(reduce::<f32, Max>(Max, &input).is_nan());
        assert!(reduce::<f32, Sum>(Sum, &input).is_nan());
        assert_eq!(reduce::<f32, ArgMax>(ArgMax, &input).index(), at as u64);
        assert!(reduce::<f32, NanMin>(NanMin, &input) == 1.0);
    }
    assert!(reduce::<f32, Sum>(Sum, &[f32::INFINITY, f32::NEG_INFINITY]).is_nan());
}

#[test]
fn sums_of_negative_zeros_keep_their_sign() {
    for n in [0, 1, 256, 5000] {
        assert!(
            reduce::<f32, Sum>(Sum, &vec![-0.0; n]).is_sign_negative(),
            "{n}"
        );
    }
}

/// Runs `work` on this number of threads.
fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    // More than one thread is used above 2 MiB.
    let data: Vec<f32> = (0..(1 << 19) + 5).map(|_| f32::rough(&mut rng)).collect();
    let keys: Vec<u32> = data.iter().map(|_| rng.next_u32() % 1001).collect();
    let bits = || {
        let mut cells = vec![-0.0f32; 1000];
        let mut rejected = [0, u64::MAX];
        reduce_by_key::<u32, f32, Sum>(Sum, &keys, &data, &mut cells, 1000, &mut rejected).unwrap();
        let sum = reduce::<f32, Sum>(Sum, &data);
        let product = reduce::<f32, Product>(Product, &data[..100]);
        let dot = reduce::<(f32, f32), Dot>(Dot, (&data[1..], &data[..data.len() - 1]));
        let floats = cells.into_iter().chain([sum, product]);
        let bits: Vec<u32> = floats.map(f32::to_bits).collect();
        (bits, dot.to_bits(), rejected)
    };
    let expected = on(1, bits);
    for threads in [2, 3, 7] {
        assert!(on(threads, bits) == expected, "{threads} threads");
    }
}

#[test]
fn accumulators_may_be_any_plain_data() {
    /// The smallest element, and the sum of the indices.
    #[derive(Clone, Copy, Debug, kernels_gpu::prelude::Value)]
    struct LeastAndIndexes;

    impl Op<i64> for LeastAndIndexes {
        type Acc = kernels_gpu::element::Indexed<i64>;
        type Output = Self::Acc;

        fn identity(&self) -> Self::Acc {
            Self::Acc::new(i64::MAX, 0)
        }

        fn lift(&self, value: i64, index: u64) -> Self::Acc {
            Self::Acc::new(value, index)
        }

        fn combine(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc {
            Self::Acc::new(a.value().min(b.value()), a.index() + b.index())
        }

        fn finish(&self, acc: Self::Acc) -> Self::Acc {
            acc
        }
    }

    for n in [1i64, 31, 32, 33, 129, 2047, 2048, 2049, 10_000] {
        let input: Vec<i64> = (0..n).rev().collect();
        let all = reduce::<i64, LeastAndIndexes>(LeastAndIndexes, &input);
        assert_eq!((all.value(), all.index()), (0, (n * (n - 1) / 2) as u64));
    }
}

#[test]
fn accumulators_may_be_structures() {
    for n in [1i32, 15, 16, 17, 63, 64, 65, 2047, 2048, 2049, 100_000] {
        let input: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
        let moments = reduce::<f32, MeanVariance>(MeanVariance, &input);
        let mean = input.iter().map(|x| f64::from(*x)).sum::<f64>() / f64::from(n);
        let distances = input.iter().map(|x| (f64::from(*x) - mean).powi(2));
        let squares: f64 = distances.sum();
        assert_eq!(moments.count(), f64::from(n));
        assert!((moments.mean() - mean).abs() <= 1e-13, "{moments:?}");
        assert!(
            (moments.squares() - squares).abs() <= 1e-12 * squares,
            "{moments:?}"
        );
        let extrema = reduce::<f32, MinMax>(MinMax, &input);
        assert_eq!((extrema.min(), extrema.max()), (0.0, (n - 1).min(6) as f32));
    }
}

/// The composition of maps x -> scale x + shift, in integers that wrap; the first map is applied first.
#[derive(Clone, Copy, Debug, kernels_gpu::prelude::Value)]
struct Compose;

impl Op<(u32, u32)> for Compose {
    type Acc = [u32; 2];
    type Output = [u32; 2];
    const COMMUTATIVE: bool = false;

    fn identity(&self) -> [u32; 2] {
        [1, 0]
    }

    fn lift(&self, (scale, shift): (u32, u32), _: u64) -> [u32; 2] {
        [scale, shift]
    }

    fn combine(&self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        let shift = a[1].wrapping_mul(b[0]).wrapping_add(b[1]);
        [a[0].wrapping_mul(b[0]), shift]
    }

    fn finish(&self, acc: [u32; 2]) -> [u32; 2] {
        acc
    }
}

#[test]
fn an_operator_that_is_not_commutative_combines_the_items_in_order() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    // The last size uses several threads.
    for n in SIZES.into_iter().chain([(1 << 18) + 7]) {
        let mut draw = || (0..n).map(|_| rng.next_u32()).collect();
        // Odd, so that no product is 0.
        let scales: Vec<u32> = Vec::<u32>::into_iter(draw()).map(|x| x | 1).collect();
        let shifts: Vec<u32> = draw();
        let items = scales.iter().zip(&shifts);
        let one_by_one = items.fold([1, 0], |all, (scale, shift)| {
            Compose.combine(all, [*scale, *shift])
        });
        for threads in [1, 3] {
            let got = on(threads, || {
                reduce::<(u32, u32), Compose>(Compose, (&scales, &shifts))
            });
            assert_eq!(got, one_by_one, "{n} on {threads} threads");
        }
    }
}

/// The sum of the products of three numbers and their index, plus a constant of the operator, over arrays
/// whose elements have different sizes.
#[derive(Clone, Copy, Debug, kernels_gpu::prelude::Value)]
#[repr(C)]
struct Products {
    each: u64,
}

impl Op<(u8, i64, u16)> for Products {
    type Acc = u64;
    type Output = u64;

    fn identity(&self) -> u64 {
        0
    }

    fn lift(&self, (a, b, c): (u8, i64, u16), index: u64) -> u64 {
        let product = u64::from(a).wrapping_mul(b as u64).wrapping_mul(c.into());
        product.wrapping_mul(index).wrapping_add(self.each)
    }

    fn combine(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn finish(&self, acc: u64) -> u64 {
        acc
    }
}

#[test]
fn three_arrays_are_reduced_together() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    for n in SIZES.into_iter().chain([300_001]) {
        let a: Vec<u8> = (0..n).map(|_| rng.random()).collect();
        let b: Vec<i64> = (0..n).map(|_| rng.random()).collect();
        let c: Vec<u16> = (0..n).map(|_| rng.random()).collect();
        let op = Products { each: rng.random() };
        let right = (0..n).fold(0u64, |sum, i| {
            sum.wrapping_add(op.lift((a[i], b[i], c[i]), i as u64))
        });
        let got = reduce::<(u8, i64, u16), Products>(op, (&a, &b, &c));
        assert_eq!(got, right, "{n}");
    }
}

#[test]
fn dot_products_agree_with_one_loop() {
    fn of_integers<T: Subject>(rng: &mut StdRng, mul: fn(T, T) -> i64)
    where
        Dot: Op<(T, T), Acc = i64>,
    {
        for n in SIZES {
            let (a, b) = (drawn::<T>(n + 1, true, rng), drawn::<T>(n, true, rng));
            // The two arrays have different alignments.
            let a = &a[1..];
            let pairs = a.iter().zip(&b);
            let right = pairs.fold(0, |sum: i64, (a, b)| sum.wrapping_add(mul(*a, *b)));
            assert_eq!(reduce::<(T, T), Dot>(Dot, (a, &b)), right, "{n}");
        }
    }
    let rng = &mut StdRng::seed_from_u64(rand::random());
    of_integers::<i8>(rng, |a, b| i64::from(a) * i64::from(b));
    of_integers::<i32>(rng, |a, b| i64::from(a) * i64::from(b));
    of_integers::<i64>(rng, i64::wrapping_mul);
    for n in SIZES {
        let (a, b) = (drawn::<f32>(n, false, rng), drawn::<f32>(n, false, rng));
        // The products are exact in `f64`.
        let pairs = a.iter().zip(&b);
        let products: Vec<f64> = pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).collect();
        let got = reduce::<(f32, f32), Dot>(Dot, (&a, &b));
        close(got, &Sum::expected(&products), chain::<f32>(n))
            .unwrap_or_else(|e| panic!("{n}: {e}"));
    }
}

#[test]
fn counts_agree_with_one_loop() {
    fn of<T: Subject + PartialOrd>(rng: &mut StdRng)
    where
        Equal<T>: Predicate<T>,
        Less<T>: Predicate<T>,
        Greater<T>: Predicate<T>,
    {
        for n in SIZES {
            let data = drawn::<T>(n, true, rng);
            let count =
                |holds: &dyn Fn(&T) -> bool| data.iter().filter(|x| holds(x)).count() as u64;
            for value in [
                T::GREATEST,
                T::ZEROES[0],
                T::ZEROES[1],
                T::ODD,
                T::whole(rng),
            ] {
                let got = [
                    reduce::<T, Count<Equal<T>>>(Count(Equal(value)), &data),
                    reduce::<T, Count<Less<T>>>(Count(Less(value)), &data),
                    reduce::<T, Count<Greater<T>>>(Count(Greater(value)), &data),
                ];
                let right = [
                    count(&|x| *x == value),
                    count(&|x| *x < value),
                    count(&|x| *x > value),
                ];
                assert_eq!(got, right, "{n} {} compared with {value:?}", T::NAME);
            }
        }
    }
    let rng = &mut StdRng::seed_from_u64(rand::random());
    of::<i8>(rng);
    of::<u16>(rng);
    of::<i32>(rng);
    of::<u64>(rng);
    of::<f16>(rng);
    of::<bf16>(rng);
    of::<f32>(rng);
    of::<f64>(rng);
    let data = drawn::<f64>(10_000, true, rng);
    let right = data.iter().filter(|x| x.is_nan()).count() as u64;
    assert_eq!(reduce::<f64, Count<IsNan>>(Count(IsNan), &data), right);
}

#[test]
fn extrema_of_indexed_values_keep_the_index() {
    use kernels_gpu::element::Indexed;

    let mut rng = StdRng::seed_from_u64(rand::random());
    for n in SIZES {
        let data = drawn::<Indexed<f32>>(n, true, &mut rng);
        check::<Indexed<f32>, ArgMin, _>(&data, "indexed values");
        check::<Indexed<f32>, ArgMax, _>(&data, "indexed values");
    }
}

#[cfg(feature = "teaching")]
mod keyed;
mod triples;
