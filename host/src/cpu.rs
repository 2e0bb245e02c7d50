//! The same reductions without a GPU, on all cores and in vector registers.
//!
//! | file | has |
//! |---|---|
//! | `block` | one block of elements, compiled for the vectors that the processor has |
//! | `tree` | the blocks, on all cores |
//! | `rows` | items of one array or several |
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

mod block;
mod keyed;
mod rows;
mod tree;

#[cfg(feature = "teaching")]
use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

use crate::input::Items;
use block::{block, in_turn};
pub(crate) use keyed::reduce_by_key;
use rows::Of;
use tree::Tree;

/// Combines all items; the identity when there are none.
pub(crate) fn reduce<I: Items, O: Op<I>>(op: O, items: Of<'_, I>) -> O::Acc {
    let combine = |a, b| op.combine(a, b);
    if O::ABSORBS || !O::COMMUTATIVE {
        let leaf = |items: Of<'_, I>, start| in_turn::<I, O>(op, items, start);
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

/// Combines the fields of the triples in `input`, each field by itself, in an order that is made as
/// [`reduce`]'s is and has its bound.
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
