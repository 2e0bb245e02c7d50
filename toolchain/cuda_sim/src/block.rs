//! A block: its threads as coroutines, and who of them runs.

use corosensei::CoroutineResult;

use crate::Site;
use crate::count::{Event, Tally, What};
use crate::finding::{Bug, Thread};
use crate::lane::{Lane, Request, set_current};
use crate::launch::{Launch, unfold};
use crate::schedule::{Order, Schedule};
use crate::stack::Pool;

mod barrier;
mod context;
mod coroutine;
mod deadlock;
mod meeting;

pub(crate) use context::{Context, Memory};
pub(crate) use coroutine::{Exit, Running};

/// 32 threads, or fewer in a block's last warp. Each set has bit `i` for lane `i`, and each lane is
/// in one of them.
#[derive(Clone, Copy, Default)]
struct Warp {
    /// Can run.
    ready: u32,
    /// Have had their turn in this round, and can run in the next.
    resting: u32,
    /// Wait for the block.
    at_barrier: u32,
    /// Wait for lanes of the warp.
    meeting: u32,
    /// Have returned.
    exited: u32,
}

/// How far a block has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All threads have returned.
    Done,
    /// Its threads only poll, for as long as it was given; or, under a random schedule, one of them lets
    /// other blocks go first.
    Quiet {
        /// Whether any of them got anywhere before.
        progress: bool,
    },
}

/// The launch has a finding that ends it.
#[derive(Debug)]
pub(crate) struct Stop;

/// Rounds without a thread that got anywhere, polling in changing places perhaps, after which that
/// is a livelock.
const STALE: u64 = 2_000_000;

/// A block of threads, used for one block of the grid after another.
pub(crate) struct Block {
    context: Box<Context>,
    lanes: Box<[Lane]>,
    coroutines: Vec<Option<Running>>,
    warps: Vec<Warp>,
    order: Order,
    /// Threads that have not returned.
    live: u32,
    /// Threads at the barrier; the first of them, and what its predicates add up to.
    arrived: u32,
    first: usize,
    holding: u32,
    /// Whether any thread got anywhere in this round; whether it passed a barrier or a meeting, or
    /// returned.
    progress: bool,
    passed: bool,
    /// Whether any thread had to let others go first in this round.
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
        // SAFETY: the caller's promise.
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
            holding: 0,
            progress: false,
            passed: false,
            interrupted: false,
            stale: 0,
        }
    }

    /// Becomes the block with this linear index, of which no thread has begun.
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

    /// Runs until all threads have returned, or for `rounds` rounds in which nobody gets anywhere; or, under
    /// a random schedule, until a thread has to let others go first, which may be those of other blocks.
    pub fn run(&mut self, pool: &mut Pool, rounds: u64) -> Result<Turn, Stop> {
        let (mut quiet, mut all) = (0, 0);
        loop {
            self.progress = false;
            self.passed = false;
            self.interrupted = false;
            for turn in 0..self.warps.len() {
                let w = self.order.warp(turn, self.warps.len());
                let warp = &mut self.warps[w];
                warp.ready |= warp.resting;
                warp.resting = 0;
                if warp.ready | warp.meeting != 0 {
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
            if self.warps.iter().all(|warp| warp.ready | warp.resting == 0) {
                self.explain_deadlock();
                return Err(Stop);
            }
            self.stale = if self.passed { 0 } else { self.stale + 1 };
            if self.stale > STALE {
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

    /// Runs the warp's lanes until each waits for other warps, has polled or has returned.
    fn run_warp(&mut self, w: usize, pool: &mut Pool) -> Result<(), Stop> {
        loop {
            while self.warps[w].ready != 0 {
                let lane = self.order.pick(self.warps[w].ready);
                self.warps[w].ready &= !(1 << lane);
                self.run_lane(w, lane, pool)?;
            }
            if self.warps[w].meeting == 0 || !self.meet(w)? {
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
                Request::Meeting(meeting) => {
                    warp.meeting |= 1 << lane;
                    return self.attend(i, meeting);
                }
                Request::Poll => warp.resting |= 1 << lane,
                Request::Interrupt => {
                    warp.resting |= 1 << lane;
                    self.progress = true;
                    // Other schedules run a block for as long as it gets anywhere.
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

    /// A lane of the lowest warp in which the set is not empty.
    fn find(&self, set: impl Fn(&Warp) -> u32) -> usize {
        let (w, warp) = self
            .warps
            .iter()
            .enumerate()
            .find(|(_, warp)| set(warp) != 0)
            .expect("the caller knows that there is one");
        32 * w + set(warp).trailing_zeros() as usize
    }

    /// Notes what a thread does with others.
    fn log(&self, i: usize, what: What) {
        let event = Event {
            site: self.site(i),
            what,
            address: 0,
            size: 0,
        };
        let lane = &self.lanes[i];
        let mut memory = self.context.memory.borrow_mut();
        memory.logs[lane.warp() as usize].push(lane.lane(), event);
    }

    /// Where a thread waits.
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
        let at = self.find(|warp| warp.ready | warp.resting);
        self.report(Bug::Livelock { blocks_left }, at, None);
    }

    /// Ends what threads are left without running them, and gives what was counted.
    pub fn finish(mut self, pool: &mut Pool) -> Tally {
        for slot in &mut self.coroutines {
            if let Some(mut coroutine) = slot.take() {
                // SAFETY: what is on the stack is forgotten. `Simulator::run` says so of values
                // with a destructor; all else there is this crate's own and has none.
                unsafe { coroutine.force_reset() };
                pool.give_back(coroutine.into_stack());
            }
        }
        std::mem::take(&mut self.context.memory.borrow_mut().tally)
    }

    /// Counts part of what a warp has logged, when that is much.
    #[cold]
    fn drain(&self, w: usize) {
        self.context.full.update(|warps| warps & !(1 << w));
        let memory = &mut *self.context.memory.borrow_mut();
        memory.logs[w].drain(&mut memory.tally);
    }

    /// The warps' logs at the end of a block.
    pub fn flush(&mut self) {
        let memory = &mut *self.context.memory.borrow_mut();
        for log in &mut memory.logs {
            log.flush(&mut memory.tally);
        }
    }
}
