//! Reduction by key on the CPU.
//!
//! If there are few cells, the elements are cut into pieces, and each piece has its own cells. The cells of
//! the pieces are then combined into the caller's cells, in the order of the pieces. If there are many cells,
//! one loop fills them: the cells of several pieces would evict one another from the caches.
//!
//! The number of pieces depends only on the numbers of elements and cells, and so does the order in which a
//! cell's values are combined.
//!
//! Counts have no order. A piece counts in several tables in turn: an addition to the cell of the element before
//! waits until that has been stored.

use kernels_gpu::keyed::{Key, Rejected};
use kernels_gpu::op::Op;

use super::parallel::map;
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

/// The tables in which a piece counts.
const TABLES: usize = 4;

/// The maximum number of cells for which a piece counts in tables of its own, as many as keys of 16 bits can name.
/// The tables have 1 MiB: a part of a core's second-level cache.
const MOST_COUNTED: usize = 1 << 16;

/// The number of elements whose key is out of range, and the index of the first.
type Rejects = [u64; Rejected::LEN];

/// No such element.
const NONE: Rejects = [0, Rejected::NONE];

/// The elements of both.
fn both([n, first]: Rejects, [m, other]: Rejects) -> Rejects {
    [n + m, first.min(other)]
}

/// Combines each value into the cell of its key, and adds the elements whose key is out of range to `rejected`.
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
    rejected: &mut Rejects,
) -> Result<(), Error> {
    let pieces = match size_of_val(cells) {
        1..=CELL_BYTES => pieces(keys.len(), len),
        _ => 1,
    };
    if pieces == 1 {
        let n = keys.len();
        let rejects = scatter::<K, T, O>(op, keys, 0, values, n, cells, len);
        *rejected = both(*rejected, rejects);
        return Ok(());
    }
    let piece = keys.len().div_ceil(pieces);
    let (all, n) = (cells.len(), keys.len());
    let parts = map(n.div_ceil(piece), &|i| {
        let first = i * piece;
        let keys = &keys[first..n.min(first + piece)];
        let mut cells = host::filled(all, op.identity())?;
        let rejects = scatter::<K, T, O>(op, keys, first, values, n, &mut cells, len);
        Ok((cells, rejects))
    });
    // An error changes no cell.
    let parts: Vec<(Vec<T>, Rejects)> = parts.into_iter().collect::<Result<_, Error>>()?;
    for (part, rejects) in &parts {
        for (cell, value) in cells.iter_mut().zip(part) {
            *cell = op.combine(*cell, *value);
        }
        *rejected = both(*rejected, *rejects);
    }
    Ok(())
}

/// Adds the number of elements of each key to its cell, and the elements whose key is out of range to `rejected`.
///
/// # Errors
///
/// [`Error::OutOfHostMemory`].
pub(crate) fn count_by_key<K: Key>(
    keys: &[K],
    cells: &mut [u64],
    rejected: &mut Rejects,
) -> Result<(), Error> {
    // The first key without a cell; more cells than keys stay as they are.
    let below = usize::try_from(K::MOST_CELLS).map_or(cells.len(), |most| most.min(cells.len()));
    if below > MOST_COUNTED || keys.len() < PER_CELL * below {
        for (i, key) in (0..).zip(keys) {
            match cells.get_mut(key.cell()) {
                Some(cell) => *cell += 1,
                None => *rejected = both(*rejected, [1, i]),
            }
        }
        return Ok(());
    }
    let piece = keys.len().div_ceil(pieces(keys.len(), below)).max(1);
    let counts = map(keys.len().div_ceil(piece), &|i| {
        tally(&keys[i * piece..keys.len().min((i + 1) * piece)], below)
    });
    let counts: Vec<Vec<u64>> = counts.into_iter().collect::<Result<_, Error>>()?;
    for (i, counts) in counts.iter().enumerate() {
        for (cell, count) in cells.iter_mut().zip(&counts[..below]) {
            *cell += count;
        }
        if counts[below] > 0 {
            let in_piece = keys[i * piece..].iter();
            let first = in_piece.take_while(|key| key.cell() < below).count();
            *rejected = both(*rejected, [counts[below], (i * piece + first) as u64]);
        }
    }
    Ok(())
}

/// The number of elements of each key below `below`, and of all others together.
fn tally<K: Key>(keys: &[K], below: usize) -> Result<Vec<u64>, Error> {
    /// The elements that a table counts in 32 bits.
    const MOST: usize = 1 << 31;
    let cells = below + 1;
    let mut counts = host::zeroes::<u64>(cells)?;
    let mut tables = host::zeroes::<u32>(TABLES * cells)?;
    for keys in keys.chunks(MOST) {
        tables.fill(0);
        let [a, b, c, d] = {
            let (front, back) = tables.split_at_mut(2 * cells);
            let ((a, b), (c, d)) = (front.split_at_mut(cells), back.split_at_mut(cells));
            [a, b, c, d].map(|table| &mut table[..=below])
        };
        let cell = |key: K| key.cell().min(below);
        let (groups, rest) = keys.as_chunks::<TABLES>();
        for &[k, l, m, n] in groups {
            a[cell(k)] += 1;
            b[cell(l)] += 1;
            c[cell(m)] += 1;
            d[cell(n)] += 1;
        }
        for key in rest {
            a[cell(*key)] += 1;
        }
        for table in tables.chunks(cells) {
            for (count, counted) in counts.iter_mut().zip(table) {
                *count += u64::from(*counted);
            }
        }
    }
    Ok(counts)
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
) -> Rejects {
    if len == 0 || values.is_empty() {
        return match keys.len() {
            0 => NONE,
            all => [all as u64, start as u64],
        };
    }
    let mut rejected = NONE;
    for (array, (values, cells)) in values.chunks(n).zip(cells.chunks_mut(len)).enumerate() {
        for ((i, key), value) in (start as u64..).zip(keys).zip(&values[start..]) {
            match cells.get_mut(key.cell()) {
                Some(cell) => *cell = op.combine(*cell, *value),
                None if array == 0 => rejected = both(rejected, [1, i]),
                None => {}
            }
        }
    }
    rejected
}
