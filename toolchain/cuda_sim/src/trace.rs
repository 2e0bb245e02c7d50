//! What is done with each access of a thread that is checked or counted.

use std::panic::Location;
use std::ptr;
use std::sync::PoisonError;

use crate::access::Access;
use crate::block::{Context, Memory};
use crate::check::{Atomic, Initialised, Race};
use crate::count::{Event, What};
use crate::finding::{Bug, Touch};
use crate::lane::{Lane, Request};
use crate::memory::{Found, is_poison};
use crate::{Kind, Site, Space};

/// Loads of one address at one place, one after another, after which a thread is taken to wait for
/// another one to change it.
const PATIENCE: u32 = 1000;

/// What a thread does to some bytes.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Load,
    Store,
    Atomic(Atomic),
}

impl Operation {
    fn kind(self) -> Kind {
        match self {
            Self::Load => Kind::Load,
            Self::Store => Kind::Store,
            Self::Atomic(_) => Kind::Atomic,
        }
    }

    fn reads(self) -> bool {
        match self {
            Self::Load => true,
            Self::Store => false,
            Self::Atomic(atomic) => atomic.reads,
        }
    }

    fn writes(self) -> bool {
        match self {
            Self::Load => false,
            Self::Store => true,
            Self::Atomic(atomic) => atomic.writes,
        }
    }
}

impl Lane {
    /// Checks and counts an access; `address` is the host's.
    #[inline(never)]
    pub fn trace(
        &self,
        address: usize,
        size: usize,
        operation: Operation,
        location: &'static Location<'static>,
    ) {
        let context = self.context();
        let options = &context.launch().options;
        let site = Site::of(location);
        let shared = address.wrapping_sub(context.shared.0) < context.shared.1;
        let (space, place) = if shared {
            (Space::Shared, address - context.shared.0)
        } else {
            (Space::Global, address)
        };
        let access = Access {
            site,
            kind: operation.kind(),
            address: place,
            size: size as u32,
        };
        if options.checks.memory {
            let bug = {
                let memory = &mut *context.memory.borrow_mut();
                self.check_memory(memory, space, &access, operation, address)
            };
            if let Some(bug) = bug {
                let fatal = matches!(bug, Bug::OutOfBounds { .. });
                self.report(bug, site);
                if fatal {
                    // Whatever it would touch is not the kernel's: the thread cannot go on.
                    self.fail();
                }
            }
        }
        let memory = &mut *context.memory.borrow_mut();
        if options.checks.races {
            let race = match space {
                Space::Shared => {
                    let Memory { shadow, clocks, .. } = memory;
                    match operation {
                        Operation::Atomic(atomic) => {
                            shadow.atomic(clocks, self.index, &access, atomic)
                        }
                        _ => shadow.plain(clocks, self.index, &access),
                    }
                }
                Space::Global => {
                    let global = &context.launch().global;
                    let mut shadow = global.lock().unwrap_or_else(PoisonError::into_inner);
                    match operation {
                        Operation::Atomic(atomic) => {
                            shadow.atomic(&mut memory.clocks, self.index, &access, atomic)
                        }
                        _ => shadow.plain(&memory.clocks, self.index, &access),
                    }
                }
            };
            if let Some(race) = race {
                self.report_race(space, &access, race);
            }
        }
        if options.count {
            let what = match operation {
                Operation::Load => What::Load(space),
                Operation::Store => What::Store(space),
                Operation::Atomic(_) => What::Atomic(space),
            };
            let event = Event {
                site,
                what,
                address: place as u64,
                size: size as u32,
            };
            let warp = self.warp();
            if memory.logs[warp as usize].push(self.lane(), event) {
                context.full.update(|warps| warps | 1 << warp);
            }
        }
        let same = self.loaded.get() == (ptr::from_ref(location), address);
        if matches!(operation, Operation::Load) {
            self.repeats
                .set(if same { self.repeats.get() + 1 } else { 0 });
            self.loaded.set((location, address));
        } else if matches!(operation, Operation::Store) {
            self.repeats.set(0);
            self.loaded.set((ptr::null(), 0));
            self.polled.borrow_mut().clear();
        }
    }

    /// After an access: a thread that loads the same thing over and over, or whose log is full, lets
    /// the others run.
    #[inline(always)]
    #[track_caller]
    pub fn rest(&self) {
        let full = self.context().full.get() >> self.warp() & 1 != 0;
        if full || self.repeats.get() >= PATIENCE {
            self.location.set(Location::caller());
            self.suspend(Request::Poll);
        }
    }

    fn check_memory(
        &self,
        memory: &mut Memory,
        space: Space,
        access: &Access,
        operation: Operation,
        host: usize,
    ) -> Option<Bug> {
        let (address, size) = (access.address, access.size as usize);
        let (initialised, offset) = match space {
            Space::Shared => {
                let inside = memory
                    .arena
                    .array_at(address)
                    .filter(|(start, bytes)| address + size <= start + bytes);
                if inside.is_none() {
                    return Some(Bug::OutOfBounds {
                        kind: access.kind,
                        space,
                        what: format!(
                            "{size} bytes at offset {address} of shared memory, in no array; the \
                             block has {} bytes",
                            memory.arena.used()
                        ),
                    });
                }
                (&memory.initialised, address)
            }
            Space::Global => {
                let allocations = &self.context().launch().allocations;
                match allocations.find(address, size, &mut memory.last) {
                    Found::Inside(allocation, offset) => (&allocation.initialised, offset),
                    Found::Beyond(allocation, offset) => {
                        return Some(Bug::OutOfBounds {
                            kind: access.kind,
                            space,
                            what: format!(
                                "{size} bytes at byte {offset} of a buffer of {} bytes",
                                allocation.len()
                            ),
                        });
                    }
                    Found::Elsewhere => return None,
                }
            }
        };
        let missing = (operation.reads() && initialised.first_missing(offset, size).is_some())
            .then(|| never_written(initialised, offset, size, host))
            .flatten();
        if operation.writes() {
            initialised.write(offset, size);
        }
        missing.map(|first| Bug::Uninitialised {
            space,
            touch: touch(access),
            first: address + (first - offset),
        })
    }

    fn report_race(&self, space: Space, access: &Access, race: Race) {
        let launch = self.context().launch();
        let other = launch.thread(race.block, race.thread);
        let bug = Bug::Race {
            space,
            touch: touch(access),
            other: touch(&race.access),
            scope: race.scoped,
        };
        let at = (self.context().thread(self.index), Some(access.site));
        launch.report(bug, Some(at), Some((other, Some(race.access.site))));
    }

    pub fn report(&self, bug: Bug, site: Site) {
        let context = self.context();
        let at = (context.thread(self.index), Some(site));
        context.launch().report(bug, Some(at), None);
    }

    /// Ends the launch, of which the reason has been reported.
    #[cold]
    pub fn fail(&self) -> ! {
        loop {
            self.suspend(Request::Failed);
        }
    }
}

/// The first byte of the range that nobody has written. A raw pointer writes without telling: when
/// one of the bytes in question is no longer poison, all of them count as written, and are marked
/// so. `host` is the address of the range's first byte.
#[cold]
fn never_written(
    initialised: &Initialised,
    offset: usize,
    size: usize,
    host: usize,
) -> Option<usize> {
    let mut missing = (0..size).filter(|i| initialised.first_missing(offset + i, 1).is_some());
    let first = missing.clone().next();
    let untouched = missing.all(|i| {
        // SAFETY: the caller has found the range inside of a buffer or of shared memory.
        unsafe { is_poison(std::ptr::with_exposed_provenance(host + i)) }
    });
    if untouched {
        return first.map(|i| offset + i);
    }
    initialised.write(offset, size);
    None
}

fn touch(access: &Access) -> Touch {
    Touch {
        kind: access.kind,
        address: access.address,
        size: access.size,
    }
}

impl Context {
    /// Notes a fence, for checks and counters.
    pub fn trace_fence(&self, lane: &Lane, scope: crate::Scope, site: Site) {
        let options = &self.launch().options;
        let memory = &mut *self.memory.borrow_mut();
        if options.checks.races {
            memory.clocks.fence(lane.index, scope);
        }
        if options.count {
            let event = Event {
                site,
                what: What::Fence,
                address: 0,
                size: 0,
            };
            memory.logs[lane.warp() as usize].push(lane.lane(), event);
        }
    }
}
