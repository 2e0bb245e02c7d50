//! Atomic operations on raw pointers: `atomic_<operation>_<type>_<scope>`.
//!
//! Scopes are `device`, `block` and `system`; the [conventions](super) are those of the atomic
//! types, which are made of these. Loads and stores are by width and take bits.

use core::sync::atomic::Ordering;

use pastey::paste;

use super::{from_bits, to_bits};
use crate::arch::atomic as arch;

macro_rules! fence {
    ($($scope:ident, $who:literal;)*) => { paste! { $(
        #[doc = concat!("Orders this thread's accesses before the call and after it, as ", $who, " see them.")]
        ///
        /// `fence.sc` for `SeqCst`, `fence.acq_rel` for the others; `Relaxed` asks for nothing.
        #[inline(always)]
        pub fn [<$scope _thread_fence>](ordering: Ordering) {
            arch::$scope::fence(ordering)
        }
    )* } };
}

fence! {
    device, "all threads of the device";
    block, "the threads of the block";
    system, "all devices and the host";
}

/// One function per scope.
macro_rules! scopes {
    ($operation:ident!($($rest:tt)*)) => {
        $operation!(device, $($rest)*);
        $operation!(block, $($rest)*);
        $operation!(system, $($rest)*);
    };
}

macro_rules! whole_words {
    ($scope:ident, $($ty:ty, $width:literal;)*) => { paste! { $(
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
        pub unsafe fn [<atomic_store_ $width _ $scope>](ptr: *mut $ty, ordering: Ordering, val: $ty) {
            // SAFETY: the caller's contract.
            unsafe { arch::$scope::[<store_ $width>](ptr, ordering, val) }
        }
    )* } };
}

scopes!(whole_words!(u32, 32; u64, 64;));

/// `$fetch` is the primitive; it works on `$bits`, and `$operand` makes the operand of `$val`.
macro_rules! fetch {
    ($scope:ident, $does:literal, $op:ident, $fetch:ident as $bits:ident: $($ty:ident, |$val:ident| $operand:expr;)*) => { paste! { $(
        #[doc = concat!($does, " Gives the value before.")]
        ///
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
        /// operations only.
        #[inline(always)]
        pub unsafe fn [<atomic_fetch_ $op _ $ty _ $scope>](ptr: *mut $ty, ordering: Ordering, $val: $ty) -> $ty {
            // SAFETY: the caller's contract; the primitive's type has the layout of this one.
            let previous = unsafe { arch::$scope::$fetch(ptr.cast::<$bits>(), ordering, $operand) };
            previous_value!($bits, $ty, previous)
        }
    )* } };
}

macro_rules! previous_value {
    (f32, f32, $value:expr) => {
        $value
    };
    (f64, f64, $value:expr) => {
        $value
    };
    ($bits:ident, $ty:ident, $value:expr) => {
        from_bits!($ty, $value)
    };
}

macro_rules! integers {
    ($does:literal, $op:ident: $fetch_32:ident $fetch_64:ident, |$val:ident| $operand_32:expr, $operand_64:expr) => {
        scopes!(fetch!($does, $op, $fetch_32 as u32: i32, |$val| $operand_32; u32, |$val| $operand_32;));
        scopes!(fetch!($does, $op, $fetch_64 as u64: i64, |$val| $operand_64; u64, |$val| $operand_64;));
    };
}

integers!("Adds `val`, wrapping. `atom.add`.", add: add_u32 add_u64, |val| val as u32, val as u64);
integers!("Subtracts `val`, wrapping. `atom.add`.", sub: add_u32 add_u64,
    |val| (val as u32).wrapping_neg(), (val as u64).wrapping_neg());
scopes!(fetch!("Adds `val`. `atom.add`.", add, add_f32 as f32: f32, |val| val;));
scopes!(fetch!("Adds `val`. `atom.add`.", add, add_f64 as f64: f64, |val| val;));
scopes!(fetch!("Subtracts `val`. `atom.add`.", sub, add_f32 as f32: f32, |val| -val;));
scopes!(fetch!("Subtracts `val`. `atom.add`.", sub, add_f64 as f64: f64, |val| -val;));

scopes!(fetch!("Leaves the smaller value. `atom.min`.", min, min_i32 as i32: i32, |val| val;));
scopes!(fetch!("Leaves the smaller value. `atom.min`.", min, min_u32 as u32: u32, |val| val;));
scopes!(fetch!("Leaves the smaller value. `atom.min`.", min, min_i64 as i64: i64, |val| val;));
scopes!(fetch!("Leaves the smaller value. `atom.min`.", min, min_u64 as u64: u64, |val| val;));
scopes!(fetch!("Leaves the greater value. `atom.max`.", max, max_i32 as i32: i32, |val| val;));
scopes!(fetch!("Leaves the greater value. `atom.max`.", max, max_u32 as u32: u32, |val| val;));
scopes!(fetch!("Leaves the greater value. `atom.max`.", max, max_i64 as i64: i64, |val| val;));
scopes!(fetch!("Leaves the greater value. `atom.max`.", max, max_u64 as u64: u64, |val| val;));

macro_rules! bitwise {
    ($does:literal, $op:ident, $fetch_32:ident, $fetch_64:ident) => {
        scopes!(fetch!($does, $op, $fetch_32 as u32:
            i32, |val| to_bits!(i32, val); u32, |val| val; f32, |val| to_bits!(f32, val);));
        scopes!(fetch!($does, $op, $fetch_64 as u64:
            i64, |val| to_bits!(i64, val); u64, |val| val; f64, |val| to_bits!(f64, val);));
    };
}

bitwise!("Leaves the bitwise and. `atom.and`.", and, and_32, and_64);
bitwise!("Leaves the bitwise or. `atom.or`.", or, or_32, or_64);
bitwise!(
    "Leaves the bitwise exclusive or. `atom.xor`.",
    xor,
    xor_32,
    xor_64
);
bitwise!("Leaves `val`. `atom.exch`.", exch, exch_32, exch_64);

macro_rules! compare_and_swap {
    ($scope:ident, $cas:ident as $bits:ident: $($ty:ident)*) => { paste! { $(
        /// Leaves `new` where `current` was, bit for bit. Gives the value before. `atom.cas`.
        ///
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
        /// operations only.
        #[inline(always)]
        pub unsafe fn [<atomic_compare_and_swap_ $ty _ $scope>](
            ptr: *mut $ty,
            current: $ty,
            new: $ty,
            ordering: Ordering,
        ) -> $ty {
            let (current, new) = (to_bits!($ty, current), to_bits!($ty, new));
            // SAFETY: the caller's contract; the primitive's type has the layout of this one.
            let previous = unsafe { arch::$scope::$cas(ptr.cast::<$bits>(), ordering, current, new) };
            from_bits!($ty, previous)
        }
    )* } };
}

scopes!(compare_and_swap!(cas_32 as u32: i32 u32 f32));
scopes!(compare_and_swap!(cas_64 as u64: i64 u64 f64));

/// No instruction has these: a loop around a compare-and-swap.
macro_rules! float_extremum {
    ($scope:ident, $does:literal, $op:ident: $($ty:ident, $width:literal;)*) => { paste! { $(
        #[doc = concat!($does, " A NaN loses against a number. Gives the value before. An addition to Rust-CUDA.")]
        ///
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes, aligned to its size, and accessed by atomic
        /// operations only.
        #[inline(always)]
        pub unsafe fn [<atomic_fetch_ $op _ $ty _ $scope>](ptr: *mut $ty, ordering: Ordering, val: $ty) -> $ty {
            // SAFETY: the caller's contract, here and below; integers have the floats' layout.
            let mut bits = unsafe { arch::$scope::[<load_ $width>](ptr.cast(), Ordering::Relaxed) };
            loop {
                let previous = $ty::from_bits(bits);
                let new = previous.$op(val).to_bits();
                if new == bits && ordering == Ordering::Relaxed {
                    return previous;
                }
                // SAFETY: as above.
                let found = unsafe { arch::$scope::[<cas_ $width>](ptr.cast(), ordering, bits, new) };
                if found == bits {
                    return previous;
                }
                bits = found;
            }
        }
    )* } };
}

scopes!(float_extremum!("Leaves the smaller value.", min: f32, 32; f64, 64;));
scopes!(float_extremum!("Leaves the greater value.", max: f32, 32; f64, 64;));
