//! The length of a chunk.

use bytesize::ByteSize;
use warpfold::Device;

use crate::failure::Failure;

/// The longest chunk for a GPU, in bytes. Its copy takes a hundred times as long as the start of a copy.
const MAX_GPU_CHUNK: u64 = 64 << 20;

/// The longest chunk for the CPU, in bytes. It is still in the caches when it is reduced, which makes the
/// reduction three times faster, and it is long enough for several threads to read it.
const MAX_CPU_CHUNK: u64 = 8 << 20;

/// Memory besides chunks and cells, in bytes: a grid's partials, results of chunks that are not combined yet,
/// and elements that are being converted.
const OVERHEAD: u64 = 128 << 10;

/// The number of elements of `size` bytes in a chunk, for `n` elements (if known) and `cells` of 64 bits.
pub fn chunk_len(
    device: &Device,
    limit: ByteSize,
    size: usize,
    n: Option<usize>,
    cells: u64,
) -> Result<usize, Failure> {
    let size = size as u64;
    // The factor 2: a GPU has two chunks, and the CPU has temporary storage of its threads. A cell has 8
    // bytes on the device, and 16 bytes for its initial value or, at the end, the value to print.
    let overhead = cells.saturating_mul(8 + 16).saturating_add(OVERHEAD);
    match limit.as_u64().saturating_sub(overhead) / (2 * size) {
        0 => Err(Failure::Memory {
            limit,
            what: match cells {
                0 => "even chunks of one element".into(),
                _ => format!("{cells} cells and chunks of one element"),
            },
            needs: overhead.saturating_add(2 * size),
        }),
        fits => {
            let longest = if device.is_gpu() {
                MAX_GPU_CHUNK
            } else {
                MAX_CPU_CHUNK
            };
            let len = fits.min(longest / size);
            Ok(usize::try_from(len)
                .unwrap_or(usize::MAX)
                .min(n.unwrap_or(usize::MAX).max(1)))
        }
    }
}
