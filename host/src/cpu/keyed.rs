//! Reduction by key.
//!
//! Where there are few cells, the elements are cut into pieces, each of which has cells of its own; these
//! are combined into the caller's in the order of the pieces. Many cells are filled by one loop:
//! the cells of several pieces drive one another out of the caches, and on two cores that did not pay.
//! How many pieces there are depends on the numbers of elements and of cells alone, and so does
//! the order in which a cell's values are combined.

use kernels_gpu::keyed::Key;
use kernels_gpu::op::Op;
use rayon::prelude::*;

use crate::element::Element;
use crate::error::Error;
use crate::host;

/// Elements of a piece, at least: what takes longer than to wake a thread.
const PIECE: usize = 1 << 16;

/// More pieces would be for more cores than this.
const MOST_PIECES: usize = 256;

/// Bytes of all cells of a piece, at most: a part of a core's second cache.
const CELL_BYTES: usize = 256 << 10;

/// Elements of a piece per cell, at least: so the cells of the pieces, which are filled first and combined
/// last, are few beside the elements, in time and in memory.
const PER_CELL: usize = 4;

/// Combines each value into its key's cell; gives the number of keys that name none.
///
/// `values` and `cells` are those of one array behind those of another: a value of each array for
/// every key, and `len` cells of each.
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

/// How many pieces `n` elements of few cells are cut into.
fn pieces(n: usize, cells: usize) -> usize {
    (n / PIECE.max(PER_CELL * cells)).clamp(1, MOST_PIECES)
}

/// Combines the values of `keys`, which are those from `start` on of `n`, one after the other.
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
