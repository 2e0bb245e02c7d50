//! Arrays in global memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use half::{bf16, f16};

use super::registry::Allocation;

/// A type without padding for which every pattern of bits is a value.
///
/// # Safety
///
/// It is just that.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // SAFETY: a number: all its bits count, and all patterns are numbers.
        unsafe impl Plain for $type {}
    )* };
}

plain! { i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize f16 bf16 f32 f64 }

// SAFETY: an array has no padding of its own.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// An array in the simulated device's global memory, aligned to 256 bytes as `cudaMalloc` does.
///
/// Kernels get its address. With checks on, a launch finds accesses past its ends and reads of
/// elements that nobody has written; it does so for memory in buffers only.
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
    /// `len` elements that nobody has written.
    ///
    /// # Panics
    ///
    /// When they do not fit the address space.
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

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first element, for kernels that read.
    pub fn as_ptr(&self) -> *const T {
        self.as_mut_ptr()
    }

    /// The address of the first element, for kernels that write: all threads of a launch write
    /// through one address, so this does not need `&mut`.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.allocation.start().cast()
    }

    /// Sets all elements, as `cudaMemcpy` does.
    ///
    /// # Panics
    ///
    /// When `elements` are not as many.
    pub fn write(&mut self, elements: &[T]) {
        assert_eq!(
            elements.len(),
            self.len,
            "as many elements as the buffer has"
        );
        self.write_from(0, elements);
    }

    /// Sets as many elements as there are in `elements`, from the element `start` on.
    ///
    /// # Panics
    ///
    /// When the buffer has not so many.
    pub fn write_from(&mut self, start: usize, elements: &[T]) {
        assert!(
            start <= self.len && elements.len() <= self.len - start,
            "{} elements from {start} of a buffer of {}",
            elements.len(),
            self.len
        );
        // SAFETY: the buffer has the elements (asserted above), and `&mut` says that no launch uses
        // them and that they are not the source.
        unsafe {
            self.as_mut_ptr()
                .add(start)
                .copy_from_nonoverlapping(elements.as_ptr(), elements.len())
        };
        let (offset, bytes) = (start * size_of::<T>(), size_of_val(elements));
        self.allocation.initialised.write(offset, bytes);
    }

    /// All elements, as `cudaMemcpy` gives them. What nobody has written is NaN as a float and
    /// 0xFFFB5DA7 as 32 bits.
    pub fn to_vec(&self) -> Vec<T> {
        // SAFETY: the buffer has that many elements, all of their bytes are set (to what
        // `Allocation::new` left there at least), and every pattern of bits is a `T`. No launch
        // runs now on this thread; one on another would race, which `run_on`'s caller excludes.
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
