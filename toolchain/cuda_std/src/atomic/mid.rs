//! Atomic operations on raw pointers: `atomic_<operation>_<type>_<scope>`.
//!
//! The scopes are `device`, `block` and `system`. The [conventions](super) are those of the atomic types,
//! which use these functions. Loads and stores exist for each width and use unsigned integers.

use core::sync::atomic::Ordering;

use pastey::paste;

use crate::arch::atomic as arch;

macro_rules! fence {
    ($scope:ident, $who:literal) => { paste! {
        #[doc = concat!("Orders this thread's accesses before and after the call for ", $who, ".")]
        ///
        /// `SeqCst` is `fence.sc`, the other orderings are `fence.acq_rel`; `Relaxed` does nothing.
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn [<$scope _thread_fence>](ordering: Ordering) {
            arch::$scope::fence(ordering)
        }
    } };
}

macro_rules! load_store {
    ($ty:ident, $width:literal, $scope:ident) => { paste! {
        #[doc = concat!("Loads ", $width, " bits. `ld`.")]
        ///
        /// # Safety
        ///
        /// `ptr` is valid for reads, aligned to its size, and changed by atomic operations only.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_load_ $width _ $scope>](ptr: *mut $ty, ordering: Ordering) -> $ty {
            // SAFETY: the caller's contract.
            unsafe { arch::$scope::[<load_ $width>](ptr, ordering) }
        }

        #[doc = concat!("Stores ", $width, " bits. `st`.")]
        ///
        /// # Safety
        ///
        /// `ptr` is valid for writes, aligned to its size, and accessed by atomic operations only.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_store_ $width _ $scope>](
            ptr: *mut $ty,
            ordering: Ordering,
            val: $ty,
        ) {
            // SAFETY: the caller's contract.
            unsafe { arch::$scope::[<store_ $width>](ptr, ordering, val) }
        }
    } };
}

/// An operation for one type and scope; `$body` may use the pointer, the ordering and the value.
macro_rules! fetch {
    ($ty:ident, $scope:ident, $op:ident, $does:literal,
     |$ptr:ident, $ordering:ident, $val:ident| $body:expr) => {
        paste! {
            #[doc = concat!($does, " Returns the previous value.")]
            ///
            /// # Safety
            ///
            /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
            /// operations only.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub unsafe fn [<atomic_fetch_ $op _ $ty _ $scope>](
                $ptr: *mut $ty,
                $ordering: Ordering,
                $val: $ty,
            ) -> $ty {
                // SAFETY: the caller's contract.
                unsafe { $body }
            }
        }
    };
}

/// The operations of all types; `$negated` is `$val` with the opposite sign.
macro_rules! number {
    ($ty:ident, $scope:ident, |$val:ident| $negated:expr) => {
        paste! {
            fetch!($ty, $scope, add, "Adds `val`. Integers wrap. `atom.add`.",
                |ptr, ordering, val| arch::$scope::[<add_ $ty>](ptr, ordering, val));
            fetch!($ty, $scope, sub, "Subtracts `val`. Integers wrap. `atom.add` of `-val`.",
                |ptr, ordering, $val| arch::$scope::[<add_ $ty>](ptr, ordering, $negated));
            fetch!($ty, $scope, and, "Stores the bitwise and. `atom.and`.",
                |ptr, ordering, val| arch::$scope::[<and_ $ty>](ptr, ordering, val));
            fetch!($ty, $scope, or, "Stores the bitwise or. `atom.or`.",
                |ptr, ordering, val| arch::$scope::[<or_ $ty>](ptr, ordering, val));
            fetch!($ty, $scope, xor, "Stores the bitwise exclusive or. `atom.xor`.",
                |ptr, ordering, val| arch::$scope::[<xor_ $ty>](ptr, ordering, val));
            fetch!($ty, $scope, exch, "Leaves `val`. `atom.exch`.",
                |ptr, ordering, val| arch::$scope::[<exch_ $ty>](ptr, ordering, val));

            /// Stores `new` if the value equals `current`, bit for bit. Returns the previous value.
            /// `atom.cas`.
            ///
            /// # Safety
            ///
            /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
            /// operations only.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub unsafe fn [<atomic_compare_and_swap_ $ty _ $scope>](
                ptr: *mut $ty,
                current: $ty,
                new: $ty,
                ordering: Ordering,
            ) -> $ty {
                // SAFETY: the caller's contract.
                unsafe { arch::$scope::[<cas_ $ty>](ptr, ordering, current, new) }
            }
        }
    };
}

macro_rules! integer {
    ($ty:ident, $scope:ident) => {
        paste! {
            number!($ty, $scope, |val| val.wrapping_neg());
            fetch!($ty, $scope, min, "Stores the minimum. `atom.min`.",
                |ptr, ordering, val| arch::$scope::[<min_ $ty>](ptr, ordering, val));
            fetch!($ty, $scope, max, "Stores the maximum. `atom.max`.",
                |ptr, ordering, val| arch::$scope::[<max_ $ty>](ptr, ordering, val));
        }
    };
}

/// No instruction computes minimum or maximum of floats: these are loops around a compare-and-swap.
macro_rules! float {
    ($ty:ident, $width:literal, $scope:ident) => {
        paste! {
            number!($ty, $scope, |val| -val);
            fetch!($ty, $scope, min,
                "Stores the minimum; a number takes precedence over a NaN. An addition to Rust-CUDA.",
                |ptr, ordering, val| [<replace_ $ty _ $scope>](ptr, ordering, |old| old.min(val)));
            fetch!($ty, $scope, max,
                "Stores the maximum; a number takes precedence over a NaN. An addition to Rust-CUDA.",
                |ptr, ordering, val| [<replace_ $ty _ $scope>](ptr, ordering, |old| old.max(val)));

            /// Stores the result of `new` for the current value; returns the previous value.
            ///
            /// # Safety
            ///
            /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
            /// operations only.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn [<replace_ $ty _ $scope>](
                ptr: *mut $ty,
                ordering: Ordering,
                new: impl Fn($ty) -> $ty,
            ) -> $ty {
                // SAFETY: the caller's contract; an integer of this width has the float's layout.
                let bits = unsafe { arch::$scope::[<load_ $width>](ptr.cast(), Ordering::Relaxed) };
                let mut old = $ty::from_bits(bits);
                loop {
                    let new = new(old);
                    // The value does not change, and the ordering does not require a write.
                    if new.to_bits() == old.to_bits() && ordering == Ordering::Relaxed {
                        return old;
                    }
                    // SAFETY: the caller's contract.
                    let found = unsafe { arch::$scope::[<cas_ $ty>](ptr, ordering, old, new) };
                    if found.to_bits() == old.to_bits() {
                        return old;
                    }
                    old = found;
                }
            }
        }
    };
}

macro_rules! scope {
    ($scope:ident, $who:literal) => {
        fence!($scope, $who);
        load_store!(u32, 32, $scope);
        load_store!(u64, 64, $scope);
        integer!(i32, $scope);
        integer!(u32, $scope);
        fetch!(u32, $scope, inc,
            "Adds 1, or stores 0 if the value is at least `val`. `atom.inc`. An addition to Rust-CUDA.",
            |ptr, ordering, val| arch::$scope::inc_u32(ptr, ordering, val));
        integer!(i64, $scope);
        integer!(u64, $scope);
        float!(f32, 32, $scope);
        float!(f64, 64, $scope);
    };
}

scope!(device, "all threads of the device");
scope!(block, "the threads of the block");
scope!(system, "all devices and the host");
