//! How long a chunk is.

use bytesize::ByteSize;
use warpfold::Device;

use crate::failure::Failure;

/// The longest a chunk is for a GPU, in bytes: its copy takes a hundred times longer than to start it.
const FOR_A_GPU: u64 = 64 << 20;

/// The longest for the CPU, in bytes: what has been read is still in the caches when it is reduced, which
/// takes a third of the time, and several threads have something to read.
const FOR_THE_CPU: u64 = 8 << 20;

/// What a computation needs beside chunks and cells, in bytes: a grid's partials, results of chunks that
/// wait, elements whose type is changed.
const BESIDE: u64 = 128 << 10;

/// Elements of `size` bytes in a chunk, where `n` are to be read and `cells` of 64 bits are to be kept.
pub fn chunk_len(
    device: &Device,
    limit: ByteSize,
    size: usize,
    n: usize,
    cells: u64,
) -> Result<usize, Failure> {
    let size = size as u64;
    // A GPU has two chunks, and the CPU what its threads need. Cells are there with what they begin with
    // or, at the end, with what is printed, in 16 bytes each.
    let beside = cells.saturating_mul(8 + 16).saturating_add(BESIDE);
    match limit.as_u64().saturating_sub(beside) / (2 * size) {
        0 => Err(Failure::Memory {
            limit,
            what: match cells {
                0 => "an element".into(),
                _ => format!("{cells} cell(s) with an element"),
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
            Ok(usize::try_from(len).unwrap_or(usize::MAX).min(n.max(1)))
        }
    }
}
