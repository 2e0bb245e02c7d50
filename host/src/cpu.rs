//! Reductions on the CPU, on all cores and with vector instructions.
//!
//! | file | contents |
//! |---|---|
//! | `block` | reduces one block of elements; compiled for the processor's vector instructions |
//! | `tree` | distributes the blocks over all cores |
//! | `rows` | items of one array or several |
//! | `keyed` | reduction by key |
//!
//! # Order and accuracy
//!
//! Elements are combined pairwise: four rows of a block at a time, then the lanes of a block by halving, then
//! the blocks in a binary tree whose shape depends only on n. The result has the same bits on any number of
//! threads. Except for the bits of a NaN, it has the same bits on any processor.
//!
//! A float takes part in at most d roundings: a fixed number within its block of 8 KiB, and one more for
//! every doubling of the number of blocks.
//!
//! | elements | roundings in a block | d |
//! |---|---|---|
//! | `f32` | 18 | 18 + ceil(log2(n / 2048)) |
//! | `f64` | 17 | 17 + ceil(log2(n / 1024)) |
//! | `f16`, `bf16` | 26 | 26 + ceil(log2(n / 4096)) |
//!
//! The error of a sum is therefore at most d u / (1 - d u) times the sum of the absolute values, where u is
//! 2^-24 for `f32` and 2^-53 for `f64`. For a sequential loop d is n - 1.

mod block;
mod keyed;
mod rows;
mod tree;

#[cfg(feature = "teaching")]
use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

use crate::input::Items;
use block::{block, in_order};
pub(crate) use keyed::reduce_by_key;
use rows::Of;
use tree::Tree;

/// Combines all items; the identity for empty input.
pub(crate) fn reduce<I: Items, O: Op<I>>(op: O, items: Of<'_, I>) -> O::Acc {
    let combine = |a, b| op.combine(a, b);
    if O::ABSORBS || !O::COMMUTATIVE {
        let leaf = |items: Of<'_, I>, start| in_order::<I, O>(op, items, start);
        return Tree::new::<I>(64, leaf, combine).reduce::<I, _>(items);
    }
    let leaf = |items: Of<'_, I>, start| {
        let [all] = match size_of::<O::Acc>() {
            4 => block::<I, O, 64, 1>(op, items, start),
            8 => block::<I, O, 32, 1>(op, items, start),
            _ => block::<I, O, 16, 1>(op, items, start),
        };
        all
    };
    Tree::new::<I>(64, leaf, combine).reduce::<I, _>(items)
}

/// Combines the fields of the triples in `input`, each field separately, in an order like that of [`reduce`]
/// and with the same error bound.
#[cfg(feature = "teaching")]
pub(crate) fn reduce_triples<T: Element, O: Op<T>>(op: O, input: &[T]) -> [O::Acc; 3] {
    let leaf = |items: &[T], start| block::<T, O, 48, 3>(op, items, start);
    let combine = |[a, b, c]: [O::Acc; 3], [d, e, f]: [O::Acc; 3]| {
        [op.combine(a, d), op.combine(b, e), op.combine(c, f)]
    };
    Tree::new::<T>(48, leaf, combine).reduce::<T, _>(input)
}

#[cfg(test)]
mod tests;
