//! The definition of a race, as a program: a full vector clock for each thread, and every access compared
//! with all earlier ones.

use std::collections::HashMap;

use super::super::Atomic;
use super::Thread;
use crate::access::{Kind, Scope, TracedAccess};

/// For each thread, how many of its events are ordered.
type Vector = Vec<u32>;

/// Blocks of a fixed size, and all their accesses.
pub struct Oracle {
    threads: u32,
    /// The clock of each thread; its own entry counts its events.
    clocks: Vec<Vector>,
    fenced: Vec<Reach>,
    pending: Vec<Reach>,
    /// For each byte: the clock published to each block, and to all.
    published: HashMap<(usize, Option<u32>), Vector>,
    done: Vec<Done>,
}

/// Clocks for all threads, and for the own block.
#[derive(Clone)]
struct Reach {
    wide: Vector,
    local: Vector,
}

struct Done {
    by: Thread,
    event: u32,
    access: TracedAccess,
    atomic: Option<Atomic>,
}

impl Done {
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

/// The other access of a race.
pub struct Other {
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
        let nothing = vec![0; all];
        let reach = Reach {
            wide: nothing.clone(),
            local: nothing.clone(),
        };
        Self {
            threads,
            clocks: vec![nothing; all],
            fenced: vec![reach.clone(); all],
            pending: vec![reach; all],
            published: HashMap::new(),
            done: Vec::new(),
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

    fn is_ordered(&self, by: Thread, done: &Done) -> bool {
        self.clocks[self.index(by)][self.index(done.by)] >= done.event
    }

    /// All earlier accesses that race with this access of `by`.
    pub fn races(&self, by: Thread, access: &TracedAccess, atomic: Option<Atomic>) -> Vec<Other> {
        let new = Done {
            by,
            event: 0,
            access: *access,
            atomic,
        };
        let bytes = || access.address..access.address + access.size as usize;
        let race = |(at, done): (usize, &Done)| {
            let scoped = done.atomic.is_some() && atomic.is_some();
            let conflict = (done.writes() || new.writes())
                && (!scoped || done.by.0 != by.0 && (done.is_narrow() || new.is_narrow()));
            let unordered = |byte| {
                let later = || self.done[at + 1..].iter().filter(move |d| d.has(byte));
                let observed = done.atomic.is_some()
                    && done.writes()
                    && later().any(|observer| {
                        observer.reads_atomically()
                            && (self.is_ordered(by, observer) || scoped && observer.by.0 == by.0)
                    });
                done.has(byte) && !observed
            };
            (conflict && !self.is_ordered(by, done) && bytes().any(unordered)).then_some(Other {
                by: done.by,
                kind: done.access.kind,
                address: done.access.address,
                size: done.access.size,
                scoped,
            })
        };
        self.done.iter().enumerate().filter_map(race).collect()
    }

    /// Whether an access of another thread conflicts with this one, ordered or not.
    pub fn conflicts(&self, by: Thread, access: &TracedAccess) -> bool {
        let bytes = || access.address..access.address + access.size as usize;
        let writes = access.kind == Kind::Store;
        self.done
            .iter()
            .any(|d| d.by != by && (writes || d.writes()) && bytes().any(|byte| d.has(byte)))
    }

    pub fn plain(&mut self, by: Thread, access: &TracedAccess) {
        self.record(by, access, None);
    }

    fn record(&mut self, by: Thread, access: &TracedAccess, atomic: Option<Atomic>) {
        let index = self.index(by);
        self.clocks[index][index] += 1;
        self.done.push(Done {
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
        let nothing = vec![0; self.clocks.len()];
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
                    join(published.or_insert_with(|| nothing.clone()), clocks);
                }
            }
        }
        if atomic.acquire {
            self.acquire(by, atomic.scope);
        }
    }
}
