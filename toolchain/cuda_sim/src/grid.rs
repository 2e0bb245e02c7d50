//! The blocks of a grid, run one after another or several at a time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::block::{Block, Stop, Turn};
use crate::count::Tally;
use crate::launch::Launch;
use crate::schedule::Blocks;
use crate::stack::Pool;

/// Rounds in which the threads of a block only poll, after which another block runs.
const TURN: u64 = 64;

/// Rounds in which all threads of all blocks only poll, after which the launch is a livelock.
const PATIENCE: u64 = 20_000;

thread_local! {
    /// Stacks for all launches of this host thread. Coroutines stay on their host thread, so thread-local
    /// variables that they use stay the same.
    static POOL: RefCell<Pool> = RefCell::default();
}

/// The queue of blocks, shared by all workers of a launch.
pub(crate) struct Queue {
    blocks: Blocks,
    taken: AtomicU32,
    first: u32,
    count: u32,
}

impl Queue {
    pub fn new(launch: &Launch) -> Self {
        let range = launch.options.range();
        let count = range.end.saturating_sub(range.start);
        Self {
            blocks: Blocks::new(launch.options.schedule, count),
            taken: AtomicU32::new(0),
            first: range.start,
            count,
        }
    }

    fn next(&self) -> Option<u32> {
        let turn = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |turn| {
                (turn < self.count).then_some(turn + 1)
            });
        let block = self.blocks.get(turn.ok()?)?;
        Some(self.first + block)
    }

    fn left(&self) -> u32 {
        self.count - self.taken.load(Ordering::Relaxed)
    }
}

/// Runs blocks of the queue until it is empty or the launch fails.
pub(crate) fn work(launch: &Launch, queue: &Queue) -> Tally {
    // A kernel may launch another kernel while the pool is taken: that launch gets a new pool.
    let mut pool = POOL.take();
    let mut worker = Worker {
        launch,
        queue,
        running: VecDeque::new(),
        spare: Vec::new(),
        quiet: 0,
    };
    let stopped = worker.run(&mut pool).is_err();
    if stopped {
        launch.stop();
    }
    let mut tally = Tally::default();
    for block in worker.running.into_iter().chain(worker.spare) {
        tally.add(&block.finish(&mut pool));
    }
    POOL.set(pool);
    tally
}

struct Worker<'a> {
    launch: &'a Launch,
    queue: &'a Queue,
    /// Blocks that have started; the one to run next is first.
    running: VecDeque<Block>,
    /// Finished blocks, to be reused.
    spare: Vec<Block>,
    /// Rounds since any of them made progress.
    quiet: u64,
}

impl Worker<'_> {
    fn run(&mut self, pool: &mut Pool) -> Result<(), Stop> {
        let resident = self.launch.options.resident_blocks as usize;
        loop {
            if self.launch.stopped() {
                return Err(Stop);
            }
            let fresh = self.running.len() < resident && self.begin();
            if self.running.is_empty() {
                return Ok(());
            }
            if fresh {
                self.quiet = 0;
            }
            // The newest first: it has not run yet.
            let mut block = self.running.pop_back().expect("one is running");
            let alone = self.running.is_empty() && (resident == 1 || self.queue.left() == 0);
            let rounds = if alone { PATIENCE } else { TURN };
            let turn = block.run(pool, rounds);
            match turn {
                Ok(Turn::Done) => {
                    if self.launch.options.count {
                        block.flush();
                    }
                    self.quiet = 0;
                    self.spare.push(block);
                }
                Ok(Turn::Quiet { progress }) => {
                    self.quiet = if progress { 0 } else { self.quiet + rounds };
                    let turns = self.running.len() as u64 + 1;
                    if self.quiet / turns >= PATIENCE {
                        block.report_livelock(self.queue.left());
                        self.running.push_front(block);
                        return Err(Stop);
                    }
                    self.running.push_front(block);
                }
                Err(stop) => {
                    self.running.push_front(block);
                    return Err(stop);
                }
            }
        }
    }

    /// Starts the next block, if there is one.
    fn begin(&mut self) -> bool {
        let Some(index) = self.queue.next() else {
            return false;
        };
        // SAFETY: the launch outlives the worker, which holds all blocks.
        let mut block = self
            .spare
            .pop()
            .unwrap_or_else(|| unsafe { Block::new(self.launch) });
        block.begin(index);
        self.running.push_back(block);
        true
    }
}
