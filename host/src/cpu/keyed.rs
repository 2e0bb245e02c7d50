//! Reduction by key on the CPU.
//!
//! If there are few cells, the elements are cut into pieces, and each piece has its own cells. The cells of
//! the pieces are then combined into the caller's cells, in the order of the pieces. If there are many cells,
//! one loop fills them: the cells of several pieces would evict one another from the caches.
//!
//! The number of pieces depends only on the numbers of elements and cells, and so does the order in which a
//! cell's values are combined.

use kernels_gpu::keyed::Key;
use kernels_gpu::op::Op;
use rayon::prelude::*;

use crate::element::Element;
use crate::error::Error;
use crate::host;

/// The minimum number of elements of a piece; reducing them takes longer than waking a thread.
const PIECE: usize = 1 << 16;

/// The maximum number of pieces, which exceeds the number of cores.
const MAX_PIECES: usize = 256;

/// The maximum number of bytes of a piece's cells: a part of a core's second-level cache.
const CELL_BYTES: usize = 256 << 10;

/// The minimum number of elements of a piece per cell, so that filling and combining the cells costs little
/// time and memory compared with the elements.
const PER_CELL: usize = 4;

/// Combines each value into the cell of its key, and returns the number of keys that are out of range.
///
/// `values` holds array after array, one value of each array for every key; `cells` holds `len` cells each.
///
/// # Errors
///
/// [`Error::OutOfHostMemory`].
pub(crate) fn reduce_by_key<K: Key, T: Element, O: Op<T, Acc = T>>(
    op: O,
    keys: &[K],
    values: &[T],
    cells: &mut [T],
    len: usize,
) -> Result<u64, Error> {
    let pieces = match size_of_val(cells) {
        1..=CELL_BYTES => pieces(keys.len(), len),
        _ => 1,
    };
    if pieces == 1 {
        return Ok(scatter::<K, T, O>(
            op,
            keys,
            0,
            values,
            keys.len(),
            cells,
            len,
        ));
    }
    let piece = keys.len().div_ceil(pieces);
    let (all, n) = (cells.len(), keys.len());
    let parts = keys.par_chunks(piece).enumerate().map(|(i, keys)| {
        let mut cells = host::filled(all, op.identity())?;
        let rejected = scatter::<K, T, O>(op, keys, i * piece, values, n, &mut cells, len);
        Ok((cells, rejected))
    });
    let parts: Vec<(Vec<T>, u64)> = parts.collect::<Result<_, Error>>()?;
    for (part, _) in &parts {
        for (cell, value) in cells.iter_mut().zip(part) {
            *cell = op.combine(*cell, *value);
        }
    }
    Ok(parts.iter().map(|(_, rejected)| rejected).sum())
}

/// The number of pieces for `n` elements and this number of cells.
fn pieces(n: usize, cells: usize) -> usize {
    (n / PIECE.max(PER_CELL * cells)).clamp(1, MAX_PIECES)
}

/// Combines the values of `keys` one after the other; they are elements `start..` of an input of `n`.
fn scatter<K: Key, T: Element, O: Op<T, Acc = T>>(
    op: O,
    keys: &[K],
    start: usize,
    values: &[T],
    n: usize,
    cells: &mut [T],
    len: usize,
) -> u64 {
    if len == 0 || n == 0 {
        return keys.len() as u64;
    }
    let mut rejected = 0;
    for (array, (values, cells)) in values.chunks(n).zip(cells.chunks_mut(len)).enumerate() {
        for (key, value) in keys.iter().zip(&values[start..]) {
            match cells.get_mut(key.cell()) {
                Some(cell) => *cell = op.combine(*cell, *value),
                None => rejected += u64::from(array == 0),
            }
        }
    }
    rejected
}
