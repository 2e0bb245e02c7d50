//! Refused: race in shared memory

use cuda_std::shared_array;
use cuda_std::thread::{index_1d, sync_threads, thread_idx_x};
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;

pub fn bins(keys: Global<u32>, cells: Global<u32>) {
    // SAFETY: the array has an element for each key.
    let bins = unsafe { Shared::<u32>::new(shared_array![u32; 16]) };
    let tid = thread_idx_x();
    let i = index_1d() as usize;
    if tid < 16 {
        bins.set(tid, 0);
    }
    sync_threads();
    if i < keys.len() {
        bins.combine_atomic::<u32, Sum>(Sum, keys.get(i), 1);
    }
    if tid < 16 {
        cells.combine_atomic::<u32, Sum>(Sum, tid as usize, bins.get(tid));
    }
}
