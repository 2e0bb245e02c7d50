//! The read ceiling: the fastest way to read an array, as a limit to compare the ladder with.
//!
//! No kernel reaches the bandwidth of the datasheet. The practical limit of a reduction is the time of a kernel
//! that only reads. This kernel therefore uses the widest loads, with several of them in flight per thread. It
//! still combines what it loads and stores one partial per block; otherwise the compiler could remove the
//! loads, and a wrong kernel would not be noticed. It is in none of the posts.

use crate::block::block_reduce;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The bytes of one load, the widest before sm_100.
pub const LOAD_BYTES: usize = 16;

/// The loads that a thread has in flight.
const IN_FLIGHT: usize = 4;

/// Reads all of `input`, `N` elements per load, and stores each block's partial in `output[block]`.
///
/// A grid-stride loop: the vectors of a thread are as far apart as the grid is wide, so that adjacent lanes
/// always load adjacent addresses. The rest at the end is loaded vector by vector, then element by element.
///
/// # Safety
///
/// - A one-dimensional launch; `threads` is a power of two and at least 32; any number of blocks.
/// - `input` starts at a multiple of [`LOAD_BYTES`], and `N` elements have `LOAD_BYTES` bytes.
/// - `output` holds one element per block, `scratch` one per warp of the block.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators over the arrays make LLVM keep them in local memory"
)]
pub unsafe fn read_ceiling<T: Element, O: Op<T, Acc = T>, const N: usize>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    scratch: Shared<T>,
) {
    // SAFETY: the caller guarantees the alignment.
    let vectors = unsafe { input.vectors::<N>() };
    let (tid, threads) = (thread_idx_x(), block_dim_x());
    let thread = block_idx_x() as usize * threads as usize + tid as usize;
    let stride = grid_dim_x() as usize * threads as usize;

    let mut value = op.identity();
    let mut v = thread;
    while v + (IN_FLIGHT - 1) * stride < vectors.len() {
        let mut loaded = [[op.identity(); N]; IN_FLIGHT];
        for k in 0..IN_FLIGHT {
            loaded[k] = vectors.get(v + k * stride);
        }
        for k in 0..IN_FLIGHT {
            for e in 0..N {
                value = op.combine(value, loaded[k][e]);
            }
        }
        v += IN_FLIGHT * stride;
    }
    while v < vectors.len() {
        let loaded = vectors.get(v);
        for e in 0..N {
            value = op.combine(value, loaded[e]);
        }
        v += stride;
    }
    let mut i = vectors.len() * N + thread;
    while i < input.len() {
        value = op.combine(value, input.get(i));
        i += stride;
    }

    // SAFETY: no thread has exited, and the scratch has not been used.
    let partial = unsafe { block_reduce::<T, O>(op, value, scratch) };
    if tid == 0 {
        output.set(block_idx_x() as usize, partial);
    }
}
