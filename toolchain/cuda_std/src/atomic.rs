//! Atomic integers and floats.
//!
//! # Conventions
//!
//! - **Scope.** `Atomic*` are atomic for all threads of the device, `System*` for all devices and the host,
//!   `Block*` only for threads of the same block. Mixing an operation of narrow scope with one from outside
//!   that scope is a data race; therefore the methods of `Block*` are `unsafe`.
//! - **Orderings** map to PTX's `relaxed`, `acquire`, `release`, `acq_rel` and `fence.sc`. Pass them as
//!   constants. A load with a release ordering or a store with an acquire ordering fails the build of the
//!   kernels (on the host it panics). So does an ordering for which the compiler cannot exclude that.
//!   Counters and sums need only [`Ordering::Relaxed`].
//! - **Memory.** Global and shared memory. PTX has no atomics for local memory, a thread's own variables. If
//!   LLVM sees the pointer's address space, an operation is one instruction (`red.global` if the result is
//!   unused, `atom.shared`). Otherwise the address space is tested at run time, and local memory traps.
//!   Relaxed read-modify-writes of integers in block and device scope, except `compare_exchange`, are then a
//!   generic `atom`; PTX does not define its effect on local memory.
//! - **Numbers.** Integers wrap. Float sums are added in order of arrival, so their last bits differ from run
//!   to run. A 32-bit float sum flushes subnormal numbers to zero in global memory, but not in shared memory.
//!   `fetch_min` and `fetch_max` of floats ignore a NaN if the other operand is a number; they are loops
//!   around a compare-and-swap.
//! - **On the host** all operations use `core::sync::atomic`, at system scope; `cuda_sim` checks scopes and
//!   orderings.
//!
//! [`core::sync::atomic`] is no substitute on the device, because it has no scopes. LLVM 22 emits its
//! read-modify-writes without a scope, which means device scope, so the host must not take part. It also
//! omits their orderings, which `cuda_builder` adds as fences.
//!
//! PTX ISA: memory consistency model; `atom`, `red`, `ld`, `st`, `fence`.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

use pastey::paste;

pub mod mid;

/// The weakest ordering that is at least as strong as both: a compare-and-swap has a single ordering for
/// success and failure.
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
        #[doc = concat!("An `", stringify!($ty), "` that is atomic for ", $agree, ".")]
        ///
        #[doc = concat!("It has the memory layout of `", stringify!($ty), "`.")]
        #[repr(transparent)]
        pub struct $atomic {
            value: UnsafeCell<$ty>,
        }

        // SAFETY: a shared reference accesses the value only by atomic operations.
        unsafe impl Sync for $atomic {}

        impl $atomic {
            /// Creates an atomic with the value `value`.
            pub const fn new(value: $ty) -> Self {
                Self { value: UnsafeCell::new(value) }
            }

            /// Returns the value.
            pub const fn into_inner(self) -> $ty {
                self.value.into_inner()
            }
        }

        fetch! { $atomic, $ty, $scope, ($($unsafety)?);
            fetch_add = add, "Adds `value`. Integers wrap.";
            fetch_sub = sub, "Subtracts `value`. Integers wrap.";
            fetch_min = min, "Stores the smaller of the two values.";
            fetch_max = max, "Stores the greater of the two values.";
            fetch_and = and, "Stores the bitwise and of the two values; for floats, of their bits.";
            fetch_or = or, "Stores the bitwise or of the two values; for floats, of their bits.";
            fetch_xor = xor, "Stores the bitwise exclusive or of the two values; for floats, of their bits.";
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
            #[doc = concat!($does, " Returns the previous value.")]
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub $($unsafety)? fn $method(&self, value: $ty, order: Ordering) -> $ty {
                // SAFETY: `&self` is valid and aligned, and its value is only changed atomically.
                unsafe { mid::[<atomic_fetch_ $op _ $ty _ $scope>](self.value.get(), order, value) }
            }
        }
    } };
}

/// Load, store and compare-and-swap.
macro_rules! whole {
    ($atomic:ident, $ty:ident, $width:literal, $scope:ident, ($($unsafety:ident)?)) => { paste! {
        impl $atomic {
            /// Loads the value.
            ///
            /// # Panics
            ///
            /// On the host if `order` is `Release` or `AcqRel`; on the device the build fails.
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[track_caller]
            pub $($unsafety)? fn load(&self, order: Ordering) -> $ty {
                // SAFETY: `&self` is valid and aligned, and its value is only changed atomically.
                let bits = unsafe {
                    mid::[<atomic_load_ $width _ $scope>](self.value.get().cast(), order)
                };
                from_bits!($ty, bits)
            }

            /// Stores a value.
            ///
            /// # Panics
            ///
            /// On the host if `order` is `Acquire` or `AcqRel`; on the device the build fails.
            $(#[doc = safety!($unsafety)])?
            #[inline(always)]
            #[track_caller]
            pub $($unsafety)? fn store(&self, value: $ty, order: Ordering) {
                // SAFETY: `&self` is valid and aligned, and its value is only changed atomically.
                unsafe {
                    mid::[<atomic_store_ $width _ $scope>](
                        self.value.get().cast(), order, to_bits!($ty, value))
                }
            }

            /// Stores `new` if the value equals `current`, bit for bit.
            ///
            /// Returns `Ok` with the previous value on success, and `Err` with the value found on failure. It
            /// never fails spuriously. All orderings are allowed, and the stronger one applies to both
            /// outcomes.
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
                // SAFETY: `&self` is valid and aligned, and its value is only changed atomically.
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
        "\n# Safety\n\nNo thread changes this value while threads of several blocks can access it."
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
