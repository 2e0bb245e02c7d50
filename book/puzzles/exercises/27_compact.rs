//! # 27 Ranks: positions from a mask (repair)
//!
//! Each warp moves its positive elements to the front of its part of `y`, in order; the rest of `y` stays 0. A ballot tells
//! which lanes have one. The position of a lane's element is its rank: the number of bits below its own.
//!
//! The kernel shifts the higher bits out. For lane 0 that is a shift by 32, all bits, which no GPU and no CPU guarantees to
//! give 0. Repair it.

use cuda_std::thread::index_1d;
use cuda_std::warp::{lane_id, warp_vote_ballot};
use kernels_gpu::mem::Global;

pub fn compact(x: Global<i32>, y: Global<i32>) {
    let i = index_1d() as usize;
    let value = x.get(i);
    // SAFETY: all lanes of the warp arrive.
    let positive = unsafe { warp_vote_ballot(u32::MAX, value > 0) };
    let rank = (positive << (32 - lane_id())).count_ones();
    if value > 0 {
        y.set(i / 32 * 32 + rank as usize, value);
    }
}
