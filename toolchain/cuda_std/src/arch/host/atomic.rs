//! Atomics by `core::sync::atomic`, which has only system scope. The kernel's scope is used by the
//! simulator's checks.

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::device as simulator;
use super::device::Scope;
use pastey::paste;

/// The failure ordering of a compare-and-swap: `order` without its release part.
fn on_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

macro_rules! fetch {
    ($ty:ident, $atomic:ident: $($op:ident = $method:ident;)*) => { paste! { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[track_caller]
        pub unsafe fn [<$op _ $ty>](ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            before(ptr, order, true);
            // SAFETY: the caller's contract is that of `from_ptr`.
            let cell = unsafe { $atomic::from_ptr(ptr) };
            let old = cell.$method(value, order);
            simulator::after_atomic(ptr.addr(), old != cell.load(Ordering::Relaxed));
            old
        }
    )* } };
}

macro_rules! integer {
    ($ty:ident, $atomic:ident) => { paste! {
        fetch! { $ty, $atomic:
            add = fetch_add;
            min = fetch_min;
            max = fetch_max;
            and = fetch_and;
            or = fetch_or;
            xor = fetch_xor;
            exch = swap;
        }

        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[track_caller]
        pub unsafe fn [<cas_ $ty>](ptr: *mut $ty, order: Ordering, current: $ty, new: $ty) -> $ty {
            // SAFETY: the caller's contract is that of `from_ptr`.
            let cell = unsafe { $atomic::from_ptr(ptr) };
            // A failed compare-and-swap only reads.
            before(ptr, order, cell.load(Ordering::Relaxed) == current);
            let result = cell.compare_exchange(current, new, order, on_failure(order));
            simulator::after_atomic(ptr.addr(), result.is_ok() && current != new);
            match result {
                Ok(previous) | Err(previous) => previous,
            }
        }
    } };
}

/// A float operation that equals `$bits`'s operation on the bits.
macro_rules! by_bits {
    ($ty:ident, $bits:ident: $($op:ident)*) => { paste! { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[track_caller]
        pub unsafe fn [<$op _ $ty>](ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            // SAFETY: the caller's contract; the integer has the float's layout.
            $ty::from_bits(unsafe { [<$op _ $bits>](ptr.cast(), order, value.to_bits()) })
        }
    )* } };
}

macro_rules! float {
    ($ty:ident, $bits:ident) => { paste! {
        by_bits! { $ty, $bits: and or xor exch }

        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[track_caller]
        pub unsafe fn [<cas_ $ty>](ptr: *mut $ty, order: Ordering, current: $ty, new: $ty) -> $ty {
            let (current, new) = (current.to_bits(), new.to_bits());
            // SAFETY: the caller's contract; the integer has the float's layout.
            $ty::from_bits(unsafe { [<cas_ $bits>](ptr.cast(), order, current, new) })
        }

        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        #[track_caller]
        pub unsafe fn [<add_ $ty>](ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            before(ptr, order, true);
            // SAFETY: the caller's contract; the integer has the float's layout.
            let cell = unsafe { [<Atomic $bits:upper>]::from_ptr(ptr.cast()) };
            let mut bits = cell.load(Ordering::Relaxed);
            loop {
                let sum = ($ty::from_bits(bits) + value).to_bits();
                match cell.compare_exchange_weak(bits, sum, order, on_failure(order)) {
                    Ok(_) => {
                        simulator::after_atomic(ptr.addr(), bits != sum);
                        return $ty::from_bits(bits);
                    }
                    Err(seen) => bits = seen,
                }
            }
        }
    } };
}

macro_rules! load_store {
    ($load:ident, $store:ident, $ty:ident, $atomic:ident) => {
        /// # Safety
        ///
        /// `ptr` is valid for reads and aligned to its size.
        #[track_caller]
        pub unsafe fn $load(ptr: *mut $ty, order: Ordering) -> $ty {
            before(ptr, order, false);
            // SAFETY: the caller's contract is that of `from_ptr`.
            let value = unsafe { $atomic::from_ptr(ptr) }.load(order);
            simulator::after_atomic(ptr.addr(), false);
            value
        }

        /// # Safety
        ///
        /// `ptr` is valid for writes and aligned to its size.
        #[track_caller]
        pub unsafe fn $store(ptr: *mut $ty, order: Ordering, value: $ty) {
            let size = size_of::<$ty>();
            simulator::before_atomic(ptr.addr(), size, SCOPE, order, false, true);
            // SAFETY: the caller's contract is that of `from_ptr`.
            unsafe { $atomic::from_ptr(ptr) }.store(value, order);
            simulator::after_atomic(ptr.addr(), true);
        }
    };
}

macro_rules! scopes {
    ($($module:ident = $scope:ident;)*) => { $(
        pub(crate) mod $module {
            use super::*;

            const SCOPE: Scope = Scope::$scope;

            #[track_caller]
            pub fn fence(order: Ordering) {
                if order != Ordering::Relaxed {
                    core::sync::atomic::fence(order);
                    simulator::thread_fence(SCOPE);
                }
            }

            /// Called before an operation that reads, and possibly writes.
            #[track_caller]
            fn before<T>(ptr: *mut T, order: Ordering, writes: bool) {
                simulator::before_atomic(ptr.addr(), size_of::<T>(), SCOPE, order, true, writes);
            }

            integer!(i32, AtomicI32);
            integer!(u32, AtomicU32);

            /// # Safety
            ///
            /// `ptr` is valid for reads and writes and aligned to its size.
            #[track_caller]
            pub unsafe fn inc_u32(ptr: *mut u32, order: Ordering, most: u32) -> u32 {
                before(ptr, order, true);
                // SAFETY: the caller's contract is that of `from_ptr`.
                let cell = unsafe { AtomicU32::from_ptr(ptr) };
                let next = |old: u32| if old >= most { 0 } else { old + 1 };
                let mut old = cell.load(Ordering::Relaxed);
                loop {
                    match cell.compare_exchange_weak(old, next(old), order, on_failure(order)) {
                        Ok(_) => {
                            simulator::after_atomic(ptr.addr(), old != next(old));
                            return old;
                        }
                        Err(seen) => old = seen,
                    }
                }
            }

            integer!(i64, AtomicI64);
            integer!(u64, AtomicU64);
            float!(f32, u32);
            float!(f64, u64);
            load_store!(load_32, store_32, u32, AtomicU32);
            load_store!(load_64, store_64, u64, AtomicU64);
        }
    )* };
}

scopes! {
    block = Block;
    device = Device;
    system = System;
}
