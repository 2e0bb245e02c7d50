//! Reductions on the CPU, on all cores and with vector instructions.
//!
//! | file | contents |
//! |---|---|
//! | `tile` | reduces tiles in the canonical order; compiled for the processor's vector instructions |
//! | `block` | reduces a block of elements, for operators that give the same bits in any order |
//! | `tree` | distributes tiles and blocks over all cores |
//! | `parallel` | calls functions on several threads |
//! | `rows` | items of one array or several |
//! | `segments` | segmented reductions |
//! | `runs` | the starts of runs of equal keys |
//! | `groups` | groups of equal keys, and the order of their items |
//! | `axes` | reductions along axes |
//! | `keyed` | reduction by key |
//! | `exact`, `by_name` | exact sums of floats, in any order |
//!
//! # Order and accuracy
//!
//! The order is that of the kernels on a GPU, [`kernels_gpu::tile`], so the result has the same bits on every device
//! and on any number of threads; except for the bits of a NaN. Operators for which the order does not matter
//! ([`Op::ANY_ORDER`]) take the fastest one.
//!
//! The crate's documentation has bounds on the error.

mod axes;
mod block;
mod by_name;
mod exact;
mod groups;
mod keyed;
mod parallel;
mod rows;
mod runs;
mod segments;
mod tile;
mod tree;

#[cfg(feature = "teaching")]
use kernels_gpu::element::Element;
use kernels_gpu::op::Op;

use crate::input::Items;
pub(crate) use axes::reduce_axes;
use block::{block, in_order};
pub(crate) use by_name::accumulate;
pub(crate) use groups::{find_groups, gather, order_of_groups};
use kernels_gpu::tile::items_of_tile;
pub(crate) use keyed::{count_by_key, reduce_by_key};
use rows::Of;
pub(crate) use runs::{count_runs, find_runs};
pub(crate) use segments::{Starts, reduce_segments};
use tile::tiles;
use tree::Tree;

/// Combines all items; the identity for empty input.
pub(crate) fn reduce<I: Items, O: Op<I>>(op: O, items: Of<'_, I>) -> O::Acc {
    let combine = |a, b| op.combine(a, b);
    if !O::ANY_ORDER {
        let leaf = |items: Of<'_, I>, start| tiles::<I, O>(op, items, start);
        return Tree::new::<I>(items_of_tile::<I>(), leaf, combine).reduce::<I, _>(items);
    }
    if O::ABSORBS {
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
