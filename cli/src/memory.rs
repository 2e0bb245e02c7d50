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

/// The memory for the groups of an array that is reduced in parts.
pub struct Budget {
    /// The most bytes of a group's elements and results.
    pub bytes: u64,
    /// Whether there is memory for one group only: no group is read while another one is reduced.
    pub is_whole: bool,
}

/// The memory for groups of which the largest one, called `name`, has `largest` bytes.
pub fn group_budget(
    device: &Device,
    limit: ByteSize,
    largest: u64,
    name: String,
) -> Result<Budget, Failure> {
    let all = limit.as_u64().saturating_sub(OVERHEAD);
    let usual = (all / 2).min(longest_chunk(device));
    match largest {
        _ if largest <= usual => Ok(Budget {
            bytes: usual,
            is_whole: false,
        }),
        _ if largest <= all => Ok(Budget {
            bytes: largest,
            is_whole: true,
        }),
        _ => Err(Failure::Memory {
            limit,
            what: name,
            needs: largest.saturating_add(OVERHEAD),
        }),
    }
}

/// The longest chunk for a device, in bytes.
fn longest_chunk(device: &Device) -> u64 {
    match device.is_gpu() {
        true => MAX_GPU_CHUNK,
        false => MAX_CPU_CHUNK,
    }
}

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
            let len = fits.min(longest_chunk(device) / size);
            Ok(usize::try_from(len)
                .unwrap_or(usize::MAX)
                .min(n.unwrap_or(usize::MAX).max(1)))
        }
    }
}
