//! The happens-before order of a block's threads.

use std::sync::{Arc, Weak};

use super::atomics::Published;
use super::slot::Slot;
use super::vector_clock::{BlockClock, Shared, Snapshot, join, ones};
use crate::access::{Scope, TracedAccess};

/// The happens-before order of a block's threads.
///
/// Every thread has a clock, and each access stores its thread's time. A thread's clock advances when it
/// synchronises, so later accesses have a later time.
///
/// The accesses that are ordered before a thread's next access are kept in the coarsest form that is exact:
/// all of the block before the last barrier; all of the warp before its last full `sync_warp`; lanes of other
/// `sync_warp`s; and clocks acquired through atomic operations.
pub(crate) struct Clocks {
    block: u32,
    /// The time of the last barrier: all earlier accesses of the block are ordered before all later ones.
    base: u32,
    /// The latest time of any thread.
    latest: u32,
    /// Each thread's clock; `base` is used if it is later.
    clocks: Vec<u32>,
    warps: Vec<Warp>,
    /// For each thread, the time up to which each lane of its warp is ordered. Empty until a `sync_warp` of
    /// some lanes only.
    synced: Vec<[u32; 32]>,
    /// The clock that all threads had acquired at the last barrier.
    common: Shared,
    /// The clock that each thread has acquired, including `common`; `None` if it is equal to `common`. Empty
    /// until a thread acquires one.
    acquired: Vec<Shared>,
    /// The clocks that each thread has read from atomic locations, and acquires at its next fence. Empty
    /// until there is one.
    pending: Vec<Pending>,
    /// The clock that each thread's next atomic write publishes. Empty until there is a fence.
    fenced: Vec<Option<Box<Fenced>>>,
    /// Dropped with the block.
    alive: Arc<()>,
}

struct Warp {
    /// The time of the last `sync_warp` of all lanes.
    base: u32,
    /// The lanes that exist.
    lanes: u32,
}

/// The clocks that a thread has read from atomic locations and not acquired yet.
#[derive(Clone, Default)]
struct Pending {
    /// Published by fences of device scope.
    wide: Shared,
    /// Published within the block.
    local: Shared,
}

/// A thread's clock at its last fences.
#[derive(Clone, Default)]
pub(super) struct Fenced {
    /// The last fence of device or system scope.
    pub wide: Option<Snapshot>,
    /// The last fence of any scope.
    pub local: Option<Snapshot>,
}

impl Clocks {
    /// The clocks of a block with `threads` threads at its start.
    pub fn new(block: u32, threads: u32) -> Self {
        let warps = (0..threads.div_ceil(32)).map(|warp| Warp {
            base: 0,
            lanes: u32::MAX >> 32u32.saturating_sub(threads - warp * 32),
        });
        Self {
            block,
            base: 1,
            latest: 1,
            clocks: vec![1; threads as usize],
            warps: warps.collect(),
            synced: Vec::new(),
            common: None,
            acquired: Vec::new(),
            pending: Vec::new(),
            fenced: Vec::new(),
            alive: Arc::new(()),
        }
    }

    /// Orders all threads of the block, at a block barrier. Exited threads count as having arrived.
    pub fn barrier(&mut self) {
        self.latest = after(self.latest);
        self.base = self.latest;
        for acquired in self.acquired.drain(..) {
            join(&mut self.common, &acquired);
        }
    }

    /// Orders the lanes `members` of `warp`, at a `sync_warp`.
    pub fn sync_warp(&mut self, warp: u32, members: u32) {
        let first = warp * 32;
        let lanes = self.warps[warp as usize].lanes;
        let members = members & lanes;
        let threads = || ones(members).map(|lane| (first + lane) as usize);
        let Some(time) = threads().map(|thread| self.time(thread as u32)).max() else {
            return;
        };
        let time = after(time);
        self.latest = self.latest.max(time);
        threads().for_each(|thread| self.clocks[thread] = time);
        if members == lanes {
            self.warps[warp as usize].base = time;
        } else {
            self.synced.resize(self.clocks.len(), [0; 32]);
            let mut joined = [0; 32];
            for thread in threads() {
                for (joined, synced) in joined.iter_mut().zip(self.synced[thread]) {
                    *joined = synced.max(*joined);
                }
            }
            ones(members).for_each(|lane| joined[lane as usize] = time);
            threads().for_each(|thread| self.synced[thread] = joined);
        }
        if !self.acquired.is_empty() {
            let mut joined = None;
            threads().for_each(|thread| join(&mut joined, &self.acquired[thread]));
            threads().for_each(|thread| self.acquired[thread].clone_from(&joined));
        }
    }

    /// Executes a fence of `thread`: an acquire, then a release.
    pub fn fence(&mut self, thread: u32, scope: Scope) {
        self.acquire(thread, scope);
        self.release(thread, scope);
    }

    /// `thread` acquires the clocks that it has read, as far as `scope` allows.
    pub(super) fn acquire(&mut self, thread: u32, scope: Scope) {
        let Some(pending) = self.pending.get_mut(thread as usize) else {
            return;
        };
        let local = pending.local.take();
        let wide = pending.wide.take_if(|_| scope != Scope::Block);
        if local.is_none() && wide.is_none() {
            return;
        }
        self.acquired.resize(self.clocks.len(), None);
        let acquired = &mut self.acquired[thread as usize];
        join(acquired, &self.common);
        join(acquired, &wide);
        join(acquired, &local);
    }

    /// `thread`'s next atomic writes publish its current clock, as far as `scope` allows.
    pub(super) fn release(&mut self, thread: u32, scope: Scope) {
        let warp = &self.warps[thread as usize / 32];
        let next = after(self.time(thread));
        let synced = self.synced.get(thread as usize);
        let threads = ones(warp.lanes).filter_map(|lane| {
            let time = if lane == thread % 32 {
                next
            } else {
                warp.base
                    .max(synced.map_or(0, |synced| synced[lane as usize]))
            };
            (time > self.base).then_some((thread / 32 * 32 + lane, time))
        });
        let snapshot = Snapshot {
            own: BlockClock {
                block: self.block,
                base: self.base,
                threads: threads.collect(),
            },
            acquired: self.acquired_by(thread).clone(),
        };
        self.clocks[thread as usize] = next;
        self.latest = self.latest.max(next);
        self.fenced.resize(self.clocks.len(), None);
        let fenced = self.fenced[thread as usize].get_or_insert_default();
        if scope != Scope::Block {
            fenced.wide = Some(snapshot.clone());
        }
        fenced.local = Some(snapshot);
    }

    /// `thread` has read the clocks of a location atomically.
    pub(super) fn collect(&mut self, thread: u32, published: &Published) {
        let (wide, local) = (published.wide(), published.local(self.block));
        if wide.is_none() && local.is_none() {
            return;
        }
        self.pending.resize(self.clocks.len(), Pending::default());
        let pending = &mut self.pending[thread as usize];
        join(&mut pending.wide, wide);
        join(&mut pending.local, local);
    }

    /// The clock of `thread` at its last fences.
    pub(super) fn fenced(&self, thread: u32) -> Option<&Fenced> {
        self.fenced.get(thread as usize)?.as_deref()
    }

    #[inline]
    pub(super) fn block(&self) -> u32 {
        self.block
    }

    /// A reference that expires when the block is dropped.
    pub(super) fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    /// The slot for `access` by `thread` at its current time.
    #[inline]
    pub(super) fn slot(&self, thread: u32, access: &TracedAccess, flags: u32) -> Slot {
        Slot::new(self.block, thread, self.time(thread), access, flags)
    }

    /// The lanes of `slot` whose access does not happen before `thread`'s next access.
    #[inline]
    pub(super) fn unordered(&self, thread: u32, slot: &Slot) -> u32 {
        if slot.block == self.block {
            if slot.time < self.base {
                return 0;
            }
            if slot.warp() == thread / 32 && slot.lanes & !(1 << (thread % 32)) == 0 {
                return 0;
            }
        }
        if slot.is_empty() {
            return 0;
        }
        self.unordered_since_barrier(thread, slot)
    }

    fn unordered_since_barrier(&self, thread: u32, slot: &Slot) -> u32 {
        let mut lanes = slot.lanes;
        let warp = thread / 32;
        if slot.block == self.block && slot.warp() == warp {
            if slot.time < self.warps[warp as usize].base {
                return 0;
            }
            lanes &= !(1 << (thread % 32));
            if let Some(synced) = self.synced.get(thread as usize) {
                for lane in ones(lanes) {
                    if slot.time < synced[lane as usize] {
                        lanes &= !(1 << lane);
                    }
                }
            }
        }
        match self.acquired_by(thread) {
            Some(known) if lanes != 0 => {
                known.unordered(slot.block, slot.warp() * 32, lanes, slot.time)
            }
            _ => lanes,
        }
    }

    fn acquired_by(&self, thread: u32) -> &Shared {
        match self.acquired.get(thread as usize) {
            Some(Some(_)) => &self.acquired[thread as usize],
            _ => &self.common,
        }
    }

    #[inline]
    fn time(&self, thread: u32) -> u32 {
        self.clocks[thread as usize].max(self.base)
    }
}

/// The time that follows `time`.
fn after(time: u32) -> u32 {
    time.checked_add(1).expect("fewer than 2^32 points in time")
}
