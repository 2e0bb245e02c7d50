//! The cooperative step of a grid: its blocks combine their partials in global memory, within one launch.

use crate::block::block_reduce;
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, Look, Partials, Shared};
use crate::op::{Op, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_to_first};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};

/// Partials that a lane has in flight at most: each is a trip to the L2 cache.
const MOST_IN_FLIGHT: usize = 4;

/// Bytes of the partials that a lane has in flight at most, where that is more than one.
const MOST_BYTES_IN_FLIGHT: usize = 96;

/// The temporary storage of a grid, and the cell for its result.
#[derive(Clone, Copy, Debug)]
pub struct TempStorage<A> {
    /// Room for a partial of each block.
    pub partials: Partials<A>,
    /// The arrival counter: one cell, from which blocks draw numbers. 0 before the launch, and 0 after it.
    pub arrivals: Global<u32>,
    /// One cell for the result.
    pub result: Global<A>,
    /// An element for each warp of a block, in its shared memory.
    pub scratch: Shared<A>,
}

impl<A: Element> TempStorage<A> {
    /// Partials that a lane has in flight.
    const IN_FLIGHT: usize = match MOST_BYTES_IN_FLIGHT / size_of::<A>() {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => MOST_IN_FLIGHT,
    };

    /// The block's number in the order in which the blocks have begun. **Thread 0 holds it**, once it needs
    /// it: asked for before the block's loads, it is in flight beside them.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive(self) -> u32 {
        let blocks = grid_dim_x();
        if thread_idx_x() == 0 && blocks > 1 {
            self.arrivals.draw(0, blocks)
        } else {
            0
        }
    }

    /// The partials of all blocks as one. **Lane 0 holds the result**; what the others get is of no use.
    ///
    /// Lane `l` takes the partials of blocks `l`, `l + 32`, ...; of an operator that is not commutative
    /// those of neighbouring blocks, so that the order stays.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the block's first warp arrive here, and every block leaves its partial.
    #[inline(always)]
    unsafe fn combine_partials<I: Items, O: Op<I, Acc = A>>(self, op: O) -> A {
        let (lane, blocks) = (thread_idx_x(), grid_dim_x());
        let share = blocks.div_ceil(WARP_SIZE);
        let block = |i: u32| {
            if O::COMMUTATIVE {
                lane + i * WARP_SIZE
            } else {
                lane * share + i
            }
        };
        let has = |i: u32| i < share && block(i) < blocks;
        let mut value = op.identity();
        let mut i = 0;
        while has(i) {
            let number = |k: usize| i + k as u32;
            let mut looks = [Look::NOWHERE; MOST_IN_FLIGHT];
            loop {
                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                    looks[k] = self.partials.look(block(number(k)) as usize);
                });
                let mut found = true;
                unrolled!(|k < Self::IN_FLIGHT| found &= looks[k].found());
                if found {
                    break;
                }
            }
            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                let partial = self.partials.take(block(number(k)) as usize, looks[k]);
                value = op.combine(value, partial);
            });
            i += Self::IN_FLIGHT as u32;
        }
        // SAFETY: the caller brings all lanes.
        unsafe { reduce_to_first::<I, O>(op, value) }
    }
}

/// Leaves the values of all threads of the grid as one in the storage's `result`, whatever it held
/// before.
///
/// A block cannot wait for just any other: not all of them run at once, and one that has not begun may
/// never begin if those that run wait for it. But the block that was the last to begin may wait for all
/// others, since all of them run or have ended:
///
/// ```text
/// block 2   arrival 0   loads ...   partial ──► partials[2], done
/// block 0   arrival 1   loads ...   partial ──► partials[0], done
/// block 1   arrival 2   loads ...   partial ──► partials[1], the last of three to begin:
///                                   waits until all three are there, all three ──► result
/// ```
///
/// Which block is the last is chance. What it does is not: it combines the partials by their numbers
/// and not in the order of arrival. So the result is bit-equal from run to run.
///
/// No fence is needed, since each partial carries a ready flag ([`Partials`]); and no partial waits for
/// its block's arrival number, which may be longer in flight than the loads of the block: all blocks draw
/// from one cell. One warp is enough to combine some hundred partials, and needs no barrier of the block.
/// It resets their flags, and with the last arrival the counter is 0 again: the next launch on the stream
/// finds everything as this one has.
///
/// # Safety
///
/// All threads of all blocks arrive here, with the number that [`arrive`](TempStorage::arrive) gave them
/// before. The storage is as its fields say, and no other grid uses it meanwhile.
#[inline(always)]
pub unsafe fn grid_reduce<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    arrival: u32,
    storage: TempStorage<O::Acc>,
) {
    let (tid, own, blocks) = (thread_idx_x(), block_idx_x(), grid_dim_x());
    // SAFETY: all threads of the block are here, and the scratch is the launch's.
    let partial = unsafe { block_reduce::<I, O>(op, value, storage.scratch) };
    if blocks == 1 {
        if tid == 0 {
            storage.result.set(0, partial);
        }
        return;
    }

    if tid >= WARP_SIZE {
        return;
    }
    if tid == 0 {
        storage.partials.leave(own as usize, partial);
    }
    // SAFETY: the first warp is whole, and all of its lanes are here.
    let arrival = unsafe { arrival.shuffle(FULL_MASK, Shuffle::Idx(0)) };
    if arrival != blocks - 1 {
        return;
    }
    // SAFETY: as above: all lanes have the same number.
    let total = unsafe { storage.combine_partials::<I, O>(op) };
    if tid == 0 {
        storage.result.set(0, total);
    }
}
