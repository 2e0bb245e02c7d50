//! Atomic accesses to words of handles: compare-and-swap, and the loads and stores beside it. All of them are relaxed:
//! they do not order other accesses.

use super::trace::{self, Access};
use super::{Global, Shared};
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::{
    atomic_compare_and_swap_u32_device, atomic_compare_and_swap_u64_block,
    atomic_compare_and_swap_u64_device, atomic_fetch_add_u32_device, atomic_fetch_add_u64_device,
    atomic_load_32_device, atomic_load_64_block, atomic_store_32_device,
};

impl Global<u32> {
    /// Loads element `index`, which other threads change atomically.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_atomic(self, index: usize) -> u32 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_load_32_device(self.start.add(index), Relaxed) }
    }

    /// Stores `value` in element `index`, which other threads load atomically.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set_atomic(self, index: usize, value: u32) {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: as above.
        unsafe { atomic_store_32_device(self.start.add(index), Relaxed, value) }
    }

    /// Adds `value` to element `index`, and returns what it held. Atomic for all threads of the device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_add(self, index: usize, value: u32) -> u32 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: as above.
        unsafe { atomic_fetch_add_u32_device(self.start.add(index), Relaxed, value) }
    }

    /// Stores `new` in element `index` if it holds `current`, and returns what it held. Atomic for all threads of the
    /// device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn compare_and_swap(self, index: usize, current: u32, new: u32) -> u32 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: as above.
        unsafe { atomic_compare_and_swap_u32_device(self.start.add(index), current, new, Relaxed) }
    }
}

impl Global<u64> {
    /// Adds `value` to element `index`, and returns what it held. Atomic for all threads of the device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_add(self, index: usize, value: u64) -> u64 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_fetch_add_u64_device(self.start.add(index), Relaxed, value) }
    }

    /// Stores `new` in element `index` if it holds `current`, and returns what it held. Atomic for all threads of the
    /// device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn compare_and_swap(self, index: usize, current: u64, new: u64) -> u64 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_compare_and_swap_u64_device(self.start.add(index), current, new, Relaxed) }
    }
}

impl Shared<u64> {
    /// Loads element `index`, which other threads of the block change atomically.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_atomic(self, index: u32) -> u64 {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_load_64_block(self.start.add(index as usize), Relaxed) }
    }

    /// Stores `new` in element `index` if it holds `current`, and returns what it held. Atomic for all threads
    /// of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn compare_and_swap(self, index: u32, current: u64, new: u64) -> u64 {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: as above.
        unsafe {
            atomic_compare_and_swap_u64_block(self.start.add(index as usize), current, new, Relaxed)
        }
    }
}
