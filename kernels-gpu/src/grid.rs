//! The cooperative step of a grid: its blocks combine their partials through global memory, within one launch.

use crate::block::block_reduce;
use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, Partials, Polled, Shared};
use crate::op::{Op, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_to_first};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};

/// The maximum number of partials that a lane has in flight; each is a load from the L2 cache.
const MOST_IN_FLIGHT: usize = 4;

/// The maximum bytes of partials that a lane has in flight, if these are several partials.
const MOST_BYTES_IN_FLIGHT: usize = 96;

/// The temporary storage of a grid, and the cell for its result.
#[derive(Clone, Copy, Debug)]
pub struct TempStorage<A> {
    /// A partial for each block.
    pub partials: Partials<A>,
    /// The arrival counter: one cell that assigns each block its arrival number; 0 before and after the launch.
    pub arrivals: Global<u32>,
    /// One cell for the result.
    pub result: Global<A>,
    /// Shared memory: an element for each warp of a block.
    pub scratch: Shared<A>,
}

impl<A: Element> TempStorage<A> {
    /// The number of partials that a lane has in flight.
    const IN_FLIGHT: usize = match MOST_BYTES_IN_FLIGHT / size_of::<A>() {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => MOST_IN_FLIGHT,
    };

    /// Draws the block's arrival number: 0 for the first block that starts, then 1, and so on. **Thread 0 holds
    /// it.**
    ///
    /// Called before the block's loads, so that the atomic is in flight at the same time as they are.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive(self) -> u32 {
        let blocks = grid_dim_x();
        if thread_idx_x() == 0 && blocks > 1 {
            self.arrivals.fetch_increment(0, blocks)
        } else {
            0
        }
    }

    /// Combines the partials of all blocks. **Lane 0 holds the result**; the values of the other lanes are
    /// unspecified.
    ///
    /// Lane `l` loads the partials of blocks `l`, `l + 32`, ... For an operator that is not commutative it
    /// loads those of adjacent blocks, which preserves the order.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the block's first warp arrive here, and every block stores its partial.
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
            let mut polled = [Polled::NOT_NEEDED; MOST_IN_FLIGHT];
            loop {
                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                    polled[k] = self.partials.poll(block(number(k)) as usize);
                });
                let mut ready = true;
                unrolled!(|k < Self::IN_FLIGHT| ready &= polled[k].is_ready());
                if ready {
                    break;
                }
            }
            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                let partial = self.partials.load_and_reset(block(number(k)) as usize, polled[k]);
                value = op.combine(value, partial);
            });
            i += Self::IN_FLIGHT as u32;
        }
        // SAFETY: the caller guarantees that all lanes arrive.
        unsafe { reduce_to_first::<I, O>(op, value) }
    }
}

/// Combines the values of all threads of the grid, and stores the result in the storage's `result`.
///
/// A block must not wait for an arbitrary other block: not all blocks run at the same time, and a block that
/// has not started may never start while the running ones wait for it. But the block that started last may wait
/// for all others, because each of them runs or has finished:
///
/// ```text
/// block 2   arrival 0   loads ...   partial ──► partials[2], done
/// block 0   arrival 1   loads ...   partial ──► partials[0], done
/// block 1   arrival 2   loads ...   partial ──► partials[1], last of three to start:
///                                   polls all three, combines them ──► result
/// ```
///
/// Which block starts last is not deterministic, but its work is: it combines the partials by block number, not
/// in the order of arrival. So the result is bit-equal from run to run.
///
/// No fence is needed, because each partial carries a ready flag ([`Partials`]). A block stores its partial
/// without waiting for its arrival number. This number can take longer than the block's loads, because all
/// blocks update one cell. One warp suffices to combine some hundred partials, without another barrier of the
/// block. It resets the ready flags, and the last arrival resets the counter to 0, so the storage is ready for
/// the next launch on the stream.
///
/// # Safety
///
/// All threads of all blocks arrive here, with the number that [`arrive`](TempStorage::arrive) returned to
/// them. The storage is as its fields require, and no other grid uses it at the same time.
#[inline(always)]
pub unsafe fn grid_reduce<I: Items, O: Op<I>>(
    op: O,
    value: O::Acc,
    arrival: u32,
    storage: TempStorage<O::Acc>,
) {
    let (tid, own, blocks) = (thread_idx_x(), block_idx_x(), grid_dim_x());
    // SAFETY: all threads of the block arrive here, and the launch provides the scratch.
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
        storage.partials.store(own as usize, partial);
    }
    // SAFETY: only the first warp gets here, with all of its lanes.
    let arrival = unsafe { arrival.shuffle(FULL_MASK, Shuffle::Idx(0)) };
    if arrival != blocks - 1 {
        return;
    }
    // SAFETY: as above; all lanes have the same arrival number, so all of them get here.
    let total = unsafe { storage.combine_partials::<I, O>(op) };
    if tid == 0 {
        storage.result.set(0, total);
    }
}
