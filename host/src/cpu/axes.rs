//! Reductions along axes on all cores, with the bits of [`reduce`](super::reduce) for the items of each result.

use kernels_gpu::axes::{Dim, first_offset};
use kernels_gpu::items::Items;
use kernels_gpu::op::Op;
use kernels_gpu::tile::{LANES, ROWS, has_slots, items_of_tile};

use super::parallel::{for_each_part, join};
use super::rows::{Of, item};
use super::tile::{halve, pair};

/// The number of items of a task. Columns of a task are adjacent, because they often share cache lines.
const TASK_ITEMS: usize = 64 << 10;

/// The fewest columns of a task, if there are as many.
const FEWEST: usize = 64;

/// The items at the indices of the reduced dimensions.
struct Columns<'a, 'd, I: Items, O> {
    op: O,
    items: Of<'a, I>,
    reduced: &'d [Dim],
    /// The number of items of a column.
    len: usize,
}

/// Reduces the items at the indices of `reduced`, for each index of `kept` in C order, into the elements of `output`. None of
/// these dimensions is empty. The items start with the one of the lowest offset.
pub(crate) fn reduce_axes<I: Items, O: Op<I>>(
    op: O,
    items: Of<'_, I>,
    kept: &[Dim],
    reduced: &[Dim],
    output: &mut [O::Acc],
) {
    let columns = Columns::<I, O> {
        op,
        items,
        reduced,
        len: reduced.iter().map(|dim| dim.len).product(),
    };
    let start = first_offset(kept, reduced) as isize;
    let task = (TASK_ITEMS / columns.len).max(FEWEST);
    for_each_part(output, task, &|number, output| {
        let first = number * task;
        let bases: Vec<isize> = (first..first + output.len())
            .map(|column| start + offset(kept, column))
            .collect();
        let tiles = columns.len.div_ceil(items_of_tile::<I>());
        output.copy_from_slice(&columns.tiles(&bases, 0, tiles));
    });
}

/// The offset of an index in C order.
fn offset(dims: &[Dim], mut index: usize) -> isize {
    let mut offset = 0;
    for dim in dims.iter().rev() {
        offset += (index % dim.len) as isize * dim.stride;
        index /= dim.len;
    }
    offset
}

impl<I: Items, O: Op<I>> Columns<'_, '_, I, O> {
    /// Combines the tiles from `first` to `end` of the columns whose first items are at `bases`, as a binary tree.
    fn tiles(&self, bases: &[isize], first: usize, end: usize) -> Vec<O::Acc> {
        if end - first == 1 {
            return self.tile(bases, first);
        }
        let middle = first + (end - first).next_power_of_two() / 2;
        let (mut low, high) = join(
            || self.tiles(bases, first, middle),
            || self.tiles(bases, middle, end),
        );
        for (low, high) in low.iter_mut().zip(high) {
            *low = self.op.combine(*low, high);
        }
        low
    }

    /// Reduces this tile of each column.
    fn tile(&self, bases: &[isize], number: usize) -> Vec<O::Acc> {
        match I::VECTOR {
            1 => self.by_vectors::<1>(bases, number),
            2 => self.by_vectors::<2>(bases, number),
            4 => self.by_vectors::<4>(bases, number),
            8 => self.by_vectors::<8>(bases, number),
            16 => self.by_vectors::<16>(bases, number),
            _ => unreachable!("a vector has a power of two of items, at most 16"),
        }
    }

    fn by_vectors<const N: usize>(&self, bases: &[isize], number: usize) -> Vec<O::Acc> {
        match I::IN_FLIGHT {
            1 => self.by_rows::<N, 1>(bases, number),
            2 => self.by_rows::<N, 2>(bases, number),
            4 => self.by_rows::<N, 4>(bases, number),
            _ => unreachable!("one, two or four rows are absorbed together"),
        }
    }

    fn by_rows<const N: usize, const K: usize>(
        &self,
        bases: &[isize],
        number: usize,
    ) -> Vec<O::Acc> {
        let first = number * items_of_tile::<I>();
        let end = self.len.min(first + items_of_tile::<I>());
        let offsets: Vec<isize> = (first..end).map(|i| offset(self.reduced, i)).collect();
        let columns = bases.iter().map(|base| {
            let get = |i: usize| item::<I>(self.items, (base + offsets[i]) as usize);
            if has_slots::<I, O>() {
                self.by_slot::<N>(first, end - first, get)
            } else {
                self.by_lane::<N, K>(first, end - first, get)
            }
        });
        columns.collect()
    }

    /// Combines a tile with an accumulator for each slot of each lane. It has `len` items, from the column's item `first` on.
    fn by_slot<const N: usize>(
        &self,
        first: usize,
        len: usize,
        get: impl Fn(usize) -> I,
    ) -> O::Acc {
        let op = self.op;
        // The lanes that have items; the others hold identities, which change no bit.
        let used = len.div_ceil(N).min(LANES).next_power_of_two();
        let mut slots = [[op.identity(); N]; LANES];
        for i in 0..len {
            let slot = &mut slots[i / N % LANES][i % N];
            *slot = op.combine(*slot, op.lift(get(i), (first + i) as u64));
        }
        let mut lanes = [op.identity(); LANES];
        for (lane, slots) in lanes[..used].iter_mut().zip(&mut slots) {
            halve::<I, O>(op, slots);
            *lane = slots[0];
        }
        halve::<I, O>(op, &mut lanes[..used]);
        lanes[0]
    }

    /// Combines a tile with one accumulator for each lane, which takes several rows at once.
    fn by_lane<const N: usize, const K: usize>(
        &self,
        first: usize,
        len: usize,
        get: impl Fn(usize) -> I,
    ) -> O::Acc {
        let op = self.op;
        let mut lanes = [op.identity(); LANES];
        for (lane, acc) in lanes.iter_mut().enumerate() {
            // The item of the lane's vector in a row.
            let at = |row: usize| match O::COMMUTATIVE {
                true => (row * LANES + lane) * N,
                false => (lane * ROWS + row) * N,
            };
            for row in (0..ROWS).step_by(K) {
                let of_row: [usize; K] = std::array::from_fn(|k| at(row + k));
                if of_row[K - 1] + N <= len {
                    let rows: [[I; N]; K] = of_row.map(|at| std::array::from_fn(|e| get(at + e)));
                    *acc = op.absorb(*acc, rows, of_row.map(|at| (first + at) as u64));
                    continue;
                }
                for at in of_row {
                    for i in at..len.min(at + N) {
                        *acc = op.absorb(*acc, [[get(i)]], [(first + i) as u64]);
                    }
                }
            }
        }
        if O::COMMUTATIVE {
            halve::<I, O>(op, &mut lanes);
        } else {
            pair::<I, O>(op, &mut lanes);
        }
        lanes[0]
    }
}
