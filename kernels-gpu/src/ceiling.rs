//! The fastest read of an array this crate knows: what the ladder is measured against.
//!
//! The datasheet's bandwidth is a number nobody reaches. The honest limit for a reduction is the
//! time a kernel takes that does nothing but read, so this one reads with the widest loads there
//! are, several in flight per thread. It still combines what it reads and leaves one partial per
//! block: a read whose answer nobody checks can be optimised away, by the compiler or by a mistake.

use crate::block::block_reduce;
use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::Op;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Bytes of one load, the widest there is before sm_100.
pub const LOAD_BYTES: usize = 16;

/// Loads under way at once, per thread.
const IN_FLIGHT: usize = 4;

/// Reads all of `input`, `N` elements per load, and leaves each block's partial in
/// `output[block]`.
///
/// Grid-stride: a thread's vectors lie as far apart as the grid is wide, so that neighbouring
/// lanes always read neighbouring addresses. What is left at the end is read one vector, then
/// one element at a time.
///
/// # Safety
///
/// - A one-dimensional launch, `threads` a power of two of at least 32, any number of blocks.
/// - `input` starts at a multiple of [`LOAD_BYTES`], which `N` elements have.
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
    // SAFETY: the caller promised the alignment.
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

    // SAFETY: no thread has left, and nobody has used the scratch.
    let partial = unsafe { block_reduce::<T, O>(op, value, scratch) };
    if tid == 0 {
        output.set(block_idx_x() as usize, partial);
    }
}
