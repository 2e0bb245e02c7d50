//! Atomics by `core::sync::atomic`, which knows one scope only: the system.

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The ordering of a compare-and-swap that fails: `order` without its release half.
fn on_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

macro_rules! fetch {
    ($($name:ident($ty:ty as $atomic:ty, $fetch:ident);)*) => { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        pub unsafe fn $name(ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            // SAFETY: the caller's promise is `from_ptr`'s.
            unsafe { <$atomic>::from_ptr(ptr) }.$fetch(value, order)
        }
    )* };
}

macro_rules! fetch_float {
    ($($name:ident($ty:ty as $atomic:ty);)*) => { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        pub unsafe fn $name(ptr: *mut $ty, order: Ordering, value: $ty) -> $ty {
            // SAFETY: the caller's promise is `from_ptr`'s; the integer has the float's layout.
            let atomic = unsafe { <$atomic>::from_ptr(ptr.cast()) };
            let mut bits = atomic.load(Ordering::Relaxed);
            loop {
                let sum = (<$ty>::from_bits(bits) + value).to_bits();
                match atomic.compare_exchange_weak(bits, sum, order, on_failure(order)) {
                    Ok(bits) => return <$ty>::from_bits(bits),
                    Err(seen) => bits = seen,
                }
            }
        }
    )* };
}

macro_rules! whole_words {
    ($(($ty:ty as $atomic:ty) $cas:ident $load:ident $store:ident;)*) => { $(
        /// # Safety
        ///
        /// `ptr` is valid for reads and writes and aligned to its size.
        pub unsafe fn $cas(ptr: *mut $ty, order: Ordering, current: $ty, new: $ty) -> $ty {
            // SAFETY: the caller's promise is `from_ptr`'s.
            let atomic = unsafe { <$atomic>::from_ptr(ptr) };
            match atomic.compare_exchange(current, new, order, on_failure(order)) {
                Ok(previous) | Err(previous) => previous,
            }
        }

        /// # Safety
        ///
        /// `ptr` is valid for reads and aligned to its size.
        #[track_caller]
        pub unsafe fn $load(ptr: *mut $ty, order: Ordering) -> $ty {
            // SAFETY: the caller's promise is `from_ptr`'s.
            unsafe { <$atomic>::from_ptr(ptr) }.load(order)
        }

        /// # Safety
        ///
        /// `ptr` is valid for writes and aligned to its size.
        #[track_caller]
        pub unsafe fn $store(ptr: *mut $ty, order: Ordering, value: $ty) {
            // SAFETY: the caller's promise is `from_ptr`'s.
            unsafe { <$atomic>::from_ptr(ptr) }.store(value, order)
        }
    )* };
}

pub(crate) mod system {
    use super::*;

    pub fn fence(order: Ordering) {
        if order != Ordering::Relaxed {
            core::sync::atomic::fence(order);
        }
    }

    fetch! {
        add_u32(u32 as AtomicU32, fetch_add);
        add_u64(u64 as AtomicU64, fetch_add);
        min_i32(i32 as AtomicI32, fetch_min);
        min_u32(u32 as AtomicU32, fetch_min);
        min_i64(i64 as AtomicI64, fetch_min);
        min_u64(u64 as AtomicU64, fetch_min);
        max_i32(i32 as AtomicI32, fetch_max);
        max_u32(u32 as AtomicU32, fetch_max);
        max_i64(i64 as AtomicI64, fetch_max);
        max_u64(u64 as AtomicU64, fetch_max);
        and_32(u32 as AtomicU32, fetch_and);
        and_64(u64 as AtomicU64, fetch_and);
        or_32(u32 as AtomicU32, fetch_or);
        or_64(u64 as AtomicU64, fetch_or);
        xor_32(u32 as AtomicU32, fetch_xor);
        xor_64(u64 as AtomicU64, fetch_xor);
        exch_32(u32 as AtomicU32, swap);
        exch_64(u64 as AtomicU64, swap);
    }

    fetch_float! {
        add_f32(f32 as AtomicU32);
        add_f64(f64 as AtomicU64);
    }

    whole_words! {
        (u32 as AtomicU32) cas_32 load_32 store_32;
        (u64 as AtomicU64) cas_64 load_64 store_64;
    }
}

pub(crate) use system as block;
pub(crate) use system as device;
