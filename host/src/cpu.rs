//! The same reductions without a GPU, on all cores and in vector registers.
//!
//! | file | has |
//! |---|---|
//! | `block` | one block of elements, compiled for the vectors that the processor has |
//! | `tree` | the blocks, on all cores |
//! | `place` | minima and maxima with their places |
//! | `beside` | with something beside the array: counts and dot products |
//! | `keyed` | reduction by key |
//!
//! # Order and accuracy
//!
//! Elements are combined pairwise: rows of a block in fours, the lanes of a block by halves, and the
//! blocks by halves, in a tree whose shape depends on n alone. The result has the same bits on any number
//! of threads, and but for those of a NaN on any processor.
//!
//! A float that is added takes part in at most 18 roundings within its block of 8 KiB (17 of `f64`, 26 if
//! it has 16 bits), and in one more for every doubling of the blocks: of n `f32`, in
//! d = 18 + ceil(log2(n / 2048)). The sum is therefore wrong by at most d u / (1 - d u) times the sum of
//! the absolute values, where u is 2^-24 in `f32` and 2^-53 in `f64`. One loop from the first element
//! to the last has n - 1 for d.

mod beside;
mod block;
mod keyed;
mod place;
mod tree;

use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

pub(crate) use beside::{count, dot};
use block::block;
pub(crate) use keyed::reduce_by_key;
pub(crate) use place::reduce_places;
use tree::Tree;

/// Combines all of `input`; the identity when it is empty.
pub(crate) fn reduce<T: Element, O: Op<T>>(input: &[T]) -> O::Acc {
    reduce_blocks::<T, O, _>(input, |all, _| all, O::combine)
}

/// Combines what `leaf` makes of each block's accumulator and the index of its first element.
fn reduce_blocks<T: Element, O: Op<T>, A: Send>(
    input: &[T],
    leaf: impl Fn(O::Acc, usize) -> A + Sync,
    combine: impl Fn(A, A) -> A + Sync,
) -> A {
    let leaf = |values: &[T], start| {
        let [all] = match size_of::<O::Acc>() {
            4 => block::<T, O, 64, 1>(values, start),
            8 => block::<T, O, 32, 1>(values, start),
            _ => block::<T, O, 16, 1>(values, start),
        };
        leaf(all, start)
    };
    Tree::new::<T>(64, leaf, combine).reduce(input)
}

/// Combines all of `input`, the elements of a block one after the other: by an operator that takes
/// several at once ([`Op::absorb`]) for much less than one by one.
pub(crate) fn reduce_in_turn<T: Element, O: Op<T>>(input: &[T]) -> O::Acc {
    const AT_ONCE: usize = 16;
    let leaf = |values: &[T], start: usize| {
        let (chunks, rest) = values.as_chunks::<AT_ONCE>();
        let firsts = (start..).step_by(AT_ONCE);
        let all = chunks
            .iter()
            .zip(firsts)
            .fold(O::IDENTITY, |all, (chunk, first)| {
                O::absorb(all, [*chunk], [first])
            });
        let behind = start + values.len() - rest.len();
        rest.iter()
            .zip(behind..)
            .fold(all, |all, (value, i)| O::absorb(all, [[*value]], [i]))
    };
    Tree::new::<T>(64, leaf, O::combine).reduce(input)
}

/// Combines the fields of the triples in `input`, each field by itself, in an order that is made as
/// [`reduce`]'s is and has its bound.
pub(crate) fn reduce_triples<T: Element, O: Op<T>>(input: &[T]) -> [O::Acc; 3] {
    let leaf = block::<T, O, 48, 3>;
    let combine = |[a, b, c]: [O::Acc; 3], [d, e, f]: [O::Acc; 3]| {
        [O::combine(a, d), O::combine(b, e), O::combine(c, f)]
    };
    Tree::new::<T>(48, leaf, combine).reduce(input)
}

#[cfg(test)]
mod tests;
