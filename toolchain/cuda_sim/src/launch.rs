//! State that all blocks of a launch share.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::check::Shadow;
use crate::finding::{Bug, Finding, Thread};
use crate::memory::Allocations;
use crate::printed::Printed;
use crate::schedule::Schedule;
use crate::{Site, Space};

/// Limit of findings in one launch: a bug that shows at every line would fill pages.
const FINDINGS: usize = 16;

/// The checks that a launch can enable.
///
/// Every launch finds panics, deadlocks, wrong member masks, barriers at different sites, and accesses
/// through handles outside their array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Accesses outside a [`Buffer`](crate::Buffer) or an array in shared memory, and loads of memory that
    /// was never written.
    pub memory: bool,
    /// Data races.
    pub races: bool,
    /// Block barriers that some threads of the block never reach, because they exited.
    ///
    /// The hardware then waits for the other threads only; most such kernels have a bug.
    pub exited_at_barrier: bool,
    /// Shuffles from a lane outside of the member mask, whose value is undefined.
    pub shuffle_sources: bool,
}

impl Checks {
    /// No checks.
    pub const NONE: Self = Self {
        memory: false,
        races: false,
        exited_at_barrier: false,
        shuffle_sources: false,
    };
    /// All checks.
    pub const ALL: Self = Self {
        memory: true,
        races: true,
        exited_at_barrier: true,
        shuffle_sources: true,
    };
}

/// Shape and options of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub kernel: Option<String>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: usize,
    pub shared_limit: usize,
    pub resident_blocks: u32,
    /// The blocks that run; all blocks if `None`.
    pub only_blocks: Option<Range<u32>>,
    pub schedule: Schedule,
    pub checks: Checks,
    pub count: bool,
    /// How many requests are kept.
    pub record: usize,
    pub arch: u32,
    /// Where its threads print; standard output if `None`.
    pub printed: Option<Printed>,
}

impl Options {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }

    /// The linear indexes of the blocks that run.
    pub fn range(&self) -> Range<u32> {
        self.only_blocks.clone().unwrap_or(0..self.blocks())
    }

    /// Why no device would accept the launch, by the limits of compute capability 7.5 to 12.x.
    pub fn refusal(&self) -> Option<Bug> {
        const GRID: [u64; 3] = [0x7FFF_FFFF, 65535, 65535];
        const BLOCK: [u64; 3] = [1024, 1024, 64];
        let mut reason = None;
        for (what, sizes, limits) in [("grid", self.grid, GRID), ("block", self.block, BLOCK)] {
            for (size, limit, axis) in axes(sizes, limits) {
                if size == 0 || size > limit {
                    reason = Some(format!(
                        "{what} size {size} in {axis}; must be from 1 to {limit}"
                    ));
                }
            }
        }
        let product = |sizes: [u32; 3]| sizes.iter().map(|&n| u128::from(n)).product::<u128>();
        if reason.is_none() && product(self.block) > 1024 {
            let threads = product(self.block);
            reason = Some(format!("{threads} threads per block; the limit is 1024"));
        }
        if reason.is_none() && product(self.grid) > 0xFFFF_FFFF {
            reason = Some("more than 4294967295 blocks, the limit of the simulator".into());
        }
        if reason.is_none() && self.range().end > self.blocks() {
            let (end, blocks) = (self.range().end, self.blocks());
            reason = Some(format!(
                "`only_blocks` ends at {end}, but the grid has {blocks} blocks"
            ));
        }
        if let Some(reason) = reason {
            return Some(Bug::Refused { reason });
        }
        (self.dynamic_shared > self.shared_limit).then_some(Bug::SharedMemory {
            bytes: self.dynamic_shared,
            limit: self.shared_limit,
        })
    }
}

/// Three sizes with their limits and names.
fn axes(sizes: [u32; 3], limits: [u64; 3]) -> impl Iterator<Item = (u64, u64, char)> {
    sizes
        .into_iter()
        .zip(limits)
        .zip(['x', 'y', 'z'])
        .map(|((size, limit), axis)| (size.into(), limit, axis))
}

/// A running launch.
pub(crate) struct Launch {
    pub options: Options,
    pub kernel: &'static dyn Fn(),
    pub name: String,
    pub allocations: Allocations,
    /// The last accesses to global memory.
    pub global: Mutex<Shadow>,
    findings: Mutex<Vec<Finding>>,
    stopped: AtomicBool,
}

impl Launch {
    /// A launch that stores only the address of `kernel`.
    ///
    /// # Safety
    ///
    /// `kernel` outlives the launch.
    pub unsafe fn new(options: Options, name: String, kernel: &(dyn Fn() + '_)) -> Self {
        // SAFETY: only the lifetime changes, and the caller guarantees that it is long enough.
        let kernel = unsafe { mem::transmute::<&(dyn Fn() + '_), &'static dyn Fn()>(kernel) };
        Self {
            options,
            kernel,
            name,
            allocations: Allocations::now(),
            global: Mutex::new(Shadow::new(Space::Global)),
            findings: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
        }
    }

    /// Stores a finding, unless the same bug is already stored.
    pub fn report(
        &self,
        bug: Bug,
        at: Option<(Thread, Option<Site>)>,
        other: Option<(Thread, Option<Site>)>,
    ) {
        let finding = Finding {
            bug,
            kernel: self.name.clone(),
            thread: at.map(|(thread, _)| thread),
            site: at.and_then(|(_, site)| site),
            other,
        };
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        if !findings.iter().any(|known| known.repeats(&finding)) {
            findings.push(finding);
        }
        if findings.len() >= FINDINGS {
            self.stop();
        }
    }

    /// Asks all workers to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread with these linear indices.
    pub fn thread(&self, block: u32, thread: u32) -> Thread {
        Thread {
            block: unfold(block, self.options.grid),
            thread: unfold(thread, self.options.block),
            warp: thread / 32,
            lane: thread % 32,
        }
    }
}

/// The three-dimensional index for a linear one; x varies fastest.
pub(crate) fn unfold(linear: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [linear % x, linear / x % y, linear / x / y]
}
