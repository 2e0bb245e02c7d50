//! Owned memory on the device, and host memory that the device accesses.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use crate::driver;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::host;
use crate::stream::Stream;

/// An array of `T` in the memory of one device; freed after a wait for all streams of the device.
pub(crate) struct DeviceMemory<T: Element> {
    /// Aligned for `T`, and to 256 bytes if the driver allocated it; 0 for an empty array.
    address: u64,
    len: usize,
    /// Whether dropping it frees the memory.
    owned: bool,
    gpu: Arc<Gpu>,
    elements: PhantomData<T>,
}

impl<T: Element> DeviceMemory<T> {
    /// An array of `len` elements at `address`, which [`driver::allocate`] or other code has allocated.
    ///
    /// # Safety
    ///
    /// - The elements are in memory that the device reads and writes, and aligned for `T`.
    /// - The memory stays allocated as long as this value lives. If `owned`, [`driver::free`] can free it,
    ///   and this value does so.
    pub(crate) unsafe fn of_address(gpu: &Arc<Gpu>, address: u64, len: usize, owned: bool) -> Self {
        Self {
            address,
            len,
            owned,
            gpu: Arc::clone(gpu),
            elements: PhantomData,
        }
    }

    /// Waits for all streams of the device, gives up ownership, and returns the address. The memory must be
    /// owned.
    pub(crate) fn release(mut self) -> Result<u64, Box<(Error, Self)>> {
        if !self.owned && self.len > 0 {
            let error = Error::NotDeviceMemory {
                address: self.address,
                len: self.len,
                element: name_of::<T>(),
                why: "other code owns the memory and frees it".into(),
            };
            return Err(Box::new((error, self)));
        }
        let waited = self.gpu.enter().and_then(|()| self.gpu.wait_for_all());
        match waited {
            Ok(()) => {
                self.owned = false;
                Ok(self.address)
            }
            Err(error) => Err(Box::new((error, self))),
        }
    }

    /// Allocates `len` elements, sets every byte to `byte`, and waits, so that the memory is never
    /// uninitialised.
    pub(crate) fn filled(stream: &Stream, len: usize, byte: u8) -> Result<Self, Error> {
        let mut memory = Self::allocate(stream, len)?;
        memory.enqueue_fill(stream, byte)?;
        stream.synchronize()?;
        Ok(memory)
    }

    /// Copies `data` to new device memory and waits until the copy is complete.
    pub(crate) fn upload(stream: &Stream, data: &[T]) -> Result<Self, Error> {
        let mut memory = Self::allocate(stream, data.len())?;
        memory.all_mut().write(stream, data)?;
        Ok(memory)
    }

    /// Allocates memory that the caller writes before any read.
    pub(crate) fn allocate(stream: &Stream, len: usize) -> Result<Self, Error> {
        let gpu = stream.gpu();
        gpu.enter()?;
        let wanted = (len as u64).saturating_mul(size_of::<T>() as u64);
        let address = match wanted {
            0 => 0,
            _ if wanted > gpu.info.total_memory => return Err(gpu.too_little_memory(wanted)),
            _ => driver::allocate(wanted as usize)
                .map_err(|error| gpu.allocation_error(wanted, error))?,
        };
        // SAFETY: just allocated with this size; aligned to 256 bytes; owned by this value alone.
        Ok(unsafe { Self::of_address(gpu, address, len, true) })
    }

    /// Enqueues a fill of every byte and returns.
    pub(crate) fn enqueue_fill(&mut self, stream: &Stream, byte: u8) -> Result<(), Error> {
        self.gpu.enter()?;
        if self.len == 0 {
            return Ok(());
        }
        let bytes = self.len * size_of::<T>();
        // SAFETY: the memory is `bytes` long and is freed only after a wait for all streams (see `Drop`);
        // every bit pattern is a valid `T` (`Plain`).
        unsafe { driver::fill(self.address, byte, bytes, stream.handle()) }
    }

    /// Enqueues a copy of `source`'s first element to the first element of this array, and returns. The
    /// context must be current.
    #[cfg(feature = "teaching")]
    pub(crate) fn enqueue_first(&mut self, stream: &Stream, source: &Self) -> Result<(), Error> {
        let (first, _) = self.all_mut().split_at(1);
        first.enqueue_copy(stream, source.span(0, 1))
    }

    /// Enqueues a copy of `source`, which has the same length, and returns. The context must be current.
    pub(crate) fn enqueue_copy(&mut self, stream: &Stream, source: &Self) -> Result<(), Error> {
        self.all_mut().enqueue_copy(stream, source.all())
    }

    /// The `len` elements from `start` on.
    ///
    /// # Panics
    ///
    /// If they are not all in this memory.
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

    /// All elements, writable.
    pub(crate) fn all_mut(&mut self) -> SpanMut<'_, T> {
        SpanMut(self.all())
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

/// A range of elements of device memory.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a, T: Element> {
    address: u64,
    len: usize,
    gpu: &'a Arc<Gpu>,
    elements: PhantomData<&'a T>,
}

impl<'a, T: Element> Span<'a, T> {
    /// The span of `len` elements at `address`.
    ///
    /// # Safety
    ///
    /// The elements are in memory that the device reads, aligned for `T`. They stay there and are not written
    /// as long as the span, or anything made from it, is in use.
    pub(crate) unsafe fn of_address(gpu: &'a Arc<Gpu>, address: u64, len: usize) -> Self {
        Self {
            address,
            len,
            gpu,
            elements: PhantomData,
        }
    }

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

    /// The `len` elements from `start` on.
    ///
    /// # Panics
    ///
    /// If the span has too few elements.
    pub(crate) fn part(&self, start: usize, len: usize) -> Self {
        assert!(start <= self.len && len <= self.len - start);
        Self {
            address: self.address + (start * size_of::<T>()) as u64,
            len,
            ..*self
        }
    }

    /// Copies the elements to the host, after all work on the stream.
    pub(crate) fn download(&self, stream: &Stream) -> Result<Vec<T>, Error> {
        self.gpu.enter()?;
        let mut data = host::zeroes(self.len)?;
        if self.len == 0 {
            return Ok(data);
        }
        let (to, bytes) = (data.as_mut_ptr().cast(), self.len * size_of::<T>());
        // SAFETY: both are `bytes` long. The destination outlives the copy, which is waited for below, and is
        // not used before.
        unsafe { driver::copy_to_host(to, self.address, bytes, stream.handle()) }?;
        stream.synchronize()?;
        Ok(data)
    }
}

/// A range of elements of device memory that is borrowed mutably: the destination of a call.
pub(crate) struct SpanMut<'a, T: Element>(Span<'a, T>);

impl<'a, T: Element> SpanMut<'a, T> {
    /// The elements, read-only.
    pub(crate) fn all(&self) -> Span<'_, T> {
        self.0
    }

    /// The elements before `at`, and those from `at` on.
    ///
    /// # Panics
    ///
    /// If the span has fewer than `at` elements.
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        let Self(all) = self;
        (Self(all.part(0, at)), Self(all.part(at, all.len - at)))
    }

    /// The elements, for as long as they are borrowed.
    pub(crate) fn into_span(self) -> Span<'a, T> {
        self.0
    }

    /// The same elements, for a shorter borrow.
    pub(crate) fn reborrow(&mut self) -> SpanMut<'_, T> {
        SpanMut(self.0)
    }

    /// Enqueues a copy of `source`, which has the same length, and returns. The context must be current.
    pub(crate) fn enqueue_copy(self, stream: &Stream, source: Span<'_, T>) -> Result<(), Error> {
        let Self(to) = self;
        assert_eq!(to.len, source.len);
        let bytes = source.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both spans are `bytes` long, in memory that is freed only after a wait for all streams (see
        // `Drop`); the destination is borrowed mutably, so they do not overlap.
        unsafe { driver::copy_on_device(to.address, source.address, bytes, stream.handle()) }
    }

    /// Copies `data`, which has the same length, to the elements, after all work on the stream, and waits
    /// until the copy is complete.
    pub(crate) fn write(self, stream: &Stream, data: &[T]) -> Result<(), Error> {
        let Self(span) = self;
        assert_eq!(span.len, data.len());
        span.gpu.enter()?;
        if data.is_empty() {
            return Ok(());
        }
        let (to, from) = (span.address, data.as_ptr().cast());
        // SAFETY: both have the length of `data`. The source outlives the copy, which is waited for below.
        unsafe { driver::copy_to_device(to, from, size_of_val(data), stream.handle()) }?;
        stream.synchronize()
    }
}

/// Waits for all streams of the device first, because any of them may still use this memory.
impl<T: Element> Drop for DeviceMemory<T> {
    fn drop(&mut self) {
        if self.len == 0 || self.address == 0 {
            return;
        }
        self.gpu.in_drop(|| {
            let waited = self.gpu.wait_for_all();
            if !self.owned {
                return waited;
            }
            // SAFETY: the memory is owned (`of_address`). All borrows have ended, and the streams have been
            // waited for.
            let freed = unsafe { driver::free(self.address) };
            waited.and(freed)
        });
    }
}

/// An array of `T` in pinned host memory: the device copies from and to it while the host continues, and
/// kernels can write it.
///
/// Host and device use the same address (unified virtual addressing, which every 64-bit system has).
pub(crate) struct PinnedMemory<T: Element> {
    /// Aligned to a page; dangling for an empty array.
    address: NonNull<T>,
    len: usize,
    gpu: Arc<Gpu>,
}

// SAFETY: plain memory; `&mut` guards the elements.
unsafe impl<T: Element> Send for PinnedMemory<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for PinnedMemory<T> {}

impl<T: Element> PinnedMemory<T> {
    /// Allocates `len` elements, all bytes zero.
    pub(crate) fn new(gpu: &Arc<Gpu>, len: usize) -> Result<Self, Error> {
        gpu.enter()?;
        let wanted = (len as u64).saturating_mul(size_of::<T>() as u64);
        let address = match usize::try_from(wanted) {
            Ok(0) => NonNull::dangling(),
            Ok(bytes) if isize::try_from(bytes).is_ok() => {
                let address = driver::allocate_on_host(bytes)
                    .map_err(|error| host::allocation_error(wanted, error))?;
                // SAFETY: just allocated with `bytes` bytes.
                unsafe { address.cast::<u8>().write_bytes(0, bytes) };
                NonNull::new(address.cast()).expect("the driver has returned an address")
            }
            _ => return Err(Error::OutOfHostMemory { wanted }),
        };
        Ok(Self {
            address,
            len,
            gpu: Arc::clone(gpu),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The address, for the device.
    pub(crate) fn address(&self) -> u64 {
        self.address.as_ptr().addr() as u64
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.address.as_ptr()
    }

    /// The elements.
    ///
    /// # Safety
    ///
    /// The device neither writes nor reads them before the borrow ends.
    pub(crate) unsafe fn elements(&mut self) -> &mut [T] {
        // SAFETY: the memory has this many elements, aligned and initialised (`new`). Every bit pattern is a
        // valid `T` (`Plain`). `self` is borrowed, and the device does not access them (the caller's
        // contract).
        unsafe { slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

impl PinnedMemory<u64> {
    /// The number of words that can hold any accumulator.
    pub(crate) const WORDS: usize = kernels_gpu::mem::MOST_BYTES / size_of::<u64>();

    /// The value that a kernel has stored at the start; the caller has waited for the kernel.
    pub(crate) fn read<A: Element>(&mut self) -> A {
        const {
            assert!(size_of::<A>() <= Self::WORDS * size_of::<u64>());
            assert!(align_of::<A>() <= align_of::<u64>());
        }
        assert!(self.len >= Self::WORDS);
        // SAFETY: the memory is long enough (asserted) and aligned; every bit pattern is an `A` (`Plain`).
        // The read is volatile, because the device writes the memory.
        unsafe { self.address.cast::<A>().read_volatile() }
    }

    /// The first `len` words that a kernel has stored; the caller has waited for the kernel.
    pub(crate) fn words(&mut self, len: usize) -> Vec<u64> {
        (0..len).map(|at| self.word(at)).collect()
    }

    /// The address of a word, for the device.
    pub(crate) fn address_of(&self, at: usize) -> u64 {
        assert!(at < self.len);
        self.address() + (at * size_of::<u64>()) as u64
    }

    /// A word that a kernel may store at the same time.
    pub(crate) fn word(&self, at: usize) -> u64 {
        assert!(at < self.len);
        // SAFETY: in bounds (asserted), aligned and initialised (`new`). The read is volatile, because the device writes the
        // memory.
        unsafe { self.address.add(at).read_volatile() }
    }
}

/// Waits for all streams of the device first.
impl<T: Element> Drop for PinnedMemory<T> {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        self.gpu.in_drop(|| {
            let waited = self.gpu.wait_for_all();
            // SAFETY: allocated by `new`, and no kernel or copy still uses it.
            let freed = unsafe { driver::free_on_host(self.address.as_ptr().cast()) };
            waited.and(freed)
        });
    }
}
