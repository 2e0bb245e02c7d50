//! Correct kernels for what those of `kernels-gpu` do without: fences between blocks, flags that
//! threads wait for, scratch that is used twice, a tree that ends in `sync_warp`.
//!
//! Each is as short as it can be, and works on one launch shape: a one-dimensional grid of
//! `ceil(n / threads)` blocks of `threads`, a power of two of at least 64.

pub mod last_block;
pub mod last_warp;
pub mod maxima;
pub mod scan;
pub mod stencil;

use cuda_std::atomic::AtomicU32;
use kernels_gpu::mem::Global;

/// A textbook kernel: input, output, and counters and flags, which are zero before the launch.
/// Dynamic shared memory: `threads + 2` elements.
///
/// # Safety
///
/// The handles' contract; the launch is as the [module](self) says. How long the output is, and
/// how many counters there are, the kernel says.
pub type Textbook = unsafe fn(Global<i32>, Global<i32>, &[AtomicU32]);
