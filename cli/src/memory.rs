//! How long a chunk is.

use bytesize::ByteSize;
use warpfold::Device;

use crate::failure::Failure;

/// The longest chunk for a GPU, in bytes: its copy takes a hundred times longer than the start of a copy.
const FOR_A_GPU: u64 = 64 << 20;

/// The longest chunk for the CPU, in bytes: it is still in the caches when it is reduced, which then takes a
/// third of the time, and it is long enough for several threads to read.
const FOR_THE_CPU: u64 = 8 << 20;

/// What a computation needs besides chunks and cells, in bytes: a grid's partials, results of chunks that
/// are not combined yet, elements that are converted.
const BESIDE: u64 = 128 << 10;

/// The elements of `size` bytes in a chunk, for `n` elements, if that is known, and `cells` of 64 bits.
pub fn chunk_len(
    device: &Device,
    limit: ByteSize,
    size: usize,
    n: Option<usize>,
    cells: u64,
) -> Result<usize, Failure> {
    let size = size as u64;
    // A GPU has two chunks, and the CPU memory for its threads. A cell has 8 bytes, and beside it its initial
    // value or, at the end, the value to print, in 16 bytes.
    let beside = cells.saturating_mul(8 + 16).saturating_add(BESIDE);
    match limit.as_u64().saturating_sub(beside) / (2 * size) {
        0 => Err(Failure::Memory {
            limit,
            what: match cells {
                0 => "its chunks of one element".into(),
                _ => format!("{cells} cells and chunks of one element"),
            },
            needs: beside.saturating_add(2 * size),
        }),
        fits => {
            let longest = if device.is_gpu() {
                FOR_A_GPU
            } else {
                FOR_THE_CPU
            };
            let len = fits.min(longest / size);
            Ok(usize::try_from(len)
                .unwrap_or(usize::MAX)
                .min(n.unwrap_or(usize::MAX).max(1)))
        }
    }
}
