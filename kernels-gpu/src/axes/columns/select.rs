//! Columns by an operator that [selects](Op::SELECTS): a thread compares items alone, in the order of their indices, and keeps
//! the first that no other precedes.

use super::Part;
use super::column::Column;
use crate::items::Items;
use crate::mem::compiler_barrier;
use crate::op::{Op, unrolled};
use crate::tile::{items_of_tile, zero};

/// The vectors that a thread has in flight.
const IN_FLIGHT: usize = 8;

/// What precedes the items so far in each place of a vector.
struct Best<I, const W: usize> {
    items: [I; W],
    /// The number of its vector in the tiles.
    at: [u32; W],
}

impl<I: Items, O: Op<I>> Part<'_, I, O> {
    /// Selects an item of each column among those of the thread in its tiles: every so many of their vectors as there are
    /// threads. The identity if there is none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    pub(super) fn select<const W: usize, const IS_ALIGNED: bool>(&self) -> [O::Acc; W] {
        let shape = self.shape;
        // The items of a column in a vector: one or two.
        let each = if shape.width as usize == W { 1 } else { 2 };
        let first = self.tile * items_of_tile::<I>();
        let items = (shape.items as usize - first).min(shape.each as usize * items_of_tile::<I>());
        let (vectors, threads) = ((items >> (each - 1)) as u32, 1 << shape.log_threads);
        let column = Column::<I>::new(self.arrays, shape, self.words, self.offset, self.tile);
        let stride = column.dims.stride.wrapping_mul(each);
        let start = (column.base).wrapping_add(column.dims.stride.wrapping_mul(first));
        let load = |vector: u32| {
            let at = start.wrapping_add(stride.wrapping_mul(vector as usize));
            if IS_ALIGNED {
                return I::vector::<W>(self.arrays, at);
            }
            let mut items = [zero::<I>(); W];
            unrolled!(|w < W| items[w] = I::get(self.arrays, at + w));
            items
        };
        let mut values = [self.op.identity(); W];
        let mut vector = self.number;
        if vector >= vectors {
            return values;
        }
        let mut best = Best {
            items: load(vector),
            at: [vector; W],
        };
        while vector + (IN_FLIGHT as u32 - 1) * threads < vectors {
            let mut loaded = [best.items; IN_FLIGHT];
            unrolled!(|k < IN_FLIGHT| loaded[k] = load(vector + k as u32 * threads));
            compiler_barrier();
            self.compare(&mut best, loaded, vector, threads);
            vector += IN_FLIGHT as u32 * threads;
        }
        while vector < vectors {
            self.compare(&mut best, [load(vector)], vector, threads);
            vector += threads;
        }
        unrolled!(|w < W| {
            let of_vector = if w < shape.width as usize { 0 } else { 1 };
            let index = first + best.at[w] as usize * each + of_vector;
            values[w] = self.op.lift(best.items[w], index as u64);
        });
        if each > 1 {
            let all = values;
            unrolled!(|w < W| if 2 * w < W {
                values[w] = self.op.combine(all[w], all[w + W / 2]);
            });
        }
        values
    }

    /// Compares what is selected with the items of later vectors, `step` apart from number `vector` on. Their numbers matter only
    /// if there is a better item among them.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never))]
    fn compare<const W: usize, const K: usize>(
        &self,
        best: &mut Best<I, W>,
        loaded: [[I; W]; K],
        vector: u32,
        step: u32,
    ) {
        let mut found = loaded[0];
        unrolled!(|w < W, k < K| if k > 0 {
            found[w] = self.op.preceding(found[w], loaded[k][w]);
        });
        let mut is_better = false;
        unrolled!(|w < W| is_better |= self.op.precedes(found[w], best.items[w]));
        if !is_better {
            return;
        }
        unrolled!(|w < W| if self.op.precedes(found[w], best.items[w]) {
            unrolled!(|k < K| {
                let k = K - 1 - k;
                if !self.op.precedes(found[w], loaded[k][w]) {
                    (best.items[w], best.at[w]) = (loaded[k][w], vector + k as u32 * step);
                }
            });
        });
    }
}
