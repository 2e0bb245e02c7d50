//! Exact sums of floats: of an array, of its absolute values or squares, and of the products of two arrays.
//!
//! | file | contents |
//! |---|---|
//! | `rows` | one slice, or two |
//! | `terms` | the terms of each sum, as floats with errors |
//! | `exponents` | bounds of the terms of a block |
//! | `levels` | adds the terms of a block as floats, without rounding |
//! | `buckets` | adds them as integers, one for each exponent |
//! | `blocks` | cuts an array into blocks; compiled for the processor's vector instructions |
//!
//! An [`Accumulator`] adds a few hundred million items per second. Levels are up to thirty times as fast, if the exponents
//! of a block's terms do not differ too much; buckets are three to five times as fast for any exponents. Infinities, NaN
//! and products with errors below the least float are added to the accumulator one by one.

mod blocks;
mod buckets;
mod exponents;
mod levels;
mod rows;
mod terms;

use kernels_gpu::exact::{Accumulator, Float};
use rayon::prelude::*;

use blocks::Blocks;
use terms::{Items, Magnitude, Product, Square, Term, Value};

/// Below this many bytes one thread adds all items, because waking another takes 10 to 40 µs.
const PARALLEL_BYTES: usize = 2 << 20;

/// Fewer items are not aligned, because that would take longer than it saves.
const MANY: usize = 4096;

/// Bytes of each array that a thread takes at a time.
const TASK_BYTES: usize = 256 << 10;

/// The exact sum.
pub(crate) fn sum<T: Float>(x: &[T]) -> Accumulator {
    add_all::<_, Value>(x)
}

/// The exact sum of the absolute values.
pub(crate) fn sum_abs<T: Float>(x: &[T]) -> Accumulator {
    add_all::<_, Magnitude>(x)
}

/// The exact sum of the squares.
pub(crate) fn sum_squares<T: Float>(x: &[T]) -> Accumulator {
    add_all::<_, Square>(x)
}

/// The exact sum of the products of two arrays of the same length.
pub(crate) fn dot<T: Float>(x: &[T], y: &[T]) -> Accumulator {
    debug_assert_eq!(x.len(), y.len(), "the arrays have the same length");
    add_all::<_, Product>((x, y))
}

fn add_all<I: Items, O: Term<I::Item>>(items: I) -> Accumulator {
    let len = items.len();
    // Levels and buckets do not know -0.0 from 0.0. After one other term it does not matter.
    let mut begun = Accumulator::new();
    let other = items.iter().position(|item| {
        O::add(&mut begun, item);
        !O::is_negative_zero(item)
    });
    let rest = items.part(other.map_or(len, |other| other + 1), len);
    // The aligned part starts with a cache line of the first array, so that no vector of it is in two lines.
    let start = if rest.len() < MANY {
        0
    } else {
        rest.before_line()
    };
    let mut blocks = Blocks::<O>::new();
    let aligned = rest.part(start, rest.len());
    if aligned.len() * size_of::<I::Item>() < PARALLEL_BYTES {
        blocks.add(aligned);
    } else {
        begun.merge(&by_tasks::<I, O>(aligned));
    }
    blocks.add(rest.part(0, start));
    begun.merge(&blocks.finish());
    begun
}

/// The exact sum, by all threads.
fn by_tasks<I: Items, O: Term<I::Item>>(items: I) -> Accumulator {
    let (len, task) = (items.len(), TASK_BYTES / size_of::<I::Item>());
    let tasks = (0..len.div_ceil(task)).into_par_iter();
    let sums = tasks.fold(Blocks::<O>::new, |mut blocks, task_number| {
        let start = task_number * task;
        blocks.add(items.part(start, len.min(start + task)));
        blocks
    });
    sums.map(Blocks::finish)
        .reduce(Accumulator::new, |mut a, b| {
            a.merge(&b);
            a
        })
}

#[cfg(test)]
mod tests;
