//! Operators of one's own.

use super::{THREADS, expect};
use crate::{Trial, Verdict, handle, trials};
use cuda_sim::Buffer;
use cuda_std::thread::thread_idx_x;
use kernels_gpu::block::block_reduce;
use kernels_gpu::element::Element;
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Op;
use std::fmt::Debug;

/// The distance between the largest and the smallest value.
pub fn range<O: Op<f32, Output = f32>>(make: impl Fn() -> O) -> Verdict {
    trials("range", |trial| {
        for n in [1, 2, 100, 2000] {
            let x = trial.floats(n);
            let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let smallest = x.iter().copied().fold(f32::INFINITY, f32::min);
            reduced(trial, make(), &x, largest - smallest)?;
        }
        Ok(())
    })
}

/// The largest value, also if all are negative.
pub fn identity<O: Op<i32, Output = i32>>(make: impl Fn() -> O) -> Verdict {
    trials("identity", |trial| {
        for n in [1, 100, 2000] {
            let x: Vec<_> = trial.ints(n).iter().map(|x| x - 5000).collect();
            let largest = x.iter().copied().max().unwrap_or(i32::MIN);
            reduced(trial, make(), &x, largest)?;
        }
        Ok(())
    })
}

/// The last value that is not 0.
pub fn order<O: Op<i32, Output = i32>>(make: impl Fn() -> O) -> Verdict {
    trials("order", |trial| {
        for n in [1, 100, 255, 2000] {
            let kept = 1 + trial.below(4);
            let x: Vec<_> = trial
                .ints(n)
                .iter()
                .map(|x| {
                    if x.unsigned_abs() as usize % 5 < kept {
                        *x
                    } else {
                        0
                    }
                })
                .collect();
            let last = x.iter().rev().find(|x| **x != 0).copied().unwrap_or(0);
            reduced(trial, make(), &x, last)?;
        }
        Ok(())
    })
}

/// Reduces the array by one block with `operator`, each thread a part of it, and compares with `expected`.
fn reduced<T: Element, O: Op<T>>(
    trial: &Trial,
    operator: O,
    x: &[T],
    expected: O::Output,
) -> Verdict
where
    O::Output: PartialEq + Debug,
{
    for value in x.iter().take(50) {
        let lifted = operator.lift(*value, 0);
        let identity = operator.identity();
        let (left, right) = (
            operator.combine(identity, lifted),
            operator.combine(lifted, identity),
        );
        expect(left == lifted && right == lifted, || {
            format!(
                "{identity:?} is no identity: combined with {lifted:?}, the value lifted from {value:?}, it gives \
                 {left:?} from the left and {right:?} from the right"
            )
        })?;
    }
    let (input, output) = (Buffer::from(x), Buffer::uninitialised(1));
    let bytes = size_of::<O::Acc>() * THREADS as usize / 32;
    trial.launch_with(bytes, || kernel(operator, handle(&input), handle(&output)))?;
    let got = operator.finish(output.to_vec()[0]);
    let order = if O::COMMUTATIVE {
        ", which may combine in any order"
    } else {
        ""
    };
    expect(got == expected, || {
        format!(
            "a block of {THREADS} threads{order}, gives {got:?} for {} values; right is {expected:?}",
            x.len()
        )
    })
}

/// Each thread combines adjacent items; then the block does.
fn kernel<T: Element, O: Op<T>>(op: O, x: Global<T>, y: Global<O::Acc>) {
    let share = x.len().div_ceil(THREADS as usize);
    let first = share * thread_idx_x() as usize;
    let mut acc = op.identity();
    for i in first..(first + share).min(x.len()) {
        acc = op.combine(acc, op.lift(x.get(i), i as u64));
    }
    // SAFETY: the launch provides an element for each warp, and all threads arrive.
    let acc = unsafe { block_reduce::<T, O>(op, acc, Shared::dynamic()) };
    if thread_idx_x() == 0 {
        y.set(0, acc);
    }
}
