//! `keyed_atomic`: one atomic per element.
//!
//! This is the simplest kernel, and the fastest for random keys, where hardly any elements of a warp or a block
//! have the same key. The hardware adds in the L2 cache: `red` sends the value there, and the thread does not
//! wait. If adjacent keys are equal, the additions of a warp update one address one after another.
//!
//! Source: the post "Voting and Shuffling to Optimize Atomic Operations" (NVIDIA).

use super::{Task, WideKey, thread_in_grid};
use crate::element::Element;
use crate::mem::compiler_barrier;
use crate::op::AtomicOp;

/// Combines each value into the cell of its key.
///
/// # Safety
///
/// The launch meets the [requirements](super).
#[inline(always)]
pub unsafe fn keyed_atomic<K: WideKey, T: Element, O: AtomicOp<T, Acc = T>>(
    op: O,
    task: Task<K, T>,
) {
    let i = thread_in_grid();
    if i < task.keys.len() {
        let (key, value) = (task.keys.get(i), task.values.get(i));
        // Otherwise the value would be loaded only after the key has been checked.
        compiler_barrier();
        task.combine_into_cell(op, key, value, i);
    }
}
