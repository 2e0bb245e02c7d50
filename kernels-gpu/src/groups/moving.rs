//! Moves values by an array of indices. A value is a number of adjacent words.
//!
//! # Requirements of every launch
//!
//! [`THREADS`] threads per block, and any number of blocks. `per_value` is the number of words of a value; both arrays
//! contain whole values. The source and the destination are different arrays.

use super::{NONE, THREADS};
use crate::element::Element;
use crate::mem::Global;
use cuda_std::thread::{block_idx_x, grid_dim_x, thread_idx_x};

/// Stores value `indices[i]` of `from` as value `i` of `to`.
///
/// # Safety
///
/// The launch meets the [requirements](self). Every index is one of a value of `from`; `to` has a value for each index.
#[inline(always)]
pub unsafe fn gather<W: Element>(
    from: Global<W>,
    indices: Global<u32>,
    to: Global<W>,
    per_value: usize,
) {
    each(indices, |i, index| {
        let mut word = 0;
        while word < per_value {
            let value = from.get(index as usize * per_value + word);
            to.set(i * per_value + word, value);
            word += 1;
        }
    });
}

/// Stores value `i` of `from` as value `indices[i]` of `to`, except where the index is [`NONE`].
///
/// # Safety
///
/// The launch meets the [requirements](self). The indices differ, and are those of values of `to`; `from` has a value for
/// each index.
#[inline(always)]
pub unsafe fn scatter<W: Element>(
    from: Global<W>,
    indices: Global<u32>,
    to: Global<W>,
    per_value: usize,
) {
    each(indices, |i, index| {
        if index == NONE {
            return;
        }
        let mut word = 0;
        while word < per_value {
            let value = from.get(i * per_value + word);
            to.set(index as usize * per_value + word, value);
            word += 1;
        }
    });
}

/// Stores the positions of the indices: `to[indices[i]] = i`.
///
/// # Safety
///
/// The launch meets the [requirements](self). The indices are a permutation; `to` has an element for each.
#[inline(always)]
pub unsafe fn invert(indices: Global<u32>, to: Global<u32>) {
    each(indices, |i, index| to.set(index as usize, i as u32));
}

/// Stores `value` in every word of `to`.
///
/// # Safety
///
/// The launch meets the [requirements](self).
#[inline(always)]
pub unsafe fn fill<W: Element>(to: Global<W>, value: W) {
    let mut i = block_idx_x() as usize * THREADS as usize + thread_idx_x() as usize;
    while i < to.len() {
        to.set(i, value);
        i += grid_dim_x() as usize * THREADS as usize;
    }
}

/// Calls `what` for each index, with its position.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn each(indices: Global<u32>, mut what: impl FnMut(usize, u32)) {
    let mut i = block_idx_x() as usize * THREADS as usize + thread_idx_x() as usize;
    while i < indices.len() {
        what(i, indices.get(i));
        i += grid_dim_x() as usize * THREADS as usize;
    }
}
