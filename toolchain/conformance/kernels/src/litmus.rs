//! Litmus tests with two threads and two addresses: the order in which fences and orderings make one thread's
//! writes visible to another.
//!
//! Threads work in pairs. In each of `parameters[0]` turns, every pair uses fresh addresses of its own, so
//! that each turn can fail independently.

use core::sync::atomic::Ordering;

use crate::io::{Io, block, block_thread, block_threads};
use cuda_std::atomic::{AtomicU32, BlockAtomicU32, SystemAtomicU32, mid};
use cuda_std::thread;

/// Words of scratch memory for a pair's turn: two cache sectors.
pub const SCRATCH: usize = 8;

/// Words that a thread writes: the number of wrong and of all observations.
pub const OUTPUT: usize = 2;

/// How threads form pairs.
pub trait Pairing {
    /// This thread's pair, the number of pairs, and its side.
    fn pair() -> (usize, usize, Side);
}

/// The two sides of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Writes first; the thread of the lower block or warp.
    First,
    /// Reads the first side's writes.
    Second,
}

/// Threads with the same index in block `2 i` and block `2 i + 1`.
pub struct Blocks;

/// Threads at the same position in the lower and the upper half of a block.
pub struct Halves;

impl Pairing for Blocks {
    #[inline(always)]
    fn pair() -> (usize, usize, Side) {
        let side = if block().is_multiple_of(2) {
            Side::First
        } else {
            Side::Second
        };
        let pairs = thread::grid_dim_x() as usize / 2 * block_threads();
        (block() / 2 * block_threads() + block_thread(), pairs, side)
    }
}

impl Pairing for Halves {
    #[inline(always)]
    fn pair() -> (usize, usize, Side) {
        let half = block_threads() / 2;
        let side = if block_thread() < half {
            Side::First
        } else {
            Side::Second
        };
        let pairs = thread::grid_dim_x() as usize * half;
        (block() * half + block_thread() % half, pairs, side)
    }
}

/// A way to signal another thread.
pub trait Signal {
    /// Raises the flag after all writes of this thread.
    ///
    /// # Safety
    /// `flag` is an aligned word that is only used by signals of this type, whose scope includes the pair.
    unsafe fn raise(flag: *mut u64);

    /// Whether the flag is up; if so, the earlier writes of its thread are visible.
    ///
    /// # Safety
    /// As [`Signal::raise`].
    unsafe fn is_up(flag: *mut u64) -> bool;
}

macro_rules! signals {
    ($(
        $(#[$doc:meta])*
        $signal:ident($atomic:ident): |$flag:ident| raise $raise:expr, is_up $is_up:expr;
    )*) => {
        $(
            $(#[$doc])*
            pub struct $signal;

            #[allow(unused_unsafe, reason = "the methods of block scope alone are unsafe")]
            impl Signal for $signal {
                #[inline(always)]
                unsafe fn raise(flag: *mut u64) {
                    // SAFETY: the caller's word; all uses are atomic, in a scope that
                    // covers them.
                    unsafe {
                        let $flag = &*flag.cast::<$atomic>();
                        $raise;
                    }
                }

                #[inline(always)]
                unsafe fn is_up(flag: *mut u64) -> bool {
                    // SAFETY: as in `raise`.
                    unsafe {
                        let $flag = &*flag.cast::<$atomic>();
                        $is_up
                    }
                }
            }
        )*
    };
}

/// A relaxed load, then a fence if the flag is up.
macro_rules! fenced {
    ($flag:ident, $fence:expr) => {{
        let up = $flag.load(Ordering::Relaxed) != 0;
        if up {
            $fence;
        }
        up
    }};
}

macro_rules! exchanged {
    ($flag:ident, $success:ident, $failure:ident) => {
        $flag
            .compare_exchange(1, 2, Ordering::$success, Ordering::$failure)
            .is_ok()
    };
}

signals! {
    /// `block_fence` between relaxed accesses.
    BlockFence(BlockAtomicU32): |flag|
        raise { thread::block_fence(); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, thread::block_fence());
    /// `device_fence` between relaxed accesses.
    DeviceFence(AtomicU32): |flag|
        raise { thread::device_fence(); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, thread::device_fence());
    /// `grid_fence` between relaxed accesses.
    GridFence(AtomicU32): |flag|
        raise { thread::grid_fence(); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, thread::grid_fence());
    /// `system_fence` between relaxed accesses.
    SystemFence(SystemAtomicU32): |flag|
        raise { thread::system_fence(); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, thread::system_fence());

    /// `mid::block_thread_fence` between relaxed accesses.
    BlockThreadFence(BlockAtomicU32): |flag|
        raise { mid::block_thread_fence(Ordering::Release); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, mid::block_thread_fence(Ordering::Acquire));
    /// `mid::device_thread_fence` between relaxed accesses.
    DeviceThreadFence(AtomicU32): |flag|
        raise { mid::device_thread_fence(Ordering::Release); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, mid::device_thread_fence(Ordering::Acquire));
    /// `mid::system_thread_fence` between relaxed accesses.
    SystemThreadFence(SystemAtomicU32): |flag|
        raise { mid::system_thread_fence(Ordering::AcqRel); flag.store(1, Ordering::Relaxed) },
        is_up fenced!(flag, mid::system_thread_fence(Ordering::AcqRel));

    /// A release store and an acquire load of block scope.
    BlockStore(BlockAtomicU32): |flag|
        raise flag.store(1, Ordering::Release),
        is_up flag.load(Ordering::Acquire) != 0;
    /// A release store and an acquire load of device scope.
    DeviceStore(AtomicU32): |flag|
        raise flag.store(1, Ordering::Release),
        is_up flag.load(Ordering::Acquire) != 0;
    /// A release store and an acquire load of system scope.
    SystemStore(SystemAtomicU32): |flag|
        raise flag.store(1, Ordering::Release),
        is_up flag.load(Ordering::Acquire) != 0;

    /// `fetch_add` with release and acquire.
    Add(AtomicU32): |flag|
        raise flag.fetch_add(1, Ordering::Release),
        is_up flag.fetch_add(0, Ordering::Acquire) != 0;
    /// `fetch_or` with acquire-release on both sides.
    Or(AtomicU32): |flag|
        raise flag.fetch_or(1, Ordering::AcqRel),
        is_up flag.fetch_or(0, Ordering::AcqRel) != 0;
    /// `swap` on one side, a load on the other.
    Swap(AtomicU32): |flag|
        raise flag.swap(1, Ordering::Release),
        is_up flag.load(Ordering::Acquire) != 0;
    /// `compare_exchange` on both sides.
    Exchange(AtomicU32): |flag|
        raise while flag.compare_exchange(0, 1, Ordering::Release, Ordering::Relaxed).is_err() {},
        is_up exchanged!(flag, Acquire, Relaxed);
    /// Sequentially consistent store and load.
    SeqCst(AtomicU32): |flag|
        raise flag.store(1, Ordering::SeqCst),
        is_up flag.load(Ordering::SeqCst) != 0;
}

/// The value that the first side writes in a turn; never 0.
#[inline(always)]
fn message(pair: usize, turn: usize) -> u64 {
    (pair as u64) << 32 | (turn as u64 + 1)
}

/// Message passing: the first side writes two words and raises a flag; the second waits for the flag and
/// reads them. Before that, it has read another word of the same sector, so that a stale cache line would
/// show. Output: wrong messages, all messages.
/// # Safety
/// Both threads of a pair run at the same time. For each pair and turn there are [`SCRATCH`] words of scratch
/// memory, and as many flags after them.
#[inline(always)]
pub unsafe fn message_passing<S: Signal, P: Pairing>(io: Io) {
    let turns = io.parameters[0] as usize;
    let (pair, pairs, side) = P::pair();
    let (mut wrong, mut seen) = (0, 0);
    for turn in 0..turns {
        let place = turn * pairs + pair;
        let data = io.scratch_word(place * SCRATCH);
        let flag = io.scratch_word(pairs * turns * SCRATCH + place);
        let sent = message(pair, turn);
        // SAFETY: words 1 and 5 are written by one thread and read by another after the
        // signal; word 0 is never written.
        unsafe {
            if side == Side::First {
                data.add(1).write(sent);
                data.add(5).write(!sent);
                S::raise(flag);
            } else {
                let untouched = data.read();
                while !S::is_up(flag) {}
                let got = (data.add(1).read(), data.add(5).read());
                wrong += u64::from(got != (sent, !sent) || untouched != 0);
            }
        }
        seen += 1;
    }
    let thread = block() * block_threads() + block_thread();
    io.write(thread * OUTPUT, wrong);
    io.write(thread * OUTPUT + 1, seen);
}

/// Store buffering: each side raises its own flag and reads the other's, all sequentially consistent. At most
/// one side may see the other's flag down. Output for each turn and thread: 1 if the other's flag was down,
/// else 0.
///
/// # Safety
/// Two words of scratch memory a pair and turn.
#[inline(always)]
pub unsafe fn store_buffering<const FENCES: bool>(io: Io) {
    let turns = io.parameters[0] as usize;
    let (pair, pairs, side) = Blocks::pair();
    let own = usize::from(side == Side::Second);
    for turn in 0..turns {
        let place = (turn * pairs + pair) * 2;
        // SAFETY: words which both threads use atomically, in device scope.
        let (mine, other) = unsafe {
            (
                &*io.scratch_word(place + own).cast::<AtomicU32>(),
                &*io.scratch_word(place + 1 - own).cast::<AtomicU32>(),
            )
        };
        let up = if FENCES {
            mine.store(1, Ordering::Relaxed);
            mid::device_thread_fence(Ordering::SeqCst);
            other.load(Ordering::Relaxed)
        } else {
            mine.store(1, Ordering::SeqCst);
            other.load(Ordering::SeqCst)
        };
        io.write(place + own, u64::from(up == 0));
    }
}
