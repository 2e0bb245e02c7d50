//! Operators of numbers: what each says of its accumulators, from which it becomes an [`Op`](super::Op)
//! of every number.

/// What an operator makes of two accumulators.
///
/// [`Op`](super::Op) and [`AtomicOp`](super::AtomicOp) of all numbers that are combined in `A` follow from it.
pub trait Combine<A> {
    /// [`Op::identity`](super::Op::identity).
    const IDENTITY: A;

    /// [`Op::initial`](super::Op::initial).
    const INITIAL: A = Self::IDENTITY;

    /// [`Op::combine`](super::Op::combine).
    fn combine(a: A, b: A) -> A;
}

/// What an operator makes of an accumulator and a cell of memory.
pub trait CombineAtomic<A>: Combine<A> {
    /// [`AtomicOp::combine_atomic_device`](super::AtomicOp::combine_atomic_device).
    ///
    /// # Safety
    ///
    /// As there.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_device(cell: *mut A, value: A);

    /// [`AtomicOp::combine_atomic_block`](super::AtomicOp::combine_atomic_block).
    ///
    /// # Safety
    ///
    /// As there.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_block(cell: *mut A, value: A);
}

/// An operator of every number `T` whose accumulators it [`Combine`]s: what it gives of at least one number, and
/// of none if that is another thing than what it makes of the initial accumulator.
macro_rules! operator_of_numbers {
    ($op:ident: $output:ty, |$acc:ident| $finish:expr $(, empty $empty:expr)?) => {
        impl<T: $crate::element::Number> $crate::op::Op<T> for $op
        where
            $op: $crate::op::Combine<T::Acc>,
        {
            type Acc = T::Acc;
            type Output = $output;

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
                // SAFETY: the caller's contract is the callee's.
                unsafe { <$op as $crate::op::CombineAtomic<T::Acc>>::combine_device(cell, value) }
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_atomic_block(&self, cell: *mut T::Acc, value: T::Acc) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { <$op as $crate::op::CombineAtomic<T::Acc>>::combine_block(cell, value) }
            }
        }
    };
}

/// What an operator makes of two accumulators: `i32, 0, |a, b| a.wrapping_add(b);` for a type,
/// its identity, the initial value where that is another one, and the two values as one.
macro_rules! combine {
    ($op:ident: $(
        $acc:ident, $identity:expr $(, initial $initial:expr)?, |$a:ident, $b:ident| $combined:expr;
    )*) => { $(
        impl $crate::op::Combine<$acc> for $op {
            const IDENTITY: $acc = $identity;
            $(const INITIAL: $acc = $initial;)?

            #[inline(always)]
            fn combine($a: $acc, $b: $acc) -> $acc {
                $combined
            }
        }
    )* };
}

/// The atomic form that is an instruction: `Sum is add: i32 u32`.
macro_rules! atomic_instruction {
    ($op:ident is $fetch:ident: $($acc:ident)*) => { pastey::paste! { $(
        impl $crate::op::CombineAtomic<$acc> for $op {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_device(cell: *mut $acc, value: $acc) {
                use ::core::sync::atomic::Ordering::Relaxed;
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_ $fetch _ $acc _device>](cell, Relaxed, value) };
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_block(cell: *mut $acc, value: $acc) {
                use ::core::sync::atomic::Ordering::Relaxed;
                // SAFETY: the caller's contract is the callee's.
                unsafe { mid::[<atomic_fetch_ $fetch _ $acc _block>](cell, Relaxed, value) };
            }
        }
    )* } };
}

/// The atomic form that no instruction has.
macro_rules! atomic_loop {
    ($op:ident) => {
        impl<A: Replace> CombineAtomic<A> for $op
        where
            $op: Combine<A>,
        {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_device(cell: *mut A, value: A) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { A::replace_device(cell, |old| Self::combine(old, value)) }
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn combine_block(cell: *mut A, value: A) {
                // SAFETY: the caller's contract is the callee's.
                unsafe { A::replace_block(cell, |old| Self::combine(old, value)) }
            }
        }
    };
}

/// The form of a warp that is an instruction, where the accumulator has it: `Sum is Add`.
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
