//! Launch policy: the default grid.

use kernels_gpu::warp::WARP_SIZE;

/// The default grids of reductions, with their evidence. They depend only on the device properties that are
/// passed as arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy;

/// The number and the size of the loads that a thread of a single-pass kernel has in flight.
const LOADS: usize = 4;
const LOAD_BYTES: usize = 16;

/// Inputs above this number of bytes come mostly from device memory, even if they are read repeatedly. It is
/// a large part of the L2 cache, which other data uses too.
const FROM_MEMORY: usize = 16 << 20;

impl Policy {
    /// The threads per block of a single-pass reduction over an input of medium size.
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

    /// The maximum number of blocks of a single-pass reduction: the temporary storage has this many partials.
    pub const SINGLE_PASS_MAX_BLOCKS: u32 = 4096;

    /// The default threads per block of a single-pass reduction over `bytes` bytes: whole warps, and at most
    /// `max_threads`, which the kernel's registers allow.
    ///
    /// - Up to 64 KiB a single block is faster than several, which would wait for each other. Its threads
    ///   have four loads of 16 bytes each, or one load if 256 threads suffice.
    /// - Above that, [`SINGLE_PASS_THREADS`](Self::SINGLE_PASS_THREADS).
    /// - Above 16 MiB twice as many, because device memory needs as many loads in flight as possible.
    ///
    /// Evidence: `whole-integers.txt` and `whole-grids.txt` of `benches/records/h200/2026-11-22`.
    pub(crate) fn single_pass_threads(bytes: usize, max_threads: u32) -> u32 {
        const MOST: usize = 1024;
        const ENOUGH: usize = 256;
        let threads = if bytes > FROM_MEMORY {
            MOST as u32
        } else if bytes > MOST * LOADS * LOAD_BYTES {
            Self::SINGLE_PASS_THREADS
        } else {
            let one_load = bytes.div_ceil(LOAD_BYTES).next_power_of_two();
            let all_loads = bytes.div_ceil(LOADS * LOAD_BYTES).next_power_of_two();
            one_load.min(ENOUGH).max(all_loads).clamp(32, MOST) as u32
        };
        threads.min(max_threads - max_threads % WARP_SIZE)
    }

    /// The default number of blocks of a single-pass reduction over `bytes` bytes.
    ///
    /// - One block, if its threads then have at most four loads of 16 bytes each.
    /// - Otherwise at most one block per multiprocessor, rounded down to a multiple of 32, because one warp
    ///   combines the partials.
    /// - Within that limit, one load per thread if so many blocks suffice, but at least 32 blocks; otherwise
    ///   four loads per thread.
    ///
    /// Evidence: `benches/records/h200/2026-11-22/whole-grids.txt`, sums of `f32` with cold caches.
    ///
    /// | elements | threads per block | blocks: µs |
    /// |---|---|---|
    /// | 2^16 | 512 | 32: 4.86, 128: 5.02, 132: 5.54, 256: 5.73 |
    /// | 2^18 | 512 | 32: 5.02, 64: 5.54, 128: 5.38 |
    /// | 2^20 | 512 | 128: 6.05, 132: 6.91 |
    /// | 2^26 | 1024 | 128: 63.8, 132: 64.2 |
    pub(crate) fn single_pass_blocks(bytes: usize, threads: u32, multiprocessors: u32) -> u32 {
        let one_load = threads as usize * LOAD_BYTES;
        let all_loads = one_load * LOADS;
        if bytes <= all_loads {
            return 1;
        }
        let threads_each = if bytes > FROM_MEMORY { 1024 } else { 512 };
        let whole_warps = multiprocessors - multiprocessors % WARP_SIZE;
        let most = if whole_warps > 0 {
            whole_warps
        } else {
            multiprocessors
        };
        let most =
            (most * (threads_each / threads).max(1)).min(Self::SINGLE_PASS_MAX_BLOCKS) as usize;
        let blocks = match bytes.div_ceil(one_load) {
            blocks if blocks <= most => blocks.max(WARP_SIZE as usize),
            _ => bytes.div_ceil(all_loads),
        };
        blocks.min(most) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks and threads for `bytes` on a device with this number of multiprocessors.
    fn grid(bytes: usize, multiprocessors: u32) -> (u32, u32) {
        let threads = Policy::single_pass_threads(bytes, 1024);
        let blocks = Policy::single_pass_blocks(bytes, threads, multiprocessors);
        (blocks, threads)
    }

    #[test]
    fn single_pass_grids_of_all_lengths() {
        let kib = |k: usize| grid(k << 10, 132);
        assert_eq!(grid(4, 132), (1, 32));
        assert_eq!(kib(4), (1, 256));
        assert_eq!(kib(64), (1, 1024));
        // One load per thread, or four.
        assert_eq!(kib(128), (32, 512));
        assert_eq!(kib(512), (64, 512));
        assert_eq!(kib(1024), (128, 512));
        assert_eq!(kib(2048), (64, 512));
        assert_eq!(kib(4096), (128, 512));
        assert_eq!(kib(16 << 10), (128, 512));
        assert_eq!(kib((16 << 10) + 1), (128, 1024));
        assert_eq!(kib(4 << 20), (128, 1024));
    }

    #[test]
    fn single_pass_grids_on_other_devices() {
        for (multiprocessors, most) in [(1, 1), (20, 20), (46, 32), (108, 96), (148, 128)] {
            assert_eq!(grid(1 << 30, multiprocessors), (most, 1024));
        }
        // A kernel that needs many registers.
        assert_eq!(Policy::single_pass_threads(1 << 31, 1023), 992);
        assert_eq!(Policy::single_pass_threads(1 << 31, 512), 512);
        assert_eq!(Policy::single_pass_threads(1 << 21, 640), 512);
        let of_few_threads = Policy::single_pass_blocks(1 << 30, 32, 132);
        assert_eq!(of_few_threads, Policy::SINGLE_PASS_MAX_BLOCKS);
        assert_eq!(Policy::single_pass_blocks(1 << 30, 512, 132), 256);
    }
}
