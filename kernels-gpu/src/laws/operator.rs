//! An operator without its type.

use crate::items::Items;
use crate::op::Op;
use core::fmt::Debug;
use std::format;
use std::string::String;
use std::vec::Vec;

/// What the laws ask of an operator over `I` that accumulates in `A`.
pub(super) trait Operator<I, A> {
    fn is_commutative(&self) -> bool;
    fn identity(&self) -> A;
    fn lift(&self, item: I, index: u64) -> A;
    fn combine(&self, a: A, b: A) -> A;
    fn offset(&self, acc: A, by: u64) -> A;

    /// The result's text.
    fn finish(&self, acc: A) -> String;

    /// The rows that can be absorbed together.
    fn rows(&self) -> Vec<Rows>;

    /// Absorbs a row of `width` items for each of `first`, together all of `items`.
    fn absorb(&self, width: usize, acc: A, items: &[I], first: &[u64]) -> A;
}

/// So many rows of so many items.
pub(super) struct Rows {
    pub(super) rows: usize,
    pub(super) width: usize,
}

/// What the CPU absorbs at a time.
const CPU: Rows = Rows { rows: 4, width: 32 };

impl<I: Items, O: Op<I, Output: Debug>> Operator<I, O::Acc> for O {
    fn is_commutative(&self) -> bool {
        O::COMMUTATIVE
    }

    fn identity(&self) -> O::Acc {
        Op::identity(self)
    }

    fn lift(&self, item: I, index: u64) -> O::Acc {
        Op::lift(self, item, index)
    }

    fn combine(&self, a: O::Acc, b: O::Acc) -> O::Acc {
        Op::<I>::combine(self, a, b)
    }

    fn offset(&self, acc: O::Acc, by: u64) -> O::Acc {
        Op::<I>::offset(self, acc, by)
    }

    fn finish(&self, acc: O::Acc) -> String {
        format!("{:?}", Op::<I>::finish(self, acc))
    }

    /// Those that kernels load, and the CPU.
    fn rows(&self) -> Vec<Rows> {
        let vectors = [1, I::VECTOR].into_iter();
        let gpu = vectors.flat_map(|width| (1..=4).map(move |rows| Rows { rows, width }));
        gpu.chain([CPU]).collect()
    }

    fn absorb(&self, width: usize, acc: O::Acc, items: &[I], first: &[u64]) -> O::Acc {
        macro_rules! widths {
            ($($n:literal)*) => {
                match width {
                    $($n if const { $n == 1 || $n == I::VECTOR } => match first.len() {
                        1 => absorb::<I, O, $n, 1>(self, acc, items, first),
                        2 => absorb::<I, O, $n, 2>(self, acc, items, first),
                        3 => absorb::<I, O, $n, 3>(self, acc, items, first),
                        _ => absorb::<I, O, $n, 4>(self, acc, items, first),
                    })*
                    _ => absorb::<I, O, { CPU.width }, { CPU.rows }>(self, acc, items, first),
                }
            };
        }
        widths!(1 2 4 8 16)
    }
}

fn absorb<I: Items, O: Op<I>, const N: usize, const K: usize>(
    op: &O,
    acc: O::Acc,
    items: &[I],
    first: &[u64],
) -> O::Acc {
    // Loops, because `array::from_fn` takes the compiler several times as long.
    let mut rows = [[items[0]; N]; K];
    for (row, items) in rows.iter_mut().zip(items.chunks(N)) {
        row.copy_from_slice(items);
    }
    let mut indices = [0; K];
    indices.copy_from_slice(first);
    op.absorb(acc, rows, indices)
}
