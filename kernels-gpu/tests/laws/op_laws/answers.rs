//! Properties of the library's operators beyond the laws.

use kernels_gpu::element::Element;
use kernels_gpu::items::Items;
use kernels_gpu::laws::proptest::prelude::*;
use kernels_gpu::op::{AtomicOp, Op};
use std::fmt::Debug;

type Verdict = Result<(), TestCaseError>;

/// The index of the first value.
pub const FIRST: u64 = 7;

/// A text that distinguishes all values except NaNs.
pub fn text(value: impl Debug) -> String {
    format!("{value:?}")
}

/// Three adjacent elements, lifted.
fn lifted<T: Items, O: Op<T>>(op: O, values: [T; 3]) -> [O::Acc; 3] {
    [0, 1, 2].map(|i| op.lift(values[i], FIRST + i as u64))
}

/// The result of the three values.
pub fn reduced<T: Items, O: Op<T>>(op: O, values: [T; 3]) -> O::Output {
    let [a, b, c] = lifted(op, values);
    op.finish(op.combine(op.combine(a, b), c))
}

/// The result for empty input.
pub fn empty<T: Items, O: Op<T>>(op: O) -> O::Output {
    op.empty()
}

/// An operator reduces accumulators as it reduces items.
pub fn partials<T, A, O>(op: O, values: [T; 3]) -> Verdict
where
    T: Items,
    A: Element,
    O: Op<T, Acc = A> + Op<A, Acc = A>,
{
    let [a, b, _] = lifted::<T, O>(op, values);
    prop_assert_eq!(text(<O as Op<A>>::lift(&op, a, 0)), text(a));
    prop_assert_eq!(
        text(<O as Op<A>>::identity(&op)),
        text(<O as Op<T>>::identity(&op))
    );
    prop_assert_eq!(
        text(<O as Op<A>>::combine(&op, a, b)),
        text(<O as Op<T>>::combine(&op, a, b))
    );
    Ok(())
}

/// The result of one item is the item.
pub fn round_trip<T: Element, O: Op<T, Output: From<T> + Debug>>(op: O, values: [T; 3]) -> Verdict {
    for value in values {
        let result = op.finish(op.lift(value, 3));
        prop_assert_eq!(text(result), text(O::Output::from(value)));
    }
    Ok(())
}

/// The atomic forms store the result of `combine`.
pub fn atomic<T: Items, O: AtomicOp<T>>(op: O, values: [T; 3]) -> Verdict {
    let [mut device, mut block, mut plain] = [op.identity(); 3];
    for value in lifted(op, values) {
        plain = op.combine(plain, value);
        // SAFETY: two cells of this thread.
        unsafe {
            op.combine_atomic_device(&mut device, value);
            op.combine_atomic_block(&mut block, value);
        }
        prop_assert_eq!(text(device), text(plain), "the atomic form, device");
        prop_assert_eq!(text(block), text(plain), "the atomic form, block");
    }
    Ok(())
}

/// All of the above, for an operator whose results are numbers like its items, and the result.
pub fn number<T, A, O>(op: O, values: [T; 3], answer: T) -> Verdict
where
    T: Element,
    A: Element,
    O: AtomicOp<T, Acc = A, Output: From<T> + Debug> + Op<A, Acc = A>,
{
    partials::<T, A, O>(op, values)?;
    round_trip::<T, O>(op, values)?;
    atomic::<T, O>(op, values)?;
    prop_assert_eq!(
        text(reduced::<T, O>(op, values)),
        text(<O as Op<T>>::Output::from(answer))
    );
    Ok(())
}
