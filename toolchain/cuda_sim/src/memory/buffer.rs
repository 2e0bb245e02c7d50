//! Arrays in global memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use half::{bf16, f16};

use super::registry::Allocation;

/// A type without padding for which every bit pattern is valid.
///
/// # Safety
///
/// The type has no padding, and every bit pattern is a valid value.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // SAFETY: numbers have no padding, and every bit pattern is a number.
        unsafe impl Plain for $type {}
    )* };
}

plain! { i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize f16 bf16 f32 f64 }

// SAFETY: an array has no padding of its own.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// An array in the simulated device's global memory, aligned to 256 bytes like memory from `cudaMalloc`.
///
/// Pass its address to kernels. With checks enabled, a launch finds accesses outside buffers and loads of
/// elements that were never written.
///
/// ```
/// use cuda_sim::Buffer;
///
/// let x = Buffer::from(&[1, 2, 3]);
/// let y = Buffer::<i32>::uninitialised(4);
/// assert_eq!((x.len(), y.len()), (3, 4));
/// assert_eq!(x.to_vec(), [1, 2, 3]);
/// ```
pub struct Buffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// A buffer of `len` uninitialised elements.
    ///
    /// # Panics
    ///
    /// If they do not fit into the address space.
    pub fn uninitialised(len: usize) -> Self {
        let bytes = len
            .checked_mul(size_of::<T>())
            .expect("a buffer is smaller than the address space");
        Self {
            allocation: Allocation::new(bytes),
            len,
            elements: PhantomData,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first element, for kernels that only read.
    pub fn as_ptr(&self) -> *const T {
        self.as_mut_ptr()
    }

    /// The address of the first element, for kernels that write. It takes `&self`, because all threads of a
    /// launch write through one address.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.allocation.start().cast()
    }

    /// Stores all elements, as `cudaMemcpy` does.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn write(&mut self, elements: &[T]) {
        assert_eq!(
            elements.len(),
            self.len,
            "the number of elements must equal the buffer's length"
        );
        self.write_from(0, elements);
    }

    /// Stores `elements` at the index `start` and after it.
    ///
    /// # Panics
    ///
    /// If the elements do not fit into the buffer.
    pub fn write_from(&mut self, start: usize, elements: &[T]) {
        assert!(
            start <= self.len && elements.len() <= self.len - start,
            "{} elements from {start} of a buffer of {}",
            elements.len(),
            self.len
        );
        // SAFETY: the elements are inside the buffer (asserted above). `&mut` excludes launches that use
        // them, and that they overlap the source.
        unsafe {
            self.as_mut_ptr()
                .add(start)
                .copy_from_nonoverlapping(elements.as_ptr(), elements.len())
        };
        let (offset, bytes) = (start * size_of::<T>(), size_of_val(elements));
        self.allocation.initialised.write(offset, bytes);
    }

    /// Loads all elements, as `cudaMemcpy` does. Uninitialised elements are NaN as floats, and 0xFFFB5DA7 as
    /// 32-bit integers.
    pub fn to_vec(&self) -> Vec<T> {
        // SAFETY: the buffer has that many elements, `Allocation::new` initialised all bytes, and every bit
        // pattern is a `T`. No launch runs on this thread; `run_on`'s caller excludes a race with one on
        // another thread.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }.to_vec()
    }
}

impl<T: Plain> From<&[T]> for Buffer<T> {
    fn from(elements: &[T]) -> Self {
        let mut buffer = Self::uninitialised(elements.len());
        buffer.write(elements);
        buffer
    }
}

impl<T: Plain, const N: usize> From<&[T; N]> for Buffer<T> {
    fn from(elements: &[T; N]) -> Self {
        elements.as_slice().into()
    }
}

impl<T: Plain> From<&Vec<T>> for Buffer<T> {
    fn from(elements: &Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.allocation.forget();
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_vec()).finish()
    }
}
