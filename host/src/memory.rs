//! Device memory with an owner.

use std::marker::PhantomData;
use std::sync::Arc;

use cust::memory::DeviceCopy;

use crate::driver;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::host;
use crate::stream::Stream;

/// An element as cust sees it, which asks for a trait of its own that is not to be had for foreign
/// types.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Cell<T>(pub(crate) T);

// SAFETY: an element is plain data (Element's law), without pointers to the host.
unsafe impl<T: Element> DeviceCopy for Cell<T> {}

/// An array of `T` in the memory of one device, freed when nothing on any of the device's streams
/// can use it any more.
pub(crate) struct DeviceMemory<T: Element> {
    /// As the driver gave it, aligned to 256 bytes; 0 where there are no elements.
    address: u64,
    len: usize,
    gpu: Arc<Gpu>,
    elements: PhantomData<T>,
}

impl<T: Element> DeviceMemory<T> {
    /// `len` elements, every byte of them `byte`. Waits until they are written, so that
    /// there is no moment with uninitialised memory.
    pub(crate) fn filled(stream: &Stream, len: usize, byte: u8) -> Result<Self, Error> {
        let mut memory = Self::allocate(stream, len)?;
        memory.fill(stream, byte)?;
        Ok(memory)
    }

    /// A copy of `data`, which has arrived when this returns.
    pub(crate) fn upload(stream: &Stream, data: &[T]) -> Result<Self, Error> {
        let mut memory = Self::allocate(stream, data.len())?;
        memory.write(stream, 0, data)?;
        Ok(memory)
    }

    /// Memory whose contents the caller writes before anybody reads them.
    fn allocate(stream: &Stream, len: usize) -> Result<Self, Error> {
        let gpu = stream.gpu();
        gpu.enter()?;
        let wanted = (len as u64).saturating_mul(size_of::<T>() as u64);
        let address = match wanted {
            0 => 0,
            _ if wanted > gpu.info.total_memory => return Err(gpu.too_little_memory(wanted)),
            _ => driver::allocate(wanted as usize)
                .map_err(|error| gpu.allocation_error(wanted, error))?,
        };
        Ok(Self {
            address,
            len,
            gpu: Arc::clone(gpu),
            elements: PhantomData,
        })
    }

    /// Overwrites every byte, after what is on the stream already; waits for it.
    pub(crate) fn fill(&mut self, stream: &Stream, byte: u8) -> Result<(), Error> {
        self.gpu.enter()?;
        if self.len == 0 {
            return Ok(());
        }
        let bytes = self.len * size_of::<T>();
        // SAFETY: the memory is `bytes` long and is freed only after a wait for all streams (see
        // `Drop`); `T` takes every pattern of bits (Element's law).
        unsafe { driver::fill(self.address, byte, bytes, stream.handle()) }?;
        stream.synchronize()
    }

    /// Overwrites the elements from `start` on, after what is on the stream already; waits for it.
    ///
    /// The caller has checked the range.
    pub(crate) fn write(&mut self, stream: &Stream, start: usize, data: &[T]) -> Result<(), Error> {
        let span = self.span(start, data.len());
        self.gpu.enter()?;
        if data.is_empty() {
            return Ok(());
        }
        let (to, from) = (span.address(), data.as_ptr().cast());
        // SAFETY: both are as long as `data`: the span is inside the memory. The source outlives the
        // copy, which is waited for below.
        unsafe { driver::copy_to_device(to, from, size_of_val(data), stream.handle()) }?;
        stream.synchronize()
    }

    /// Puts a copy of `source`'s first element into the first element here on the stream and
    /// returns. The context is current.
    pub(crate) fn enqueue_first(&mut self, stream: &Stream, source: &Self) -> Result<(), Error> {
        self.enqueue(stream, source.span(0, 1))
    }

    /// Puts a copy of `source`, which is as long, on the stream and returns. The context is
    /// current.
    pub(crate) fn enqueue_copy(&mut self, stream: &Stream, source: &Self) -> Result<(), Error> {
        assert_eq!(self.len, source.len);
        self.enqueue(stream, source.span(0, source.len))
    }

    /// Puts a copy of `source` to the first elements here on the stream.
    fn enqueue(&mut self, stream: &Stream, source: Span<'_, T>) -> Result<(), Error> {
        let to = self.span(0, source.len());
        let bytes = source.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both spans are `bytes` long and in memory that is freed only after a wait for all
        // streams (see `Drop`); `self` is borrowed mutably, so they are not the same.
        unsafe { driver::copy_on_device(to.address(), source.address(), bytes, stream.handle()) }
    }

    /// The `len` elements from `start`.
    ///
    /// # Panics
    ///
    /// When they are not all in this memory.
    pub(crate) fn span(&self, start: usize, len: usize) -> Span<'_, T> {
        assert!(start <= self.len && len <= self.len - start);
        Span {
            address: self.address + (start * size_of::<T>()) as u64,
            len,
            gpu: &self.gpu,
            elements: PhantomData,
        }
    }

    /// All elements.
    pub(crate) fn all(&self) -> Span<'_, T> {
        self.span(0, self.len)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

/// Some elements of device memory, all of them inside it.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a, T: Element> {
    address: u64,
    len: usize,
    gpu: &'a Arc<Gpu>,
    elements: PhantomData<&'a T>,
}

impl<'a, T: Element> Span<'a, T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn gpu(&self) -> &'a Arc<Gpu> {
        self.gpu
    }

    /// The `len` elements from `start` of these.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub(crate) fn part(&self, start: usize, len: usize) -> Self {
        assert!(start <= self.len && len <= self.len - start);
        Self {
            address: self.address + (start * size_of::<T>()) as u64,
            len,
            ..*self
        }
    }

    /// The elements, copied to the host after all work on the stream.
    pub(crate) fn download(&self, stream: &Stream) -> Result<Vec<T>, Error> {
        self.gpu.enter()?;
        let mut data = host::zeroes(self.len)?;
        if self.len == 0 {
            return Ok(data);
        }
        let (to, bytes) = (data.as_mut_ptr().cast(), self.len * size_of::<T>());
        // SAFETY: both are `bytes` long. The destination outlives the copy, which is waited for
        // below, and is not touched before.
        unsafe { driver::copy_to_host(to, self.address, bytes, stream.handle()) }?;
        stream.synchronize()?;
        Ok(data)
    }
}

/// Waits for all streams of the device first: any of them may still be reading or writing this
/// memory.
impl<T: Element> Drop for DeviceMemory<T> {
    fn drop(&mut self) {
        if self.len == 0 || self.address == 0 {
            return;
        }
        self.gpu.in_drop(|| {
            let waited = driver::synchronize_all();
            // SAFETY: allocated by `allocate`, and nothing has a pointer to it any more: all that
            // borrowed it has gone, and the streams have been waited for.
            let freed = unsafe { driver::free(self.address) };
            waited.and(freed)
        });
    }
}

/// A few bytes of host memory that kernels write: the result of a call that waits for it.
///
/// Locked in place, and at the same address for host and device (unified virtual addressing, which
/// every 64-bit system has).
pub(crate) struct Pinned {
    address: *mut u64,
    gpu: Arc<Gpu>,
}

// SAFETY: plain memory, which `&mut` guards.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Words of 64 bits in it: as many as the largest accumulator has.
    pub(crate) const WORDS: usize = 3;

    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        gpu.enter()?;
        let address = driver::allocate_on_host(Self::WORDS * size_of::<u64>())?;
        Ok(Self {
            address: address.cast(),
            gpu: Arc::clone(gpu),
        })
    }

    /// The address, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.address.addr() as u64
    }

    /// What a kernel has left here. It has been waited for.
    pub(crate) fn read<A: Element>(&mut self) -> A {
        const {
            assert!(size_of::<A>() <= Self::WORDS * size_of::<u64>());
            assert!(align_of::<A>() <= align_of::<u64>());
        }
        // SAFETY: the memory is that long and aligned (the driver aligns to pages); every pattern of
        // bits is an `A` (Element's law). Volatile, since another writes it.
        unsafe { self.address.cast::<A>().read_volatile() }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            let waited = driver::synchronize_all();
            // SAFETY: allocated by `new`, and no kernel that writes it is left.
            let freed = unsafe { driver::free_on_host(self.address.cast()) };
            waited.and(freed)
        });
    }
}
