//! Traces the accesses of threads for checks and counters.

use std::panic::Location;
use std::ptr;
use std::sync::PoisonError;

use crate::access::TracedAccess;
use crate::block::{Context, Memory};
use crate::check::{Atomic, Initialised, Race};
use crate::count::{Event, InstructionKind};
use crate::finding::{Access, Bug};
use crate::lane::{Lane, Request};
use crate::memory::{Found, is_poison};
use crate::{Kind, Site, Space};

/// How often a thread can load one address at one site in a row. After that it is assumed to wait for another
/// thread to change the value.
const PATIENCE: u32 = 1000;

/// An operation on memory.
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
    /// Checks and counts an access; `address` is an address of the host.
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
        let access = TracedAccess {
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
                    // The access would touch memory that is not the kernel's: the thread cannot continue.
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
                Operation::Load => InstructionKind::Load(space),
                Operation::Store => InstructionKind::Store(space),
                Operation::Atomic(_) => InstructionKind::Atomic(space),
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

    /// Called after an access. Lets other threads run if this one repeats the same load, or if its log is
    /// full.
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
        access: &TracedAccess,
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
                            "{size} bytes at offset {address} of shared memory, outside every array; the \
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
            access: reported(access),
            first: address + (first - offset),
        })
    }

    fn report_race(&self, space: Space, access: &TracedAccess, race: Race) {
        let launch = self.context().launch();
        let other = launch.thread(race.block, race.thread);
        let bug = Bug::Race {
            space,
            access: reported(access),
            other: reported(&race.access),
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

    /// Ends the launch; the reason has been reported.
    #[cold]
    pub fn fail(&self) -> ! {
        loop {
            self.suspend(Request::Failed);
        }
    }
}

/// The first byte of the range that was never written.
///
/// Writes through raw pointers are not traced. If one of the unwritten bytes no longer has the poison value,
/// all of them count as written from then on. `host` is the address of the range's first byte.
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
        // SAFETY: the caller has found the range inside a buffer or shared memory.
        unsafe { is_poison(std::ptr::with_exposed_provenance(host + i)) }
    });
    if untouched {
        return first.map(|i| offset + i);
    }
    initialised.write(offset, size);
    None
}

fn reported(access: &TracedAccess) -> Access {
    Access {
        kind: access.kind,
        address: access.address,
        size: access.size,
    }
}

impl Context {
    /// Records a fence for checks and counters.
    pub fn trace_fence(&self, lane: &Lane, scope: crate::Scope, site: Site) {
        let options = &self.launch().options;
        let memory = &mut *self.memory.borrow_mut();
        if options.checks.races {
            memory.clocks.fence(lane.index, scope);
        }
        if options.count {
            let event = Event {
                site,
                what: InstructionKind::Fence,
                address: 0,
                size: 0,
            };
            memory.logs[lane.warp() as usize].push(lane.lane(), event);
        }
    }
}
