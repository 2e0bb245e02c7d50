//! Device memory with an owner.

use std::mem::{self, ManuallyDrop};
use std::sync::Arc;

use cust::memory::{AsyncCopyDestination, DeviceBuffer, DeviceCopy, DevicePointer};

use crate::driver::{self, check};
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::host;

/// An element as cust sees it, which asks for a trait of its own that is not to be had for foreign
/// types.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Cell<T>(T);

// SAFETY: an element is plain data (Element's law), without pointers to the host.
unsafe impl<T: Element> DeviceCopy for Cell<T> {}

impl<T> Cell<T> {
    fn of(elements: &[T]) -> &[Self] {
        // SAFETY: a transparent wrapper; its slices are those of what it wraps.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
    }

    fn of_mut(elements: &mut [T]) -> &mut [Self] {
        // SAFETY: as above, and borrowed as the argument is.
        unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), elements.len()) }
    }
}

/// An array of `T` in the memory of one device, freed when nothing on the device's stream
/// can use it any more.
pub(crate) struct DeviceMemory<T: Element> {
    buffer: ManuallyDrop<DeviceBuffer<Cell<T>>>,
    gpu: Arc<Gpu>,
}

impl<T: Element> DeviceMemory<T> {
    /// `len` elements, every byte of them `byte`. Waits until they are written, so that
    /// there is no moment with uninitialised memory.
    pub(crate) fn filled(gpu: &Arc<Gpu>, len: usize, byte: u8) -> Result<Self, Error> {
        let mut memory = Self::allocate(gpu, len)?;
        memory.fill(byte)?;
        Ok(memory)
    }

    /// A copy of `data`, which has arrived when this returns.
    pub(crate) fn upload(gpu: &Arc<Gpu>, data: &[T]) -> Result<Self, Error> {
        let mut memory = Self::allocate(gpu, data.len())?;
        // SAFETY: the source outlives the copy, which is waited for below; the lengths are
        // equal, so cust's assertion holds.
        check(|| unsafe { memory.buffer.async_copy_from(Cell::of(data), &gpu.stream) })?;
        gpu.synchronize()?;
        Ok(memory)
    }

    /// Memory whose contents the caller writes before anybody reads them.
    fn allocate(gpu: &Arc<Gpu>, len: usize) -> Result<Self, Error> {
        gpu.enter()?;
        let wanted = (len as u64).saturating_mul(size_of::<T>() as u64);
        if wanted > gpu.info.total_memory {
            let (free, total) = check(cust::memory::mem_get_info)?;
            return Err(Error::OutOfMemory {
                wanted,
                free: free as u64,
                total: total as u64,
            });
        }
        // SAFETY: every pattern of bits is a valid `T` (Element's law), and both callers
        // write the memory before it is handed out.
        let buffer = check(|| unsafe { DeviceBuffer::uninitialized(len) })
            .map_err(|error| gpu.allocation_error(wanted, error))?;
        Ok(Self {
            buffer: ManuallyDrop::new(buffer),
            gpu: Arc::clone(gpu),
        })
    }

    /// Overwrites every byte, after what is on the stream already; waits for it.
    pub(crate) fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.gpu.enter()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        // SAFETY: the context is current; the memory is freed only after a wait for the
        // stream (see `Drop`); `T` takes every pattern of bits (Element's law).
        unsafe { driver::fill(&mut self.buffer, byte, &self.gpu.stream) }?;
        self.gpu.synchronize()
    }

    /// The `len` elements from `start`, copied to the host after all work on the stream.
    ///
    /// The caller has checked the range.
    pub(crate) fn download(&self, start: usize, len: usize) -> Result<Vec<T>, Error> {
        self.gpu.enter()?;
        let mut data = host::zeroes(len)?;
        let source = self.buffer.index(start..start + len);
        // SAFETY: the destination outlives the copy, which is waited for below, and is not
        // touched before; the lengths are equal.
        check(|| unsafe { source.async_copy_to(Cell::of_mut(&mut data), &self.gpu.stream) })?;
        self.gpu.synchronize()?;
        Ok(data)
    }

    /// Puts a copy of `source`'s first element into the first element here on the stream and
    /// returns. The context is current.
    pub(crate) fn enqueue_first(&mut self, source: &Self) -> Result<(), Error> {
        let (source, mut first) = (source.buffer.index(0..1), self.buffer.index(0..1));
        // SAFETY: both are device memory, freed only after a wait for the stream (see
        // `Drop`); `self` is borrowed mutably, so they are not the same.
        check(|| unsafe { first.async_copy_from(&source, &self.gpu.stream) })
    }

    /// Puts a copy of `source`, which is as long, on the stream and returns. The context is
    /// current.
    pub(crate) fn enqueue_copy(&mut self, source: &Self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let (source, mut all) = (source.buffer.index(..), self.buffer.index(..));
        // SAFETY: both are device memory, freed only after a wait for the stream (see
        // `Drop`); `self` is borrowed mutably, so they are not the same; cust asserts that the
        // lengths are equal.
        check(|| unsafe { all.async_copy_from(&source, &self.gpu.stream) })
    }

    /// The `len` elements from `start`.
    ///
    /// # Panics
    ///
    /// When they are not all in this memory.
    pub(crate) fn span(&self, start: usize, len: usize) -> Span<'_, T> {
        assert!(start <= self.len() && len <= self.len() - start);
        Span {
            memory: self,
            start,
            len,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn pointer(&self) -> DevicePointer<Cell<T>> {
        self.buffer.as_device_ptr()
    }
}

/// Some elements of device memory, all of them inside it.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a, T: Element> {
    memory: &'a DeviceMemory<T>,
    start: usize,
    len: usize,
}

impl<'a, T: Element> Span<'a, T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn pointer(&self) -> DevicePointer<Cell<T>> {
        self.memory.pointer().wrapping_add(self.start)
    }

    pub(crate) fn gpu(&self) -> &'a Arc<Gpu> {
        &self.memory.gpu
    }
}

/// Waits for the stream first: a plan may still be reading or writing this memory.
impl<T: Element> Drop for DeviceMemory<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here; nothing uses the field afterwards.
        let buffer = unsafe { ManuallyDrop::take(&mut self.buffer) };
        let gpu = &self.gpu;
        gpu.in_drop(|| {
            let waited = gpu.synchronize();
            let freed = check(|| {
                DeviceBuffer::drop(buffer).map_err(|(error, buffer)| {
                    mem::forget(buffer); // its own destructor would only try again
                    error
                })
            });
            waited.and(freed)
        });
    }
}
