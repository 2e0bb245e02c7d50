//! The cooperative step of a grid: its blocks combine their partials through global memory, within one launch.
//!
//! The partials of the blocks form a binary tree of adjacent blocks. A *group* is a subtree that one block can combine: up
//! to four adjacent partials for each of its threads. The partials of the groups form groups again, until one is left:
//!
//! ```text
//! level 0    block 0 .. 2047 | block 2048 .. 4095 | ...
//!                 │                   │
//! level 1      group 0             group 1          ...     a partial for each group
//!                 └─────────┬─────────┘
//! level 2               the result
//! ```
//!
//! A block must not wait for an arbitrary other block: not all blocks run at the same time, and a block that
//! has not started may never start while the running ones wait for it. But the block of a group that started last may
//! wait for the others, because each of them runs or has finished:
//!
//! ```text
//! block 2   arrival 0   loads ...   partial ──► partials[2], done
//! block 0   arrival 1   loads ...   partial ──► partials[0], done
//! block 1   arrival 2   loads ...   partial ──► partials[1], last of three to start:
//!                                   polls all three, combines them ──► the group's partial
//! ```
//!
//! Which block starts last is not deterministic, but its work is: it combines the partials by block number, not
//! in the order of arrival.
//!
//! No fence is needed, because each partial carries a ready flag ([`Partials`]). The last block resets the ready flags,
//! and the last arrival resets the counter to 0, so the storage is ready for the next launch on the stream.

use crate::block::{block_reduce_in_order, combine_warps};
use crate::element::Element;
use crate::items::Items;
use crate::mem::{Global, Partials, Polled, Shared};
use crate::op::{Op, unrolled};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};

/// The temporary storage of a grid, and the cell for its result.
#[derive(Clone, Copy, Debug)]
pub struct TempStorage<A> {
    /// A partial for each block, then one for each group of each level: as many as [`Storage`] says.
    pub partials: Partials<A>,
    /// An arrival counter for each group of each level, which assigns an arrival number to each of its members; 0 before
    /// and after the launch.
    pub arrivals: Global<u32>,
    /// One cell for the result.
    pub result: Global<A>,
    /// Shared memory: an element for each warp of a block.
    pub scratch: Shared<A>,
    /// Shared memory: one cell, for the block's arrival number.
    pub arrival: Shared<u32>,
}

/// The number of elements of a [`TempStorage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The partials.
    pub partials: usize,
    /// The arrival counters.
    pub arrivals: usize,
}

impl Storage {
    /// The storage for a grid of `blocks` blocks of `threads` threads, and accumulators of `acc_bytes` bytes.
    pub const fn of_grid(blocks: u32, threads: u32, acc_bytes: usize) -> Self {
        let mut level = Level::of_blocks(blocks, threads, acc_bytes);
        while level.members > 1 {
            level = level.next();
        }
        // The result is stored elsewhere.
        Self {
            partials: level.first_partial as usize,
            arrivals: level.first_counter as usize,
        }
    }
}

/// A level of the tree: its members, and where their partials and the counters of their groups are.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The number of members: blocks, or groups of the level before.
    members: u32,
    /// The number of members of a group.
    group: u32,
    first_partial: u32,
    first_counter: u32,
}

impl Level {
    const fn of_blocks(blocks: u32, threads: u32, acc_bytes: usize) -> Self {
        Self {
            members: blocks,
            group: threads * of_thread(acc_bytes) as u32,
            first_partial: 0,
            first_counter: 0,
        }
    }

    /// The level above, whose members are the groups of this one.
    const fn next(self) -> Self {
        let groups = self.members.div_ceil(self.group);
        Self {
            members: groups,
            group: self.group,
            first_partial: self.first_partial + self.members,
            first_counter: self.first_counter + groups,
        }
    }

    /// The number of members in the group of this member.
    const fn members_with(self, member: u32) -> u32 {
        let first = member - member % self.group;
        let behind = self.members - first;
        if behind < self.group {
            behind
        } else {
            self.group
        }
    }
}

/// The maximum number of partials that a thread waits for at once; each is a load from the L2 cache.
const MOST_OF_THREAD: usize = 4;

/// The number of partials that a thread combines, with accumulators of `acc_bytes` bytes: as many as registers allow.
const fn of_thread(acc_bytes: usize) -> usize {
    match acc_bytes {
        0..=4 => MOST_OF_THREAD,
        5..=16 => 2,
        _ => 1,
    }
}

impl<A: Element> TempStorage<A> {
    /// The number of partials that a thread combines.
    const OF_THREAD: usize = of_thread(size_of::<A>());

    /// Draws the block's arrival number in its group: 0 for the first block of the group that starts, then 1, and so on.
    /// **Thread 0 holds it.**
    ///
    /// Called before the block's loads, so that the atomic is in flight at the same time as they are.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive(self) -> u32 {
        let level = Level::of_blocks(grid_dim_x(), block_dim_x(), size_of::<A>());
        if thread_idx_x() == 0 && level.members > 1 {
            self.draw(level, block_idx_x())
        } else {
            0
        }
    }

    /// Draws a member's arrival number in its group.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn draw(self, level: Level, member: u32) -> u32 {
        let counter = level.first_counter + member / level.group;
        self.arrivals
            .fetch_increment(counter as usize, level.members_with(member))
    }

    /// Waits for the thread's partials in the group that starts with member `first` and has `members` members, resets
    /// them, and combines them as a binary tree. The identity, if the thread has none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn wait<I: Items, O: Op<I, Acc = A>>(self, op: O, level: Level, first: u32, members: u32) -> A {
        let own = thread_idx_x() * Self::OF_THREAD as u32;
        let has = |k: usize| own + (k as u32) < members;
        let index = |k: usize| (level.first_partial + first + own) as usize + k;
        let mut polled = [Polled::NOT_NEEDED; MOST_OF_THREAD];
        loop {
            let mut ready = true;
            unrolled!(|k < Self::OF_THREAD| {
                if has(k) {
                    polled[k] = self.partials.poll(index(k));
                }
                ready &= polled[k].is_ready();
            });
            if ready {
                break;
            }
        }
        let mut values = [op.identity(); MOST_OF_THREAD];
        unrolled!(|k < Self::OF_THREAD| if has(k) {
            values[k] = self.partials.load_and_reset(index(k), polled[k]);
        });
        let [a, b, c, d] = values;
        match Self::OF_THREAD {
            1 => a,
            2 => op.combine(a, b),
            _ => op.combine(op.combine(a, b), op.combine(c, d)),
        }
    }
}

/// Combines the values of all warps of the grid, which their lanes 0 hold, as a binary tree of adjacent warps, and stores
/// the result in the storage's `result`.
///
/// # Safety
///
/// All threads of all blocks arrive here, with the number that [`arrive`](TempStorage::arrive) returned to
/// them. The storage is as its fields require, and no other grid uses it at the same time.
#[inline(always)]
pub unsafe fn grid_reduce<I: Items, O: Op<I>>(
    op: O,
    of_warp: O::Acc,
    arrival: u32,
    storage: TempStorage<O::Acc>,
) {
    let tid = thread_idx_x();
    let mut level = Level::of_blocks(grid_dim_x(), block_dim_x(), size_of::<O::Acc>());
    let mut member = block_idx_x();
    if tid == 0 {
        storage.arrival.set(0, arrival);
    }
    // SAFETY: all threads of the block arrive here, and the launch provides the scratch.
    let mut partial = unsafe { combine_warps::<I, O>(op, of_warp, storage.scratch) };
    while level.members > 1 {
        if tid == 0 {
            let index = level.first_partial + member;
            storage.partials.store(index as usize, partial);
        }
        // The barrier in `combine_warps`, or the one below, is between the store of the arrival number and this load.
        let members = level.members_with(member);
        if storage.arrival.get(0) != members - 1 {
            return;
        }
        let first = member - member % level.group;
        let value = storage.wait::<I, O>(op, level, first, members);
        // All threads have read the arrival number, and the first warp the scratch.
        sync_threads();
        // SAFETY: all threads of the block have the same arrival number, so all of them get here.
        partial = unsafe { block_reduce_in_order::<I, O>(op, value, storage.scratch) };
        member /= level.group;
        level = level.next();
        if tid == 0 && level.members > 1 {
            storage.arrival.set(0, storage.draw(level, member));
        }
        sync_threads();
    }
    if tid == 0 {
        storage.result.set(0, partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(blocks: u32, threads: u32, acc_bytes: usize) -> (usize, usize) {
        let Storage { partials, arrivals } = Storage::of_grid(blocks, threads, acc_bytes);
        (partials, arrivals)
    }

    #[test]
    fn a_partial_for_each_block_and_group() {
        assert_eq!(storage(1, 512, 4), (0, 0));
        assert_eq!(storage(2, 512, 4), (2, 1));
        assert_eq!(storage(2048, 512, 4), (2048, 1));
        assert_eq!(storage(2049, 512, 4), (2049 + 2, 2 + 1));
        assert_eq!(storage(70, 32, 64), (70 + 3, 3 + 1));
        assert_eq!(storage(70, 32, 24), (70 + 3, 3 + 1));
        assert_eq!(storage(1 << 18, 512, 16), ((1 << 18) + 256, 256 + 1));
        assert_eq!(storage(1025, 32, 128), (1025 + 33 + 2, 33 + 2 + 1));
    }

    #[test]
    fn the_last_group_has_the_rest() {
        let level = Level::of_blocks(70, 32, 64);
        let members = [0, 31, 32, 64, 69].map(|block| level.members_with(block));
        assert_eq!(members, [32, 32, 32, 6, 6]);
        assert_eq!(level.next().members_with(2), 3);
    }
}
