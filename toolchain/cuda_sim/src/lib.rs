//! Runs CUDA kernels written with `cuda_std` on the CPU, and finds their bugs.
//!
//! The simulator runs the same function that the GPU's module is compiled from. Every CUDA thread is a
//! coroutine. Warps and blocks are scheduled deterministically, so a failure is reproducible. A launch
//! returns a [`Report`] or a [`Failure`]. For each bug, the failure names the kernel, the block, the thread
//! with its warp and lane, and the source lines of all threads involved.
//!
//! # Testing a kernel
//!
//! A crate of kernels begins with `#![cfg_attr(target_arch = "nvptx64", no_std)]`, so that its tests have
//! `std`. Its `[dev-dependencies]` are `cuda_sim`, `cuda_std` with the feature `simulator`, and `kernels-gpu`
//! with the same feature for its memory handles:
//!
//! ```
//! use cuda_sim::{Buffer, Simulator};
//! use cuda_std::{shared_array, thread};
//! use kernels_gpu::mem::{Global, Shared};
//!
//! /// Reverses the elements of each block.
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
//! Without the `sync_threads`, `unwrap` prints
//!
//! ```text
//! kernel `reverses`: block 0 thread 32 (warp 1 lane 0): race in shared memory: loads 4 bytes at
//! offset 124, another thread stores 4 bytes; the two are not ordered
//!     at src/lib.rs:9:16
//!     other thread: block 0 thread 31 (warp 0 lane 31)
//!     at src/lib.rs:7:10
//! ```
//!
//! # Bugs that it finds
//!
//! | always | with [`Checks`] |
//! |---|---|
//! | barriers at different sites; deadlocks, with the place where each thread waits | barriers that some threads never reach, because they exited |
//! | member masks that name an exited or missing lane, or not the caller | shuffles from lanes outside the mask |
//! | handles used outside their array | any traced access outside its buffer |
//! | misaligned vectors and words | |
//! | livelocks, too much shared memory, invalid launches | loads of memory that was never written, for each byte |
//! | panics, stack overflows | data races in shared and global memory |
//!
//! The race detector uses the happens-before order, so it does not depend on the schedule. Barriers,
//! `sync_warp`, and release and acquire through fences and atomics of sufficient scope order accesses, within
//! a block and between blocks. Shuffles, votes and matches order nothing. A fence works only for the atomic
//! operations of its own thread: after a barrier, the thread that signals must issue the fence. So a missing
//! fence is found although every run gives the right result. A correct kernel has no findings under any
//! [`Schedule`].
//!
//! # Which accesses are traced
//!
//! | access | bounds, initialisation, races, counters |
//! |---|---|
//! | handles (`kernels_gpu::mem::{Global, Shared}`), atomics of `cuda_std` | yes |
//! | raw pointers, references, `#[address_space(shared)]` statics | no; their stores count as initialisation |
//!
//! Barriers, collectives, masks, deadlocks and panics are found in every kernel. An infinite loop without
//! traced accesses, atomics and collectives is not found: nothing interrupts it. Floating-point arithmetic is
//! the host's. A shuffle that reads an undefined value returns 0xDEADBEEF.
//!
//! # Counters
//!
//! [`Simulator::count`] merges the threads' accesses into the warp instructions that a device would issue,
//! for each source line. It counts the active lanes, the wavefronts of shared memory with bank conflicts, and
//! the 32-byte sectors of global memory. See [`Counters`]. [`Simulator::record`] keeps single warp instructions, each of
//! which can be [drawn](Request): lanes against banks and sectors.
//!
//! # Output of kernels
//!
//! `print!` and `println!` of `cuda_std` print to standard output, in the order of the schedule.
//! [`Simulator::print_to`] captures the text in a [`Printed`] for a test.
//!
//! # Speed
//!
//! Millions of elements per second on one core, for 2^20 elements and blocks of 256 threads. Measured by
//! `cargo run --release -p kernels-sim -- speed` on two cores of an AMD EPYC (family 26), 2026-11-21. The
//! times are CPU times, because other jobs ran on the machine. `benches/records/cpu` has the other block
//! sizes.
//!
//! | kernel | neither | checks | counters | both |
//! |---|---|---|---|---|
//! | `reduce_0`, f32 | 9.2 | 5.0 | 3.8 | 3.0 |
//! | `reduce_2`, f32 | 9.0 | 4.8 | 4.1 | 3.2 |
//! | `reduce_4`, f32 | 24.2 | 8.9 | 11.1 | 6.7 |
//! | `reduce_5_x8`, f32 | 90.6 | 18.7 | 32.4 | 14.9 |
//! | `reduce_naive`, i32 | 35.5 | 11.3 | 20.8 | 9.8 |
//!
//! Without optimisation the simulator is many times slower: set `opt-level` for `cuda_sim`, `cuda_std`,
//! `corosensei` and the kernels' crate in `[profile.dev.package]`.
//!
//! # Platforms
//!
//! Linux on x86-64 is tested. Linux on aarch64, and macOS and Windows on x86-64, are only type-checked. There
//! a thread's stack overflow ends the program.

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
pub use count::{Counters, Counts, InstructionKind, Line, Request};
pub use finding::{Access, Bug, Failure, Finding, Thread};
pub use launch::Checks;
pub use memory::{Buffer, Plain};
pub use printed::Printed;
pub use schedule::Schedule;
pub use simulator::{Dim, Report, Simulator};
pub use site::Site;
