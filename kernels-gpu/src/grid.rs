//! The cooperative step of a grid: its blocks meet in global memory, within one launch.

use crate::block::block_reduce;
use crate::element::Element;
use crate::mem::{Global, Look, Partials, Shared};
use crate::op::{Op, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};
use cuda_std::warp::warp_shuffle_idx;

/// Partials that a lane has under way at once: each is a trip to the L2 cache.
const IN_FLIGHT: usize = 4;

/// Where the blocks of a grid meet.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<A> {
    /// Room for a partial of each block.
    pub partials: Partials<A>,
    /// One cell, from which blocks draw numbers. 0 before the launch, and 0 after it.
    pub tickets: Global<u32>,
    /// One cell for the result.
    pub result: Global<A>,
    /// An element for each warp of a block.
    pub scratch: Shared<A>,
}

impl<A: Element> Meeting<A> {
    /// Draws the block's number, in the order in which the blocks have begun. **Thread 0 holds it**, once
    /// it needs it: drawn before the block's loads, it is under way beside them.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn ticket(self) -> u32 {
        let blocks = grid_dim_x();
        if thread_idx_x() == 0 && blocks > 1 {
            self.tickets.draw(0, blocks)
        } else {
            0
        }
    }
}

/// Leaves the values of all threads of the grid as one in the meeting's `result`, whatever it held
/// before.
///
/// A block cannot wait for just any other: not all of them run at once, and one that has not begun may
/// never begin if those that run wait for it. But the block that was the last to begin may wait for all
/// others, since all of them run or have ended:
///
/// ```text
/// block 2   ticket 0   loads ...   partial ──► partials[2], done
/// block 0   ticket 1   loads ...   partial ──► partials[0], done
/// block 1   ticket 2   loads ...   partial ──► partials[1], the last of three to begin:
///                                  waits until all three are there, all three ──► result
/// ```
///
/// Which block is the last is chance. What it does is not: it combines the partials by their numbers
/// and not in the order of arrival. So the result is bit-equal from run to run.
///
/// Nobody waits at a fence, since a partial says itself that it is there ([`Partials`]); and no partial
/// waits for its block's ticket, which may be longer under way than the loads of the block: all blocks
/// draw from one cell. A warp is enough to take some hundred partials, and needs no barrier of the block.
/// It empties their places, and with the last ticket the next is the first again: the next launch on the
/// stream needs nobody's help.
///
/// # Safety
///
/// All threads of all blocks arrive here, with the [`ticket`](Meeting::ticket) that they have drawn
/// before. The meeting is as its fields say, and no other grid uses it meanwhile.
#[inline(always)]
pub unsafe fn grid_reduce<T: Element, O: Op<T>>(
    value: O::Acc,
    ticket: u32,
    meeting: Meeting<O::Acc>,
) {
    let Meeting {
        partials,
        result,
        scratch,
        ..
    } = meeting;
    let (tid, own, blocks) = (thread_idx_x(), block_idx_x(), grid_dim_x());
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
    if tid == 0 {
        partials.leave(own as usize, partial);
    }
    // SAFETY: the first warp is whole, and all of its lanes are here.
    let (ticket, _) = unsafe { warp_shuffle_idx(FULL_MASK, ticket, 0, WARP_SIZE) };
    if ticket != blocks - 1 {
        return;
    }
    // SAFETY: as above: all lanes have the same ticket.
    let total = unsafe { take_all::<T, O>(partials) };
    if tid == 0 {
        result.set(0, total);
    }
}

/// The partials of all blocks as one. **Lane 0 holds the result**; what the others get is of no use.
///
/// # Safety
///
/// All 32 lanes of the block's first warp arrive here, and every block leaves its partial.
#[inline(always)]
unsafe fn take_all<T: Element, O: Op<T>>(partials: Partials<O::Acc>) -> O::Acc {
    let blocks = grid_dim_x();
    let mut value = O::IDENTITY;
    let mut first = thread_idx_x();
    while first < blocks {
        let block = |k: usize| first + k as u32 * WARP_SIZE;
        let mut looks = [Look::NOWHERE; IN_FLIGHT];
        loop {
            unrolled!(|k < IN_FLIGHT| if block(k) < blocks {
                looks[k] = partials.look(block(k) as usize);
            });
            let mut found = true;
            unrolled!(|k < IN_FLIGHT| found &= looks[k].found());
            if found {
                break;
            }
        }
        unrolled!(|k < IN_FLIGHT| if block(k) < blocks {
            value = O::combine(value, partials.take(block(k) as usize, looks[k]));
        });
        first += IN_FLIGHT as u32 * WARP_SIZE;
    }
    // SAFETY: the caller brings all lanes.
    unsafe { reduce_down::<T, O>(value) }
}
