//! Reduction by key: every value is combined into the cell of its key.
//!
//! After the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).
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
//! - Keys from `below` on have no cell; each array has at least `below` cells.
//! - `rejected` holds a number of elements, and an index that is at least that of every key.
//!
//! An element whose key has no cell is counted in `rejected`, which also gets the smallest index of such an
//! element; its value is not used. Float sums depend on the order in which the atomics arrive; their last bits
//! differ from run to run.
//!
//! # Widths of keys
//!
//! [`Keys`] loads keys of 8, 16 and 32 bits as `u32`, so that one entry point accepts all of them; keys of 64
//! bits have entry points of their own. A negative key is read as an unsigned key of its width. It has no cell
//! if `below` is at most [`Key::MOST_CELLS`].
//!
//! # Counts
//!
//! [`count`] counts the elements of each key, without values: a histogram. [`filter`](crate::filter) counts in one cell,
//! and needs the answers.
//!
//! # The search alone
//!
//! [`search`] finds the peers and stores their masks, so that the search can be timed.

pub mod atomic;
pub mod bins;
pub mod count;
mod keys;
pub mod peers;
pub mod runs;
pub mod search;
pub mod warp;

pub use keys::{Key, Keys, WideKey};

use crate::element::Element;
use crate::mem::Global;
use crate::op::{AtomicOp, Min, Sum};
use cuda_std::thread::{block_dim_x, block_idx_x, thread_idx_x};

/// The data of a launch: elements and cells.
#[derive(Clone, Copy, Debug)]
pub struct Task<K, T> {
    /// A key for each element.
    pub keys: Keys<K>,
    /// A value for each element; several arrays follow each other.
    pub values: Global<T>,
    /// The cells; those of several arrays follow each other.
    pub cells: Global<T>,
    /// The elements whose key has no cell.
    pub rejected: Rejected,
    /// The first key that has no cell; all later ones have none either.
    pub below: usize,
}

impl<K: WideKey, T: Element> Task<K, T> {
    /// Combines the value of element `index` into the cell of its key; the element is rejected if the key has no cell.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn combine_into_cell<O: AtomicOp<T, Acc = T>>(self, op: O, key: K, value: T, index: usize) {
        if key.cell() < self.below {
            self.cells.combine_atomic::<T, O>(op, key.cell(), value);
        } else {
            self.rejected.add(1, index);
        }
    }
}

/// The elements of a launch whose key has no cell: their number, and the smallest index.
#[derive(Clone, Copy, Debug)]
pub struct Rejected(pub Global<u64>);

impl Rejected {
    /// The elements of the array.
    pub const LEN: usize = 2;

    /// The index before an element is rejected.
    pub const NONE: u64 = u64::MAX;

    /// Counts `elements` elements, the first of which has the index `first`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn add(self, elements: u64, first: usize) {
        self.count(elements);
        self.note(first);
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn count(self, elements: u64) {
        self.0.combine_atomic::<u64, Sum>(Sum, 0, elements);
    }

    /// Notes that the element `index` is rejected.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn note(self, index: usize) {
        // Nearly always false if many elements are rejected: one atomic each would double their cost.
        if (index as u64) < self.0.get_atomic(1) {
            self.0.combine_atomic::<u64, Min>(Min, 1, index as u64);
        }
    }
}

/// The number of this thread in its grid.
#[inline(always)]
fn thread_in_grid() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}
