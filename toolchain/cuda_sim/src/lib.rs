//! Runs CUDA kernels written with `cuda_std` on the CPU, and finds their bugs.
//!
//! The kernel is the very function that the GPU's module is made from. Every CUDA thread is a
//! coroutine; warps and blocks are scheduled deterministically, so that a failure repeats. A launch
//! either gives a [`Report`] or a [`Failure`] that names, for each bug, the kernel, the block, the
//! thread, its warp and lane, and the lines of source on both sides.
//!
//! # A kernel's test
//!
//! A crate of kernels begins with `#![cfg_attr(target_arch = "nvptx64", no_std)]`, so that its tests
//! have `std`. Its `[dev-dependencies]` are `cuda_sim`, `cuda_std` with the feature `simulator`, and, for
//! its handles, `kernels-gpu` with the same feature:
//!
//! ```
//! use cuda_sim::{Buffer, Simulator};
//! use cuda_std::{shared_array, thread};
//! use kernels_gpu::mem::{Global, Shared};
//!
//! /// Turns each block's elements around.
//! unsafe fn reverse(x: Global<i32>, y: Global<i32>) {
//!     let tile = unsafe { Shared::new(shared_array![i32; 64]) };
//!     let (tid, last) = (thread::thread_idx_x(), thread::block_dim_x() - 1);
//!     let i = thread::index_1d() as usize;
//!     tile.set(tid, x.get(i));
//!     thread::sync_threads();
//!     y.set(i, tile.get(last - tid));
//! }
//!
//! # fn handle(buffer: &Buffer<i32>) -> Global<i32> {
//! #     // SAFETY: the simulator checks the handle's contract.
//! #     unsafe { Global::new(buffer.as_mut_ptr(), buffer.len()) }
//! # }
//! // #[test]
//! fn reverses() {
//!     let (x, y) = (Buffer::from(&[7; 128]), Buffer::uninitialised(128));
//!     let simulator = Simulator::new().grid(2).block(64).check_all();
//!     simulator.run(|| unsafe { reverse(handle(&x), handle(&y)) }).unwrap();
//!     assert_eq!(y.to_vec(), [7; 128]);
//! }
//! # reverses();
//! ```
//!
//! Without the `sync_threads`, `unwrap` would say
//!
//! ```text
//! kernel `reverses`: block 0 thread 32 (warp 1 lane 0): race in shared memory: loads 4 bytes at
//! offset 124, another thread stores 4 bytes, and nothing orders the two
//!     at src/lib.rs:9:16
//!     the other: block 0 thread 31 (warp 0 lane 31)
//!     at src/lib.rs:7:10
//! ```
//!
//! # What is found
//!
//! | always | with [`Checks`] |
//! |---|---|
//! | barriers at different places, deadlocks: who waits where, for whom | barriers that some threads exit before |
//! | member masks with an exited or absent lane, or without the caller | shuffles from outside of the mask |
//! | handles used beyond their array | any traced access beyond its buffer |
//! | vectors and words at an address that their instruction does not take | |
//! | livelock, too much shared memory, launches that no device takes | reads of memory that nobody has written, byte by byte |
//! | panics, overflows of a thread's stack | races, in shared and in global memory |
//!
//! Races are found by what orders two accesses, not by luck: barriers, `sync_warp`, release and
//! acquire through fences and atomics of a sufficient scope, inside of a block and between blocks.
//! Shuffles, votes and matches order nothing, and a fence works for the atomic operations of its
//! own thread: for a whole block the thread that signals fences after the barrier, not the others
//! before it. So a missing fence is found although every run gives
//! the right answer. A correct kernel stays without findings under every [`Schedule`].
//!
//! # What is seen
//!
//! | access | bounds, uninitialised, races, counters |
//! |---|---|
//! | handles (`kernels_gpu::mem::{Global, Shared}`), atomics of `cuda_std` | yes |
//! | raw pointers, references, `#[address_space(shared)]` statics | no; their writes count as initialisation |
//!
//! Barriers, collectives, masks, deadlocks and panics are seen in any kernel. A thread that loops
//! for ever without an access through a handle, an atomic or a collective is not: nothing interrupts
//! it. Float arithmetic is the host's; a shuffle that reads an undefined value gets 0xDEADBEEF.
//!
//! # What is counted
//!
//! [`Simulator::count`] merges the threads' accesses into the warp instructions that a device would
//! have issued, line by line: how many lanes took part, into how many wavefronts shared memory's
//! banks split them, how many 32-byte sectors of global memory they touch. See [`Counters`].
//!
//! # What kernels print
//!
//! `print!` and `println!` of `cuda_std` go to standard output, thread by thread in the order of the schedule,
//! or where [`Simulator::print_to`] says: [`Printed`] keeps the text for a test.
//!
//! # Speed
//!
//! Millions of elements per second of one core, 2^20 elements, blocks of 256 threads: `cargo run
//! --release -p kernels-sim -- speed` on two cores of an AMD EPYC (family 26), 2026-11-21; the
//! core's time, as other jobs ran beside it. `benches/records/cpu` has the other block sizes.
//!
//! | kernel | neither | checks | counters | both |
//! |---|---|---|---|---|
//! | `reduce_0`, f32 | 9.2 | 5.0 | 3.8 | 3.0 |
//! | `reduce_2`, f32 | 9.0 | 4.8 | 4.1 | 3.2 |
//! | `reduce_4`, f32 | 24.2 | 8.9 | 11.1 | 6.7 |
//! | `reduce_5_x8`, f32 | 90.6 | 18.7 | 32.4 | 14.9 |
//! | `reduce_naive`, i32 | 35.5 | 11.3 | 20.8 | 9.8 |
//!
//! An unoptimised simulator is many times slower: set `opt-level` for `cuda_sim`, `cuda_std`,
//! `corosensei` and the kernels' crate in `[profile.dev.package]`.
//!
//! # Platforms
//!
//! Linux on x86-64 is tested. Linux on aarch64, macOS and Windows on x86-64 are type-checked; there
//! the overflow of a thread's stack ends the program.

mod access;
mod block;
mod check;
mod count;
#[doc(hidden)]
pub mod device;
mod finding;
mod grid;
mod lane;
mod launch;
mod memory;
mod overflow;
mod panics;
mod printed;
mod schedule;
mod simulator;
mod site;
mod stack;
mod trace;

pub use access::{Kind, Scope, Space};
pub use count::{Counters, Counts, Line, What};
pub use finding::{Bug, Failure, Finding, Thread, Touch};
pub use launch::Checks;
pub use memory::{Buffer, Plain};
pub use printed::Printed;
pub use schedule::Schedule;
pub use simulator::{Dim, Report, Simulator};
pub use site::Site;
