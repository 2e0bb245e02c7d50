//! Compares every sum with an accumulator that takes the items one by one, in every compiled version.

use kernels_gpu::element::{bf16, f16};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::*;

/// How the exponents of random values are distributed below the highest one.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// As those of uniform or Gaussian numbers: each half as frequent as the one above.
    Halving,
    /// Equally frequent, from the highest one to one so many below.
    Spread(i32),
}

/// Spreads around what levels hold: 45, 90, 130 and 180 bits less the significands, or less in longer blocks.
const SPREADS: [i32; 14] = [0, 1, 8, 14, 20, 24, 30, 37, 41, 49, 60, 70, 80, 100];

/// A finite value whose exponent is at most `highest`, if the type has such values.
fn drawn<T: Float>(exponents: Below, highest: i32, rng: &mut StdRng) -> T {
    let below = match exponents {
        Below::Halving => rng.random::<u64>().leading_zeros() as i32,
        Below::Spread(spread) => rng.random_range(0..=spread),
    };
    let lowest_bit = highest - below - T::SIGNIFICAND as i32;
    let leading = 1 << (T::SIGNIFICAND - 1);
    let significand = match rng.random_range(0..8) {
        0 => leading,
        1 => 2 * leading - 1,
        2 => leading + 1,
        _ => rng.random_range(leading..2 * leading),
    };
    let negative = rng.random();
    if lowest_bit < T::MIN_EXPONENT {
        let short = (T::MIN_EXPONENT - lowest_bit).min(T::SIGNIFICAND as i32);
        return T::from_parts(negative, significand >> short, T::MIN_EXPONENT);
    }
    T::from_parts(negative, significand, lowest_bit)
}

fn negated<T: Float>(value: T) -> T {
    let magnitude = value.exactly().abs();
    match value.exactly().is_sign_negative() {
        true => of::<T>(magnitude),
        false => of::<T>(-magnitude),
    }
}

/// The value, which the type has.
fn of<T: Float>(value: f64) -> T {
    let mut sum = Accumulator::new();
    sum.add(value);
    sum.sum()
}

/// Special values: infinities, NaN, zeros, and the largest and smallest magnitudes.
fn special<T: Float>(rng: &mut StdRng) -> T {
    let negative = rng.random();
    match rng.random_range(0..5) {
        0 => T::NAN,
        1 => T::from_parts(negative, 0, T::MAX_EXPONENT),
        2 => T::from_parts(negative, 0, T::MIN_EXPONENT),
        3 => T::from_parts(negative, 1, T::MIN_EXPONENT),
        _ => {
            let exponent = T::MAX_EXPONENT - T::SIGNIFICAND as i32;
            T::from_parts(negative, (1 << T::SIGNIFICAND) - 1, exponent)
        }
    }
}

/// Random values of one kind.
fn values<T: Float>(n: usize, rng: &mut StdRng) -> Vec<T> {
    let exponents = match rng.random_range(0..4) {
        0 => Below::Halving,
        1 => Below::Spread(T::MAX_EXPONENT - T::MIN_EXPONENT),
        _ => Below::Spread(SPREADS[rng.random_range(0..SPREADS.len())]),
    };
    let highest = match rng.random_range(0..6) {
        0 => T::MAX_EXPONENT,
        1 => T::MIN_EXPONENT + T::SIGNIFICAND as i32,
        2 => rng.random_range(T::MIN_EXPONENT..=T::MAX_EXPONENT),
        3 => rng.random_range(T::MIN_EXPONENT..=T::MAX_EXPONENT) / 2,
        _ => 3,
    };
    let mut values: Vec<T> = (0..n).map(|_| drawn(exponents, highest, rng)).collect();
    match rng.random_range(0..8) {
        // All are zeros, perhaps all of one sign.
        0 => {
            let zero = values.first().map_or(1.0, |x| x.exactly()) * 0.0;
            values.fill(of(zero));
            let other = rng.random_range(0..=n);
            values[other..].fill(of(-zero));
        }
        // They cancel but for one.
        1 => {
            let half = n / 2;
            for i in 0..half {
                values[n - 1 - i] = negated(values[i]);
            }
            values.shuffle(rng);
        }
        // All are the same, which is the most that integers have to hold.
        2 => values = vec![drawn(exponents, highest, rng); n],
        // A few are special, or from anywhere.
        3 | 4 => {
            for _ in 0..n.min(4) {
                let full = Below::Spread(T::MAX_EXPONENT - T::MIN_EXPONENT);
                let i = rng.random_range(0..n);
                values[i] = match rng.random() {
                    true => special(rng),
                    false => drawn(full, T::MAX_EXPONENT, rng),
                };
            }
        }
        // Some are zeros.
        5 => {
            for value in &mut values {
                if rng.random() {
                    *value = of(value.exactly().signum() * 0.0);
                }
            }
        }
        _ => {}
    }
    values
}

/// The sum by each version of the code that the processor has.
fn versions<I: Items, O: Term<I::Item>>(items: I) -> Vec<Accumulator> {
    let finished = |add: &dyn Fn(&mut Blocks<O>)| {
        let mut blocks = Blocks::<O>::new();
        add(&mut blocks);
        let mut sum = blocks.finish();
        // `add_all` sets this flag.
        sum.add_flags(kernels_gpu::exact::Flags::NOT_NEGATIVE_ZERO);
        sum
    };
    #[allow(unused_mut, reason = "other targets have one version")]
    let mut sums = vec![finished(&|blocks| blocks.by_block::<I, false>(items))];
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        sums.push(finished(&|blocks| {
            // SAFETY: the condition above checks that the processor has these instructions.
            unsafe { blocks.by_block_avx2(items) }
        }));
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
    {
        sums.push(finished(&|blocks| {
            // SAFETY: the conditions above check that the processor has these instructions.
            unsafe { blocks.by_block_avx512(items) }
        }));
    }
    sums
}

fn check<I: Items, O: Term<I::Item>>(items: I, got: Accumulator, what: &str) {
    let mut expected = Accumulator::new();
    for item in items.iter() {
        O::add(&mut expected, item);
    }
    let n = items.len();
    assert!(got == expected, "{what}, {n}: {got:?}, not {expected:?}");
    expected.add_flags(kernels_gpu::exact::Flags::NOT_NEGATIVE_ZERO);
    for (version, got) in versions::<I, O>(items).into_iter().enumerate() {
        assert!(
            got == expected,
            "{what}, {n}, version {version}: {got:?}, not {expected:?}"
        );
    }
}

fn check_all<T: Float>(n: usize, rng: &mut StdRng) {
    let seed: u64 = rng.random();
    let rng = &mut StdRng::seed_from_u64(seed);
    let start = rng.random_range(0..4);
    let (x, y) = (values::<T>(n + start, rng), values::<T>(n, rng));
    let (x, what) = (&x[start..], format!("{} with seed {seed}", T::NAME));
    check::<_, Value>(x, sum(x), &format!("sum of {what}"));
    check::<_, Magnitude>(x, sum_abs(x), &format!("sum of magnitudes of {what}"));
    check::<_, Square>(x, sum_squares(x), &format!("sum of squares of {what}"));
    check::<_, Product>((x, &y[..]), dot(x, &y), &format!("dot product of {what}"));
}

macro_rules! sums {
    ($($name:ident: $float:ident;)*) => { $(
        #[test]
        fn $name() {
            let rng = &mut StdRng::seed_from_u64(rand::random());
            for n in 0..300 {
                check_all::<$float>(n, rng);
            }
            let blocks = [64, 512, 1024, 3 * 2048];
            for n in blocks.iter().flat_map(|n| [n - 1, *n, n + 1, n + 255, n + 256, n + 257]) {
                for _ in 0..8 {
                    check_all::<$float>(n, rng);
                }
            }
        }
    )* };
}

sums! {
    sums_of_f16: f16;
    sums_of_bf16: bf16;
    sums_of_f32: f32;
    sums_of_f64: f64;
}

#[test]
fn sums_by_several_threads() {
    let rng = &mut StdRng::seed_from_u64(rand::random());
    let x: Vec<f64> = (0..300_001)
        .map(|_| drawn(Below::Halving, 1, rng))
        .collect();
    assert!(size_of_val(&x[..]) > PARALLEL_BYTES);
    let mut expected = Accumulator::new();
    expected.add_all(&x);
    for threads in 1..5 {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| sum(&x)), expected, "{threads} threads");
    }
}

/// 2^`log` times the same item, whose sum is known without adding it so often.
fn check_repeated<T: Float, O: Term<T>>(value: T, log: u32, what: &str) {
    let mut expected = Accumulator::new();
    O::add(&mut expected, value);
    for _ in 0..log {
        expected.merge(&expected.clone());
    }
    let x = vec![value; 1 << log];
    assert!(add_all::<_, O>(&x[..]) == expected, "{what}");
    for (version, got) in versions::<_, O>(&x[..]).into_iter().enumerate() {
        assert!(got == expected, "{what}, version {version}");
    }
}

/// The largest significands, and half a unit of the first level, which is the most that is left for the second.
#[test]
fn levels_do_not_overflow() {
    for half in (30..=50).flat_map(|digit| [2f64.powi(-digit), -2f64.powi(-digit)]) {
        check_repeated::<_, Value>(1.0 + half, 15, "ties");
        check_repeated::<_, Square>(1.0 + half, 15, "squares of ties");
    }
    for log in [12, 15, 20] {
        check_repeated::<_, Value>(1.0 - f64::EPSILON / 2.0, log, "f64");
        check_repeated::<_, Square>(1.0 - f64::EPSILON / 2.0, log, "squares of f64");
        check_repeated::<_, Value>(1.0 - f32::EPSILON / 2.0, log, "f32");
        check_repeated::<_, Square>(1.0 - f32::EPSILON / 2.0, log, "squares of f32");
        check_repeated::<_, Value>(f16::MAX, log, "f16");
        check_repeated::<_, Square>(f16::MAX, log, "squares of f16");
    }
}

/// One value of each block is so small that all go to buckets, and all others to the same.
#[test]
fn buckets_do_not_overflow() {
    for sign in [1.0, -1.0] {
        let mut x = [sign * (1.0 - f64::EPSILON / 2.0); 20_000];
        x.iter_mut().step_by(500).for_each(|x| *x = 2f64.powi(-400));
        check::<_, Value>(&x[..], sum(&x), "f64");
        check::<_, Square>(&x[..], sum_squares(&x), "squares of f64");
        let mut x = [sign as f32 * (1.0 - f32::EPSILON / 2.0); 20_000];
        x.iter_mut().step_by(500).for_each(|x| *x = 2f32.powi(-140));
        check::<_, Value>(&x[..], sum(&x), "f32");
    }
}

/// Blocks that levels have to give up, among others that they hold.
#[test]
fn blocks_differ() {
    let rng = &mut StdRng::seed_from_u64(rand::random());
    let blocks = (0..60).map(|_| {
        let below = Below::Spread([3, 40, 80, 900][rng.random_range(0..4)]);
        let (highest, zeros) = (rng.random_range(-20..20), rng.random::<bool>());
        let mut value = || match zeros && rng.random() {
            true => 0.0,
            false => drawn(below, highest, rng),
        };
        (0..1024).map(|_| value()).collect::<Vec<f64>>()
    });
    let x: Vec<f64> = blocks.flatten().collect();
    check::<_, Value>(&x[..], sum(&x), "f64");
    check::<_, Square>(&x[..], sum_squares(&x), "squares of f64");
    check::<_, Product>(
        (&x[1..], &x[..x.len() - 1]),
        dot(&x[1..], &x[..x.len() - 1]),
        "products",
    );
}

/// Values that are rounded up to a power of two by the first level.
#[test]
fn largest_values_do_not_overflow() {
    fn check_type<T: Float>() {
        let digits = T::SIGNIFICAND as i32;
        for exponent in T::MAX_EXPONENT - 8..=T::MAX_EXPONENT {
            // Smaller ones come first: the levels then have no bit to spare.
            let exponents = [[exponent - 1 - digits; 1000], [exponent - digits; 1000]];
            let value = |exponent| T::from_parts(false, (1 << digits) - 1, exponent);
            let x: Vec<T> = exponents.into_iter().flatten().map(value).collect();
            check::<_, Value>(&x[..], sum(&x), T::NAME);
            check::<_, Square>(&x[..], sum_squares(&x), T::NAME);
        }
    }

    check_type::<f16>();
    check_type::<bf16>();
    check_type::<f32>();
    check_type::<f64>();
}

/// The errors of such products are at the least `f64`, or below.
#[test]
fn errors_may_underflow() {
    let rng = &mut StdRng::seed_from_u64(rand::random());
    // Blocks are short, because one term that does not fit is enough to give up its block.
    for (highest, n) in (-510..-450).flat_map(|highest| [1, 2, 3, 4, 50].map(|n| (highest, n))) {
        let [x, y]: [Vec<f64>; 2] = std::array::from_fn(|_| {
            let values = (0..n).map(|_| drawn(Below::Spread(3), highest, rng));
            values.collect()
        });
        check::<_, Square>(&x[..], sum_squares(&x), "squares");
        check::<_, Product>((&x[..], &y[..]), dot(&x, &y), "products");
    }
}

/// Levels that gave up blocks they can hold would be exact, but several times as slow.
#[test]
fn levels_hold_common_values() {
    fn check<I: Items, O: Term<I::Item>>(items: I, what: &str) {
        let mut blocks = Blocks::<O>::new();
        assert!(blocks.add_floats::<I, false>(items, items.len()), "{what}");
    }

    let rng = &mut StdRng::seed_from_u64(rand::random());
    let mut x: Vec<f32> = (0..1024)
        .map(|_| drawn(Below::Spread(21), 3, rng))
        .collect();
    x[0] = 0.0;
    check::<_, Value>(&x[..], "f32");
    check::<_, Square>(&x[..], "squares of f32");
    let mut x: Vec<f64> = (0..1024)
        .map(|_| drawn(Below::Spread(49), 3, rng))
        .collect();
    x[0] = 0.0;
    check::<_, Value>(&x[..], "f64");
    check::<_, Product>((&x[..], &[3.3; 1024][..]), "products of f64");
    check::<_, Value>(&[f16::MAX, f16::from_bits(1)][..], "f16");
    check::<_, Square>(&[f16::MAX, f16::from_bits(1)][..], "squares of f16");
}
