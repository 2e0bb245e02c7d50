//! Correct textbook kernels with features that `kernels-gpu` does not use: fences between blocks, flags that
//! threads wait for, reused scratch memory.
//!
//! Each is as short as possible and has one launch shape: a one-dimensional grid of `ceil(n / threads)`
//! blocks of `threads`, a power of two of at least 64.

pub mod last_block;
pub mod maxima;
pub mod scan;
pub mod stencil;

use cuda_std::atomic::AtomicU32;
use kernels_gpu::mem::Global;

/// A textbook kernel: input, output, and counters and flags, which are zero before the launch. It has
/// `threads + 2` elements of dynamic shared memory.
///
/// # Safety
///
/// The handles' contract, and the launch shape of the [module](self). Each kernel documents the lengths of
/// its output and counters.
pub type Textbook = unsafe fn(Global<i32>, Global<i32>, &[AtomicU32]);
