//! The definition of a race as a program: each thread has a full vector clock, and every access is compared
//! with all earlier accesses.

use std::collections::HashMap;

use super::super::Atomic;
use super::Thread;
use crate::access::{Kind, Scope, TracedAccess};

/// For each thread, the number of its events that are ordered.
type Vector = Vec<u32>;

/// Blocks of equal size, and all their accesses.
pub struct Oracle {
    threads: u32,
    /// The clock of each thread; its own entry counts its events.
    clocks: Vec<Vector>,
    fenced: Vec<Scoped>,
    pending: Vec<Scoped>,
    /// For each byte: the clock published to each block, and the clock published to all (`None`).
    published: HashMap<(usize, Option<u32>), Vector>,
    accesses: Vec<Recorded>,
}

/// A clock for all blocks, and a clock for the thread's block.
#[derive(Clone)]
struct Scoped {
    wide: Vector,
    local: Vector,
}

/// An access that was executed.
struct Recorded {
    by: Thread,
    event: u32,
    access: TracedAccess,
    atomic: Option<Atomic>,
}

impl Recorded {
    fn has(&self, byte: usize) -> bool {
        let start = self.access.address;
        (start..start + self.access.size as usize).contains(&byte)
    }

    fn writes(&self) -> bool {
        match self.atomic {
            Some(atomic) => atomic.writes,
            None => self.access.kind == Kind::Store,
        }
    }

    fn reads_atomically(&self) -> bool {
        self.atomic.is_some_and(|atomic| atomic.reads)
    }

    fn is_narrow(&self) -> bool {
        self.atomic
            .is_some_and(|atomic| atomic.scope == Scope::Block)
    }
}

/// The earlier access of a race.
pub struct Earlier {
    pub by: Thread,
    pub kind: Kind,
    pub address: usize,
    pub size: u32,
    pub scoped: bool,
}

fn join(to: &mut Vector, from: &Vector) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

impl Oracle {
    pub fn new(blocks: u32, threads: u32) -> Self {
        let all = (blocks * threads) as usize;
        let zero = vec![0; all];
        let scoped = Scoped {
            wide: zero.clone(),
            local: zero.clone(),
        };
        Self {
            threads,
            clocks: vec![zero; all],
            fenced: vec![scoped.clone(); all],
            pending: vec![scoped; all],
            published: HashMap::new(),
            accesses: Vec::new(),
        }
    }

    fn index(&self, (block, thread): Thread) -> usize {
        (block * self.threads + thread) as usize
    }

    /// Orders these threads with each other.
    fn synchronise(&mut self, threads: impl Iterator<Item = Thread>) {
        let threads: Vec<_> = threads.map(|thread| self.index(thread)).collect();
        let mut all = vec![0; self.clocks.len()];
        for &thread in &threads {
            join(&mut all, &self.clocks[thread]);
        }
        for &thread in &threads {
            self.clocks[thread].clone_from(&all);
        }
    }

    pub fn barrier(&mut self, block: u32) {
        self.synchronise((0..self.threads).map(|thread| (block, thread)));
    }

    pub fn sync_warp(&mut self, block: u32, warp: u32, members: u32) {
        let threads = self.threads;
        self.synchronise(
            (0..32)
                .filter(|lane| members >> lane & 1 != 0)
                .map(|lane| (block, warp * 32 + lane))
                .filter(|&(_, thread)| thread < threads),
        );
    }

    pub fn fence(&mut self, by: Thread, scope: Scope) {
        self.acquire(by, scope);
        self.release(by, scope);
    }

    fn acquire(&mut self, by: Thread, scope: Scope) {
        let by = self.index(by);
        join(&mut self.clocks[by], &self.pending[by].local);
        if scope != Scope::Block {
            join(&mut self.clocks[by], &self.pending[by].wide);
        }
    }

    fn release(&mut self, by: Thread, scope: Scope) {
        let by = self.index(by);
        self.fenced[by].local.clone_from(&self.clocks[by]);
        if scope != Scope::Block {
            self.fenced[by].wide.clone_from(&self.clocks[by]);
        }
    }

    fn is_ordered(&self, by: Thread, earlier: &Recorded) -> bool {
        self.clocks[self.index(by)][self.index(earlier.by)] >= earlier.event
    }

    /// All earlier accesses that race with this access of `by`.
    pub fn races(&self, by: Thread, access: &TracedAccess, atomic: Option<Atomic>) -> Vec<Earlier> {
        let new = Recorded {
            by,
            event: 0,
            access: *access,
            atomic,
        };
        let bytes = || access.address..access.address + access.size as usize;
        let race = |(at, earlier): (usize, &Recorded)| {
            let scoped = earlier.atomic.is_some() && atomic.is_some();
            let conflict = (earlier.writes() || new.writes())
                && (!scoped || earlier.by.0 != by.0 && (earlier.is_narrow() || new.is_narrow()));
            let unordered = |byte| {
                let later = || self.accesses[at + 1..].iter().filter(move |d| d.has(byte));
                let observed = earlier.atomic.is_some()
                    && earlier.writes()
                    && later().any(|observer| {
                        observer.reads_atomically()
                            && (self.is_ordered(by, observer) || scoped && observer.by.0 == by.0)
                    });
                earlier.has(byte) && !observed
            };
            (conflict && !self.is_ordered(by, earlier) && bytes().any(unordered)).then_some(
                Earlier {
                    by: earlier.by,
                    kind: earlier.access.kind,
                    address: earlier.access.address,
                    size: earlier.access.size,
                    scoped,
                },
            )
        };
        self.accesses.iter().enumerate().filter_map(race).collect()
    }

    /// Whether an access of another thread conflicts with this one, ordered or not.
    pub fn conflicts(&self, by: Thread, access: &TracedAccess) -> bool {
        let bytes = || access.address..access.address + access.size as usize;
        let writes = access.kind == Kind::Store;
        self.accesses
            .iter()
            .any(|d| d.by != by && (writes || d.writes()) && bytes().any(|byte| d.has(byte)))
    }

    pub fn plain(&mut self, by: Thread, access: &TracedAccess) {
        self.record(by, access, None);
    }

    fn record(&mut self, by: Thread, access: &TracedAccess, atomic: Option<Atomic>) {
        let index = self.index(by);
        self.clocks[index][index] += 1;
        self.accesses.push(Recorded {
            by,
            event: self.clocks[index][index],
            access: *access,
            atomic,
        });
        if access.kind == Kind::Store {
            let end = access.address + access.size as usize;
            self.published
                .retain(|&(byte, _), _| byte < access.address || byte >= end);
        }
    }

    pub fn atomic(&mut self, by: Thread, access: &TracedAccess, atomic: Atomic) {
        if atomic.release {
            self.release(by, atomic.scope);
        }
        self.record(by, access, Some(atomic));
        let index = self.index(by);
        let zero = vec![0; self.clocks.len()];
        for byte in access.address..access.address + access.size as usize {
            if atomic.reads {
                let pending = &mut self.pending[index];
                if let Some(published) = self.published.get(&(byte, None)) {
                    join(&mut pending.wide, published);
                }
                if let Some(published) = self.published.get(&(byte, Some(by.0))) {
                    join(&mut pending.local, published);
                }
            } else {
                self.published.retain(|&(other, _), _| byte != other);
            }
            if atomic.writes {
                let fenced = &self.fenced[index];
                for (key, clocks) in [(None, &fenced.wide), (Some(by.0), &fenced.local)] {
                    let published = self.published.entry((byte, key));
                    join(published.or_insert_with(|| zero.clone()), clocks);
                }
            }
        }
        if atomic.acquire {
            self.acquire(by, atomic.scope);
        }
    }
}
