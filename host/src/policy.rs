//! Which algorithm and how many threads, when the caller does not say.

use kernels_gpu::warp::WARP_SIZE;

/// How reductions are launched: numbers with their evidence. Nothing here depends on a device but what it is
/// asked about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy;

/// What a thread of a single pass has under way at once.
const LOADS: usize = 4;
const LOAD_BYTES: usize = 16;

/// Bytes from which on most come from the device's memory, however often they are read: of the L2 cache
/// they are a good part, and others use it too.
const FROM_MEMORY: usize = 16 << 20;

impl Policy {
    /// The threads per block of a single pass over an input that is neither short nor long.
    pub const SINGLE_PASS_THREADS: u32 = 512;

    /// The chunks and the threads per block of the fastest rung of the ladder.
    ///
    /// Evidence: the sum of 400 million `i32` on an H200 (`benches/records/h200/2026-11-20`; the
    /// read ceiling was 0.344 ms) took 0.353 ms with 8 chunks and 256 threads, and 0.353 with
    /// 16 chunks; 0.466 with 4. With 512 and 1024 threads, 8 chunks took 0.355 and 0.400.
    pub const LADDER_CHUNKS: u32 = 8;

    /// The threads per block of a rung.
    pub const LADDER_THREADS: u32 = 256;

    /// As the post "Faster Parallel Reductions on Kepler" launches its kernels: 512 threads, at most
    /// 1024 blocks, and one of 1024 threads for their partials.
    pub const KEPLER_THREADS: u32 = 512;

    /// The most blocks of a single pass: as many partials there is room for.
    pub const SINGLE_PASS_MAX_BLOCKS: u32 = 4096;

    /// The threads per block of a single pass over so many bytes, when the caller does not say: whole
    /// warps, no more than the `max_threads` that the kernel's registers allow.
    ///
    /// Up to 64 KiB one block does it all, since to wait for other blocks takes longer: with four loads of
    /// 16 bytes for each of its threads, or with one, as long as 256 threads are enough. Beyond that
    /// [`SINGLE_PASS_THREADS`](Self::SINGLE_PASS_THREADS); beyond 16 MiB, where the memory wants as many loads as there can be,
    /// twice as many.
    ///
    /// Evidence: sums on an H200. Of 2^12 `i32`, 0.98 of CUB's time with 256 threads (`whole-integers.txt`
    /// of 2026-11-22), and 1.03 with 1024. In grids of 128 blocks (`whole-grids.txt` of that day, cold): of
    /// 2^22 `f64`, 13.2 us with 512 threads and 12.7 with 1024; of 2^20, 7.23 and 7.39.
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

    /// The blocks of a single pass over so many bytes, when the caller does not say: one if its
    /// threads have no more than four loads of 16 bytes each. Otherwise a block for each multiprocessor,
    /// less those that are no whole warp: a warp takes their partials. Fewer, where threads would have
    /// fewer than four loads; but no fewer than have one load for each, or than a warp takes at once.
    ///
    /// Evidence: `benches/records/h200/2026-11-22/whole-grids.txt`, sums of `f32` with cold caches. Of 2^16
    /// in blocks of 512 threads, 4.86 us by 32 blocks, 5.02 by 128, 5.54 by 132 and 5.73 by 256; of 2^18,
    /// 5.38 by 128 with one load each, 5.02 by 32 with four, 5.54 by 64 with two, one after the other; of
    /// 2^20, 6.05 by 128 and 6.91 by 132. Of 2^26, in blocks of 1024 threads, 63.8 by 128 and 64.2 by 132.
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

    /// Blocks and threads for `bytes` on a device of so many multiprocessors.
    fn grid(bytes: usize, multiprocessors: u32) -> (u32, u32) {
        let threads = Policy::single_pass_threads(bytes, 1024);
        let blocks = Policy::single_pass_blocks(bytes, threads, multiprocessors);
        (blocks, threads)
    }

    #[test]
    fn single_passes_of_all_lengths() {
        let kib = |k: usize| grid(k << 10, 132);
        assert_eq!(grid(4, 132), (1, 32));
        assert_eq!(kib(4), (1, 256));
        assert_eq!(kib(64), (1, 1024));
        // One load for each thread, or four.
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
    fn single_passes_on_other_devices() {
        for (multiprocessors, most) in [(1, 1), (20, 20), (46, 32), (108, 96), (148, 128)] {
            assert_eq!(grid(1 << 30, multiprocessors), (most, 1024));
        }
        // A kernel of many registers.
        assert_eq!(Policy::single_pass_threads(1 << 31, 1023), 992);
        assert_eq!(Policy::single_pass_threads(1 << 31, 512), 512);
        assert_eq!(Policy::single_pass_threads(1 << 21, 640), 512);
        let of_few_threads = Policy::single_pass_blocks(1 << 30, 32, 132);
        assert_eq!(of_few_threads, Policy::SINGLE_PASS_MAX_BLOCKS);
        assert_eq!(Policy::single_pass_blocks(1 << 30, 512, 132), 256);
    }
}
