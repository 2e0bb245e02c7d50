//! `triple`: a warp does three reductions at once.
//!
//! A shuffle has a latency of some twenty cycles. In a single reduction each step waits for the one before (the
//! post's figure 5). Three reductions, of the fields x, y and z, do not take three times as long: with
//! interleaved steps, two other shuffles are in flight during the latency of one (figure 6). `cargo xtask sass
//! --kernel triple` shows both.
//!
//! Today's compiler does this itself: if three reductions follow each other with nothing between them, ptxas 13
//! interleaves them to the same instructions. It cannot move a shuffle across a loop or an atomic, so
//! [`triple_in_turn`] has these in between.
//!
//! Source: the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA, 2014).

use crate::element::{Element, Shuffle};
use crate::mem::Global;
use crate::op::AtomicOp;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Combines the triples of `input` (x, y, z of the first, then those of the second, ...) field by field into
/// `output[0]`, `output[1]` and `output[2]`, which hold the identity before.
///
/// The warp's steps are [interleaved](warp_reduce_triple). Blocks: any number. Otherwise like
/// [`warp_atomic`](super::warp_atomic::warp_atomic).
///
/// # Safety
///
/// The launch meets the [requirements](super), with three elements of `output`; `input` holds whole triples.
#[inline(always)]
pub unsafe fn triple_interleaved<T: Element, O: AtomicOp<T>>(
    op: O,
    input: Global<T>,
    output: Global<O::Acc>,
) {
    let [mut x, mut y, mut z] = [op.identity(); 3];
    for_each_triple(input, |i| {
        x = op.combine(x, op.lift(input.get(3 * i), i as u64));
        y = op.combine(y, op.lift(input.get(3 * i + 1), i as u64));
        z = op.combine(z, op.lift(input.get(3 * i + 2), i as u64));
    });
    // SAFETY: no thread has exited, so all lanes of the warp arrive.
    let [x, y, z] = unsafe { warp_reduce_triple::<T, O>(op, [x, y, z]) };
    if thread_idx_x().is_multiple_of(WARP_SIZE) {
        output.combine_atomic::<T, O>(op, 0, x);
        output.combine_atomic::<T, O>(op, 1, y);
        output.combine_atomic::<T, O>(op, 2, z);
    }
}

/// The same, one field after the other, like three calls of [`warp_atomic`](super::warp_atomic::warp_atomic).
///
/// # Safety
///
/// As [`triple_interleaved`].
#[inline(always)]
pub unsafe fn triple_in_turn<T: Element, O: AtomicOp<T>>(
    op: O,
    input: Global<T>,
    output: Global<O::Acc>,
) {
    for field in 0..3 {
        let mut value = op.identity();
        for_each_triple(input, |i| {
            value = op.combine(value, op.lift(input.get(3 * i + field), i as u64));
        });
        // SAFETY: no thread has exited, so all lanes of the warp arrive.
        let value = unsafe { reduce_down::<T, O>(op, value) };
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            output.combine_atomic::<T, O>(op, field, value);
        }
    }
}

/// Combines the warp's triples, field by field. **Lane 0 holds the result.** Each step of [`reduce_down`] is
/// done for all three fields before the next step.
///
/// # Safety
///
/// All 32 lanes of the warp arrive here.
#[inline(always)]
pub unsafe fn warp_reduce_triple<T: Element, O: AtomicOp<T>>(
    op: O,
    [mut x, mut y, mut z]: [O::Acc; 3],
) -> [O::Acc; 3] {
    let mut offset = WARP_SIZE / 2;
    while offset > 0 {
        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let above = |value: O::Acc| unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        let (x_above, y_above, z_above) = (above(x), above(y), above(z));
        x = op.combine(x, x_above);
        y = op.combine(y, y_above);
        z = op.combine(z, z_above);
        offset /= 2;
    }
    [x, y, z]
}

/// Calls `each` with the numbers of the thread's triples, in a grid-stride loop.
#[inline(always)]
fn for_each_triple<T: Element>(input: Global<T>, mut each: impl FnMut(usize)) {
    let threads = block_dim_x() as usize;
    let stride = grid_dim_x() as usize * threads;
    let triples = input.len() / 3;
    let mut i = block_idx_x() as usize * threads + thread_idx_x() as usize;
    while i < triples {
        each(i);
        i += stride;
    }
}
