//! An operator with a list of items, without their types, so that little code is compiled for each of them.

use crate::items::Items;
use crate::op::Op;
use core::fmt::Debug;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The operations that the laws need on a list of items, for an operator with accumulators `A`.
pub(super) trait Reduction<A> {
    /// The number of items.
    fn len(&self) -> usize;
    fn is_commutative(&self) -> bool;
    fn identity(&self) -> A;
    /// Lifts item `item` of the list at this index.
    fn lift(&self, item: usize, index: u64) -> A;
    fn combine(&self, a: A, b: A) -> A;
    fn offset(&self, acc: A, by: u64) -> A;

    /// The text of the finished result.
    fn finish(&self, acc: A) -> String;

    /// The text of the result for empty input.
    fn empty(&self) -> String;

    /// The shapes of rows that can be absorbed together.
    fn rows(&self) -> Vec<Rows>;

    /// Absorbs a row of `width` items for each of `first`, from item `item` of the list on.
    fn absorb(&self, acc: A, item: usize, width: usize, first: &[u64]) -> A;

    /// The item that the operator [selects](Op::SELECTS), lifted; the index of the first is `first`. `None` if it does not
    /// select, or if there are no items.
    fn selected(&self, first: u64) -> Option<A>;

    /// The text of `len` items from `item` on.
    fn text(&self, item: usize, len: usize) -> String;
}

/// Items and their operator.
pub(super) struct List<O, I> {
    pub(super) op: O,
    pub(super) items: Vec<I>,
}

/// The shape of absorbed rows: their number, and the items of each.
pub(super) struct Rows {
    pub(super) rows: usize,
    pub(super) width: usize,
}

/// The rows that the CPU absorbs at a time.
const CPU: Rows = Rows { rows: 4, width: 32 };

impl<I: Items + Debug, O: Op<I, Output: Debug>> Reduction<O::Acc> for List<O, I> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn is_commutative(&self) -> bool {
        O::COMMUTATIVE
    }

    fn identity(&self) -> O::Acc {
        self.op.identity()
    }

    fn lift(&self, item: usize, index: u64) -> O::Acc {
        self.op.lift(self.items[item], index)
    }

    fn combine(&self, a: O::Acc, b: O::Acc) -> O::Acc {
        self.op.combine(a, b)
    }

    fn offset(&self, acc: O::Acc, by: u64) -> O::Acc {
        self.op.offset(acc, by)
    }

    fn finish(&self, acc: O::Acc) -> String {
        format!("{:?}", self.op.finish(acc))
    }

    fn empty(&self) -> String {
        format!("{:?}", self.op.empty())
    }

    /// The rows that kernels load, and those of the CPU.
    fn rows(&self) -> Vec<Rows> {
        let vectors = [1, I::VECTOR].into_iter();
        let gpu = vectors.flat_map(|width| (1..=4).map(move |rows| Rows { rows, width }));
        gpu.chain([CPU]).collect()
    }

    /// As kernels do it: the item that precedes all others, and then the first that equals it.
    fn selected(&self, first: u64) -> Option<O::Acc> {
        if !O::SELECTS {
            return None;
        }
        let preceding = |a, b| self.op.preceding(a, b);
        let best = self.items.iter().copied().reduce(preceding)?;
        let equals = |item: &I| !self.op.precedes(best, *item);
        let at = self
            .items
            .iter()
            .position(equals)
            .unwrap_or(self.items.len() - 1);
        Some(self.op.lift(self.items[at], first + at as u64))
    }

    fn absorb(&self, acc: O::Acc, item: usize, width: usize, first: &[u64]) -> O::Acc {
        let (op, items) = (&self.op, &self.items[item..]);
        macro_rules! widths {
            ($($n:literal)*) => {
                match width {
                    $($n if const { $n == 1 || $n == I::VECTOR } => match first.len() {
                        1 => absorb::<I, O, $n, 1>(op, acc, items, first),
                        2 => absorb::<I, O, $n, 2>(op, acc, items, first),
                        3 => absorb::<I, O, $n, 3>(op, acc, items, first),
                        _ => absorb::<I, O, $n, 4>(op, acc, items, first),
                    })*
                    _ => absorb::<I, O, { CPU.width }, { CPU.rows }>(op, acc, items, first),
                }
            };
        }
        widths!(1 2 4 8 16)
    }

    fn text(&self, item: usize, len: usize) -> String {
        format!("{:?}", &self.items[item..][..len])
    }
}

fn absorb<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: &O,
    acc: O::Acc,
    items: &[I],
    first: &[u64],
) -> O::Acc {
    // Loops, because `array::from_fn` takes several times as long to compile.
    let mut rows = [[items[0]; N]; K];
    for (row, items) in rows.iter_mut().zip(items.chunks(N)) {
        row.copy_from_slice(items);
    }
    let mut indices = [0; K];
    indices.copy_from_slice(first);
    op.absorb(acc, rows, indices)
}
