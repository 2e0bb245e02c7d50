//! `atom`, `ld`, `st` and `fence` with scope and semantics, one module per scope.
//!
//! Generic addresses are avoided: a generic `atom` becomes a loop around a compare-and-swap for floats, and
//! cannot become `red`. So each access tests the address space of its pointer. If LLVM sees the pointer's
//! origin (a kernel parameter, a static, shared memory), it evaluates the test and removes the other branch.
//! Otherwise `isspacep` tests at run time, and other memory traps. The exception is a relaxed
//! read-modify-write of an integer in block or device scope. It is LLVM's own operation (see `relaxed!`), and
//! generic if LLVM does not see the origin.
//!
//! PTX ISA, memory consistency model; `atom`, `ld`, `st`, `fence`. `SeqCst` is `fence.sc` before the access,
//! which is then an acquire (relaxed for stores).

use core::arch::asm;
use core::sync::atomic::Ordering;

use pastey::paste;

use super::{is_global, is_shared, trap};

/// Calls that must not survive optimisation: `cuda_builder` rejects a module that contains one.
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

/// Emits an access for the address space of `$ptr`. PTX has no atomic accesses to local and constant memory,
/// so other pointers trap.
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

/// Emits `{instruction}`, with `%address` as the address in `$space`.
macro_rules! access {
    ($space:literal, $ptr:expr, $instruction:expr, $($operands:tt)*) => {
        // SAFETY: by the contract of the enclosing function, the pointer is valid for the access.
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
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $op:expr, $class:ident,
     $value:expr) => {{
        let previous;
        access!(
            $space,
            $ptr,
            concat!(
                "atom.", $sem, ".", $scope, ".", $space, ".", $op,
                " {previous}, [%address], {value};"
            ),
            previous = out($class) previous,
            value = in($class) $value,
        );
        previous
    }};
}

macro_rules! cas {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $bits:literal, $class:ident,
     $current:expr, $new:expr) => {{
        let previous;
        access!(
            $space,
            $ptr,
            concat!(
                "atom.", $sem, ".", $scope, ".", $space, ".cas.", $bits,
                " {previous}, [%address], {current}, {new};"
            ),
            previous = out($class) previous,
            current = in($class) $current,
            new = in($class) $new,
        );
        previous
    }};
}

macro_rules! ld {
    ($space:literal, $ptr:expr, $sem:literal, $scope:expr, $bits:literal, $class:ident) => {{
        let value;
        access!(
            $space,
            $ptr,
            concat!("ld.", $sem, ".", $scope, ".", $space, ".", $bits, " {value}, [%address];"),
            value = out($class) value,
        );
        value
    }};
}

macro_rules! st {
    ($space:literal, $ptr:expr, $sem:literal, $scope:literal, $bits:literal, $class:ident,
     $value:expr) => {
        access!(
            $space,
            $ptr,
            concat!("st.", $sem, ".", $scope, ".", $space, ".", $bits, " [%address], {value};"),
            value = in($class) $value,
        )
    };
}

/// The semantics of a read-modify-write, which supports every ordering.
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
    ($scope:tt, $ty:ident, $class:ident: $($op:ident = $ptx:expr;)*) => { paste! { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[inline(always)]
        pub unsafe fn [<$op _ $ty>](ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            relaxed!($scope, $op, $ty, order, ptr, value);
            semantics!(order, ptr, atom!($scope, $ptx, $class, value))
        }
    )* } };
}

/// Returns LLVM's own read-modify-write if it is equivalent: relaxed, on an integer, in device scope (which
/// includes block scope), and available in `core`. LLVM passes it addresses in shared memory directly.
/// Assembly gets the generic address and converts it back; if ptxas combines the values of the lanes first,
/// instructions of the conversion remain.
macro_rules! relaxed {
    ("sys", $($rest:tt)*) => {};
    ($scope:tt, $op:ident, f32, $($rest:tt)*) => {};
    ($scope:tt, $op:ident, f64, $($rest:tt)*) => {};
    ($scope:tt, exch, $($rest:tt)*) => { relaxed!(@swap, $($rest)*) };
    ($scope:tt, inc, $($rest:tt)*) => {};
    ($scope:tt, $op:ident, $($rest:tt)*) => { paste! { relaxed!(@[<fetch_ $op>], $($rest)*) } };
    (@$method:ident, $ty:ident, $order:expr, $ptr:expr, $value:expr) => { paste! {
        if let Ordering::Relaxed = $order {
            // SAFETY: by the contract of the enclosing function, the pointer is valid for the access.
            let cell = unsafe { core::sync::atomic::[<Atomic $ty:upper>]::from_ptr($ptr) };
            return cell.$method($value, Ordering::Relaxed);
        }
    } };
}

/// The operations of all types; `$sum` is the type's name in `atom.add`.
macro_rules! number {
    ($scope:tt, $ty:ident, $class:ident, $sum:literal, $bits:literal) => { paste! {
        read_modify_write! { $scope, $ty, $class:
            add = concat!("add.", $sum);
            and = concat!("and.", $bits);
            or = concat!("or.", $bits);
            xor = concat!("xor.", $bits);
            exch = concat!("exch.", $bits);
        }

        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[inline(always)]
        pub unsafe fn [<cas_ $ty>](ptr: *mut $ty, order: Ordering, current: $ty, new: $ty) -> $ty {
            semantics!(order, ptr, cas!($scope, $bits, $class, current, new))
        }
    } };
}

macro_rules! integer {
    ($scope:tt, $ty:ident, $class:ident, $order:literal, $sum:literal, $bits:literal) => {
        number!($scope, $ty, $class, $sum, $bits);
        read_modify_write! { $scope, $ty, $class:
            min = concat!("min.", $order);
            max = concat!("max.", $order);
        }
    };
}

/// The scope of a load's instruction: the requested one, except that 64-bit loads in block scope are loaded
/// in device scope.
///
/// For sm_90, ptxas (13.5, and the driver's for CUDA 13.0) assumes that a warp loads the same value from one
/// address, also atomically. It keeps loop counters that depend on the value in uniform registers. But the
/// two halves of a warp can get different values from one 64-bit load in block scope, if another warp stores
/// at the same time. They then diverge and count each other's iterations, and the loop never ends. Device
/// scope has not shown this.
///
/// Evidence: the conformance suite's `coherence/global/block/i64` on an H200, 2026-11-20.
macro_rules! load_scope {
    ("cta", "b64") => {
        "gpu"
    };
    ($scope:tt, $bits:tt) => {
        $scope
    };
}

/// `load` and `store`; a load may have a wider scope than requested.
macro_rules! load_store {
    ($scope:tt, $load:ident, $store:ident, $ty:ty, $class:ident, $bits:tt) => {
        /// # Safety
        ///
        /// `ptr` is valid for reads and aligned to its size.
        #[inline(always)]
        pub unsafe fn $load(ptr: *mut $ty, order: Ordering) -> $ty {
            match order {
                Ordering::Relaxed => {
                    in_space!(
                        ptr,
                        ld!("relaxed", load_scope!($scope, $bits), $bits, $class)
                    )
                }
                Ordering::Acquire => {
                    in_space!(
                        ptr,
                        ld!("acquire", load_scope!($scope, $bits), $bits, $class)
                    )
                }
                Ordering::SeqCst => {
                    fence_seq_cst();
                    in_space!(
                        ptr,
                        ld!("acquire", load_scope!($scope, $bits), $bits, $class)
                    )
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
                Ordering::Relaxed => in_space!(ptr, st!("relaxed", $scope, $bits, $class, value)),
                Ordering::Release => in_space!(ptr, st!("release", $scope, $bits, $class, value)),
                Ordering::SeqCst => {
                    fence_seq_cst();
                    in_space!(ptr, st!("relaxed", $scope, $bits, $class, value))
                }
                Ordering::Acquire | Ordering::AcqRel => refused::store(),
                _ => refused::unknown(),
            }
        }
    };
}

macro_rules! fence {
    ($semantics:literal, $scope:literal) => {
        // SAFETY: a fence has no operands.
        unsafe {
            asm!(
                concat!("fence.", $semantics, ".", $scope, ";"),
                options(nostack, preserves_flags)
            )
        }
    };
}

macro_rules! scope {
    ($module:ident, $scope:tt) => {
        pub(crate) mod $module {
            use super::*;

            #[inline(always)]
            fn fence_seq_cst() {
                fence!("sc", $scope)
            }

            #[inline(always)]
            pub fn fence(order: Ordering) {
                match order {
                    Ordering::Relaxed => {}
                    Ordering::Acquire | Ordering::Release | Ordering::AcqRel => {
                        fence!("acq_rel", $scope)
                    }
                    Ordering::SeqCst => fence_seq_cst(),
                    _ => refused::unknown(),
                }
            }

            integer!($scope, i32, reg32, "s32", "u32", "b32");
            integer!($scope, u32, reg32, "u32", "u32", "b32");
            integer!($scope, i64, reg64, "s64", "u64", "b64");
            integer!($scope, u64, reg64, "u64", "u64", "b64");
            read_modify_write! { $scope, u32, reg32: inc = "inc.u32"; }
            number!($scope, f32, reg32, "f32", "b32");
            number!($scope, f64, reg64, "f64", "b64");
            load_store!($scope, load_32, store_32, u32, reg32, "b32");
            load_store!($scope, load_64, store_64, u64, reg64, "b64");
        }
    };
}

scope!(block, "cta");
scope!(device, "gpu");
scope!(system, "sys");
