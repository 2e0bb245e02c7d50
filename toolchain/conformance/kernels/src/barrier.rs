//! Barriers of a block and of a warp: earlier stores are visible after them.

use crate::io::{Io, block_thread, block_threads, global_thread};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{thread, warp};

/// Votes of each thread in a `sync_threads_*` kernel: the low bits of its input word, lowest first.
pub const VOTES: usize = 12;

/// Words of a thread's record in the input of [`sync_warp`]: value, member mask, and the thread of the block
/// whose value it reads.
pub const SYNC_WARP_INPUT: usize = 3;

/// The value of `word` after thread `thread` has passed it on.
#[inline(always)]
pub fn step(word: u64, thread: usize) -> u64 {
    word.rotate_left(7) ^ thread as u64
}

/// Passes values around the block, `parameters[0]` steps in total, through dynamic shared memory with two
/// `sync_threads` for each step.
///
/// # Safety
/// One word of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn rotate(io: Io) {
    let (me, threads) = (block_thread(), block_threads());
    let tile = dynamic_shared_mem::<u64>();
    let mut value = io.read(global_thread());
    for _ in 0..io.parameters[0] {
        // SAFETY: a word of its own; the others read it after the barrier, which all
        // threads reach.
        unsafe {
            tile.add(me).write(value);
            thread::sync_threads();
            value = step(tile.add((me + 1) % threads).read(), me);
            thread::sync_threads();
        }
    }
    io.write(global_thread(), value);
}

/// A barrier with a reduction.
pub trait Vote {
    /// The barrier's result. All threads of the block call it at the same site.
    fn vote(predicate: bool) -> u64;
}

/// `sync_threads_count`: the number of threads where it holds.
pub struct Count;

/// `sync_threads_and`: whether it holds in all threads.
pub struct And;

/// `sync_threads_or`: whether it holds in any thread.
pub struct Or;

impl Vote for Count {
    #[inline(always)]
    fn vote(predicate: bool) -> u64 {
        thread::sync_threads_count(predicate.into()).into()
    }
}

impl Vote for And {
    #[inline(always)]
    fn vote(predicate: bool) -> u64 {
        thread::sync_threads_and(predicate.into()).into()
    }
}

impl Vote for Or {
    #[inline(always)]
    fn vote(predicate: bool) -> u64 {
        thread::sync_threads_or(predicate.into()).into()
    }
}

/// [`VOTES`] votes in a row. Each is also a barrier: a thread's earlier store to shared memory must be
/// visible to its neighbour. Output for each vote: the result and the neighbour's word.
///
/// # Safety
/// Two words of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn votes<V: Vote>(io: Io) {
    let (me, threads) = (block_thread(), block_threads());
    let tile = dynamic_shared_mem::<u64>();
    let mut value = io.read(global_thread());
    let ballots = value;
    for vote in 0..VOTES {
        // Two halves alternate, because a thread may be one vote ahead of its neighbour.
        let half = vote % 2 * threads;
        // SAFETY: a word of its own; the vote that all threads reach comes before the
        // read, and the next one before the word is written again.
        let answer = unsafe {
            tile.add(half + me).write(value);
            let answer = V::vote(ballots >> vote & 1 == 1);
            value = step(tile.add(half + (me + 1) % threads).read(), me);
            answer
        };
        let place = (global_thread() * VOTES + vote) * 2;
        io.write(place, answer);
        io.write(place + 1, value);
    }
}

/// Passes values `parameters[0]` steps within member masks, through dynamic shared memory with two
/// `sync_warp` for each step and no other barrier.
///
/// # Safety
/// One word of dynamic shared memory a thread; a thread's source is in its mask, and
/// all lanes of a mask have that mask.
#[inline(always)]
pub unsafe fn sync_warp(io: Io) {
    let me = block_thread();
    let record = global_thread() * SYNC_WARP_INPUT;
    let mut value = io.read(record);
    let mask = io.read_u32(record + 1);
    let source = io.read(record + 2) as usize;
    let tile = dynamic_shared_mem::<u64>();
    for _ in 0..io.parameters[0] {
        // SAFETY: a word of its own, read by a lane of the mask after `sync_warp`.
        unsafe {
            tile.add(me).write(value);
            warp::sync_warp(mask);
            value = step(tile.add(source).read(), me);
            warp::sync_warp(mask);
        }
    }
    io.write(global_thread(), value);
}
