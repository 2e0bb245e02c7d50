//! Reduction by key: every value is combined into the cell of its key.
//!
//! ```text
//! keys     2   2   2   5   5   2   9   9        cells: 0 1 2 3 4 5 6 7      (9 is out of range)
//! values   a   b   c   d   e   f   g   h               . . | . . |
//!                                                        abcf    de         2 elements rejected
//! ```
//!
//! The cells are dense: key `k` belongs to cell `k`. They are too many for a histogram in shared memory, so all
//! kernels end in atomics on global memory. The kernels differ in the elements that they combine before the
//! atomics:
//!
//! | kernel | combined before the atomics | fast if |
//! |---|---|---|
//! | [`atomic`] | nothing | keys are random |
//! | [`atomic`] with [`ByCas`](crate::op::ByCas) | nothing; the atomic is a loop around a compare-and-swap | the hardware has no atomic instruction for the operator |
//! | [`warp`] | the elements of a warp with the same key, its *peers*; found by ballots or by `match.any` | equal keys are close together |
//! | [`bins`] | the elements of a block with the same key, in a hash table in shared memory | equal keys are in the same block |
//! | [`runs`] | adjacent elements with the same key, four elements per thread, then across the warp | keys are sorted |
//!
//! [`peers`] has the warp-level steps of these kernels.
//!
//! # Requirements of every launch
//!
//! - A one-dimensional grid and one-dimensional blocks of a multiple of 32 threads, at most 1024.
//! - Enough blocks for all elements; the table of entry points has the number of elements per thread. More
//!   blocks are allowed. (These kernels are short: a grid-stride loop would add much to their cost.)
//! - `values` has as many elements as `keys`. For several arrays of values, one array follows the other, and so
//!   do their cells.
//! - Every cell holds a value before the launch: the operator's initial value, or the result of an earlier
//!   launch.
//!
//! An element whose key is out of range is counted in `rejected`, and its value is not used. Float sums depend
//! on the order in which the atomics arrive; their last bits differ from run to run.

pub mod atomic;
pub mod bins;
pub mod peers;
pub mod runs;
pub mod warp;

use crate::element::{Element, Number};
use crate::mem::Global;
use crate::op::{AtomicOp, Sum};
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};
use cuda_std::warp::{WarpMatchValue, WarpShuffleValue};

/// A key: an integer of 32 or 64 bits that selects a cell.
///
/// There are entry points for `u32` and `u64`. They also accept signed keys of the same size, which they read
/// as unsigned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "not a key",
    note = "a key must be an integer: `u32`, `u64`, `i32` or `i64`"
)]
pub trait Key: Number + WarpMatchValue + WarpShuffleValue + Ord {
    /// The maximum number of cells for which every negative key, read as unsigned, is out of range.
    const MOST_CELLS: u64;

    /// The index of the key's cell. For a negative key it is out of range for every array.
    fn cell(self) -> usize;

    /// A hash of the key in 32 bits; the upper bits differ most between adjacent keys.
    fn hash(self) -> u32;
}

macro_rules! keys {
    ($($key:ident, $most_cells:expr, |$this:ident| $cell:expr;)*) => {
        $(impl Key for $key {
            const MOST_CELLS: u64 = $most_cells;

            #[inline(always)]
            fn cell(self) -> usize {
                let $this = self;
                $cell
            }

            #[inline(always)]
            fn hash(self) -> u32 {
                // 2^32 divided by the golden ratio: hashes of adjacent keys are far apart.
                const SPREAD: u32 = 0x9E37_79B1;
                let cell = self.cell() as u64;
                ((cell >> 32) as u32 ^ cell as u32).wrapping_mul(SPREAD)
            }
        })*
    };
}

keys! {
    u32, u64::MAX, |key| key as usize;
    u64, u64::MAX, |key| key as usize;
    i32, 1 << 31, |key| key as isize as usize;
    i64, 1 << 63, |key| key as usize;
}

/// The data of a launch: elements and cells.
#[derive(Clone, Copy, Debug)]
pub struct Task<K, T> {
    /// A key for each element.
    pub keys: Global<K>,
    /// A value for each element; several arrays follow each other.
    pub values: Global<T>,
    /// The cells; those of several arrays follow each other.
    pub cells: Global<T>,
    /// One cell that counts the elements whose key is out of range.
    pub rejected: Global<u64>,
}

impl<K: Key, T: Element> Task<K, T> {
    /// Combines `value` into the cell of `key`. The value represents `elements` elements, which are counted as
    /// rejected if the key is out of range.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_into_cell<O: AtomicOp<T, Acc = T>>(self, op: O, key: K, value: T, elements: u32) {
        if key.cell() < self.cells.len() {
            self.cells.combine_atomic::<T, O>(op, key.cell(), value);
        } else {
            self.reject(elements);
        }
    }

    /// Counts elements whose key is out of range.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reject(self, elements: u32) {
        self.rejected
            .combine_atomic::<u64, Sum>(Sum, 0, elements as u64);
    }
}

/// The number of this thread in its grid.
#[inline(always)]
fn thread_in_grid() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}
