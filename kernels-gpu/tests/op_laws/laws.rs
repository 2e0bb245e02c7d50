//! What holds for every operator.

use crate::values::Bits;
use kernels_gpu::element::Element;
use kernels_gpu::op::{AtomicOp, Op};
use proptest::prelude::*;

type Verdict = Result<(), TestCaseError>;

/// Three neighbours in an array, as they enter a reduction.
pub fn lifted<T: Element, O: Op<T>>(values: [T; 3]) -> [O::Acc; 3] {
    let [a, b, c] = values;
    [O::lift(a, 7), O::lift(b, 8), O::lift(c, 9)]
}

/// The three as one, as the caller gets it.
pub fn reduced<T: Element, O: Op<T>>(values: [T; 3]) -> O::Output {
    let [a, b, c] = lifted::<T, O>(values);
    O::finish(O::combine(O::combine(a, b), c))
}

/// Identity and commutativity, to the bit; partials are reduced by the same operator.
pub fn identity_and_order<T, A, O>(values: [T; 3]) -> Verdict
where
    T: Element,
    A: Bits,
    O: Op<T, Acc = A> + Op<A, Acc = A>,
{
    let identity = <O as Op<T>>::IDENTITY;
    let combine = <O as Op<T>>::combine;
    let [a, b, _] = lifted::<T, O>(values);
    prop_assert_eq!(combine(identity, a).bits(), a.bits());
    prop_assert_eq!(combine(a, identity).bits(), a.bits());
    prop_assert_eq!(combine(a, b).bits(), combine(b, a).bits());

    prop_assert_eq!(<O as Op<A>>::lift(a, 0).bits(), a.bits());
    prop_assert_eq!(<O as Op<A>>::IDENTITY.bits(), identity.bits());
    prop_assert_eq!(<O as Op<A>>::combine(a, b).bits(), combine(a, b).bits());
    prop_assert_eq!(<O as Op<A>>::NAME, <O as Op<T>>::NAME);
    Ok(())
}

/// Those, and associativity to the bit.
pub fn exact<T, A, O>(values: [T; 3]) -> Verdict
where
    T: Element,
    A: Bits,
    O: Op<T, Acc = A> + Op<A, Acc = A>,
{
    identity_and_order::<T, A, O>(values)?;
    let combine = <O as Op<T>>::combine;
    let [a, b, c] = lifted::<T, O>(values);
    let left = combine(combine(a, b), c);
    let right = combine(a, combine(b, c));
    prop_assert_eq!(left.bits(), right.bits());
    Ok(())
}

/// What enters comes out.
pub fn round_trip<T, O>(values: [T; 3]) -> Verdict
where
    T: Bits,
    O: Op<T, Output = T>,
{
    for value in values {
        prop_assert_eq!(O::finish(O::lift(value, 3)).bits(), value.bits());
    }
    Ok(())
}

/// The atomic forms leave what `combine` gives.
pub fn atomic<T, A, O>(values: [T; 3]) -> Verdict
where
    T: Element,
    A: Bits,
    O: AtomicOp<T, Acc = A>,
{
    let (mut device, mut block, mut plain) = (O::IDENTITY, O::IDENTITY, O::IDENTITY);
    for value in lifted::<T, O>(values) {
        plain = O::combine(plain, value);
        // SAFETY: two cells of this thread's own.
        unsafe {
            O::combine_atomic_device(&mut device, value);
            O::combine_atomic_block(&mut block, value);
        }
        prop_assert_eq!(device.bits(), plain.bits(), "the atomic form, device");
        prop_assert_eq!(block.bits(), plain.bits(), "the atomic form, block");
    }
    Ok(())
}
