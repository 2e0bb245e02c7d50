//! Tests that calls that wait allocate nothing after a stream's first call, on the host and on the device.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use cust::memory::mem_get_info;
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Determinism, Device, Error, Predicate, Sum};

use crate::lab::Lab;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a counter of allocations per thread.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count() {
    // A thread that is exiting has no counter any more.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

/// The host's allocations by this thread during `work`.
fn allocations(work: impl FnOnce() -> Result<(), Error>) -> Result<u64, Error> {
    let before = ALLOCATIONS.get();
    work()?;
    Ok(ALLOCATIONS.get() - before)
}

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    vec![
        lab.trial("allocations: the counter works", counter),
        lab.trial("allocations: none by calls that wait", none),
        lab.trial("allocations: none of the device by groups", groups),
    ]
}

fn counter(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let counted = allocations(|| device.download(&device.upload(&[1u8])?).map(drop))?;
    match counted {
        0 => Err("a download was not counted".into()),
        _ => Ok(Completion::Completed),
    }
}

fn none(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let x = device.upload(&vec![3i32; 100_000])?;
    let y = device.upload(&vec![0.5f32; 100_000])?;
    let (mut cells, mut scratch) = (device.alloc::<i32>(1)?, device.scratch()?);
    let mut plan = device.reduce(&x, Sum).plan()?;
    let mut calls = || -> Result<(), Error> {
        device.sum(&x)?;
        device.max(&y)?;
        device.argmin(&y)?;
        device.mean_variance(&y)?;
        device.dot(&y, &y)?;
        device.count(&x, Predicate::Less(4))?;
        device.reduce_into(&x, Sum, &mut cells, 0, &mut scratch)?;
        plan.enqueue()
    };
    calls()?;
    device.synchronize()?;
    let (free, _) = mem_get_info()?;
    let counted = allocations(|| (0..100).try_for_each(|_| calls()))?;
    device.synchronize()?;
    let (free_after, _) = mem_get_info()?;
    match counted {
        0 if free == free_after || !lab.alone => Ok(Completion::Completed),
        _ => Err(format!("{counted} allocations; {free} bytes free, then {free_after}").into()),
    }
}

fn groups(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    /// Arrays of 4 MiB: an allocation changes the free memory.
    const N: u32 = 1 << 20;
    let device = device.clone().determinism(Determinism::Fast);
    let keys = device.upload(&(0..N).map(|i| i / 2 * 7).collect::<Vec<_>>())?;
    let values = device.upload(&vec![1i32; N as usize])?;
    let mut unique = device.alloc(N as usize)?;
    let mut sums = device.alloc(N as usize)?;
    let mut call = || device.group_by_into(&keys, &values, Sum, &mut unique, &mut sums);
    call()?;
    device.synchronize()?;
    let (free, _) = mem_get_info()?;
    let mut least = free;
    for _ in 0..3 {
        let groups = call()?;
        if groups != N as usize / 2 {
            return Err(format!("{groups} groups").into());
        }
        least = least.min(mem_get_info()?.0);
    }
    device.synchronize()?;
    match least == free || !lab.alone {
        true => Ok(Completion::Completed),
        false => Err(format!("{free} bytes free, then {least}").into()),
    }
}
