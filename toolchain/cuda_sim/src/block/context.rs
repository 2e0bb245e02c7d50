//! The part of a block that its threads use.

use std::cell::{Cell, RefCell};

use crate::Space;
use crate::check::{Clocks, Initialised, Shadow};
use crate::count::{Tally, WarpLog};
use crate::finding::Thread;
use crate::launch::{Launch, unfold};
use crate::memory::Arena;
use crate::schedule::Order;

/// The part of a block that its threads use. They run on the scheduler's host thread and alternate with it,
/// so cells suffice.
pub(crate) struct Context {
    /// Outlives the block.
    launch: *const Launch,
    pub index: Cell<[u32; 3]>,
    pub linear: Cell<u32>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub arch: u32,
    /// The start and the limit of shared memory.
    pub shared: (usize, usize),
    /// The block's clock: the number of times it was read.
    pub ticks: Cell<u64>,
    /// The warps in which a lane's log is full, as bits.
    pub full: Cell<u32>,
    pub interrupts: RefCell<Order>,
    pub memory: RefCell<Memory>,
}

impl Context {
    /// # Safety
    ///
    /// `launch` outlives the context.
    pub unsafe fn new(launch: &Launch) -> Self {
        let options = &launch.options;
        let threads = options.threads();
        let mut arena = Arena::new(options.shared_limit);
        arena.declare(options.dynamic_shared);
        Self {
            launch,
            index: Cell::new([0; 3]),
            linear: Cell::new(0),
            grid: options.grid,
            block: options.block,
            arch: options.arch,
            shared: (arena.start().addr(), options.shared_limit),
            ticks: Cell::new(0),
            full: Cell::new(0),
            interrupts: RefCell::new(Order::new(options.schedule, 0)),
            memory: RefCell::new(Memory {
                arena,
                initialised: Initialised::new(options.shared_limit, false),
                shadow: Shadow::new(Space::Shared),
                clocks: Clocks::new(0, threads),
                logs: (0..threads.div_ceil(32)).map(|_| WarpLog::new()).collect(),
                tally: Tally::keeping(options.record),
                last: 0,
            }),
        }
    }

    /// Resets it to the block with this linear index.
    pub fn begin(&self, linear: u32) {
        let options = &self.launch().options;
        self.linear.set(linear);
        self.index.set(unfold(linear, options.grid));
        *self.interrupts.borrow_mut() = Order::new(options.schedule, !linear);
        let memory = &mut *self.memory.borrow_mut();
        memory.arena.clear();
        if options.checks.memory {
            memory.initialised.clear();
        }
        if options.checks.races {
            memory.shadow.clear();
            memory.clocks = Clocks::new(linear, options.threads());
        }
    }

    #[inline(always)]
    pub fn launch(&self) -> &Launch {
        // SAFETY: `new`'s caller guarantees that the launch outlives the context.
        unsafe { &*self.launch }
    }

    pub fn thread(&self, lane: u32) -> Thread {
        self.launch().thread(self.linear.get(), lane)
    }
}

/// Shared memory, and the state of checks and counters.
pub(crate) struct Memory {
    pub arena: Arena,
    pub initialised: Initialised,
    pub shadow: Shadow,
    pub clocks: Clocks,
    pub logs: Vec<WarpLog>,
    pub tally: Tally,
    /// The index of the allocation of the last access: a hint.
    pub last: usize,
}
