//! What each thread of a block knows of the others' accesses.

use std::sync::{Arc, Weak};

use super::atomics::Published;
use super::knowledge::{Known, Shared, Snapshot, join, ones};
use super::slot::Slot;
use crate::access::{Access, Scope};

/// What each thread of a block knows of the others' accesses (happens-before).
///
/// Every thread has a clock, and an access bears its thread's time. Clocks advance where knowledge
/// is given away, so a time that somebody knows never comes again. What a thread knows is kept in
/// the coarsest form that is exact: all of the block before the last barrier, all of the warp
/// before its last `sync_warp` of all lanes, the lanes that it met in other `sync_warp`s, and what
/// it acquired through atomic operations.
pub(crate) struct Clocks {
    block: u32,
    /// The time of the last barrier: all threads know all accesses of the block before it.
    base: u32,
    /// The latest time that any thread's clock shows.
    latest: u32,
    /// Each thread's clock, unless `base` is later.
    clocks: Vec<u32>,
    warps: Vec<Warp>,
    /// What each thread knows of its warp's lanes beyond `base` and the warp's own; empty until
    /// some lanes meet without the rest.
    met: Vec<[u32; 32]>,
    /// What all threads had acquired at the last barrier.
    common: Shared,
    /// What each thread has acquired, `common` included; nothing if no more than that. Empty until
    /// a thread acquires.
    acquired: Vec<Shared>,
    /// What each thread has seen published, and may yet acquire; empty until there is any.
    pending: Vec<Pending>,
    /// What each thread's next atomic write publishes; empty until there is a fence.
    fenced: Vec<Option<Box<Fenced>>>,
    /// Dies with the block.
    alive: Arc<()>,
}

struct Warp {
    /// The time of the last `sync_warp` of all lanes.
    base: u32,
    /// The lanes that there are.
    lanes: u32,
}

/// What a thread has read from atomic locations and not acquired yet.
#[derive(Clone, Default)]
struct Pending {
    /// Published by fences of device scope.
    wide: Shared,
    /// Published within the block.
    local: Shared,
}

/// What a thread knew at its last fences.
#[derive(Clone, Default)]
pub(super) struct Fenced {
    /// Of device scope at least.
    pub wide: Option<Snapshot>,
    /// Of any scope.
    pub local: Option<Snapshot>,
}

impl Clocks {
    /// Clocks of a block with `threads` threads, none of which has done anything.
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
            met: Vec::new(),
            common: None,
            acquired: Vec::new(),
            pending: Vec::new(),
            fenced: Vec::new(),
            alive: Arc::new(()),
        }
    }

    /// All threads of the block that have not exited have met at a block barrier.
    ///
    /// Those that have exited count as having arrived: their accesses are known to all.
    pub fn barrier(&mut self) {
        self.latest = after(self.latest);
        self.base = self.latest;
        for acquired in self.acquired.drain(..) {
            join(&mut self.common, &acquired);
        }
    }

    /// The lanes `members` of `warp` have met at a `sync_warp`.
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
            self.met.resize(self.clocks.len(), [0; 32]);
            let mut joined = [0; 32];
            for thread in threads() {
                for (joined, met) in joined.iter_mut().zip(self.met[thread]) {
                    *joined = met.max(*joined);
                }
            }
            ones(members).for_each(|lane| joined[lane as usize] = time);
            threads().for_each(|thread| self.met[thread] = joined);
        }
        if !self.acquired.is_empty() {
            let mut joined = None;
            threads().for_each(|thread| join(&mut joined, &self.acquired[thread]));
            threads().for_each(|thread| self.acquired[thread].clone_from(&joined));
        }
    }

    /// `thread` executed a fence (acquire and release, sequentially consistent or not).
    pub fn fence(&mut self, thread: u32, scope: Scope) {
        self.acquire(thread, scope);
        self.release(thread, scope);
    }

    /// What `thread` has seen published becomes known to it, as far as `scope` reaches.
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

    /// What `thread` knows is what its next atomic writes publish, as far as `scope` reaches.
    pub(super) fn release(&mut self, thread: u32, scope: Scope) {
        let warp = &self.warps[thread as usize / 32];
        let next = after(self.time(thread));
        let met = self.met.get(thread as usize);
        let threads = ones(warp.lanes).filter_map(|lane| {
            let time = if lane == thread % 32 {
                next
            } else {
                warp.base.max(met.map_or(0, |met| met[lane as usize]))
            };
            (time > self.base).then_some((thread / 32 * 32 + lane, time))
        });
        let snapshot = Snapshot {
            own: Known {
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

    /// `thread` has read a location atomically.
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

    /// What `thread` knew at its last fences.
    pub(super) fn fenced(&self, thread: u32) -> Option<&Fenced> {
        self.fenced.get(thread as usize)?.as_deref()
    }

    #[inline]
    pub(super) fn block(&self) -> u32 {
        self.block
    }

    /// Something that dies with the block.
    pub(super) fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    /// `access`, made by `thread` now.
    #[inline]
    pub(super) fn slot(&self, thread: u32, access: &Access, does: u32) -> Slot {
        Slot::new(self.block, thread, self.time(thread), access, does)
    }

    /// The lanes of `slot` whose access does not happen before `thread`'s next.
    #[inline]
    pub(super) fn unknown(&self, thread: u32, slot: &Slot) -> u32 {
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
        self.unknown_since_barrier(thread, slot)
    }

    fn unknown_since_barrier(&self, thread: u32, slot: &Slot) -> u32 {
        let mut lanes = slot.lanes;
        let warp = thread / 32;
        if slot.block == self.block && slot.warp() == warp {
            if slot.time < self.warps[warp as usize].base {
                return 0;
            }
            lanes &= !(1 << (thread % 32));
            if let Some(met) = self.met.get(thread as usize) {
                for lane in ones(lanes) {
                    if slot.time < met[lane as usize] {
                        lanes &= !(1 << lane);
                    }
                }
            }
        }
        match self.acquired_by(thread) {
            Some(known) if lanes != 0 => {
                known.unknown(slot.block, slot.warp() * 32, lanes, slot.time)
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

/// The time after `time`.
fn after(time: u32) -> u32 {
    time.checked_add(1).expect("fewer than 2^32 points in time")
}
