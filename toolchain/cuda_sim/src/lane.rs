//! The state of one CUDA thread, and what it waits for.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;

use corosensei::Yielder;

use crate::block::Context;
use crate::{Site, overflow};

/// Why a thread returns control to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// It waits at a block barrier.
    Barrier(Barrier),
    /// It waits in a warp collective.
    Collective(Collective),
    /// Its atomic operation changed nothing; it will probably try again.
    Poll,
    /// The schedule interrupts it.
    Interrupt,
    /// It has failed; the launch has the finding.
    Failed,
}

/// The kinds of block barriers, by the result that they return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// No result.
    Sync,
    /// The number of predicates that hold.
    Count,
    /// Whether all predicates hold.
    And,
    /// Whether any predicate holds.
    Or,
}

/// The warp collectives: operations that all lanes of a member mask execute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Only waits.
    SyncWarp,
    /// Reads another lane's value.
    Shuffle(Shuffle),
    /// Whether all predicates hold.
    VoteAll,
    /// Whether any predicate holds.
    VoteAny,
    /// The set of lanes whose predicate holds.
    Ballot,
    /// The set of lanes with the same value of 32 or 64 bits.
    MatchAny(u32),
    /// Whether all lanes have the same value of 32 or 64 bits.
    MatchAll(u32),
    /// A reduction of all values.
    Redux(Redux),
    /// The set of active lanes.
    ActiveMask,
}

/// `shfl`'s modes: how a lane computes its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// A lower lane.
    Up,
    /// A higher lane.
    Down,
    /// The lane with a given index.
    Idx,
    /// The exclusive or of the lane and a mask.
    Xor,
}

/// The operators of `redux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redux {
    /// Wrapping sum.
    Add,
    /// Minimum as `i32`.
    MinI32,
    /// Maximum as `i32`.
    MaxI32,
    /// Minimum as `u32`.
    MinU32,
    /// Maximum as `u32`.
    MaxU32,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Request {
    /// The function of `cuda_std` that the thread called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier(Barrier::Sync) => "sync_threads",
            Self::Barrier(Barrier::Count) => "sync_threads_count",
            Self::Barrier(Barrier::And) => "sync_threads_and",
            Self::Barrier(Barrier::Or) => "sync_threads_or",
            Self::Collective(op) => op.name(),
            Self::Poll => "an atomic operation that changes nothing",
            Self::Interrupt => "an atomic operation",
            Self::Failed => "an error",
        }
    }
}

impl Collective {
    /// The function of `cuda_std` that the thread called.
    pub fn name(self) -> &'static str {
        match self {
            Self::SyncWarp => "sync_warp",
            Self::Shuffle(Shuffle::Up) => "warp_shuffle_up",
            Self::Shuffle(Shuffle::Down) => "warp_shuffle_down",
            Self::Shuffle(Shuffle::Idx) => "warp_shuffle_idx",
            Self::Shuffle(Shuffle::Xor) => "warp_shuffle_xor",
            Self::VoteAll => "warp_vote_all",
            Self::VoteAny => "warp_vote_any",
            Self::Ballot => "warp_vote_ballot",
            Self::MatchAny(_) => "warp_match_any",
            Self::MatchAll(_) => "warp_match_all",
            Self::Redux(_) => "warp_reduce",
            Self::ActiveMask => "activemask",
        }
    }
}

/// One CUDA thread of a running block. The thread and the scheduler alternate on one host thread.
pub(crate) struct Lane {
    /// Its index in the block, in x, y and z.
    pub thread: [u32; 3],
    /// Its linear index in the block; x varies fastest.
    pub index: u32,
    /// State shared with its block; outlives the lane.
    pub context: *const Context,
    /// Whether its accesses are checked or counted.
    pub traced: bool,
    yielder: Cell<*const Yielder<(), ()>>,
    pub request: Cell<Request>,
    /// Where it is in the source.
    pub location: Cell<&'static Location<'static>>,
    /// In a collective: the member mask.
    pub mask: Cell<u32>,
    /// In a collective: its operand. At a barrier: its predicate.
    pub value: Cell<u64>,
    /// In a shuffle: `shfl`'s second and third operand.
    pub operands: Cell<[u32; 2]>,
    /// The result of the barrier or collective.
    pub result: Cell<u64>,
    /// In a shuffle: the result's predicate.
    pub in_range: Cell<bool>,
    /// How many barriers it has reached.
    pub barriers: Cell<u32>,
    /// Site and address of each atomic operation that changed nothing, since the thread last changed memory.
    pub polled: RefCell<Vec<(*const Location<'static>, usize)>>,
    /// Site and address of its last load.
    pub loaded: Cell<(*const Location<'static>, usize)>,
    /// How often in a row it loaded the same address at the same site.
    pub repeats: Cell<u32>,
    /// The bounds of its stack, once it has started.
    pub stack: Cell<Option<overflow::Stack>>,
    /// The message and site of its panic.
    pub panic: RefCell<Option<(String, Option<Site>)>>,
}

impl Lane {
    #[track_caller]
    pub fn new(thread: [u32; 3], index: u32, context: *const Context, traced: bool) -> Self {
        Self {
            thread,
            index,
            context,
            traced,
            yielder: Cell::new(ptr::null()),
            request: Cell::new(Request::Interrupt),
            location: Cell::new(Location::caller()),
            mask: Cell::new(0),
            value: Cell::new(0),
            operands: Cell::new([0; 2]),
            result: Cell::new(0),
            in_range: Cell::new(false),
            barriers: Cell::new(0),
            polled: RefCell::new(Vec::new()),
            loaded: Cell::new((ptr::null(), 0)),
            repeats: Cell::new(0),
            stack: Cell::new(None),
            panic: RefCell::new(None),
        }
    }

    /// Its index in its warp.
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        self.index % 32
    }

    /// Its warp in its block.
    #[inline(always)]
    pub fn warp(&self) -> u32 {
        self.index / 32
    }

    #[inline(always)]
    pub fn context(&self) -> &Context {
        // SAFETY: the block owns its lanes and its context, and keeps both while it runs.
        unsafe { &*self.context }
    }

    /// Whether an address lies on its stack.
    pub fn owns(&self, address: usize) -> bool {
        self.stack
            .get()
            .is_some_and(|stack| stack.stack_ptr_in_bounds(address))
    }

    /// Stores the yielder; the thread calls it once, on its own stack.
    pub fn begin(&self, yielder: &Yielder<(), ()>) {
        self.yielder.set(yielder);
    }

    /// Records an atomic operation that changed nothing. Returns whether the same one was recorded before.
    pub fn is_repeated_poll(&self, location: &'static Location<'static>, address: usize) -> bool {
        let (mut polled, here) = (self.polled.borrow_mut(), (ptr::from_ref(location), address));
        let again = polled.contains(&here);
        if !again {
            // A thread that visits so many addresses does not wait for any of them.
            if polled.len() == MOST_POLLED {
                polled.clear();
            }
            polled.push(here);
        }
        again
    }

    /// Returns control to the scheduler until the request is fulfilled. Inlined into the kernel: a stack
    /// frame between the kernel and the switch makes the CPU mispredict returns, which costs more than the
    /// switch.
    #[inline(always)]
    pub fn suspend(&self, request: Request) {
        self.request.set(request);
        // SAFETY: `begin` set it to the yielder of the coroutine that this runs in, which outlives this call.
        unsafe { (*self.yielder.get()).suspend(()) };
    }
}

/// Limit of addresses that a thread can wait for at the same time.
const MOST_POLLED: usize = 64;

thread_local! {
    static CURRENT: Cell<*const Lane> = const { Cell::new(ptr::null()) };
}

/// The CUDA thread that runs on this host thread, or null.
#[inline(always)]
pub(crate) fn current() -> *const Lane {
    CURRENT.get()
}

/// Sets the running CUDA thread; null while the scheduler runs.
#[inline(always)]
pub(crate) fn set_current(lane: *const Lane) {
    CURRENT.set(lane);
}
