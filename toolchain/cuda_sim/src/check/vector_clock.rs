//! Vector clocks, which are passed between threads by fences and atomic operations.

use std::sync::Arc;

/// The part of a vector clock for one block.
#[derive(Clone, Debug)]
pub(super) struct BlockClock {
    pub block: u32,
    /// Accesses of all threads before this time are ordered.
    pub base: u32,
    /// Threads with a later time, sorted by thread: thread and time.
    pub threads: Arc<[(u32, u32)]>,
}

impl BlockClock {
    /// The time before which accesses of `thread` are ordered.
    fn bound(&self, thread: u32) -> u32 {
        match self.threads.binary_search_by_key(&thread, |&(t, _)| t) {
            Ok(found) => self.threads[found].1.max(self.base),
            Err(_) => self.base,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self.base >= other.base
            && other
                .threads
                .iter()
                .all(|&(thread, time)| self.bound(thread) >= time)
    }

    fn join(&mut self, other: &Self) {
        if self.covers(other) {
            return;
        }
        self.base = self.base.max(other.base);
        let mut threads: Vec<_> = self
            .threads
            .iter()
            .chain(other.threads.iter())
            .copied()
            .filter(|&(_, time)| time > self.base)
            .collect();
        // The latest time of each thread comes first, so that `dedup_by_key` keeps it.
        threads.sort_unstable_by_key(|&(thread, time)| (thread, u32::MAX - time));
        threads.dedup_by_key(|&mut (thread, _)| thread);
        self.threads = threads.into();
    }
}

/// A vector clock: one entry for each block, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClock {
    blocks: Vec<BlockClock>,
}

impl VectorClock {
    fn of(&self, block: u32) -> Option<&BlockClock> {
        let found = self
            .blocks
            .binary_search_by_key(&block, |ordered| ordered.block);
        found.ok().map(|at| &self.blocks[at])
    }

    /// The lanes among `lanes` whose access at `time` is not ordered. `thread` of `block` is lane 0.
    pub fn unordered(&self, block: u32, thread: u32, lanes: u32, time: u32) -> u32 {
        let Some(ordered) = self.of(block) else {
            return lanes;
        };
        if time < ordered.base {
            return 0;
        }
        ones(lanes)
            .filter(|lane| time >= ordered.bound(thread + lane))
            .fold(0, |unordered, lane| unordered | 1 << lane)
    }

    fn covers(&self, other: &Self) -> bool {
        self.blocks.len() >= other.blocks.len()
            && other.blocks.iter().all(|ordered| {
                self.of(ordered.block)
                    .is_some_and(|own| own.covers(ordered))
            })
    }

    fn join(&mut self, other: &Self) {
        for ordered in &other.blocks {
            self.join_block(ordered);
        }
    }

    fn join_block(&mut self, ordered: &BlockClock) {
        // The blocks are usually in ascending order.
        if self
            .blocks
            .last()
            .is_none_or(|last| last.block < ordered.block)
        {
            return self.blocks.push(ordered.clone());
        }
        let found = self
            .blocks
            .binary_search_by_key(&ordered.block, |own| own.block);
        match found {
            Ok(at) => self.blocks[at].join(ordered),
            Err(at) => self.blocks.insert(at, ordered.clone()),
        }
    }
}

/// A vector clock that several threads share; `None` if it is empty.
pub(super) type Shared = Option<Arc<VectorClock>>;

/// Joins `other` into `clock`. If one covers the other, nothing is copied.
pub(super) fn join(clock: &mut Shared, other: &Shared) {
    let Some(other) = other else { return };
    match clock {
        None => *clock = Some(Arc::clone(other)),
        Some(clock) if Arc::ptr_eq(clock, other) || clock.covers(other) => {}
        Some(clock) if other.covers(clock) => *clock = Arc::clone(other),
        Some(clock) => Arc::make_mut(clock).join(other),
    }
}

/// A thread's clock at a fence.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// The order in the thread's block, from barriers, `sync_warp` and program order.
    pub own: BlockClock,
    /// The order acquired by fences and atomic operations, for any block.
    pub acquired: Shared,
}

impl Snapshot {
    /// Joins the snapshot into `clock`.
    pub fn publish(&self, clock: &mut Shared) {
        join(clock, &self.acquired);
        let clock = clock.get_or_insert_default();
        let covered = clock
            .of(self.own.block)
            .is_some_and(|ordered| ordered.covers(&self.own));
        if !covered {
            Arc::make_mut(clock).join_block(&self.own);
        }
    }
}

/// The indices of the set bits.
pub(super) fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}
