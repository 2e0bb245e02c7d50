//! Numbers that threads change together.
//!
//! # Conventions
//!
//! - **Scope.** `Atomic*` agree with all threads of the device, `System*` with those of all devices
//!   and of the host, `Block*` with the block's only. An operation of a narrow scope beside one
//!   from outside of that scope is a data race, hence `Block*`'s methods are `unsafe`.
//! - **Orderings** are honoured, as PTX's `relaxed`, `acquire`, `release`, `acq_rel`, `fence.sc`.
//!   Give them as constants: a load with a release ordering, or a store with an acquire ordering,
//!   fails the build of the kernels (on the host it panics), and so does one that cannot be ruled
//!   out. Counting and summing need [`Ordering::Relaxed`].
//! - **Memory.** Global and shared. On a variable of one thread's own (local memory) PTX has no
//!   atomics: use none. Where LLVM sees what a pointer points at, an operation is one instruction
//!   (`red.global` when the result is not used, `atom.shared`). Else it asks at run time, and traps
//!   on local memory; but relaxed changes of integers in block and device scope (not
//!   `compare_exchange`) are then a generic `atom`, for which PTX does not define what happens
//!   there.
//! - **Numbers.** Integers wrap. A float sum has the order of arrival, so it differs from run to
//!   run in its last bits. A 32-bit float sum flushes subnormal numbers to zero in global memory,
//!   not in shared memory. `fetch_min` and `fetch_max` of a float ignore a NaN where the other is a
//!   number, and are loops around a compare-and-swap.
//! - **On the host** everything works, by `core::sync::atomic`, at system scope; `cuda_sim` checks
//!   scopes and orderings.
//!
//! [`core::sync::atomic`] is not a substitute on the device: it has no scopes. LLVM 22 writes its
//! read-modify-writes without one, which is device scope, so the host may not take part; and
//! without their orderings, which `cuda_builder` adds as fences.
//!
//! PTX ISA: memory consistency model; `atom`, `red`, `ld`, `st`, `fence`.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

use pastey::paste;

pub mod mid;

/// The least ordering that is at least as strong as both: a compare-and-swap has one, whether it
/// succeeds or fails.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn union(success: Ordering, failure: Ordering) -> Ordering {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    match (success, failure) {
        (SeqCst, _) | (_, SeqCst) => SeqCst,
        (AcqRel, _) | (_, AcqRel) | (Acquire, Release) | (Release, Acquire) => AcqRel,
        (Relaxed, order) => order,
        (order, _) => order,
    }
}

macro_rules! atomic {
    ($ty:ident, $width:literal, $scope:ident, $agree:literal,
     $atomic:ident $(, $unsafety:ident)?) => { paste! {
        #[doc = concat!("An `", stringify!($ty), "` on whose value ", $agree, " agree.")]
        ///
        #[doc = concat!("It lies in memory as an `", stringify!($ty), "` does.")]
        #[repr(transparent)]
        pub struct $atomic {
            value: UnsafeCell<$ty>,
        }

        // SAFETY: a shared reference reaches the value by atomic operations only.
        unsafe impl Sync for $atomic {}

        impl $atomic {
            /// Makes an atomic that holds `value`.
            pub const fn new(value: $ty) -> Self {
                Self { value: UnsafeCell::new(value) }
            }

            /// The value it holds at last.
            pub const fn into_inner(self) -> $ty {
                self.value.into_inner()
            }
        }

        fetch! { $atomic, $ty, $scope, ($($unsafety)?);
            fetch_add = add, "Adds `value`. Integers wrap.";
            fetch_sub = sub, "Subtracts `value`. Integers wrap.";
            fetch_min = min, "Leaves the smaller one of the two values.";
            fetch_max = max, "Leaves the greater one of the two values.";
            fetch_and = and, "Leaves the bitwise and of the two values, of a float's bits too.";
            fetch_or = or, "Leaves the bitwise or of the two values, of a float's bits too.";
            fetch_xor = xor, "Leaves the bitwise exclusive or, of a float's bits too.";
            swap = exch, "Leaves `value`.";
        }
        whole!($atomic, $ty, $width, $scope, ($($unsafety)?));
    } };
}

/// The methods that change the value; `$unsafety` is `()` or `(unsafe)`.
macro_rules! fetch {
    ($atomic:ident, $ty:ident, $scope:ident, $unsafety:tt;
     $($method:ident = $op:ident, $does:literal;)*) => {
        $(fetch! { @one $atomic, $ty, $scope, $unsafety, $method, $op, $does })*
    };
    (@one $atomic:ident, $ty:ident, $scope:ident, ($($unsafety:ident)?),
     $method:ident, $op:ident, $does:literal) => { paste! {
        impl $atomic {
            #[doc = concat!($does, " Gives the value before.")]
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub $($unsafety)? fn $method(&self, value: $ty, order: Ordering) -> $ty {
                // SAFETY: `&self` is a valid, aligned place, which others change atomically.
                unsafe { mid::[<atomic_fetch_ $op _ $ty _ $scope>](self.value.get(), order, value) }
            }
        }
    } };
}

/// The methods that treat the value as a whole.
macro_rules! whole {
    ($atomic:ident, $ty:ident, $width:literal, $scope:ident, ($($unsafety:ident)?)) => { paste! {
        impl $atomic {
            /// The value.
            ///
            /// # Panics
            ///
            /// On the host when `order` is `Release` or `AcqRel`; on the device that is refused by
            /// the build.
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[track_caller]
            pub $($unsafety)? fn load(&self, order: Ordering) -> $ty {
                // SAFETY: `&self` is a valid, aligned place, which others change atomically.
                let bits = unsafe {
                    mid::[<atomic_load_ $width _ $scope>](self.value.get().cast(), order)
                };
                from_bits!($ty, bits)
            }

            /// Replaces the value.
            ///
            /// # Panics
            ///
            /// On the host when `order` is `Acquire` or `AcqRel`; on the device that is refused by
            /// the build.
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[track_caller]
            pub $($unsafety)? fn store(&self, value: $ty, order: Ordering) {
                // SAFETY: `&self` is a valid, aligned place, which others change atomically.
                unsafe {
                    mid::[<atomic_store_ $width _ $scope>](
                        self.value.get().cast(), order, to_bits!($ty, value))
                }
            }

            /// Replaces the value by `new` if it is `current`, bit for bit. `Ok` of the value
            /// before when it was, `Err` of the value found when it was not. Never fails without
            /// reason. The orderings may be any; both are honoured on either outcome.
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub $($unsafety)? fn compare_exchange(
                &self,
                current: $ty,
                new: $ty,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$ty, $ty> {
                let order = union(success, failure);
                // SAFETY: `&self` is a valid, aligned place, which others change atomically.
                let previous = unsafe {
                    mid::[<atomic_compare_and_swap_ $ty _ $scope>](
                        self.value.get(), current, new, order)
                };
                if to_bits!($ty, previous) == to_bits!($ty, current) {
                    Ok(previous)
                } else {
                    Err(previous)
                }
            }
        }
    } };
}

macro_rules! safety {
    (unsafe) => {
        "\n# Safety\n\nWhile threads of several blocks can reach this value, none changes it."
    };
}

macro_rules! to_bits {
    (f32, $value:expr) => {
        $value.to_bits()
    };
    (f64, $value:expr) => {
        $value.to_bits()
    };
    (u32, $value:expr) => {
        $value
    };
    (u64, $value:expr) => {
        $value
    };
    (i32, $value:expr) => {
        $value as u32
    };
    (i64, $value:expr) => {
        $value as u64
    };
}

macro_rules! from_bits {
    (f32, $bits:expr) => {
        f32::from_bits($bits)
    };
    (f64, $bits:expr) => {
        f64::from_bits($bits)
    };
    ($ty:ident, $bits:expr) => {
        $bits as $ty
    };
}

macro_rules! every_scope {
    ($($ty:ident, $width:literal, $name:ident;)*) => { paste! { $(
        atomic!($ty, $width, device, "all threads of the device", [<Atomic $name>]);
        atomic!($ty, $width, block, "the threads of a block", [<BlockAtomic $name>], unsafe);
        atomic!($ty, $width, system, "all devices and the host", [<SystemAtomic $name>]);
    )* } };
}

every_scope! {
    i32, 32, I32;
    u32, 32, U32;
    i64, 64, I64;
    u64, 64, U64;
    f32, 32, F32;
    f64, 64, F64;
}

#[cfg(test)]
mod tests;
