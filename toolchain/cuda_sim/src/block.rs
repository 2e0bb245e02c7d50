//! A block: its threads as coroutines, and the scheduler that runs them.

use corosensei::CoroutineResult;

use crate::Site;
use crate::count::{Event, InstructionKind, Tally};
use crate::finding::{Bug, Thread};
use crate::lane::{Lane, Request, set_current};
use crate::launch::{Launch, unfold};
use crate::schedule::{Order, Schedule};
use crate::stack::Pool;

mod barrier;
mod collective;
mod context;
mod coroutine;
mod deadlock;

pub(crate) use context::{Context, Memory};
pub(crate) use coroutine::{Exit, Running};

/// The state of 32 threads, or fewer in a block's last warp.
///
/// Each field is a set: bit `i` stands for lane `i`. Each lane is in exactly one set.
#[derive(Clone, Copy, Default)]
struct Warp {
    /// Lanes that can run.
    ready: u32,
    /// Lanes that have run in this round and can run in the next.
    yielded: u32,
    /// Lanes that wait at a block barrier.
    at_barrier: u32,
    /// Lanes that wait in a warp collective.
    in_collective: u32,
    /// Lanes that have returned.
    exited: u32,
}

/// Why a block stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All threads have returned.
    Done,
    /// Its threads only polled for the given number of rounds. Under a random schedule: or a thread was
    /// interrupted in favour of other blocks.
    Quiet {
        /// Whether any of them made progress before.
        progress: bool,
    },
}

/// The launch has a finding that ends it.
#[derive(Debug)]
pub(crate) struct Stop;

/// Rounds without a passed barrier or collective after which the launch is a livelock. It catches threads
/// that poll alternating addresses.
const MAX_STALE_ROUNDS: u64 = 2_000_000;

/// A block of threads, reused for one block of the grid after another.
pub(crate) struct Block {
    context: Box<Context>,
    lanes: Box<[Lane]>,
    coroutines: Vec<Option<Running>>,
    warps: Vec<Warp>,
    order: Order,
    /// The number of threads that have not returned.
    live: u32,
    /// The number of threads at the barrier; the first of them; how many of their predicates hold.
    arrived: u32,
    first: usize,
    true_predicates: u32,
    /// Whether any thread made progress in this round; whether one passed a barrier or a collective, or
    /// returned.
    progress: bool,
    passed: bool,
    /// Whether any thread was interrupted in this round.
    interrupted: bool,
    stale: u64,
}

impl Block {
    /// # Safety
    ///
    /// `launch` outlives the block.
    pub unsafe fn new(launch: &Launch) -> Self {
        let options = &launch.options;
        let threads = options.threads();
        // SAFETY: as this function's contract.
        let context = Box::new(unsafe { Context::new(launch) });
        let traced = options.count || options.checks.memory || options.checks.races;
        let lanes = (0..threads)
            .map(|i| Lane::new(unfold(i, options.block), i, &*context, traced))
            .collect();
        Self {
            context,
            lanes,
            coroutines: (0..threads).map(|_| None).collect(),
            warps: vec![Warp::default(); threads.div_ceil(32) as usize],
            order: Order::new(options.schedule, 0),
            live: 0,
            arrived: 0,
            first: 0,
            true_predicates: 0,
            progress: false,
            passed: false,
            interrupted: false,
            stale: 0,
        }
    }

    /// Resets it to the block with this linear index; no thread has started.
    pub fn begin(&mut self, linear: u32) {
        let threads = self.lanes.len() as u32;
        self.context.begin(linear);
        self.order = Order::new(self.context.launch().options.schedule, linear);
        for lane in &self.lanes {
            lane.barriers.set(0);
            lane.polled.borrow_mut().clear();
            lane.loaded.set((std::ptr::null(), 0));
        }
        for (w, warp) in self.warps.iter_mut().enumerate() {
            let present = (threads - 32 * w as u32).min(32);
            *warp = Warp {
                ready: u32::MAX >> (32 - present),
                ..Warp::default()
            };
        }
        self.live = threads;
        self.arrived = 0;
        self.stale = 0;
    }

    /// Runs until all threads have returned, or made no progress for `rounds` rounds. Under a random schedule
    /// it also returns when a thread was interrupted, because other blocks may have to run.
    pub fn run(&mut self, pool: &mut Pool, rounds: u64) -> Result<Turn, Stop> {
        let (mut quiet, mut all) = (0, 0);
        loop {
            self.progress = false;
            self.passed = false;
            self.interrupted = false;
            for turn in 0..self.warps.len() {
                let w = self.order.warp(turn, self.warps.len());
                let warp = &mut self.warps[w];
                warp.ready |= warp.yielded;
                warp.yielded = 0;
                if warp.ready | warp.in_collective != 0 {
                    self.run_warp(w, pool)?;
                }
            }
            if self.live == 0 {
                return Ok(Turn::Done);
            }
            if self.arrived == self.live {
                self.release()?;
                continue;
            }
            if self.warps.iter().all(|warp| warp.ready | warp.yielded == 0) {
                self.report_deadlock();
                return Err(Stop);
            }
            self.stale = if self.passed { 0 } else { self.stale + 1 };
            if self.stale > MAX_STALE_ROUNDS {
                self.report_livelock(0);
                return Err(Stop);
            }
            all += 1;
            quiet = if self.progress || self.passed {
                0
            } else {
                quiet + 1
            };
            if quiet >= rounds || self.interrupted {
                return Ok(Turn::Quiet {
                    progress: quiet < all,
                });
            }
        }
    }

    /// Runs the warp's lanes until each one waits for other warps, has polled or has returned.
    fn run_warp(&mut self, w: usize, pool: &mut Pool) -> Result<(), Stop> {
        loop {
            while self.warps[w].ready != 0 {
                let lane = self.order.pick(self.warps[w].ready);
                self.warps[w].ready &= !(1 << lane);
                self.run_lane(w, lane, pool)?;
            }
            if self.warps[w].in_collective == 0 || !self.run_collectives(w)? {
                break;
            }
            self.passed = true;
        }
        if self.context.full.get() >> w & 1 != 0 {
            self.drain(w);
        }
        Ok(())
    }

    #[inline(always)]
    fn run_lane(&mut self, w: usize, lane: u32, pool: &mut Pool) -> Result<(), Stop> {
        let i = 32 * w + lane as usize;
        if self.coroutines[i].is_none() {
            self.start(i, pool)?;
        }
        let Some(coroutine) = &mut self.coroutines[i] else {
            unreachable!("`start` has filled it")
        };
        set_current(&self.lanes[i]);
        let result = coroutine.resume(());
        set_current(std::ptr::null());
        let warp = &mut self.warps[w];
        match result {
            CoroutineResult::Yield(()) => match self.lanes[i].request.get() {
                Request::Barrier(kind) => {
                    warp.at_barrier |= 1 << lane;
                    return self.arrive(i, kind);
                }
                Request::Collective(op) => {
                    warp.in_collective |= 1 << lane;
                    return self.enter_collective(i, op);
                }
                Request::Poll => warp.yielded |= 1 << lane,
                Request::Interrupt => {
                    warp.yielded |= 1 << lane;
                    self.progress = true;
                    // Under the other schedules, a block runs for as long as it makes progress.
                    let schedule = self.context.launch().options.schedule;
                    self.interrupted |= matches!(schedule, Schedule::Random(_));
                }
                Request::Failed => return Err(Stop),
            },
            CoroutineResult::Return(exit) => {
                warp.exited |= 1 << lane;
                self.live -= 1;
                self.passed = true;
                return self.end(i, exit, pool);
            }
        }
        if self.context.launch().stopped() {
            return Err(Stop);
        }
        Ok(())
    }

    /// The first lane of the set in the lowest warp where the set is not empty.
    fn find(&self, set: impl Fn(&Warp) -> u32) -> usize {
        let (w, warp) = self
            .warps
            .iter()
            .enumerate()
            .find(|(_, warp)| set(warp) != 0)
            .expect("the caller checks that a set is not empty");
        32 * w + set(warp).trailing_zeros() as usize
    }

    /// Logs a barrier or a collective; a shuffle with the lane that it reads.
    fn log(&self, i: usize, what: InstructionKind, source: u32) {
        let event = Event {
            site: self.site(i),
            what,
            address: source.into(),
            size: 0,
        };
        let lane = &self.lanes[i];
        let mut memory = self.context.memory.borrow_mut();
        memory.logs[lane.warp() as usize].push(lane.lane(), event);
    }

    /// Where a thread is in the source.
    fn site(&self, i: usize) -> Site {
        Site::of(self.lanes[i].location.get())
    }

    fn side(&self, i: usize) -> (Thread, Option<Site>) {
        (self.context.thread(i as u32), Some(self.site(i)))
    }

    fn report(&self, bug: Bug, at: usize, other: Option<usize>) {
        let other = other.map(|other| self.side(other));
        self.context
            .launch()
            .report(bug, Some(self.side(at)), other);
    }

    pub fn report_livelock(&self, blocks_left: u32) {
        let at = self.find(|warp| warp.ready | warp.yielded);
        self.report(Bug::Livelock { blocks_left }, at, None);
    }

    /// Resets the coroutines that have not finished, without running them, and returns the counters.
    pub fn finish(mut self, pool: &mut Pool) -> Tally {
        for slot in &mut self.coroutines {
            if let Some(mut coroutine) = slot.take() {
                // SAFETY: values on the stack are leaked. The kernel's are covered by `Simulator::run`'s
                // contract; of this crate's, only borrows of the block's memory have destructors, and no other thread will
                // use that memory.
                unsafe { coroutine.force_reset() };
                pool.give_back(coroutine.into_stack());
            }
        }
        match self.context.memory.try_borrow_mut() {
            Ok(mut memory) => std::mem::take(&mut memory.tally),
            // A thread's stack overflowed during an access, and was left without a return.
            Err(_) => Tally::default(),
        }
    }

    /// Counts part of a warp's log, when the log is long.
    #[cold]
    fn drain(&self, w: usize) {
        self.context.full.update(|warps| warps & !(1 << w));
        let memory = &mut *self.context.memory.borrow_mut();
        memory.logs[w].drain(&mut memory.tally);
    }

    /// Counts what is left in the warps' logs, at the end of a block.
    pub fn flush(&mut self) {
        let memory = &mut *self.context.memory.borrow_mut();
        for log in &mut memory.logs {
            log.flush(&mut memory.tally);
        }
    }
}
