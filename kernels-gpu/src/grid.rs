//! The cooperative step of a grid: its blocks meet in global memory, within one launch.

use crate::block::block_reduce;
use crate::element::Element;
use crate::mem::{Global, Shared, hold_accesses};
use crate::op::Op;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::{sync_warp, warp_shuffle_idx};

/// Partials that a lane has under way at once: each is a trip to the L2 cache.
const IN_FLIGHT: usize = 4;

/// Where the blocks of a grid meet.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<A> {
    /// An element for each block.
    pub partials: Global<A>,
    /// One cell that counts the blocks that have arrived. 0 before the launch, and 0 after it.
    pub arrivals: Global<u32>,
    /// One cell for the result.
    pub result: Global<A>,
    /// An element for each warp of a block.
    pub scratch: Shared<A>,
}

/// Leaves the values of all threads of the grid as one in the meeting's `result`, whatever it held
/// before.
///
/// Blocks cannot wait for each other: not all of them run at once. But each can find out whether it
/// is the last, and the last has nobody to wait for:
///
/// ```text
/// block 2   partial ──► partials[2], then arrivals 0 -> 1: not the last, done
/// block 0   partial ──► partials[0], then arrivals 1 -> 2: not the last, done
/// block 1   partial ──► partials[1], then arrivals 2 -> 3: the last of three:
///           partials[0 .. 3] ──► result, arrivals ──► 0
/// ```
///
/// Which block is the last is chance. What it does is not: it combines the partials by their numbers
/// and not in the order of arrival. So the result is bit-equal from run to run.
///
/// The count is an atomic that acquires and releases (PTX ISA, memory consistency model): a block's
/// partial is written before it counts, and whoever counts the last one sees all partials. That is one
/// thread; the barrier of its warp passes it on to the other lanes (a shuffle would not: it orders no
/// memory). A warp is enough for some hundred partials, and needs no barrier of the block. It sets the
/// count back, so that the next launch on the stream finds 0, without anybody's help.
///
/// # Safety
///
/// All threads of all blocks arrive here. The meeting is as its fields say, and no other grid uses it
/// meanwhile.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators over an array make LLVM keep it in local memory"
)]
pub unsafe fn grid_reduce<T: Element, O: Op<T>>(value: O::Acc, meeting: Meeting<O::Acc>) {
    let Meeting {
        partials,
        arrivals,
        result,
        scratch,
    } = meeting;
    let (tid, blocks) = (thread_idx_x(), grid_dim_x());
    // SAFETY: all threads of the block are here, and the scratch is the launch's.
    let partial = unsafe { block_reduce::<T, O>(value, scratch) };
    if blocks == 1 {
        if tid == 0 {
            result.set(0, partial);
        }
        return;
    }

    if tid >= WARP_SIZE {
        return;
    }
    let mut arrived = 0;
    if tid == 0 {
        partials.set(block_idx_x() as usize, partial);
        arrived = arrivals.count_in(0);
    }
    // SAFETY: the first warp is whole, and all of its lanes are here.
    let (arrived, _) = unsafe { warp_shuffle_idx(FULL_MASK, arrived, 0, WARP_SIZE) };
    if arrived != blocks - 1 {
        return;
    }
    // SAFETY: as above: all lanes have the same `arrived`.
    unsafe { sync_warp(FULL_MASK) };

    let mut value = O::IDENTITY;
    let mut block = tid;
    while block < blocks {
        let mut loaded = [O::IDENTITY; IN_FLIGHT];
        for k in 0..IN_FLIGHT {
            let other = block + k as u32 * WARP_SIZE;
            if other < blocks {
                loaded[k] = partials.get(other as usize);
            }
        }
        hold_accesses();
        for k in 0..IN_FLIGHT {
            value = O::combine(value, loaded[k]);
        }
        block += IN_FLIGHT as u32 * WARP_SIZE;
    }
    // SAFETY: as above.
    let total = unsafe { reduce_down::<T, O>(value) };
    if tid == 0 {
        result.set(0, total);
        arrivals.set(0, 0);
    }
}
