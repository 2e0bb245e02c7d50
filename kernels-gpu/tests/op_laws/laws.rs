//! What holds for every operator.

use crate::values::Bits;
use kernels_gpu::items::Items;
use kernels_gpu::op::{AtomicOp, Op};
use proptest::prelude::*;

type Verdict = Result<(), TestCaseError>;

/// The index of the first value.
pub const FIRST: u64 = 7;

/// Three neighbours in an array, as they enter a reduction.
pub fn lifted<T: Items, O: Op<T>>(op: O, values: [T; 3]) -> [O::Acc; 3] {
    let [a, b, c] = values;
    [
        op.lift(a, FIRST),
        op.lift(b, FIRST + 1),
        op.lift(c, FIRST + 2),
    ]
}

/// The three as one, as the caller gets it.
pub fn reduced<T: Items, O: Op<T>>(op: O, values: [T; 3]) -> O::Output {
    let [a, b, c] = lifted(op, values);
    op.finish(op.combine(op.combine(a, b), c))
}

/// What an empty array is, as the caller gets it.
pub fn empty<T: Items, O: Op<T>>(op: O) -> O::Output {
    op.finish(op.identity())
}

/// Identity and commutativity, to the bit.
pub fn identity_and_order<T: Items, O: Op<T, Acc: Bits>>(op: O, values: [T; 3]) -> Verdict {
    let identity = op.identity();
    let [a, b, _] = lifted(op, values);
    prop_assert_eq!(op.combine(identity, a).bits(), a.bits());
    prop_assert_eq!(op.combine(a, identity).bits(), a.bits());
    prop_assert!(O::COMMUTATIVE);
    prop_assert_eq!(op.combine(a, b).bits(), op.combine(b, a).bits());
    Ok(())
}

/// Those, associativity to the bit, and the same bits of items that are absorbed together.
pub fn exact<T: Items, O: Op<T, Acc: Bits>>(op: O, values: [T; 3]) -> Verdict {
    identity_and_order(op, values)?;
    let [a, b, c] = lifted(op, values);
    let left = op.combine(op.combine(a, b), c);
    let right = op.combine(a, op.combine(b, c));
    prop_assert_eq!(left.bits(), right.bits());

    let [x, y, z] = values;
    let row = op.absorb(op.identity(), [[x, y, z]], [FIRST]);
    let column = op.absorb(a, [[y], [z]], [FIRST + 1, FIRST + 2]);
    prop_assert_eq!((row.bits(), column.bits()), (left.bits(), left.bits()));
    let at = |first| {
        [
            op.lift(x, first),
            op.lift(y, first + 1),
            op.lift(z, first + 2),
        ]
    };
    let [a, b, c] = at(FIRST + 100);
    let further = op.combine(op.combine(a, b), c);
    prop_assert_eq!(op.offset(left, 100).bits(), further.bits());
    Ok(())
}

/// An operator reduces what it combines items in as it reduces the items.
pub fn partials<T, A, O>(op: O, values: [T; 3]) -> Verdict
where
    T: Items,
    A: Bits,
    O: Op<T, Acc = A> + Op<A, Acc = A>,
{
    let [a, b, _] = lifted::<T, O>(op, values);
    let combined = <O as Op<T>>::combine(&op, a, b);
    prop_assert_eq!(<O as Op<A>>::lift(&op, a, 0).bits(), a.bits());
    prop_assert_eq!(
        <O as Op<A>>::identity(&op).bits(),
        <O as Op<T>>::identity(&op).bits()
    );
    prop_assert_eq!(<O as Op<A>>::combine(&op, a, b).bits(), combined.bits());
    Ok(())
}

/// What enters comes out.
pub fn round_trip<T: Bits, O: Op<T, Output = T>>(op: O, values: [T; 3]) -> Verdict {
    for value in values {
        prop_assert_eq!(op.finish(op.lift(value, 3)).bits(), value.bits());
    }
    Ok(())
}

/// The atomic forms leave what `combine` gives.
pub fn atomic<T: Items, O: AtomicOp<T, Acc: Bits>>(op: O, values: [T; 3]) -> Verdict {
    let [mut device, mut block, mut plain] = [op.identity(); 3];
    for value in lifted(op, values) {
        plain = op.combine(plain, value);
        // SAFETY: two cells of this thread's own.
        unsafe {
            op.combine_atomic_device(&mut device, value);
            op.combine_atomic_block(&mut block, value);
        }
        prop_assert_eq!(device.bits(), plain.bits(), "the atomic form, device");
        prop_assert_eq!(block.bits(), plain.bits(), "the atomic form, block");
    }
    Ok(())
}
