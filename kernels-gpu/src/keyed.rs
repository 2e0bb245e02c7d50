//! Reduction by key: every element goes into the cell that its key names.
//!
//! ```text
//! keys     2   2   2   5   5   2   9   9        cells: 0 1 2 3 4 5 6 7      (9 is no cell)
//! values   a   b   c   d   e   f   g   h               . . | . . |
//!                                                        abcf    de         2 elements rejected
//! ```
//!
//! The cells are dense: key `k` belongs to cell `k`. There are too many of them for a histogram in
//! shared memory, so all kernels end in atomics on global memory. They differ in how many elements
//! they combine before that:
//!
//! | kernel | combined beforehand | pays where |
//! |---|---|---|
//! | [`atomic`] | nothing | keys are random |
//! | [`atomic`] with [`ByCas`](crate::op::ByCas) | nothing, and the atomic is a loop around a compare-and-swap | the hardware has no better one |
//! | [`warp`] | the elements of a warp that share a key, its *peers*; found by ballots or by `match.any` | equal keys are near each other |
//! | [`bins`] | the elements of a block that share a key, in a hash table in shared memory | equal keys are not quite so near |
//! | [`runs`] | neighbours with the same key, four elements per thread, then across the warp | equal keys stand side by side |
//!
//! [`peers`] has the steps of a warp that these are made of.
//!
//! # What every kernel asks of its launch
//!
//! - A one-dimensional grid and one-dimensional blocks of a multiple of 32 threads, at most 1024.
//! - Enough blocks for all elements, as many per thread as the table of entries says; more do no
//!   harm. (These kernels are short: a loop over the grid would be a good part of them.)
//! - `values` has as many elements as `keys`. A kernel for several arrays of values finds them one
//!   behind the other, and their cells likewise.
//! - A cell holds something to combine with: the operator's identity, or what an earlier launch left
//!   there.
//!
//! A key that names no cell is counted in `rejected`, and its value is not used. Sums of floats
//! depend on the order in which the atomics arrive: they differ from run to run in their last bits.

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

/// What an element is sorted by: an integer of 32 or 64 bits.
///
/// There are entry points for `u32` and `u64`. They take signed keys of the same size too, which they read as
/// unsigned ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "not a key",
    note = "a key names its cell by a number: `u32`, `u64`, `i32` or `i64`"
)]
pub trait Key: Number + WarpMatchValue + WarpShuffleValue + Ord {
    /// The most cells of which no negative key, read as an unsigned one, names any.
    const MOST_CELLS: u64;

    /// The cell that the key names. A negative key names none: this is then beyond every array.
    fn cell(self) -> usize;

    /// The key scattered over 32 bits, of which the upper ones differ most between neighbours.
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
                // 2^32 over the golden ratio: neighbours come to lie far from each other.
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

/// What a launch is given: the elements, and where they go.
#[derive(Clone, Copy, Debug)]
pub struct Task<K, T> {
    /// A key for each element.
    pub keys: Global<K>,
    /// A value for each element; several arrays of them one behind the other.
    pub values: Global<T>,
    /// The cells; those of several arrays one behind the other.
    pub cells: Global<T>,
    /// One cell that counts the elements whose key names no cell.
    pub rejected: Global<u64>,
}

impl<K: Key, T: Element> Task<K, T> {
    /// Combines `value` into the cell of `key`. It stands for `elements` elements, which are
    /// counted where there is no such cell.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn deliver<O: AtomicOp<T, Acc = T>>(self, op: O, key: K, value: T, elements: u32) {
        if key.cell() < self.cells.len() {
            self.cells.combine_atomic::<T, O>(op, key.cell(), value);
        } else {
            self.reject(elements);
        }
    }

    /// Counts elements whose key names no cell.
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
