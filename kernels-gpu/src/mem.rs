//! Memory of kernels: two small handles, passed by value.
//!
//! [`Global`] is an array in device memory, which all threads of the grid share. [`Shared`] is an array in
//! shared memory, which the threads of one block share. Both compile to plain loads and stores. Indices of
//! global memory have 64 bits, for arrays of more than 2^32 elements. Indices of shared memory, which has a few
//! hundred kilobytes, have 32 bits, like the arithmetic of threads and blocks.
//!
//! # The contract of a handle
//!
//! The code that *makes* a handle guarantees every access that the kernel makes through it. So the kernel
//! itself needs no `unsafe` for its accesses:
//!
//! - the handle points to `len` elements in the right memory space, aligned, and allocated while the kernel
//!   runs;
//! - every index is below `len`, and every element is written before it is read;
//! - if two threads access the same element and one of them writes, there is a barrier between the two
//!   accesses, or both are atomic.
//!
//! The GPU checks none of this, because a check would cost a comparison and a branch per access. On the host,
//! with the feature `simulator` and under `cuda_sim::Simulator`, every access is checked and counted, and a
//! finding names the kernel's source line.

mod atomics;
mod partials;
mod shifted;
mod staged;
mod trace;
mod vector;
mod words;

pub use partials::{MOST_BYTES, Partials, Polled};
pub use staged::{Staged, staged_bytes};
pub use vector::Vectors;
pub use words::{B128, B256, Word, Words};

use crate::device::{increment_global, prefetch, prefetch_to_l2};
use crate::element::Element;
use crate::items::Items;
use crate::op::AtomicOp;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::{
    atomic_compare_and_swap_u32_block, atomic_fetch_add_u32_block, atomic_load_32_block,
    atomic_load_64_device, atomic_store_64_device, atomic_store_64_system,
};
use cuda_std::shared::dynamic_shared_mem;
use trace::Access;

/// Compiler barrier: the compiler moves no memory access across it. It emits no instruction, and the hardware
/// may still reorder.
///
/// It keeps loads in flight together. Without it, LLVM moves a load into the only branch that uses its value,
/// so that the load waits for the branch's condition. (`core`'s `compiler_fence` has the same meaning, but
/// LLVM's PTX back-end rejects it.)
#[inline(always)]
pub fn compiler_barrier() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the assembly is empty.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
}

/// A compiler barrier at the start of branch number `BRANCH`. It keeps LLVM from merging the loads of several branches: it
/// would move the first element of a vector in front of the branches, and load the rest one by one.
#[inline(always)]
pub fn compiler_barrier_of<const BRANCH: usize>() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the assembly is a comment.
    unsafe {
        core::arch::asm!("/* {} */", const BRANCH, options(nostack, preserves_flags));
    }
}

/// Returns the same index, but hides this from the compiler. It costs nothing at run time.
///
/// For the index of a loop with several loads: otherwise LLVM computes an address for each of them, and all of
/// these before the first load starts.
#[inline(always)]
pub fn opaque(index: usize) -> usize {
    #[cfg(target_arch = "nvptx64")]
    {
        let same;
        // SAFETY: the assembly is a comment.
        unsafe {
            core::arch::asm!(
                "/* {0} */",
                inlateout(reg64) index => same,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        same
    }
    #[cfg(not(target_arch = "nvptx64"))]
    index
}

/// An array in global memory. The [module](self) documents the contract of its maker.
#[derive(Clone, Copy, Debug)]
pub struct Global<T> {
    start: *mut T,
    len: usize,
}

impl<T: Element> Global<T> {
    /// A read-only handle for the elements of `slice`.
    ///
    /// # Safety
    ///
    /// The [module's contract](self), and the kernel does not write through the handle.
    #[inline(always)]
    pub unsafe fn from_slice(slice: &[T]) -> Self {
        Self {
            start: slice.as_ptr().cast_mut(),
            len: slice.len(),
        }
    }

    /// A handle for the `len` elements from `start`.
    ///
    /// # Safety
    ///
    /// The [module's contract](self).
    #[inline(always)]
    pub unsafe fn new(start: *mut T, len: usize) -> Self {
        Self { start, len }
    }
}

/// Only the functions that make a handle require [`Element`], so that another type gives one compile error, not one for
/// each access.
impl<T: Copy> Global<T> {
    /// The number of elements.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "no kernel asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Loads element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: usize) -> T {
        trace::global(self.start, self.len, index, Access::Load);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds and initialised.
        unsafe { *self.start.add(index) }
    }

    /// Starts to load the line with element `index` into the L1 cache, without a result.
    #[inline(always)]
    pub fn prefetch(self, index: usize) {
        prefetch(self.start.wrapping_add(index).cast());
    }

    /// The same into the L2 cache.
    #[inline(always)]
    pub fn prefetch_to_l2(self, index: usize) {
        prefetch_to_l2(self.start.wrapping_add(index).cast());
    }

    /// Stores `value` in element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: usize, value: T) {
        trace::global(self.start, self.len, index, Access::Store);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds and without a data race.
        unsafe { *self.start.add(index) = value }
    }

    /// Combines `value` into element `index`, atomically for all threads of the device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn combine_atomic<I: Items, O: AtomicOp<I, Acc = T>>(self, op: O, index: usize, value: T) {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { op.combine_atomic_device(self.start.add(index), value) }
    }
}

impl Global<u32> {
    /// Returns element `index`, which is below `numbers`, and increments it; after `numbers - 1` it becomes 0.
    ///
    /// Atomic for all threads of the device: if it is called `numbers` times, each call returns a different
    /// number, in order, and the element is 0 again. Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_increment(self, index: usize, numbers: u32) -> u32 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { increment_global(self.start.add(index), numbers - 1) }
    }
}

impl Global<u64> {
    /// Loads element `index`, which other threads change atomically.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_atomic(self, index: usize) -> u64 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_load_64_device(self.start.add(index), Relaxed) }
    }

    /// Stores `value` in element `index`, which other threads load atomically.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set_atomic(self, index: usize, value: u64) {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: as above.
        unsafe { atomic_store_64_device(self.start.add(index), Relaxed, value) }
    }

    /// Stores `value` in element `index`, which the host may load at the same time.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set_for_host(self, index: usize, value: u64) {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: as above.
        unsafe { atomic_store_64_system(self.start.add(index), Relaxed, value) }
    }
}

/// An array in the block's shared memory. The [module](self) documents the contract of its maker.
#[derive(Clone, Copy, Debug)]
pub struct Shared<T> {
    start: *mut T,
}

impl<T: Element> Shared<T> {
    /// The block's dynamic shared memory, whose size is set at launch. Every call returns the same memory.
    ///
    /// # Safety
    ///
    /// The [module's contract](self), for as many elements as the launch provided.
    #[inline(always)]
    pub unsafe fn dynamic() -> Self {
        Self {
            start: dynamic_shared_mem::<T>(),
        }
    }

    /// The array at `start`, declared by `shared_array!`.
    ///
    /// # Safety
    ///
    /// The [module's contract](self), for as many elements as the declaration has.
    #[inline(always)]
    pub unsafe fn new(start: *mut T) -> Self {
        Self { start }
    }
}

/// For every type, as the accesses of [`Global`].
impl<T: Copy> Shared<T> {
    /// The block's dynamic shared memory from byte `at` on.
    ///
    /// # Safety
    ///
    /// The [module's contract](self), for as many elements as the launch provided from there on; `at` is a multiple of
    /// their alignment.
    #[inline(always)]
    pub unsafe fn dynamic_at(at: u32) -> Self {
        let start = dynamic_shared_mem::<u8>().wrapping_add(at as usize);
        Self {
            start: start.cast(),
        }
    }

    /// The elements from `index` on.
    #[inline(always)]
    pub fn behind(self, index: u32) -> Self {
        let start = self.start.wrapping_add(index as usize);
        Self { start }
    }

    /// The same memory as elements of another type.
    #[inline(always)]
    fn cast<U: Copy>(self) -> Shared<U> {
        let start = self.start.cast();
        Shared { start }
    }

    /// Loads element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: u32) -> T {
        trace::shared(self.start, index, Access::Load);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, initialised, and separated by a
        // barrier from its writer.
        unsafe { *self.start.add(index as usize) }
    }

    /// Loads element `index` by one instruction.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get_word(self, index: u32) -> T
    where
        T: Word,
    {
        trace::shared(self.start, index, Access::Load);
        // SAFETY: as for `get`; the address is a multiple of the word's size.
        unsafe { T::load(self.start.add(index as usize)) }
    }

    /// Stores `value` in element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: u32, value: T) {
        trace::shared(self.start, index, Access::Store);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds and without a data race.
        unsafe { *self.start.add(index as usize) = value }
    }

    /// Combines `value` into element `index`, atomically for all threads of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn combine_atomic<I: Items, O: AtomicOp<I, Acc = T>>(self, op: O, index: u32, value: T) {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { op.combine_atomic_block(self.start.add(index as usize), value) }
    }
}

impl Shared<u32> {
    /// Adds `value` to element `index`, and returns what it held. Atomic for all threads of the block.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_add(self, index: u32, value: u32) -> u32 {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_fetch_add_u32_block(self.start.add(index as usize), Relaxed, value) }
    }

    /// Loads element `index`, which other threads of the block change atomically.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_atomic(self, index: u32) -> u32 {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: the maker of the handle guarantees that `index` is in bounds, and that other threads access
        // the element only atomically at the same time.
        unsafe { atomic_load_32_block(self.start.add(index as usize), Relaxed) }
    }

    /// Stores `new` in element `index` if it holds `current`, and returns what it held. Atomic for all threads
    /// of the block.
    ///
    /// Relaxed: it does not order other accesses.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn compare_and_swap(self, index: u32, current: u32, new: u32) -> u32 {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: as above.
        unsafe {
            atomic_compare_and_swap_u32_block(self.start.add(index as usize), current, new, Relaxed)
        }
    }
}
