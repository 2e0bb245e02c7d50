//! Launch policy: the default grid.

use kernels_gpu::warp::WARP_SIZE;

/// The default grids of reductions, with their evidence. They depend only on the device properties that are
/// passed as arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy;

impl Policy {
    /// The maximum number of threads per block of a single-pass reduction, by default.
    pub const SINGLE_PASS_THREADS: u32 = 512;

    /// The chunks per thread of the fastest rung of the ladder.
    ///
    /// Evidence: `benches/records/h200/2026-11-20`, the sum of 400 million `i32`; the read ceiling was 0.344
    /// ms.
    ///
    /// | chunks | threads | ms |
    /// |---|---|---|
    /// | 4 | 256 | 0.466 |
    /// | 8 | 256 | 0.353 |
    /// | 16 | 256 | 0.353 |
    /// | 8 | 512 | 0.355 |
    /// | 8 | 1024 | 0.400 |
    pub const LADDER_CHUNKS: u32 = 8;

    /// The threads per block of a rung.
    pub const LADDER_THREADS: u32 = 256;

    /// The threads per block of the kernels after "Faster Parallel Reductions on Kepler", as in that post.
    /// The grid has at most 1024 blocks, and one block of 1024 threads reduces their partials.
    pub const KEPLER_THREADS: u32 = 512;

    /// The maximum number of warps of a single-pass reduction whose warps take several tiles: as many as the
    /// multiprocessors hold at a time.
    pub(crate) fn single_pass_warps(multiprocessors: u32) -> u32 {
        const BLOCKS: u32 = 2;
        BLOCKS * multiprocessors * (Self::SINGLE_PASS_THREADS / WARP_SIZE)
    }

    /// The default threads per block of a single-pass reduction over `tiles` tiles: at most `max_threads`, which the
    /// kernel's registers allow.
    ///
    /// - Up to 16 tiles, 64 KiB of elements, a single block with a warp for each tile. Several would wait for each other.
    /// - Above that, the smallest block for which all blocks are one group, so that the last block combines all
    ///   partials.
    pub(crate) fn single_pass_threads(tiles: u64, max_threads: u32) -> u32 {
        let most = (1 << max_threads.ilog2()).min(Self::SINGLE_PASS_THREADS);
        if tiles <= (most / WARP_SIZE).into() {
            return WARP_SIZE * (tiles as u32).next_power_of_two();
        }
        let mut threads = WARP_SIZE;
        while threads < most && tiles.div_ceil((threads / WARP_SIZE).into()) > threads.into() {
            threads *= 2;
        }
        threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_pass_threads_of_all_lengths() {
        let threads = |tiles| Policy::single_pass_threads(tiles, 512);
        // One block.
        assert_eq!([0, 1, 2, 3, 16].map(threads), [32, 32, 64, 128, 512]);
        // One group.
        assert_eq!([17, 32, 33, 128, 129].map(threads), [32, 32, 64, 64, 128]);
        assert_eq!([512, 513, 2048, 2049].map(threads), [128, 256, 256, 512]);
        // Many groups.
        assert_eq!([8192, 8193, 1 << 30].map(threads), [512; 3]);
    }

    #[test]
    fn single_pass_threads_on_other_devices() {
        // A kernel that needs many registers.
        assert_eq!(Policy::single_pass_threads(1 << 30, 511), 256);
        assert_eq!(Policy::single_pass_threads(16, 256), 32);
        assert_eq!(Policy::single_pass_threads(1 << 30, 1024), 512);
    }
}
