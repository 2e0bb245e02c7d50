//! The lengths, threads and starts of the tests.

/// The largest n; the sum of this many `Subject::whole` is exact.
pub const LARGEST: usize = 3_000_017;

/// Additional elements, so that every view can have a later start.
pub const SPARE: usize = 8;

pub const THREADS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Lengths around 0, the warp, the block, and the tile of the kernel under test.
pub fn around(tile: usize) -> Vec<usize> {
    let mut sizes = vec![
        0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025,
    ];
    sizes.extend([tile - 1, tile, tile + 1, 2 * tile + 1]);
    sizes.extend([100_003, LARGEST]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The start of a view of n elements; rarely a multiple of 16 bytes.
pub fn start(n: usize) -> usize {
    [1, 2, 3, 5, 0][n % 5]
}
