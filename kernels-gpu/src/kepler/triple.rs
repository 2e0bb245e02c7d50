//! `triple`: three reductions of the warp at once.
//!
//! A shuffle takes some twenty cycles to answer. In a single reduction each step waits for the one
//! before (the post's figure 5). Three of them, of the fields x, y and z, need not wait three times
//! as long: with their steps interleaved, two other shuffles are under way while one answers
//! (figure 6). `cargo xtask sass --kernel triple` shows the two side by side.
//!
//! Since the post the compiler has learnt it: where three reductions stand behind one another with
//! nothing between them, ptxas 13 interleaves them by itself, to the same instructions. What it
//! cannot do is move a shuffle over a loop or an atomic, so [`triple_in_turn`] has those between.

use crate::element::{Element, Shuffle};
use crate::mem::Global;
use crate::op::AtomicOp;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Combines the triples of `input` (x, y, z of the first, then those of the second, ...) field by
/// field into `output[0]`, `output[1]` and `output[2]`, which hold the identity before. The warp's
/// steps are [interleaved](warp_reduce_triple).
///
/// Blocks: any number. As [`warp_atomic`](super::warp_atomic::warp_atomic) in all else.
///
/// # Safety
///
/// The launch is as [`kepler`](super) asks, with an `output` of three; `input` holds whole triples.
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
    // SAFETY: no thread has left, so every warp is whole.
    let [x, y, z] = unsafe { warp_reduce_triple::<T, O>(op, [x, y, z]) };
    if thread_idx_x().is_multiple_of(WARP_SIZE) {
        output.combine_atomic::<T, O>(op, 0, x);
        output.combine_atomic::<T, O>(op, 1, y);
        output.combine_atomic::<T, O>(op, 2, z);
    }
}

/// The same, one field after the other: as if by three calls of
/// [`warp_atomic`](super::warp_atomic::warp_atomic).
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
        // SAFETY: no thread has left, so every warp is whole.
        let value = unsafe { reduce_down::<T, O>(op, value) };
        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            output.combine_atomic::<T, O>(op, field, value);
        }
    }
}

/// The warp's triples as one, field by field. **Lane 0 holds the result**, as of [`reduce_down`],
/// each of whose steps is done here for all three fields before the next.
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
        // SAFETY: the caller brings all lanes that the full mask names.
        let above = |value: O::Acc| unsafe { value.shuffle(FULL_MASK, Shuffle::Down(offset)) };
        let (x_above, y_above, z_above) = (above(x), above(y), above(z));
        x = op.combine(x, x_above);
        y = op.combine(y, y_above);
        z = op.combine(z, z_above);
        offset /= 2;
    }
    [x, y, z]
}

/// Calls `each` with the numbers of the thread's triples, a grid's width apart.
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
