//! One CUDA thread: who it is, and what it waits for.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;

use corosensei::Yielder;

use crate::block::Context;
use crate::{Site, overflow};

/// What a thread gives back the CPU for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// It waits for its block.
    Barrier(Barrier),
    /// It waits for lanes of its warp.
    Meeting(Meeting),
    /// It looked at memory that has not changed, and will look again.
    Poll,
    /// The schedule lets others go first.
    Interrupt,
    /// It cannot go on. The launch has the finding.
    Failed,
}

/// What a block barrier tells its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Nothing.
    Sync,
    /// How many predicates hold.
    Count,
    /// Whether all hold.
    And,
    /// Whether any holds.
    Or,
}

/// What lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// They wait.
    SyncWarp,
    /// They read each other's values.
    Shuffle(Shuffle),
    /// Whether all predicates hold.
    VoteAll,
    /// Whether any predicate holds.
    VoteAny,
    /// Which predicates hold.
    Ballot,
    /// Who has the same 32 or 64 bits.
    MatchAny(u32),
    /// Whether all have the same 32 or 64 bits.
    MatchAll(u32),
    /// All values as one.
    Redux(Redux),
    /// Who is here.
    ActiveMask,
}

/// How a shuffle names its source: `shfl`'s modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// From below.
    Up,
    /// From above.
    Down,
    /// By number.
    Idx,
    /// By exclusive or.
    Xor,
}

/// The operators of `redux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redux {
    /// Wrapping sum.
    Add,
    /// The least as `i32`.
    MinI32,
    /// The greatest as `i32`.
    MaxI32,
    /// The least as `u32`.
    MinU32,
    /// The greatest as `u32`.
    MaxU32,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Request {
    /// The function of `cuda_std` that asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier(Barrier::Sync) => "sync_threads",
            Self::Barrier(Barrier::Count) => "sync_threads_count",
            Self::Barrier(Barrier::And) => "sync_threads_and",
            Self::Barrier(Barrier::Or) => "sync_threads_or",
            Self::Meeting(meeting) => meeting.name(),
            Self::Poll => "an atomic operation that changes nothing",
            Self::Interrupt => "an atomic operation",
            Self::Failed => "an error",
        }
    }
}

impl Meeting {
    /// The function of `cuda_std` that asks for it.
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

/// One CUDA thread of a running block. The thread and the scheduler use it in turns, on one thread
/// of the host.
pub(crate) struct Lane {
    /// Its index in the block, in x, y and z.
    pub thread: [u32; 3],
    /// The same as one number, x fastest.
    pub index: u32,
    /// What it has in common with its block; outlives it.
    pub context: *const Context,
    /// Whether its accesses are checked or counted.
    pub traced: bool,
    yielder: Cell<*const Yielder<(), ()>>,
    pub request: Cell<Request>,
    /// Where it was when it asked.
    pub location: Cell<&'static Location<'static>>,
    /// Of a meeting: the member mask.
    pub mask: Cell<u32>,
    /// Of a meeting: what it brings. Of a barrier: its predicate.
    pub value: Cell<u64>,
    /// Of a shuffle: `shfl`'s second and third operand.
    pub operands: Cell<[u32; 2]>,
    /// What it gets.
    pub result: Cell<u64>,
    /// Of a shuffle: the predicate it gets.
    pub in_range: Cell<bool>,
    /// How many barriers it has come to.
    pub barriers: Cell<u32>,
    /// Which addresses its atomic operations have looked at, and where, since it last changed anything.
    pub polled: RefCell<Vec<(*const Location<'static>, usize)>>,
    /// Where its last load was, and of which address.
    pub loaded: Cell<(*const Location<'static>, usize)>,
    /// How often its last load was of the same address at the same place.
    pub repeats: Cell<u32>,
    /// The bounds of its stack, once it runs.
    pub stack: Cell<Option<overflow::Stack>>,
    /// What it said when it panicked.
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

    /// Its lane in its warp.
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
        // SAFETY: a block owns its lanes and its context, and drops neither while it runs.
        unsafe { &*self.context }
    }

    /// Whether an address lies on its stack.
    pub fn owns(&self, address: usize) -> bool {
        self.stack
            .get()
            .is_some_and(|stack| stack.stack_ptr_in_bounds(address))
    }

    /// Called once by the thread, on its own stack.
    pub fn begin(&self, yielder: &Yielder<(), ()>) {
        self.yielder.set(yielder);
    }

    /// Notes that an atomic operation has changed nothing, and gives whether it has looked at the same
    /// before.
    pub fn looks_again(&self, location: &'static Location<'static>, address: usize) -> bool {
        let (mut polled, here) = (self.polled.borrow_mut(), (ptr::from_ref(location), address));
        let again = polled.contains(&here);
        if !again {
            // Whoever walks over that much does not wait for any of it.
            if polled.len() == MOST_POLLED {
                polled.clear();
            }
            polled.push(here);
        }
        again
    }

    /// Gives the CPU back until the scheduler has what was asked for. In line, all the way into the
    /// kernel: a frame between the kernel and the switch spoils the CPU's prediction of returns,
    /// and costs more than the switch.
    #[inline(always)]
    pub fn suspend(&self, request: Request) {
        self.request.set(request);
        // SAFETY: `begin` set it to the yielder of the coroutine that this runs in, which lives as
        // long as the coroutine does.
        unsafe { (*self.yielder.get()).suspend(()) };
    }
}

/// Addresses that a thread waits for at once, at most.
const MOST_POLLED: usize = 64;

thread_local! {
    static CURRENT: Cell<*const Lane> = const { Cell::new(ptr::null()) };
}

/// The CUDA thread that this thread of the host is running, or null.
#[inline(always)]
pub(crate) fn current() -> *const Lane {
    CURRENT.get()
}

/// Says whose turn it is; null for the scheduler's.
#[inline(always)]
pub(crate) fn set_current(lane: *const Lane) {
    CURRENT.set(lane);
}
