//! `keyed_atomic`: one atomic per element. The simplest kernel there is, and with random keys the
//! fastest: nothing that combines elements beforehand finds any to combine.
//!
//! The hardware adds in the L2 cache: `red` sends a value there and waits for nothing. Where equal
//! keys stand side by side, the additions of a warp queue for one address.

use super::{Key, Task, thread_in_grid};
use crate::element::Element;
use crate::mem::hold_accesses;
use crate::op::AtomicOp;

/// Combines each value into its key's cell.
///
/// # Safety
///
/// The launch is as [`keyed`](super) asks.
#[inline(always)]
pub unsafe fn keyed_atomic<K: Key, T: Element, O: AtomicOp<T, Acc = T>>(op: O, task: Task<K, T>) {
    let i = thread_in_grid();
    if i < task.keys.len() {
        let (key, value) = (task.keys.get(i), task.values.get(i));
        // Or the value would be loaded where it is needed: when the key is there and has a cell.
        hold_accesses();
        task.deliver(op, key, value, 1);
    }
}
