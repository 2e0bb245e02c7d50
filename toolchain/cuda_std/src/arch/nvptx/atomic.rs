//! `atom`, `ld`, `st` and `fence` with scope and semantics, one module per scope.
//!
//! Never on a generic address: an `atom` there becomes a loop around a compare-and-swap for floats,
//! and cannot become `red`. So each access asks where its pointer points. LLVM answers at compile
//! time when it sees the origin of the pointer (a kernel parameter, a static, shared memory) and
//! drops the other branch; else `isspacep` answers at run time.
//!
//! PTX ISA, memory consistency model; `atom`, `ld`, `st`, `fence`. `SeqCst` is `fence.sc` before
//! the access, which is then an acquire (a relaxed one for stores).

use core::arch::asm;
use core::sync::atomic::Ordering;

use super::{is_global, is_shared, trap};

/// Calls that must not survive optimisation: `cuda_builder` refuses a module that has one left.
mod refused {
    unsafe extern "C" {
        safe fn __cuda_std_refused_atomic_load_with_release_ordering() -> !;
        safe fn __cuda_std_refused_atomic_store_with_acquire_ordering() -> !;
        safe fn __cuda_std_refused_atomic_with_unknown_ordering() -> !;
    }

    #[inline(always)]
    pub fn load() -> ! {
        __cuda_std_refused_atomic_load_with_release_ordering()
    }

    #[inline(always)]
    pub fn store() -> ! {
        __cuda_std_refused_atomic_store_with_acquire_ordering()
    }

    #[inline(always)]
    pub fn unknown() -> ! {
        __cuda_std_refused_atomic_with_unknown_ordering()
    }
}

/// Emits an access for the address space of `$ptr`. A thread's local memory and constants take no
/// atomic access, so a pointer to neither global nor shared memory traps.
macro_rules! in_space {
    ($ptr:expr, $access:ident!($($rest:tt)*)) => {
        if is_shared($ptr.cast()) {
            $access!("shared", $ptr, $($rest)*)
        } else if is_global($ptr.cast()) {
            $access!("global", $ptr, $($rest)*)
        } else {
            trap()
        }
    };
}

/// `{instruction}` with `%address` as its address in `$space`.
macro_rules! access {
    ($space:literal, $ptr:expr, $instruction:expr, $($operands:tt)*) => {
        // SAFETY: the caller of the enclosing function promises a pointer valid for the access.
        unsafe {
            asm!(
                concat!(
                    "{{ .reg .b64 %address; cvta.to.", $space, ".u64 %address, {ptr}; ",
                    $instruction, " }}"
                ),
                ptr = in(reg64) $ptr,
                $($operands)*
                options(nostack, preserves_flags)
            )
        }
    };
}

macro_rules! atom {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $op:literal, $class:ident, $value:expr) => {{
        let previous;
        access!($space, $ptr,
            concat!("atom.", $sem, ".", $scope, ".", $space, ".", $op, " {previous}, [%address], {value};"),
            previous = out($class) previous, value = in($class) $value,);
        previous
    }};
}

macro_rules! cas {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $op:literal, $class:ident, $current:expr, $new:expr) => {{
        let previous;
        access!($space, $ptr,
            concat!("atom.", $sem, ".", $scope, ".", $space, ".", $op,
                " {previous}, [%address], {current}, {new};"),
            previous = out($class) previous, current = in($class) $current, new = in($class) $new,);
        previous
    }};
}

macro_rules! ld {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $ty:literal, $class:ident) => {{
        let value;
        access!($space, $ptr,
            concat!("ld.", $sem, ".", $scope, ".", $space, ".", $ty, " {value}, [%address];"),
            value = out($class) value,);
        value
    }};
}

macro_rules! st {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $ty:literal, $class:ident, $value:expr) => {
        access!($space, $ptr,
            concat!("st.", $sem, ".", $scope, ".", $space, ".", $ty, " [%address], {value};"),
            value = in($class) $value,)
    };
}

/// The semantics of a read-modify-write, which every ordering has.
macro_rules! semantics {
    ($order:expr, $ptr:expr, $instruction:ident!($($rest:tt)*)) => {
        match $order {
            Ordering::Relaxed => in_space!($ptr, $instruction!("relaxed", $($rest)*)),
            Ordering::Acquire => in_space!($ptr, $instruction!("acquire", $($rest)*)),
            Ordering::Release => in_space!($ptr, $instruction!("release", $($rest)*)),
            Ordering::AcqRel => in_space!($ptr, $instruction!("acq_rel", $($rest)*)),
            Ordering::SeqCst => {
                fence_seq_cst();
                in_space!($ptr, $instruction!("acquire", $($rest)*))
            }
            _ => refused::unknown(),
        }
    };
}

macro_rules! read_modify_write {
    ($scope:literal: $($name:ident($ty:ty, $class:ident, $op:literal);)*) => { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[inline(always)]
        pub unsafe fn $name(ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            semantics!(order, ptr, atom!($scope, $op, $class, value))
        }
    )* };
}

macro_rules! whole_words {
    ($scope:literal: $(($ty:ty, $class:ident, $b:literal, $cas_op:literal) $cas:ident $load:ident $store:ident;)*) => { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[inline(always)]
        pub unsafe fn $cas(ptr: *mut $ty, order: Ordering, current: $ty, new: $ty) -> $ty {
            semantics!(order, ptr, cas!($scope, $cas_op, $class, current, new))
        }

        /// # Safety
        ///
        /// `ptr` is valid for reads and aligned to its size.
        #[inline(always)]
        pub unsafe fn $load(ptr: *mut $ty, order: Ordering) -> $ty {
            match order {
                Ordering::Relaxed => in_space!(ptr, ld!("relaxed", $scope, $b, $class)),
                Ordering::Acquire => in_space!(ptr, ld!("acquire", $scope, $b, $class)),
                Ordering::SeqCst => {
                    fence_seq_cst();
                    in_space!(ptr, ld!("acquire", $scope, $b, $class))
                }
                Ordering::Release | Ordering::AcqRel => refused::load(),
                _ => refused::unknown(),
            }
        }

        /// # Safety
        ///
        /// `ptr` is valid for writes and aligned to its size.
        #[inline(always)]
        pub unsafe fn $store(ptr: *mut $ty, order: Ordering, value: $ty) {
            match order {
                Ordering::Relaxed => in_space!(ptr, st!("relaxed", $scope, $b, $class, value)),
                Ordering::Release => in_space!(ptr, st!("release", $scope, $b, $class, value)),
                Ordering::SeqCst => {
                    fence_seq_cst();
                    in_space!(ptr, st!("relaxed", $scope, $b, $class, value))
                }
                Ordering::Acquire | Ordering::AcqRel => refused::store(),
                _ => refused::unknown(),
            }
        }
    )* };
}

macro_rules! scopes {
    ($($module:ident = $scope:literal;)*) => { $(
        pub(crate) mod $module {
            use super::*;

            #[inline(always)]
            fn fence_seq_cst() {
                // SAFETY: a fence has no operands.
                unsafe { asm!(concat!("fence.sc.", $scope, ";"), options(nostack, preserves_flags)) }
            }

            #[inline(always)]
            pub fn fence(order: Ordering) {
                match order {
                    Ordering::Relaxed => {}
                    // SAFETY: a fence has no operands.
                    Ordering::Acquire | Ordering::Release | Ordering::AcqRel => unsafe {
                        asm!(concat!("fence.acq_rel.", $scope, ";"), options(nostack, preserves_flags))
                    },
                    Ordering::SeqCst => fence_seq_cst(),
                    _ => refused::unknown(),
                }
            }

            read_modify_write! { $scope:
                add_u32(u32, reg32, "add.u32");
                add_u64(u64, reg64, "add.u64");
                add_f32(f32, reg32, "add.f32");
                add_f64(f64, reg64, "add.f64");
                min_i32(i32, reg32, "min.s32");
                min_u32(u32, reg32, "min.u32");
                min_i64(i64, reg64, "min.s64");
                min_u64(u64, reg64, "min.u64");
                max_i32(i32, reg32, "max.s32");
                max_u32(u32, reg32, "max.u32");
                max_i64(i64, reg64, "max.s64");
                max_u64(u64, reg64, "max.u64");
                and_32(u32, reg32, "and.b32");
                and_64(u64, reg64, "and.b64");
                or_32(u32, reg32, "or.b32");
                or_64(u64, reg64, "or.b64");
                xor_32(u32, reg32, "xor.b32");
                xor_64(u64, reg64, "xor.b64");
                exch_32(u32, reg32, "exch.b32");
                exch_64(u64, reg64, "exch.b64");
            }

            whole_words! { $scope:
                (u32, reg32, "b32", "cas.b32") cas_32 load_32 store_32;
                (u64, reg64, "b64", "cas.b64") cas_64 load_64 store_64;
            }
        }
    )* };
}

scopes! {
    block = "cta";
    device = "gpu";
    system = "sys";
}
