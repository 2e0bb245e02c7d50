//! The kernels that the book shows beside those of the library: a few lines each, for one idea each.

use cuda_std::shared_array;
use cuda_std::thread::{
    block_dim_x, block_idx_x, device_fence, grid_dim_x, index_1d, sync_threads, thread_idx_x,
};
use cuda_std::warp::warp_shuffle_down;
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

/// Every lane loads the element after that of the lane before.
pub fn neighbours(x: Global<f32>, y: Global<f32>) {
    let i = index_1d() as usize;
    if i < x.len() {
        y.set(i, 2.0 * x.get(i));
    }
}

/// Every lane loads the first of four elements.
pub fn every_fourth(x: Global<f32>, y: Global<f32>) {
    let i = index_1d() as usize;
    if 4 * i < x.len() {
        y.set(i, x.get(4 * i));
    }
}

/// Half of the lanes have nothing to store.
pub fn every_second_lane(x: Global<f32>, y: Global<f32>) {
    let i = index_1d() as usize;
    if i.is_multiple_of(2) && i + 1 < x.len() {
        y.set(i, x.get(i) + x.get(i + 1));
    }
}

/// Every lane loads four elements at once.
pub fn vectors(x: Global<f32>, y: Global<f32>) {
    let i = 4 * index_1d() as usize;
    if i + 4 <= x.len() {
        y.set_vector::<4>(i, x.vector::<4>(i));
    }
}

/// One element of shared memory for all lanes, a row of a tile, a column of it, and a column of a padded tile.
pub fn tile(y: Global<f32>) {
    // SAFETY: the arrays have 32 rows of 32 and of 33 elements.
    let tile = unsafe { Shared::<f32>::new(shared_array![f32; 32 * 32]) };
    // SAFETY: as above.
    let padded = unsafe { Shared::<f32>::new(shared_array![f32; 32 * 33]) };
    let lane = thread_idx_x();
    for row in 0..32 {
        tile.set(32 * row + lane, 1.0);
        padded.set(33 * row + lane, 1.0);
    }
    sync_threads();
    let same = tile.get(0);
    let row = tile.get(32 * 5 + lane);
    let column = tile.get(32 * lane + 5);
    let of_padded = padded.get(33 * lane + 5);
    y.set(lane as usize, same + row + column + of_padded);
}

/// Reverses each block's 64 elements, but a barrier is missing.
pub fn missing_barrier(x: Global<i32>, y: Global<i32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<i32>::new(shared_array![i32; 64]) };
    let tid = thread_idx_x();
    let i = index_1d() as usize;
    tile.set(tid, x.get(i));
    y.set(i, tile.get(63 - tid));
}

/// Doubles each element, but a guard is missing.
pub fn missing_guard(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    y.set(i, 2 * x.get(i));
}

/// Adds all elements to one cell, but additions are lost.
pub fn lost_updates(x: Global<i32>, sum: Global<i32>) {
    let i = index_1d() as usize;
    sum.set(0, sum.get(0) + x.get(i));
}

/// Adds one element of each block: the last block to arrive adds the partials, `sums[1..]`, and stores `sums[0]`. A block has
/// one thread.
pub fn last_block(x: Global<i32>, sums: Global<i32>, count: Global<u32>) {
    let (block, blocks) = (block_idx_x() as usize, grid_dim_x());
    sums.set(1 + block, x.get(block));
    device_fence();
    let before = count.fetch_increment(0, blocks);
    device_fence();
    if before + 1 == blocks {
        let mut all = 0;
        for b in 0..blocks as usize {
            all += sums.get(1 + b);
        }
        sums.set(0, all);
    }
}

/// [`last_block`] without the fence before the count.
pub fn missing_fence(x: Global<i32>, sums: Global<i32>, count: Global<u32>) {
    let (block, blocks) = (block_idx_x() as usize, grid_dim_x());
    sums.set(1 + block, x.get(block));
    let before = count.fetch_increment(0, blocks);
    device_fence();
    if before + 1 == blocks {
        let mut all = 0;
        for b in 0..blocks as usize {
            all += sums.get(1 + b);
        }
        sums.set(0, all);
    }
}

/// Adds the floats of a block in the order in which its threads arrive.
pub fn by_atomics(x: Global<f32>, sum: Global<f32>) {
    sum.combine_atomic::<f32, Sum>(Sum, 0, x.get(index_1d() as usize));
}

/// Adds the floats of a block in an order that depends on their indices alone.
pub fn by_tree(x: Global<f32>, sum: Global<f32>) {
    // SAFETY: the array has as many elements as the block has threads.
    let tile = unsafe { Shared::<f32>::new(shared_array![f32; 256]) };
    let tid = thread_idx_x();
    tile.set(tid, x.get(tid as usize));
    sync_threads();
    let mut s = block_dim_x() / 2;
    while s > 0 {
        if tid < s {
            tile.set(tid, tile.get(tid) + tile.get(tid + s));
        }
        sync_threads();
        s /= 2;
    }
    if tid == 0 {
        sum.set(0, tile.get(0));
    }
}

/// Every lane gets the value of the lane two above, within groups of eight.
pub fn shuffle_down(x: Global<f32>, y: Global<f32>) {
    let i = index_1d() as usize;
    // SAFETY: all lanes of the warp arrive.
    let (value, _) = unsafe { warp_shuffle_down(u32::MAX, x.get(i), 2, 8) };
    y.set(i, value);
}

/// Adds neighbours by a shuffle, but some lanes have left.
pub fn early_exit(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    if i >= x.len() {
        return;
    }
    // SAFETY: none: the lanes without an element do not arrive.
    let (next, _) = unsafe { warp_shuffle_down(u32::MAX, x.get(i), 1, 32) };
    y.set(i, x.get(i) + next);
}
