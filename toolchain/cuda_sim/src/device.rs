//! The interface for `cuda_std` and memory handles on the host; kernels do not use it.
//!
//! Functions with a parameter `name` panic with that name outside a launch. It is the full path of the
//! function that the kernel called.

#![allow(missing_docs)] // documented in `cuda_std`

use std::panic::Location;
use std::sync::atomic::Ordering;

pub use crate::access::{Kind, Scope};
use crate::check::Atomic;
use crate::finding::Bug;
pub use crate::lane::{Barrier, Collective, Redux, Shuffle};
use crate::lane::{Lane, Request, current};
use crate::trace::Operation;
use crate::{Site, Space};

#[inline(always)]
#[track_caller]
fn lane<'a>(name: &str) -> &'a Lane {
    match running() {
        Some(lane) => lane,
        None => outside(name),
    }
}

#[inline(always)]
fn running<'a>() -> Option<&'a Lane> {
    let lane = current();
    // SAFETY: not null, so the scheduler has set it to a lane that it keeps while the lane runs.
    unsafe { lane.as_ref() }
}

#[cold]
#[track_caller]
fn outside(name: &str) -> ! {
    panic!("`{name}` runs only on the GPU, or in a launch of `cuda_sim::Simulator`")
}

#[inline(always)]
#[track_caller]
pub fn thread_idx(name: &str) -> [u32; 3] {
    lane(name).thread
}

#[inline(always)]
#[track_caller]
pub fn block_idx(name: &str) -> [u32; 3] {
    lane(name).context().index.get()
}

#[inline(always)]
#[track_caller]
pub fn block_dim(name: &str) -> [u32; 3] {
    lane(name).context().block
}

#[inline(always)]
#[track_caller]
pub fn grid_dim(name: &str) -> [u32; 3] {
    lane(name).context().grid
}

#[inline(always)]
#[track_caller]
pub fn lane_id(name: &str) -> u32 {
    lane(name).lane()
}

/// The compute capability times 100.
#[track_caller]
pub fn arch(name: &str) -> u32 {
    lane(name).context().arch
}

/// Prints to the launch's [`Printed`](crate::Printed), else to standard output. Host threads may call it too.
pub fn print(text: &str) {
    let printed = running().and_then(|lane| lane.context().launch().options.printed.as_ref());
    match printed {
        Some(printed) => printed.push(text),
        None => std::print!("{text}"),
    }
}

/// The clock: counts how often the block's threads have read it.
#[track_caller]
pub fn clock(name: &str) -> u64 {
    let ticks = &lane(name).context().ticks;
    ticks.set(ticks.get() + 1);
    ticks.get()
}

#[inline(always)]
#[track_caller]
pub fn barrier(name: &str, kind: Barrier, predicate: bool) -> u32 {
    let lane = lane(name);
    lane.location.set(Location::caller());
    lane.value.set(predicate.into());
    lane.suspend(Request::Barrier(kind));
    lane.result.get() as u32
}

/// Runs a warp collective with the lanes of `mask`, and returns its result.
#[inline(always)]
#[track_caller]
pub fn collective(name: &str, op: Collective, mask: u32, value: u64) -> u64 {
    let lane = lane(name);
    lane.location.set(Location::caller());
    lane.mask.set(mask);
    lane.value.set(value);
    lane.suspend(Request::Collective(op));
    lane.result.get()
}

/// Runs a shuffle with `shfl`'s operands.
#[inline(always)]
#[track_caller]
pub fn shuffle(name: &str, mode: Shuffle, mask: u32, value: u32, b: u32, c: u32) -> (u32, bool) {
    let lane = lane(name);
    lane.operands.set([b, c]);
    let result = collective(name, Collective::Shuffle(mode), mask, value.into());
    (result as u32, lane.in_range.get())
}

/// Lets the other threads run.
#[track_caller]
pub fn sleep(name: &str) {
    let lane = lane(name);
    lane.location.set(Location::caller());
    lane.suspend(Request::Poll);
}

#[track_caller]
pub fn fence(name: &str, scope: Scope) {
    lane(name);
    thread_fence(scope);
}

/// Records a fence; does nothing outside a launch.
#[track_caller]
pub fn thread_fence(scope: Scope) {
    if let Some(lane) = running()
        && lane.traced
    {
        lane.context()
            .trace_fence(lane, scope, Site::of(Location::caller()));
    }
}

/// Called before an atomic operation; does nothing outside a launch.
#[inline]
#[track_caller]
pub fn before_atomic(
    address: usize,
    size: usize,
    scope: Scope,
    order: Ordering,
    reads: bool,
    writes: bool,
) {
    if let Some(lane) = running()
        && lane.traced
    {
        let atomic = Atomic {
            scope,
            acquire: matches!(
                order,
                Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
            ),
            release: matches!(
                order,
                Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
            ),
            reads,
            writes,
        };
        lane.trace(address, size, Operation::Atomic(atomic), Location::caller());
    }
}

/// Called after an atomic operation. If it changed nothing, the thread may be polling, so other threads run.
#[inline]
#[track_caller]
pub fn after_atomic(address: usize, changed: bool) {
    let Some(lane) = running() else { return };
    let location = Location::caller();
    if !changed {
        lane.location.set(location);
        lane.suspend(if lane.is_repeated_poll(location, address) {
            Request::Poll
        } else {
            Request::Interrupt
        });
        return;
    }
    lane.polled.borrow_mut().clear();
    if lane.context().interrupts.borrow_mut().interrupts() {
        lane.location.set(location);
        lane.suspend(Request::Interrupt);
    } else if lane.traced {
        lane.rest();
    }
}

/// Checks an access to an array of `len` elements of `size` bytes at `start` in global memory.
///
/// `index` is the element. The instruction requires an address that is a multiple of `alignment`; `size` is
/// one.
///
/// # Panics
///
/// Outside a launch, if there is no such element, or if it is not aligned.
#[inline(always)]
#[track_caller]
pub fn global(start: usize, len: usize, index: usize, size: usize, alignment: usize, kind: Kind) {
    if index >= len {
        beyond(Space::Global, len, index, kind);
    }
    if !start.is_multiple_of(alignment) {
        misaligned(start + index * size, alignment);
    }
    if let Some(lane) = running()
        && lane.traced
    {
        access(lane, start + index * size, size, kind);
    }
}

/// Checks an access to element `index` of `size` bytes of the array at `start` in shared memory. The array's
/// declaration or the launch determines its end.
///
/// # Panics
///
/// Outside a launch.
#[inline(always)]
#[track_caller]
pub fn shared(start: usize, index: usize, size: usize, kind: Kind) {
    let lane = lane("shared memory");
    let (memory, limit) = lane.context().shared;
    let address = start + index * size;
    if lane.traced {
        check_array(lane, start, index, size, kind);
        access(lane, address, size, kind);
    } else if address.wrapping_sub(memory) + size > limit {
        beyond(
            Space::Shared,
            limit.saturating_sub(start - memory) / size,
            index,
            kind,
        );
    }
}

/// Checks that the element lies in the array that starts at `start`, and not only in any array.
#[inline]
#[track_caller]
fn check_array(lane: &Lane, start: usize, index: usize, size: usize, kind: Kind) {
    let len = {
        let memory = lane.context().memory.borrow();
        let offset = start.wrapping_sub(lane.context().shared.0);
        memory
            .arena
            .array_at(offset)
            .map_or(0, |(first, bytes)| (first + bytes - offset) / size)
    };
    if index >= len {
        beyond(Space::Shared, len, index, kind);
    }
}

#[inline(always)]
#[track_caller]
fn access(lane: &Lane, address: usize, size: usize, kind: Kind) {
    let operation = match kind {
        Kind::Load => Operation::Load,
        Kind::Store => Operation::Store,
        // `before_atomic` traces the operation itself.
        Kind::Atomic => return,
    };
    lane.trace(address, size, operation, Location::caller());
    lane.rest();
}

#[cold]
#[track_caller]
fn beyond(space: Space, len: usize, index: usize, kind: Kind) -> ! {
    let what = format!("element {index} of an array of {len}");
    give_up(&what.clone(), Bug::OutOfBounds { kind, space, what })
}

#[cold]
#[track_caller]
fn misaligned(address: usize, alignment: usize) -> ! {
    let what = format!("address {address:#x} is not a multiple of {alignment}");
    give_up(&what, Bug::Misaligned { address, alignment })
}

/// Reports a bug that ends the thread; outside a launch, panics.
#[track_caller]
fn give_up(what: &str, bug: Bug) -> ! {
    let Some(lane) = running() else {
        panic!("{what}")
    };
    lane.report(bug, Site::of(Location::caller()));
    lane.fail()
}

/// The start of dynamic shared memory.
#[inline(always)]
#[track_caller]
pub fn dynamic_shared(name: &str) -> *mut u8 {
    let context = lane(name).context();
    std::ptr::with_exposed_provenance_mut(context.shared.0)
}

/// The bytes of dynamic, and of all shared memory.
#[track_caller]
pub fn shared_sizes(name: &str) -> (usize, usize) {
    let memory = lane(name).context().memory.borrow();
    (memory.arena.dynamic(), memory.arena.used())
}

/// The block's copy of a static array; outside a launch, the array itself.
#[inline]
#[track_caller]
pub fn shared_array(declared: *mut u8, bytes: usize, alignment: usize) -> *mut u8 {
    let Some(lane) = running() else {
        return declared;
    };
    let context = lane.context();
    let array = context
        .memory
        .borrow_mut()
        .arena
        .array(declared.addr(), bytes, alignment);
    match array {
        Ok(array) => array,
        Err(bytes) => {
            let limit = context.shared.1;
            let bug = Bug::SharedMemory { bytes, limit };
            lane.report(bug, Site::of(Location::caller()));
            lane.fail()
        }
    }
}

/// Whether an address lies in the block's shared memory.
#[track_caller]
pub fn is_shared(name: &str, address: usize) -> bool {
    let (start, limit) = lane(name).context().shared;
    address.wrapping_sub(start) < limit
}

/// Whether an address lies on the thread's own stack.
#[track_caller]
pub fn is_local(name: &str, address: usize) -> bool {
    lane(name).owns(address)
}

/// The start of the block's shared memory.
#[track_caller]
pub fn shared_start(name: &str) -> usize {
    lane(name).context().shared.0
}
