//! What all blocks of a launch have in common.

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

/// Findings of one launch, at most: a bug that shows at each line would fill pages.
const FINDINGS: usize = 16;

/// Which bugs a launch looks for, besides those that it finds anyhow: panics, deadlocks, wrong
/// member masks, different barriers, accesses through handles beyond their array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Accesses beyond a [`Buffer`](crate::Buffer) or an array in shared memory, and reads of what
    /// nobody has written.
    pub memory: bool,
    /// Accesses that nothing orders.
    pub races: bool,
    /// Block barriers after some threads have exited. The hardware waits for the others only, and
    /// most often the kernel meant all.
    pub exited_at_barrier: bool,
    /// Shuffles from a lane outside of the member mask, whose value is undefined.
    pub shuffle_sources: bool,
}

impl Checks {
    /// None of them.
    pub const NONE: Self = Self {
        memory: false,
        races: false,
        exited_at_barrier: false,
        shuffle_sources: false,
    };
    /// All of them.
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
    /// The blocks that run, all where nothing is said.
    pub only_blocks: Option<Range<u32>>,
    pub schedule: Schedule,
    pub checks: Checks,
    pub count: bool,
    pub arch: u32,
    /// Where its threads print; to standard output where nothing is said.
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

    /// Why no device would take the launch, by the limits of compute capability 7.5 to 12.x.
    pub fn refusal(&self) -> Option<Bug> {
        const GRID: [u64; 3] = [0x7FFF_FFFF, 65535, 65535];
        const BLOCK: [u64; 3] = [1024, 1024, 64];
        let mut reason = None;
        for (what, sizes, limits) in [("grid", self.grid, GRID), ("block", self.block, BLOCK)] {
            for (size, limit, axis) in axes(sizes, limits) {
                if size == 0 || size > limit {
                    reason = Some(format!(
                        "a {what} of {size} along {axis}, 1 to {limit} are possible"
                    ));
                }
            }
        }
        let product = |sizes: [u32; 3]| sizes.iter().map(|&n| u128::from(n)).product::<u128>();
        if reason.is_none() && product(self.block) > 1024 {
            let threads = product(self.block);
            reason = Some(format!(
                "{threads} threads per block, at most 1024 are possible"
            ));
        }
        if reason.is_none() && product(self.grid) > 0xFFFF_FFFF {
            reason = Some("the simulator counts up to 4294967295 blocks".into());
        }
        if reason.is_none() && self.range().end > self.blocks() {
            let (end, blocks) = (self.range().end, self.blocks());
            reason = Some(format!("blocks up to {end} of a grid that has {blocks}"));
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

/// A launch under way.
pub(crate) struct Launch {
    pub options: Options,
    pub kernel: &'static dyn Fn(),
    pub name: String,
    pub allocations: Allocations,
    /// Who touched global memory.
    pub global: Mutex<Shadow>,
    findings: Mutex<Vec<Finding>>,
    stopped: AtomicBool,
}

impl Launch {
    /// A launch that keeps no more than the address of `kernel`.
    ///
    /// # Safety
    ///
    /// `kernel` outlives the launch.
    pub unsafe fn new(options: Options, name: String, kernel: &(dyn Fn() + '_)) -> Self {
        // SAFETY: the lifetime is all that changes, and the caller promises that it is long enough.
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

    /// Keeps a finding, unless there is one like it.
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

    /// Ends the launch as soon as may be.
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

    /// The thread of two linear indexes.
    pub fn thread(&self, block: u32, thread: u32) -> Thread {
        Thread {
            block: unfold(block, self.options.grid),
            thread: unfold(thread, self.options.block),
            warp: thread / 32,
            lane: thread % 32,
        }
    }
}

/// The index in three dimensions of a linear one, x fastest.
pub(crate) fn unfold(linear: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [linear % x, linear / x % y, linear / x / y]
}
