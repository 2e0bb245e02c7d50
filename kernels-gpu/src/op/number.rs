//! Operators over all numbers: an operator is defined on its accumulators, and becomes an [`Op`](super::Op)
//! over every number.

/// The definition of an operator on accumulators `A`.
///
/// [`Op`](super::Op) and [`AtomicOp`](super::AtomicOp) over all numbers with this accumulator follow from it.
pub trait Combine<A> {
    /// [`Op::identity`](super::Op::identity).
    const IDENTITY: A;

    /// [`Op::initial`](super::Op::initial).
    const INITIAL: A = Self::IDENTITY;

    /// [`Op::ANY_ORDER`](super::Op::ANY_ORDER).
    const ANY_ORDER: bool = true;

    /// [`Op::combine`](super::Op::combine).
    fn combine(a: A, b: A) -> A;
}

/// The atomic form of an operator on accumulators `A`.
pub trait CombineAtomic<A>: Combine<A> {
    /// [`AtomicOp::combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    ///
    /// # Safety
    ///
    /// The contract of [`AtomicOp::combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_device(cell: *mut A, value: A);

    /// [`AtomicOp::combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    ///
    /// # Safety
    ///
    /// The contract of [`AtomicOp::combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_block(cell: *mut A, value: A);
}

/// Implements `Op` over every number `T` whose accumulators the operator can [`Combine`]. The arguments are the
/// result for at least one number, the result for empty input if it differs from the finished initial
/// value, and the result for an exact sum if there is one.
macro_rules! operator_of_numbers {
    ($op:ident: $output:ty, |$acc:ident| $finish:expr $(, empty $empty:expr)? $(, exact |$sum:ident| $exact:expr)?) => {
        impl<T: $crate::element::Number> $crate::op::Op<T> for $op
        where
            $op: $crate::op::Combine<T::Acc>,
        {
            type Acc = T::Acc;
            type Output = $output;
            const ANY_ORDER: bool = <$op as $crate::op::Combine<T::Acc>>::ANY_ORDER;

            #[inline(always)]
            fn identity(&self) -> T::Acc {
                <$op as $crate::op::Combine<T::Acc>>::IDENTITY
            }

            #[inline(always)]
            fn lift(&self, value: T, _: u64) -> T::Acc {
                value.widen()
            }

            #[inline(always)]
            fn combine(&self, a: T::Acc, b: T::Acc) -> T::Acc {
                <$op as $crate::op::Combine<T::Acc>>::combine(a, b)
            }

            #[inline(always)]
            fn finish(&self, $acc: T::Acc) -> $output {
                $finish
            }

            #[inline(always)]
            fn initial(&self) -> T::Acc {
                <$op as $crate::op::Combine<T::Acc>>::INITIAL
            }

            $(
                #[cfg(not(target_arch = "nvptx64"))]
                fn of_exact(&self, $sum: &$crate::exact::Accumulator) -> Option<$output> {
                    $exact
                }
            )?

            $(
                #[inline(always)]
                fn empty(&self) -> $output {
                    $empty
                }
            )?
        }

        impl<T: $crate::element::Number> $crate::op::AtomicOp<T> for $op
        where
            $op: $crate::op::CombineAtomic<T::Acc>,
        {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_device(&self, cell: *mut T::Acc, value: T::Acc) {
                // SAFETY: the caller's contract is that of the function called.
                unsafe { <$op as $crate::op::CombineAtomic<T::Acc>>::combine_device(cell, value) }
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_block(&self, cell: *mut T::Acc, value: T::Acc) {
                // SAFETY: the caller's contract is that of the function called.
                unsafe { <$op as $crate::op::CombineAtomic<T::Acc>>::combine_block(cell, value) }
            }
        }
    };
}

/// Implements `Combine`: `i32, 0, |a, b| a.wrapping_add(b);` is a type, its identity, the initial value if it
/// differs, `rounds to_nearest` for floats, whose bits depend on the order, and the combined value.
macro_rules! combine {
    ($op:ident: $(
        $acc:ident, $identity:expr $(, initial $initial:expr)? $(, rounds $to:ident)?,
        |$a:ident, $b:ident| $combined:expr;
    )*) => { $(
        impl $crate::op::Combine<$acc> for $op {
            const IDENTITY: $acc = $identity;
            $(const INITIAL: $acc = $initial;)?
            $(combine!(@rounds $to);)?

            #[inline(always)]
            fn combine($a: $acc, $b: $acc) -> $acc {
                $combined
            }
        }
    )* };
    (@rounds to_nearest) => { const ANY_ORDER: bool = false; };
}

/// The atomic form by an instruction: `Sum is add: i32 u32`.
macro_rules! atomic_instruction {
    ($op:ident is $fetch:ident: $($acc:ident)*) => { pastey::paste! { $(
        impl $crate::op::CombineAtomic<$acc> for $op {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_device(cell: *mut $acc, value: $acc) {
                use ::core::sync::atomic::Ordering::Relaxed;
                // SAFETY: the caller's contract is that of the function called.
                unsafe { mid::[<atomic_fetch_ $fetch _ $acc _device>](cell, Relaxed, value) };
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_block(cell: *mut $acc, value: $acc) {
                use ::core::sync::atomic::Ordering::Relaxed;
                // SAFETY: the caller's contract is that of the function called.
                unsafe { mid::[<atomic_fetch_ $fetch _ $acc _block>](cell, Relaxed, value) };
            }
        }
    )* } };
}

/// The atomic form by a compare-and-swap loop.
macro_rules! atomic_loop {
    ($op:ident) => {
        impl<A: Replace> CombineAtomic<A> for $op
        where
            $op: Combine<A>,
        {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_device(cell: *mut A, value: A) {
                // SAFETY: the caller's contract is that of the function called.
                unsafe { A::replace_device(cell, |old| Self::combine(old, value)) }
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_block(cell: *mut A, value: A) {
                // SAFETY: the caller's contract is that of the function called.
                unsafe { A::replace_block(cell, |old| Self::combine(old, value)) }
            }
        }
    };
}

/// The warp-level form by `redux.sync`, for accumulators that have it: `Sum is Add`.
macro_rules! warp_instruction {
    ($op:ident is $redux:ident) => {
        impl<T: $crate::element::Number> $crate::op::ReduxOp<T> for $op
        where
            $op: $crate::op::Op<T, Acc: ::cuda_std::warp::WarpReduceValue>,
        {
            const REDUX: ::cuda_std::warp::WarpReductionOp =
                ::cuda_std::warp::WarpReductionOp::$redux;
        }
    };
}
