//! Memory as kernels see it: two small handles, passed by value.
//!
//! [`Global`] is an array in the device's memory, seen by every thread of the grid; [`Shared`]
//! is an array in the memory of one block, seen by its threads alone. Both compile to plain
//! loads and stores. Indexes of global memory are 64 bits wide, for arrays of more than 2^32
//! elements; those of shared memory, which is a few hundred kilobytes, are 32 bits wide, as is the
//! arithmetic of threads and blocks.
//!
//! # The contract of a handle
//!
//! Whoever *makes* a handle vouches for every use the kernel makes of it, so that the kernel
//! itself reads like its pseudocode:
//!
//! - the handle points at `len` elements of the right space, aligned, alive while the kernel runs;
//! - every index is below `len`, and every element is written before it is read;
//! - two threads touch the same element, one of them writing, only with a barrier between the
//!   two or atomically.
//!
//! Nothing checks this on the GPU: a check would cost a compare and a branch per access. On the
//! host, with the feature `simulator` and under `cuda_sim::Simulator`, every access is checked and
//! counted, and a finding names the line of the kernel that made it.

mod partials;
mod trace;
mod vector;
mod words;

pub use partials::{Look, MOST_BYTES, Partials};
pub use vector::Vectors;
pub use words::{B128, B256, Word, Words};

use crate::device::increment_global;
use crate::element::Element;
use crate::items::Items;
use crate::op::AtomicOp;
use cuda_std::shared::dynamic_shared_mem;
use trace::Access;

/// A line that the compiler moves no access to memory across. It costs nothing at run time, and
/// orders nothing there.
///
/// For loads that are to be under way together: LLVM moves one into the only branch that uses its
/// value, behind the wait for what the branch depends on. (`core`'s `compiler_fence` says the same,
/// but LLVM's back-end for PTX refuses it.)
#[inline(always)]
pub fn hold_accesses() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
}

/// The same index, but the compiler does not know that it is. It costs nothing at run time.
///
/// For the index of a loop with several loads: otherwise LLVM keeps an address for each of them, and computes
/// all of those before the first load begins.
#[inline(always)]
pub fn opaque(index: usize) -> usize {
    #[cfg(target_arch = "nvptx64")]
    {
        let same;
        // SAFETY: no instruction.
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

/// An array in global memory. See the [module](self) for what its maker promises.
#[derive(Clone, Copy, Debug)]
pub struct Global<T> {
    start: *mut T,
    len: usize,
}

impl<T: Element> Global<T> {
    /// The elements of `slice`, to be read only.
    ///
    /// # Safety
    ///
    /// The [module's contract](self), and the kernel writes nothing through the handle.
    #[inline(always)]
    pub unsafe fn from_slice(slice: &[T]) -> Self {
        Self {
            start: slice.as_ptr().cast_mut(),
            len: slice.len(),
        }
    }

    /// The `len` elements from `start`.
    ///
    /// # Safety
    ///
    /// The [module's contract](self).
    #[inline(always)]
    pub unsafe fn new(start: *mut T, len: usize) -> Self {
        Self { start, len }
    }
}

/// Only what makes a handle asks for [`Element`], so that for another type the compiler has one error, not one for
/// each access.
impl<T: Copy> Global<T> {
    /// How many elements there are.
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
        // SAFETY: the maker of the handle promised that `index` is in bounds and initialised.
        unsafe { *self.start.add(index) }
    }

    /// Stores `value` in element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: usize, value: T) {
        trace::global(self.start, self.len, index, Access::Store);
        // SAFETY: the maker of the handle promised that `index` is in bounds and not raced for.
        unsafe { *self.start.add(index) = value }
    }

    /// Combines `value` into element `index`, indivisibly for all threads of the device.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn combine_atomic<I: Items, O: AtomicOp<I, Acc = T>>(self, op: O, index: usize, value: T) {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle promised that `index` is in bounds and that nobody
        // touches the element other than atomically meanwhile.
        unsafe { op.combine_atomic_device(self.start.add(index), value) }
    }
}

impl Global<u32> {
    /// Draws a number from element `index`, which is below `numbers`: nobody else of as many as draw gets
    /// the same, and they get them in order. It orders no other accesses. After the last the element is as
    /// it was before the first, 0.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn draw(self, index: usize, numbers: u32) -> u32 {
        trace::global(self.start, self.len, index, Access::Atomic);
        // SAFETY: the maker of the handle promised that `index` is in bounds and that nobody
        // touches the element other than atomically meanwhile.
        unsafe { increment_global(self.start.add(index), numbers - 1) }
    }
}

/// An array in the block's shared memory. See the [module](self) for what its maker promises.
#[derive(Clone, Copy, Debug)]
pub struct Shared<T> {
    start: *mut T,
}

impl<T: Element> Shared<T> {
    /// The block's dynamic shared memory, whose size the host gives at launch. Every call gives
    /// the same memory.
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

    /// The array from `start`, which `shared_array!` gives.
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
    /// Loads element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: u32) -> T {
        trace::shared(self.start, index, Access::Load);
        // SAFETY: the maker of the handle promised that `index` is in bounds, initialised, and
        // separated by a barrier from its writer.
        unsafe { *self.start.add(index as usize) }
    }

    /// Stores `value` in element `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(self, index: u32, value: T) {
        trace::shared(self.start, index, Access::Store);
        // SAFETY: the maker of the handle promised that `index` is in bounds and not raced for.
        unsafe { *self.start.add(index as usize) = value }
    }

    /// Combines `value` into element `index`, indivisibly for all threads of the block.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn combine_atomic<I: Items, O: AtomicOp<I, Acc = T>>(self, op: O, index: u32, value: T) {
        trace::shared(self.start, index, Access::Atomic);
        // SAFETY: the maker of the handle promised that `index` is in bounds and that nobody
        // touches the element other than atomically meanwhile.
        unsafe { op.combine_atomic_block(self.start.add(index as usize), value) }
    }
}
