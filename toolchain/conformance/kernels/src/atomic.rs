//! Atomics under contention: many threads, few addresses; all old values are recorded.

use crate::io::{Io, block, block_thread, block_threads, blocks, global_thread};
use crate::value::Value;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::thread;

mod increments;
mod types;

pub use increments::Increments;
pub use types::{Atomic, Block, Device, Operate, Scope, System};

/// Words of a thread's input record for one round: operand, address.
pub const INPUT: usize = 2;

/// Words of a thread's output record for one round: old value, [`SUCCESS`] or [`FAILURE`].
pub const OUTPUT: usize = 2;

/// The operation succeeded.
pub const SUCCESS: u64 = 1;

/// A compare-and-exchange found another value.
pub const FAILURE: u64 = 0;

/// The operation on every address, selected by `parameters[0]`.
pub mod operation {
    #![allow(missing_docs, reason = "named after the methods of `cuda_std::atomic`")]
    pub const ADD: u64 = 0;
    pub const SUB: u64 = 1;
    pub const MIN: u64 = 2;
    pub const MAX: u64 = 3;
    pub const AND: u64 = 4;
    pub const OR: u64 = 5;
    pub const XOR: u64 = 6;
    pub const SWAP: u64 = 7;
    /// A loop of `compare_exchange` until it succeeds, from the value found to [`super::mix`].
    pub const UPDATE: u64 = 8;
    /// One `compare_exchange` from the operand to the next value of a cycle.
    pub const CIRCLE: u64 = 9;
}

/// The ordering of the operations, selected by `parameters[1]`.
pub mod ordering {
    #![allow(missing_docs, reason = "named after `core::sync::atomic::Ordering`")]
    pub const RELAXED: u64 = 0;
    pub const ACQUIRE: u64 = 1;
    pub const RELEASE: u64 = 2;
    pub const ACQ_REL: u64 = 3;
    pub const SEQ_CST: u64 = 4;
}

/// The new value of an `UPDATE` that found `found`, to be truncated to the type.
#[inline(always)]
pub fn mix(found: u64, operand: u64) -> u64 {
    found.wrapping_mul(5).wrapping_add(operand)
}

/// The value after `value` in the cycle 0, 1, 2, 3, 0.
#[inline(always)]
pub fn next_on_circle(value: u64) -> u64 {
    (value + 1) & 3
}

/// The location of the addresses. Each is a word; a 32-bit value uses its low half. The output starts with
/// their first values before the launch, and their last values after it.
pub trait Space {
    /// Whether every block has its own addresses.
    const PER_BLOCK: bool;

    /// Loads the initial values, and returns the block's first address.
    ///
    /// # Safety
    /// All threads of the block call it; the memory for `addresses` exists.
    unsafe fn enter(io: Io, addresses: usize) -> *mut u64;

    /// Stores the final values of shared memory to the output.
    ///
    /// # Safety
    /// All threads of the block call it; `start` is the result of [`Space::enter`].
    unsafe fn leave(io: Io, addresses: usize, start: *mut u64);
}

/// The first `addresses` words of the output, shared by all blocks.
pub struct Global;

/// `addresses` words of dynamic shared memory in each block. Block `b` copies them from and to the output, at
/// word `b * addresses`.
pub struct Shared;

impl Space for Global {
    const PER_BLOCK: bool = false;

    #[inline(always)]
    unsafe fn enter(io: Io, _addresses: usize) -> *mut u64 {
        io.output_word(0)
    }

    #[inline(always)]
    unsafe fn leave(_io: Io, _addresses: usize, _start: *mut u64) {}
}

impl Space for Shared {
    const PER_BLOCK: bool = true;

    #[inline(always)]
    unsafe fn enter(io: Io, addresses: usize) -> *mut u64 {
        let start = dynamic_shared_mem::<u64>();
        if block_thread() == 0 {
            for i in 0..addresses {
                // SAFETY: the launch allocates that many words of shared memory, and only this block uses
                // these words of the output.
                unsafe {
                    start
                        .add(i)
                        .write(io.output_word(block() * addresses + i).read())
                };
            }
        }
        thread::sync_threads();
        start
    }

    #[inline(always)]
    unsafe fn leave(io: Io, addresses: usize, start: *mut u64) {
        thread::sync_threads();
        if block_thread() == 0 {
            for i in 0..addresses {
                // SAFETY: as in `enter`; all atomics of the block precede the barrier.
                io.write(block() * addresses + i, unsafe { start.add(i).read() });
            }
        }
    }
}

/// Every thread executes `parameters[3]` operations, each with the address and operand of its input record.
/// Results follow the addresses in the output. There are `parameters[2]` addresses for each block (shared) or
/// for the grid (global). Records and results are sorted by round.
///
/// # Safety
/// `A`'s scope covers the threads that use an address; shared memory for the addresses.
#[inline(always)]
pub unsafe fn contend<A: Operate, S: Space>(io: Io) {
    let [operation, ordering, addresses, rounds] = io.parameters;
    let addresses = addresses as usize;
    // SAFETY: the launch provides the memory for all threads.
    let start = unsafe { S::enter(io, addresses) };
    let results = if S::PER_BLOCK {
        addresses * blocks()
    } else {
        addresses
    };
    for round in 0..rounds as usize {
        let turn = round * blocks() * block_threads() + global_thread();
        let operand = A::Value::from_word(io.read(turn * INPUT));
        let address = io.read(turn * INPUT + 1) as usize;
        // SAFETY: an address of the space, which threads only access atomically.
        let (old, success) = unsafe {
            let atomic = &*start.add(address).cast::<A>();
            atomic.operate(operation, ordering, operand)
        };
        io.write(results + turn * OUTPUT, old.to_word());
        io.write(results + turn * OUTPUT + 1, success);
    }
    // SAFETY: all threads of the block get here.
    unsafe { S::leave(io, addresses, start) };
}

/// Like [`contend`], but relaxed and without results: the compiler may use instructions that return no old
/// value.
///
/// # Safety
/// As [`contend`].
#[inline(always)]
pub unsafe fn reduce<A: Atomic, S: Space>(io: Io) {
    let [operation, _, addresses, rounds] = io.parameters;
    let addresses = addresses as usize;
    // SAFETY: the launch provides the memory for all threads.
    let start = unsafe { S::enter(io, addresses) };
    for round in 0..rounds as usize {
        let turn = round * blocks() * block_threads() + global_thread();
        let operand = A::Value::from_word(io.read(turn * INPUT));
        let address = io.read(turn * INPUT + 1) as usize;
        // SAFETY: an address of the space, which threads only access atomically.
        unsafe { (*start.add(address).cast::<A>()).reduce(operation, operand) };
    }
    // SAFETY: all threads of the block get here.
    unsafe { S::leave(io, addresses, start) };
}

/// Thread 0 of the space stores the input words in order at one address. All other threads load it
/// `parameters[3]` times and look each value up in the input. For each thread, the output after the address
/// has two words: the number of loads with a wrong value, and the number of all loads. A value is wrong if it
/// is not in the input, or precedes the value of the previous load.
/// before that of the load before; then how many there were.
///
/// # Safety
/// As [`contend`], with one address; the input's values differ and its first is at the
/// address, followed by increasing ones.
#[inline(always)]
pub unsafe fn coherence<A: Atomic, S: Space>(io: Io)
where
    A::Value: PartialOrd,
{
    let [_, values, addresses, rounds] = io.parameters;
    // SAFETY: the caller's launch gives the memory, to all threads.
    let start = unsafe { S::enter(io, addresses as usize) };
    let (writer, results) = if S::PER_BLOCK {
        (block_thread() == 0, blocks())
    } else {
        (global_thread() == 0, 1)
    };
    // SAFETY: the one address of the space, used atomically by all.
    let atomic = unsafe { &*start.cast::<A>() };
    let (mut wrong, mut loads) = (0, 0);
    if writer {
        for i in 0..values as usize {
            // SAFETY: the scope covers the users of the address.
            unsafe { atomic.store(A::Value::from_word(io.read(i))) };
        }
    } else {
        let mut last = A::Value::from_word(io.read(0));
        for _ in 0..rounds {
            // SAFETY: the scope covers the users of the address.
            let value = unsafe { atomic.load() };
            let (mut low, mut high) = (0, values as usize);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if A::Value::from_word(io.read(middle)) <= value {
                    low = middle
                } else {
                    high = middle
                }
            }
            let known = io.read(low) == value.to_word();
            wrong += u64::from(!known || value < last);
            last = value;
            loads += 1;
        }
    }
    io.write(results + global_thread() * OUTPUT, wrong);
    io.write(results + global_thread() * OUTPUT + 1, loads);
    // SAFETY: all threads of the block are here.
    unsafe { S::leave(io, addresses as usize, start) };
}
