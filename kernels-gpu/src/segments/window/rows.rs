//! Rows of which a vector has a whole number: without windows and shared memory.

use crate::items::Items;
use crate::mem::{Global, compiler_barrier};
use crate::op::{Op, unrolled};
use crate::tile::{Lane, zero};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The vectors that a thread has in flight.
const IN_FLIGHT: usize = 4;

/// Reduces rows of `R` items, of which a vector of `N` has `M`; the arrays begin with a vector. Each thread takes vectors as far
/// apart as the grid has threads.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
// Simulated code needs no copy for each caller.
#[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
pub(super) fn short_rows<I: Items, O: Op<I>, const N: usize, const R: usize, const M: usize>(
    op: O,
    arrays: I::Arrays,
    output: Global<O::Acc>,
) {
    let vectors = I::len(arrays) / N;
    let threads = grid_dim_x() as usize * block_dim_x() as usize;
    let is_aligned = output.skew::<M>() == Some(0);
    let set = |vector: usize, items: [I; N]| {
        let mut results = [op.identity(); M];
        unrolled!(|m < M| {
            let mut lane = Lane::<I, O, N>::new(op);
            unrolled!(|e < R| lane.absorb_item(e, items[m * R + e], e as u64));
            results[m] = lane.combined();
        });
        if is_aligned {
            output.set_vector(vector * M, results);
        } else {
            unrolled!(|m < M| output.set(vector * M + m, results[m]));
        }
    };
    let mut vector = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    if vector == 0 {
        // The rows behind the last whole vector.
        let mut row = vectors * M;
        while row * R < I::len(arrays) {
            let mut lane = Lane::<I, O, N>::new(op);
            unrolled!(|e < R| lane.absorb_item(e, I::get(arrays, row * R + e), e as u64));
            output.set(row, lane.combined());
            row += 1;
        }
    }
    while vector < vectors {
        let mut loaded = [[zero::<I>(); N]; IN_FLIGHT];
        unrolled!(|k < IN_FLIGHT| if vector + k * threads < vectors {
            loaded[k] = I::vector(arrays, (vector + k * threads) * N);
        });
        compiler_barrier();
        unrolled!(|k < IN_FLIGHT| if vector + k * threads < vectors {
            set(vector + k * threads, loaded[k]);
        });
        vector += IN_FLIGHT * threads;
    }
}
