//! `cuda_std`'s `atomic_fetch_inc_u32_*`, which are not methods of a type.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use super::{Block, Device, Operate, SUCCESS, System, ordering};
use cuda_std::atomic::mid::{
    atomic_fetch_inc_u32_block, atomic_fetch_inc_u32_device, atomic_fetch_inc_u32_system,
};

/// A number whose only operation is an increment with wrap-around at the operand.
#[repr(transparent)]
pub struct Increments<S>(UnsafeCell<u32>, PhantomData<S>);

macro_rules! increments {
    ($($scope:ident: $fetch_inc:ident;)*) => {
        $(
            impl Operate for Increments<$scope> {
                type Value = u32;

                #[inline(always)]
                unsafe fn operate(&self, _operation: u64, ordering: u64, most: u32) -> (u32, u64) {
                    let place = self.0.get();
                    // SAFETY: the place is that of `self`; the caller promises that the scope covers all
                    // users.
                    let old = unsafe {
                        match ordering {
                            ordering::RELAXED => $fetch_inc(place, Ordering::Relaxed, most),
                            ordering::ACQUIRE => $fetch_inc(place, Ordering::Acquire, most),
                            ordering::RELEASE => $fetch_inc(place, Ordering::Release, most),
                            ordering::ACQ_REL => $fetch_inc(place, Ordering::AcqRel, most),
                            _ => $fetch_inc(place, Ordering::SeqCst, most),
                        }
                    };
                    (old, SUCCESS)
                }
            }
        )*
    };
}

increments! {
    Block: atomic_fetch_inc_u32_block;
    Device: atomic_fetch_inc_u32_device;
    System: atomic_fetch_inc_u32_system;
}
