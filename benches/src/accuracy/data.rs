//! The elements of every kind of data, and their exact sums.

use std::ops::Neg;

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use warpfold::{Accumulator, Float};
use warpfold_results::accuracy::{Data, Value};

/// Elements per random generator. Each chunk has its own, so that chunks are drawn in parallel and a seed gives the
/// same elements on every machine.
pub const CHUNK: usize = 1 << 18;

/// One of so many pairs of [`Data::Cancelling`] is far smaller, by this factor.
const SMALL_PAIRS: usize = 32;
const SMALL: f64 = 1.0 / (1 << 20) as f64;

/// A type of elements.
pub trait Item: Float + Neg<Output = Self> {
    /// A number that a sum with any number below 1 rounds to.
    const LARGE: f64;

    /// The nearest value.
    fn rounded(x: f64) -> Self;

    /// The value for a record.
    fn value(self) -> Value;

    /// The bytes of the items, for a file.
    fn bytes(items: &[Self]) -> Vec<u8>;

    /// The sum by a loop.
    fn looped(items: &[Self]) -> Self;
}

macro_rules! items {
    ($($float:ident $value:ident $large:literal;)*) => { $(
        impl Item for $float {
            const LARGE: f64 = $large;

            fn rounded(x: f64) -> Self {
                x as $float
            }

            fn value(self) -> Value {
                Value::$value(self)
            }

            fn bytes(items: &[Self]) -> Vec<u8> {
                items.iter().flat_map(|x| x.to_le_bytes()).collect()
            }

            fn looped(items: &[Self]) -> Self {
                items.iter().fold(0.0, |sum, x| sum + x)
            }
        }
    )* };
}

items! {
    f32 F32 1e8;
    f64 F64 1e16;
}

/// The `n` elements of this kind.
pub fn items<T: Item>(data: Data, n: usize, seed: u64) -> Vec<T> {
    match data {
        Data::Uniform => drawn(n, seed, |rng, _| unit::<T>(rng)),
        Data::Normal => drawn(n, seed, |rng, _| {
            (0..12).map(|_| unit::<T>(rng)).sum::<f64>() - 6.0
        }),
        Data::Cancelling => dealt(cancelling(n, seed), seed),
        Data::Large => drawn(n, seed, |rng, index| match index {
            0 => T::LARGE,
            _ => unit::<T>(rng),
        }),
        Data::Condition4
        | Data::Condition8
        | Data::Condition16
        | Data::Condition24
        | Data::Condition30 => {
            let condition = data.condition().expect("these have one");
            dealt(conditioned(n, condition, seed), seed)
        }
    }
}

/// The exact sum, and the condition number: the sum of the magnitudes divided by the magnitude of the sum.
pub fn exact<T: Item>(items: &[T]) -> (Accumulator, f64) {
    let chunks = items.par_chunks(CHUNK).map(|chunk| {
        let (mut sum, mut magnitudes) = (Accumulator::new(), Accumulator::new());
        for x in chunk {
            sum.add(*x);
            magnitudes.add_abs(*x);
        }
        (sum, magnitudes)
    });
    let (sum, magnitudes) = chunks.reduce(
        || (Accumulator::new(), Accumulator::new()),
        |(mut sum, mut magnitudes), (other, others)| {
            sum.merge(&other);
            magnitudes.merge(&others);
            (sum, magnitudes)
        },
    );
    let condition = magnitudes.sum::<f64>() / sum.sum::<f64>().abs();
    (sum, condition)
}

/// A random value of the type from 0 to below 1, a multiple of an ulp of 0.5.
fn unit<T: Item>(rng: &mut SmallRng) -> f64 {
    let steps = (1_u64 << T::SIGNIFICAND) as f64;
    (rng.next_u64() >> (64 - T::SIGNIFICAND)) as f64 / steps
}

/// A random value with a random sign, whose magnitude is from 2^(`exponent` - 1) to 2^`exponent`.
fn signed<T: Item>(rng: &mut SmallRng, exponent: i32) -> T {
    let sign = if rng.next_u64().is_multiple_of(2) {
        0.5
    } else {
        -0.5
    };
    T::rounded(sign * (1.0 + unit::<T>(rng)) * 2f64.powi(exponent))
}

fn generator(seed: u64, chunk: usize) -> SmallRng {
    SmallRng::seed_from_u64(seed.wrapping_add((chunk as u64) << 32))
}

/// Elements that are independent of one another; `draw` has the index.
fn drawn<T: Item>(
    n: usize,
    seed: u64,
    draw: impl Fn(&mut SmallRng, usize) -> f64 + Sync,
) -> Vec<T> {
    let mut items = vec![T::rounded(0.0); n];
    let chunks = items.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(chunk, items)| {
        let rng = &mut generator(seed, chunk);
        for (index, item) in items.iter_mut().enumerate() {
            *item = T::rounded(draw(rng, chunk * CHUNK + index));
        }
    });
    items
}

/// Pairs of `x` and `-x`; of every [`SMALL_PAIRS`] the first is two small positive numbers instead.
fn cancelling<T: Item>(n: usize, seed: u64) -> Vec<T> {
    let mut items: Vec<T> = drawn(n, seed, |rng, _| unit::<T>(rng));
    let pairs = items.par_chunks_mut(2).enumerate();
    pairs.for_each(|(index, pair)| match pair {
        [x, y] if index % SMALL_PAIRS != 0 => *y = -*x,
        rest => rest
            .iter_mut()
            .for_each(|x| *x = T::rounded(SMALL * x.exactly())),
    });
    items
}

/// Elements with about this condition number: chunks that have it, each with a positive sum.
fn conditioned<T: Item>(n: usize, condition: f64, seed: u64) -> Vec<T> {
    let mut items = vec![T::rounded(0.0); n];
    let chunks = items.par_chunks_mut(CHUNK).enumerate();
    chunks
        .for_each(|(chunk, items)| condition_chunk(items, condition, &mut generator(seed, chunk)));
    items
}

/// Makes elements with about this condition number.
///
/// After Ogita, Rump and Oishi, "Accurate Sum and Dot Product", 2005, which has a generator for dot products. The
/// first half is random, with exponents from 0 to log2 of the condition number. Each element of the second half
/// makes the exact sum so far its share of the prescribed sum and a random number, whose exponent falls to that of the
/// prescribed sum. The last one makes it that sum.
fn condition_chunk<T: Item>(items: &mut [T], condition: f64, rng: &mut SmallRng) {
    let most = condition.log2().round() as i32;
    let (first, second) = items.split_at_mut(items.len() / 2);
    // The negative of the sum so far.
    let mut rest = Accumulator::new();
    let mut magnitudes = 0.0;
    for x in first {
        let exponent = (rng.next_u64() % (most as u64 + 1)) as i32;
        *x = signed(rng, exponent);
        magnitudes += x.exactly().abs();
        rest.add(-*x);
    }
    let sum = T::rounded(2.0 * magnitudes / condition);
    let least = (sum.exactly().log2().round() as i32).min(most);
    let steps = second.len() as i64;
    for (step, x) in (1..).zip(second) {
        let next = if step == steps {
            sum
        } else {
            let exponent = i64::from(most) + i64::from(least - most) * step / steps;
            let random: T = signed(rng, exponent as i32);
            let share = sum.exactly() * step as f64 / steps as f64;
            T::rounded(share + random.exactly())
        };
        rest.add(next);
        *x = rest.sum();
        rest.add(-next);
        rest.add(-*x);
    }
}

/// The elements in random order: dealt to the chunks in turn, then shuffled in each chunk.
fn dealt<T: Item>(items: Vec<T>, seed: u64) -> Vec<T> {
    let hands = items.len().div_ceil(CHUNK);
    let mut order = vec![T::rounded(0.0); items.len()];
    let mut rest = order.as_mut_slice();
    let mut slices = Vec::new();
    for hand in 0..hands {
        let (slice, others) = rest.split_at_mut((items.len() - hand).div_ceil(hands));
        slices.push(slice);
        rest = others;
    }
    let slices = slices.into_par_iter().enumerate();
    slices.for_each(|(hand, slice)| {
        let dealt = items.iter().skip(hand).step_by(hands);
        slice.iter_mut().zip(dealt).for_each(|(to, x)| *to = *x);
        slice.shuffle(&mut generator(!seed, hand));
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition<T: Item>(data: Data, n: usize) -> f64 {
        let items: Vec<T> = items(data, n, 7);
        assert_eq!(items.len(), n);
        exact(&items).1
    }

    #[test]
    fn condition_numbers_are_reached() {
        for data in Data::ALL {
            let Some(prescribed) = data.condition() else {
                continue;
            };
            for n in [1 << 10, 1 << 15, (1 << 20) + 1] {
                for reached in [condition::<f32>(data, n), condition::<f64>(data, n)] {
                    let factor = reached / prescribed;
                    assert!((0.1..10.0).contains(&factor), "{data}, {n}: {reached:e}");
                }
            }
        }
    }

    #[test]
    fn random_numbers_have_their_moments() {
        let n = 1 << 16;
        let mean = |items: &[f32]| items.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
        let square = |items: &[f32]| {
            let squares: Vec<_> = items.iter().map(|x| x * x).collect();
            mean(&squares)
        };
        let uniform = items::<f32>(Data::Uniform, n, 7);
        assert!(uniform.iter().all(|x| (0.0..1.0).contains(x)));
        assert!((mean(&uniform) - 0.5).abs() < 0.01 && (square(&uniform) - 1.0 / 3.0).abs() < 0.01);
        let normal = items::<f32>(Data::Normal, n, 7);
        assert!(mean(&normal).abs() < 0.02 && (square(&normal) - 1.0).abs() < 0.05);
        let beyond = normal.iter().filter(|x| x.abs() > 2.0).count() as f64 / n as f64;
        assert!((beyond - 0.0455).abs() < 0.01, "{beyond}");
    }

    #[test]
    fn what_cancels_leaves_the_small_pairs() {
        let n = 1 << 12;
        let cancelling: Vec<f64> = items(Data::Cancelling, n, 7);
        let (small, others): (Vec<f64>, Vec<f64>) =
            cancelling.iter().partition(|x| (0.0..SMALL).contains(*x));
        assert!(small.len() >= n / SMALL_PAIRS);
        assert!(others.iter().all(|x| others.contains(&-x)));
        let right = exact(&small).0.sum::<f64>();
        assert!((right - SMALL * small.len() as f64 / 2.0).abs() < 0.2 * right);
        assert_eq!(exact(&cancelling).0.sum::<f64>(), right);
    }

    #[test]
    fn a_loop_loses_every_number_beside_a_large_one() {
        let large: Vec<f64> = items(Data::Large, 1 << 10, 7);
        assert_eq!(f64::looped(&large), 1e16);
        assert!(exact(&large).0.sum::<f64>() > 1e16 + 400.0);
        let large: Vec<f32> = items(Data::Large, 1 << 10, 7);
        assert_eq!(f32::looped(&large), 1e8);
        assert!(exact(&large).0.sum::<f32>() > 1e8 + 400.0);
    }

    #[test]
    fn a_seed_gives_the_same_elements_and_dealing_keeps_them() {
        let n = CHUNK + 3;
        let first: Vec<f32> = items(Data::Condition8, n, 7);
        assert_eq!(first, items::<f32>(Data::Condition8, n, 7));
        assert_ne!(first, items::<f32>(Data::Condition8, n, 8));
        let numbers: Vec<f64> = (0..n).map(|x| x as f64).collect();
        let mut order = dealt(numbers.clone(), 7);
        assert_ne!(order, numbers);
        order.sort_by(f64::total_cmp);
        assert_eq!(order, numbers);
    }
}
