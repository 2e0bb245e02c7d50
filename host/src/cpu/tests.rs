//! Every operator of every type against the oracle's loops, at the edges of rows, blocks and tasks.

use std::marker::PhantomData;

use kernels_gpu::element::{bf16, f16};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, MeanVariance, Min, MinMax, NanMax, NanMin, Or, Product, Sum, SumWide,
    Xor,
};
use kernels_sim::oracle::{Drawn, Oracle, Subject, Value, close, same};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use super::*;
use crate::operator::Operator;

/// Around rows and fours of rows of all widths, and around the blocks of elements of 8, 4, 2 and 1
/// bytes.
const SIZES: [usize; 29] = [
    0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025,
    2047, 2048, 2049, 4097, 6145, 8191, 8192, 8193,
];

/// The most roundings that an element takes part in.
fn chain<T>(n: usize) -> f64 {
    let block = (8 << 10) / size_of::<T>();
    MOST_IN_A_BLOCK + (n as f64 / block as f64).max(1.0).log2().ceil()
}

/// That of sums of 16-bit floats in `f64`, whose rows are the shortest.
const MOST_IN_A_BLOCK: f64 = 41.0;

/// Holds `reduce_on_cpu` against the oracle, also of a slice whose start is not aligned.
fn check<T, O, A>(data: &[T], what: &str)
where
    T: Element + crate::Element,
    O: Operator<T, Acc = A> + Oracle<A>,
    A: Value,
{
    for start in [0, 1, 3] {
        let data = data.get(start..).unwrap_or_default();
        let lifted: Vec<A> = (0..).zip(data).map(|(i, x)| O::lift(*x, i)).collect();
        let expected = O::expected(&lifted);
        close(O::reduce_on_cpu(data), &expected, chain::<T>(data.len())).unwrap_or_else(|wrong| {
            let (op, element) = (<O as Op<T>>::NAME, T::NAME);
            panic!("{op} of {} {element}, {what}: {wrong}", data.len())
        });
    }
}

/// Random data, whole and rough; where `odd` is set, sprinkled with what is special.
fn drawn<T: Subject>(n: usize, odd: bool, rng: &mut StdRng) -> Vec<T> {
    let special = [T::GREATEST, T::ZEROES[0], T::ZEROES[1], T::ODD];
    let draw = [T::whole, T::rough][rng.random_range(0..2)];
    let mut data: Vec<T> = (0..n).map(|_| draw(rng)).collect();
    // Few enough that some arrays have no NaN.
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

/// How many combinations of two an element takes part in: those with an identity do not round.
#[derive(Clone, Copy)]
struct Depth<A>(PhantomData<A>);

macro_rules! depth {
    ($($element:ident in $acc:ident;)*) => { $(
        impl Op<$element> for Depth<$acc> {
            const NAME: &'static str = "depth";
            type Acc = $acc;
            const IDENTITY: $acc = $acc::MAX;
            type Output = $acc;

            fn lift(_: $element, _: usize) -> $acc {
                0
            }

            fn combine(a: $acc, b: $acc) -> $acc {
                match (a, b) {
                    ($acc::MAX, deep) | (deep, $acc::MAX) => deep,
                    _ => a.max(b) + 1,
                }
            }

            fn finish(acc: $acc) -> $acc {
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
    let (mut halves, mut singles, mut doubles, mut triples) = (0, 0, 0, 0);
    for n in (1..=4096).step_by(7).chain([4096]) {
        halves = halves.max(reduce::<f16, Depth<u32>>(&vec![f16::ONE; n]));
        singles = singles.max(reduce::<f32, Depth<u32>>(&vec![1.0; n.min(2048)]));
        doubles = doubles.max(reduce::<f64, Depth<u64>>(&vec![1.0; n.min(1024)]));
        let of_triples = reduce_triples::<f32, Depth<u32>>(&vec![1.0; n.min(672) * 3]);
        triples = triples.max(of_triples[0]);
    }
    assert_eq!((halves, singles, doubles), (26, 18, 17));
    assert!(triples <= 18, "{triples}");
    for doublings in 1..5 {
        let ones = vec![1.0; 2048 << doublings];
        let depth = reduce::<f32, Depth<u32>>(&ones);
        assert!(depth <= 18 + doublings, "{depth} of {}", ones.len());
    }
}

/// The exact sum in units of 2^-64, of `f32` from 2^-40 to 2^40.
fn exact(values: &[f32]) -> i128 {
    let units = |x: &f32| (f64::from(*x) * 2f64.powi(64)) as i128;
    values.iter().map(units).sum()
}

/// How far the sum is from the exact one, over the sum of the magnitudes and the unit of roundoff.
fn roundings(got: f32, values: &[f32]) -> f64 {
    let error = exact(&[got]) - exact(values);
    let magnitudes: Vec<f32> = values.iter().map(|x| x.abs()).collect();
    error.abs() as f64 / exact(&magnitudes).max(1) as f64 * 2f64.powi(24)
}

#[test]
fn sums_are_as_accurate_as_documented_where_a_loop_is_not() {
    const N: usize = 1 << 18;
    let d = 18.0 + 7.0;
    let tenths = vec![0.1f32; N];
    let growing: Vec<f32> = (0..N)
        .map(|i| 2f32.powi((i >> 13) as i32 - 16) * 1.1)
        .collect();
    let one_and_dust: Vec<f32> = (0..N).map(|i| if i == 0 { 1.0 } else { 5.9e-8 }).collect();
    let cancelling: Vec<f32> = (0..N as i32)
        .map(|i| (i % 1013) as f32 * if i % 2 == 0 { 1e6 } else { -1e6 } + 0.1)
        .collect();
    for (what, values) in [
        ("tenths", &tenths),
        ("growing", &growing),
        ("one and dust", &one_and_dust),
        ("cancelling", &cancelling),
    ] {
        let got = roundings(reduce::<f32, Sum>(values), values);
        assert!(got <= d, "{what}: {got} roundings");
    }
    for values in [&tenths, &one_and_dust] {
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
        let d = chain::<f32>(values.len()) - MOST_IN_A_BLOCK + 18.0;
        let got = roundings(reduce::<f32, Sum>(&values), &values);
        prop_assert!(got <= d, "{} roundings", got);
    }

    #[test]
    fn the_first_of_equal_places_wins(
        values in prop::collection::vec(prop::sample::select(vec![
            f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0,
        ]), 0..20_000),
        numbers_alone in any::<bool>(),
    ) {
        let is_in = |x: &f32| !(numbers_alone && x.is_nan());
        let values: Vec<f32> = values.into_iter().filter(is_in).collect();
        check::<f32, ArgMin, _>(&values, "proptest");
        check::<f32, ArgMax, _>(&values, "proptest");
        check::<f32, Min, _>(&values, "proptest");
        check::<f32, NanMax, _>(&values, "proptest");
    }
}

#[test]
fn the_first_place_wins_across_blocks() {
    const BLOCK: usize = 8 << 10;
    let mut input = vec![1u8; 2 * BLOCK + 3];
    for at in [2 * BLOCK + 1, BLOCK, BLOCK - 1, 5] {
        input[at] = 0;
        let place = reduce_places::<_, ArgMin>(&input);
        assert_eq!((place.value(), place.index()), (0, at as u64));
        assert_eq!(reduce_places::<_, ArgMax>(&input).index(), 0);
    }
    // Where every value is the identity's, the first is still a place.
    assert_eq!(reduce_places::<_, ArgMin>(&[f32::INFINITY; 7]).index(), 0);
    assert_eq!(reduce_places::<_, ArgMax>(&[0u16; 7]).index(), 0);
    assert_eq!(reduce_places::<_, ArgMin>(&[0f64; 0]).index(), u64::MAX);
}

#[test]
fn a_nan_anywhere_wins() {
    for at in [0, 1, 2047, 2048, 8191] {
        let mut input = vec![1.0f32; 8192];
        input[at] = f32::NAN;
        assert!(reduce::<f32, Min>(&input).is_nan());
        assert!(reduce::<f32, Max>(&input).is_nan());
        assert!(reduce::<f32, Sum>(&input).is_nan());
        assert_eq!(reduce_places::<_, ArgMax>(&input).index(), at as u64);
        assert!(reduce::<f32, NanMin>(&input) == 1.0);
    }
    assert!(reduce::<f32, Sum>(&[f32::INFINITY, f32::NEG_INFINITY]).is_nan());
}

#[test]
fn sums_of_negative_zeros_keep_their_sign() {
    for n in [0, 1, 256, 5000] {
        assert!(reduce::<f32, Sum>(&vec![-0.0; n]).is_sign_negative(), "{n}");
        assert!(reduce_triples::<f64, Sum>(&vec![-0.0; 3 * n])[2].is_sign_negative());
    }
}

#[test]
fn fields_of_triples_are_summed_by_themselves() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    for n in [
        0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 671, 672, 673, 1343, 1344, 1345, 5000,
    ] {
        let data: Vec<f64> = (0..3 * n).map(|_| f64::rough(&mut rng)).collect();
        let sums = reduce_triples::<f64, Sum>(&data);
        let integers: Vec<i32> = (0..3 * n).map(|_| i32::rough(&mut rng)).collect();
        let integer_sums = reduce_triples::<i32, Sum>(&integers);
        for field in 0..3 {
            let one: Vec<f64> = data.iter().skip(field).step_by(3).copied().collect();
            let chain = chain::<f64>(3 * n);
            close(sums[field], &Sum::expected(&one), chain).unwrap_or_else(|e| panic!("{n}: {e}"));
            let one = integers.iter().skip(field).step_by(3);
            let sum = one.fold(0i32, |sum, x| sum.wrapping_add(*x));
            assert_eq!(integer_sums[field], sum, "{n}");
        }
    }
}

/// On as many threads.
fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    // More than one thread gets: 2 MiB.
    let data: Vec<f32> = (0..(1 << 19) + 5).map(|_| f32::rough(&mut rng)).collect();
    let keys: Vec<u32> = data.iter().map(|_| rng.next_u32() % 1001).collect();
    let bits = || {
        let mut cells = vec![-0.0f32; 1000];
        let rejected = reduce_by_key::<u32, f32, Sum>(&keys, &data, &mut cells, 1000).unwrap();
        let sum = reduce::<f32, Sum>(&data);
        let product = reduce::<f32, Product>(&data[..100]);
        let triples = reduce_triples::<f32, Sum>(&data[..3 * (data.len() / 3)]);
        let floats = cells.into_iter().chain(triples).chain([sum, product]);
        (floats.map(f32::to_bits).collect::<Vec<_>>(), rejected)
    };
    let alone = on(1, bits);
    for threads in [2, 3, 7] {
        assert!(on(threads, bits) == alone, "{threads} threads");
    }
}

#[test]
fn accumulators_may_be_any_plain_data() {
    /// The least element, and the sum of the indexes.
    #[derive(Clone, Copy)]
    struct LeastAndIndexes;

    impl Op<i64> for LeastAndIndexes {
        const NAME: &'static str = "least_and_indexes";
        type Acc = kernels_gpu::element::Indexed<i64>;
        const IDENTITY: Self::Acc = Self::Acc::new(i64::MAX, 0);
        type Output = Self::Acc;

        fn lift(value: i64, index: usize) -> Self::Acc {
            Self::Acc::new(value, index as u64)
        }

        fn combine(a: Self::Acc, b: Self::Acc) -> Self::Acc {
            Self::Acc::new(a.value().min(b.value()), a.index() + b.index())
        }

        fn finish(acc: Self::Acc) -> Self::Acc {
            acc
        }
    }

    for n in [1i64, 31, 32, 33, 129, 2047, 2048, 2049, 10_000] {
        let input: Vec<i64> = (0..n).rev().collect();
        let all = reduce::<i64, LeastAndIndexes>(&input);
        assert_eq!((all.value(), all.index()), (0, (n * (n - 1) / 2) as u64));
    }
}

#[test]
fn accumulators_may_be_structures() {
    for n in [1i32, 15, 16, 17, 63, 64, 65, 2047, 2048, 2049, 100_000] {
        let input: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
        let moments = reduce::<f32, MeanVariance>(&input);
        let mean = input.iter().map(|x| f64::from(*x)).sum::<f64>() / f64::from(n);
        let distances = input.iter().map(|x| (f64::from(*x) - mean).powi(2));
        let squares: f64 = distances.sum();
        assert_eq!(moments.count(), f64::from(n));
        assert!((moments.mean() - mean).abs() <= 1e-13, "{moments:?}");
        assert!(
            (moments.squares() - squares).abs() <= 1e-12 * squares,
            "{moments:?}"
        );
        let extrema = reduce::<f32, MinMax>(&input);
        assert_eq!((extrema.min(), extrema.max()), (0.0, (n - 1).min(6) as f32));
    }
}

#[test]
fn cells_agree_with_one_loop() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    for (n, len, arrays) in [
        (0, 3, 1),
        (1, 1, 1),
        (1000, 0, 1),
        (1000, 7, 2),
        (131_071, 3, 1),
        (131_072, 3, 1),
        (131_072, 0, 1),
        (200_001, 20_000, 3),
        (200_001, 50_001, 1),
        (200_001, 70_000, 1),
    ] {
        let keys: Vec<i64> = (0..n).map(|_| rng.random_range(-1..=len as i64)).collect();
        let values: Vec<u32> = (0..n * arrays).map(|_| rng.next_u32()).collect();
        let mut cells: Vec<u32> = (0..len * arrays).map(|_| rng.next_u32()).collect();
        let mut expected = cells.clone();
        for (i, value) in values.iter().enumerate() {
            if let Ok(key @ 0..) = usize::try_from(keys[i % n])
                && key < len
            {
                let cell = &mut expected[i / n * len + key];
                *cell = cell.wrapping_add(*value);
            }
        }
        let rejected = reduce_by_key::<i64, u32, Sum>(&keys, &values, &mut cells, len).unwrap();
        let none = keys
            .iter()
            .filter(|key| !(0..len as i64).contains(key))
            .count();
        assert_eq!(
            (cells == expected, rejected),
            (true, none as u64),
            "{n} into {arrays} x {len}"
        );
    }
}

#[test]
fn a_cell_combines_its_values_in_their_order_within_a_piece() {
    let keys = vec![0u32; 50_000];
    let values: Vec<f32> = (0..keys.len()).map(|i| 1.0 / (i + 1) as f32).collect();
    let mut cells = [-0.0f32];
    reduce_by_key::<u32, f32, Sum>(&keys, &values, &mut cells, 1).unwrap();
    assert!(same(cells[0], values.iter().fold(-0.0, |sum, x| sum + x)));
}
