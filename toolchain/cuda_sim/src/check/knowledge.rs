//! What fences and atomic operations carry from thread to thread.

use std::sync::Arc;

/// Accesses of one block that are known.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub block: u32,
    /// All accesses of all threads before this time.
    pub base: u32,
    /// Of some threads more than that: thread and time, sorted.
    pub threads: Arc<[(u32, u32)]>,
}

impl Known {
    /// The accesses of `thread` before this time are known.
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
        // The latest of each thread first: it is the one that stays.
        threads.sort_unstable_by_key(|&(thread, time)| (thread, u32::MAX - time));
        threads.dedup_by_key(|&mut (thread, _)| thread);
        self.threads = threads.into();
    }
}

/// Accesses that are known, of any block: an entry for each, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    blocks: Vec<Known>,
}

impl Knowledge {
    fn of(&self, block: u32) -> Option<&Known> {
        let found = self
            .blocks
            .binary_search_by_key(&block, |known| known.block);
        found.ok().map(|at| &self.blocks[at])
    }

    /// Which of `lanes`, the first of them `thread` of `block`, made accesses at `time` that are
    /// not known.
    pub fn unknown(&self, block: u32, thread: u32, lanes: u32, time: u32) -> u32 {
        let Some(known) = self.of(block) else {
            return lanes;
        };
        if time < known.base {
            return 0;
        }
        ones(lanes)
            .filter(|lane| time >= known.bound(thread + lane))
            .fold(0, |unknown, lane| unknown | 1 << lane)
    }

    fn covers(&self, other: &Self) -> bool {
        self.blocks.len() >= other.blocks.len()
            && other
                .blocks
                .iter()
                .all(|known| self.of(known.block).is_some_and(|own| own.covers(known)))
    }

    fn join(&mut self, other: &Self) {
        for known in &other.blocks {
            self.join_block(known);
        }
    }

    fn join_block(&mut self, known: &Known) {
        // Blocks mostly come in order.
        if self
            .blocks
            .last()
            .is_none_or(|last| last.block < known.block)
        {
            return self.blocks.push(known.clone());
        }
        let found = self
            .blocks
            .binary_search_by_key(&known.block, |own| own.block);
        match found {
            Ok(at) => self.blocks[at].join(known),
            Err(at) => self.blocks.insert(at, known.clone()),
        }
    }
}

/// Knowledge that many share; nothing where there is none.
pub(super) type Shared = Option<Arc<Knowledge>>;

/// Adds `other` to `own`, and copies neither if one of them will do.
pub(super) fn join(own: &mut Shared, other: &Shared) {
    let Some(other) = other else { return };
    match own {
        None => *own = Some(Arc::clone(other)),
        Some(own) if Arc::ptr_eq(own, other) || own.covers(other) => {}
        Some(own) if other.covers(own) => *own = Arc::clone(other),
        Some(own) => Arc::make_mut(own).join(other),
    }
}

/// All that a thread knew at a fence.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Of its own block, by barriers, `sync_warp`s and itself.
    pub own: Known,
    /// Of any block, by fences and atomic operations.
    pub acquired: Shared,
}

impl Snapshot {
    /// Adds all of it to `knowledge`.
    pub fn publish(&self, knowledge: &mut Shared) {
        join(knowledge, &self.acquired);
        let knowledge = knowledge.get_or_insert_default();
        let covered = knowledge
            .of(self.own.block)
            .is_some_and(|known| known.covers(&self.own));
        if !covered {
            Arc::make_mut(knowledge).join_block(&self.own);
        }
    }
}

/// The numbers of the bits that are set.
pub(super) fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        bit
    })
}
