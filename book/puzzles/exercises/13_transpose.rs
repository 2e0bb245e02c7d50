//! # 13 Bank conflicts: a padded tile (make cheaper)
//!
//! Shared memory has 32 banks. Neighbouring words of 4 bytes are in neighbouring banks, and each bank serves one word at a
//! time (a wavefront). If lanes of a warp access different words of one bank, they wait for each other.
//!
//! The kernel transposes a matrix through tiles of 32 by 32. It stores rows of a tile and loads columns: all 32 words of a
//! column are in one bank. Change the layout of the tile so that neither rows nor columns have conflicts.

use cuda_std::shared_array;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use kernels_gpu::mem::{Global, Shared};

/// The elements from a row of the tile to the next.
const WIDTH: u32 = 32;

pub fn transpose(x: Global<i32>, y: Global<i32>, columns: u32, rows: u32) {
    // SAFETY: the array has 32 rows of `WIDTH` elements.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 32 * WIDTH as usize]) };
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (left, top) = (32 * block_idx_x(), 32 * block_idx_y());

    tile.set(
        ty * WIDTH + tx,
        x.get(((top + ty) * columns + left + tx) as usize),
    );
    sync_threads();
    // Rows of the result: the stores are coalesced too.
    y.set(
        ((left + ty) * rows + top + tx) as usize,
        tile.get(tx * WIDTH + ty),
    );
}
