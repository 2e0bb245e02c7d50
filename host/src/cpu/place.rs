//! Where the smallest and the largest value are.
//!
//! To carry an index beside every value would take thrice the time. So the values are combined alone,
//! and of each block only its start is carried; in the block that has won, the place is then looked up.

use std::marker::PhantomData;

use kernels_gpu::element::{Indexed, Number};
use kernels_gpu::op::{Op, Rank};

use super::reduce_blocks;

/// As [`reduce`](super::reduce), of operators that give the first place of the value that `O` ranks first.
pub(crate) fn reduce_places<T, O>(input: &[T]) -> Indexed<T::Acc>
where
    T: Number,
    O: Op<T, Acc = Indexed<T::Acc>> + Rank<T::Acc>,
{
    let best = reduce_blocks::<T, Value<O>, _>(
        input,
        |value, start| Indexed::new(value, start as u64),
        O::combine,
    );
    let start = best.index() as usize;
    // Nothing comes before the best, and it does not come before what equals it.
    let is_best = |value: &T| !O::before(best.value(), value.widen());
    match input[start..].iter().position(is_best) {
        Some(i) => O::lift(input[start + i], start + i),
        None => O::IDENTITY,
    }
}

/// What `O` ranks first, without its place.
#[derive(Clone, Copy)]
struct Value<O>(PhantomData<O>);

impl<T: Number, O: Op<T> + Rank<T::Acc>> Op<T> for Value<O> {
    const NAME: &'static str = O::NAME;
    type Acc = T::Acc;
    const IDENTITY: T::Acc = O::LAST;
    type Output = T::Acc;

    #[inline(always)]
    fn lift(value: T, _: usize) -> T::Acc {
        value.widen()
    }

    #[inline(always)]
    fn combine(a: T::Acc, b: T::Acc) -> T::Acc {
        if O::before(b, a) { b } else { a }
    }

    #[inline(always)]
    fn finish(acc: T::Acc) -> T::Acc {
        acc
    }
}
