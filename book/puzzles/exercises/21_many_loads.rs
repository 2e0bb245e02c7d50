//! # 21 The ladder, reduce_5: many elements for each thread (make cheaper)
//!
//! Three blocks reduce an array of any length. The kernel below takes a tile, reduces it by a tree, takes the next, and so
//! on: nine barriers for each tile. While a block waits at barriers it loads nothing.
//!
//! Let each thread first add all of its elements in a register, in a grid-stride loop. Then the block needs one tree.
//! The budget is its nine barriers, counted for each of the 8 warps of the 3 blocks: 216.

use cuda_std::shared_array;
use cuda_std::thread::{
    block_dim_x, block_idx_x, grid_dim_x, index_1d, sync_threads, thread_idx_x,
};
use kernels_gpu::mem::{Global, Shared};

pub fn many_loads(x: Global<i32>, partials: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 256]) };
    let stride = (grid_dim_x() * block_dim_x()) as usize;
    let mut i = index_1d() as usize;
    let mut sum = 0;

    let start = (block_idx_x() * block_dim_x()) as usize;
    let mut first = start;
    while first < x.len() {
        let tile_sum = block_sum(if i < x.len() { x.get(i) } else { 0 }, tile);
        sum += tile_sum;
        // All threads have loaded the sum, before the tile is stored again.
        sync_threads();
        i += stride;
        first += stride;
    }
    if thread_idx_x() == 0 {
        partials.set(block_idx_x() as usize, sum);
    }
}

/// The sum of the values of the block, in every thread.
fn block_sum(value: i32, tile: Shared<i32>) -> i32 {
    let tid = thread_idx_x();
    tile.set(tid, value);
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    tile.get(0)
}
