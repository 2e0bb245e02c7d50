//! Arrays on a device, and parts of them.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use crate::backend::{Backend, Queue};
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::memory::{DeviceMemory, Span};
use crate::view_mut::{LocationMut, ViewMut};

/// An array of `T` on a [`Device`](crate::Device), made by [`Device::upload`](crate::Device::upload) or
/// [`Device::alloc`](crate::Device::alloc).
///
/// Dropping it waits for the work on all streams of the device and frees the memory. The device's next call
/// returns an error that occurs there, as [`Error::Deferred`].
pub struct Buffer<T: Element> {
    backend: Backend,
    len: usize,
    storage: Storage<T>,
}

enum Storage<T: Element> {
    Host(Vec<T>),
    Device(DeviceMemory<T>),
}

impl<T: Element> Buffer<T> {
    pub(crate) fn host(cpu: &Backend, data: Vec<T>) -> Self {
        Self {
            backend: cpu.clone(),
            len: data.len(),
            storage: Storage::Host(data),
        }
    }

    pub(crate) fn device(queue: &Arc<Queue>, len: usize, memory: DeviceMemory<T>) -> Self {
        Self {
            backend: Backend::Gpu(Arc::clone(queue)),
            len,
            storage: Storage::Device(memory),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the elements to the host, after all work on the stream of the device that made the buffer.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::Cuda`], also for a fault in an earlier kernel;
    /// [`Error::Deferred`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        View::from(self).download()
    }

    /// A view of the elements in `range`, which may start at any element. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the range is not inside the buffer.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>, Error> {
        View::from(self).view(range)
    }

    /// Overwrites the elements from `start` on, after all work on the stream of the device that made the
    /// buffer, and waits until the copy is complete.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the buffer has too few elements; [`Error::Cuda`], [`Error::Deferred`].
    pub fn write(&mut self, start: usize, data: &[T]) -> Result<(), Error> {
        self.all_mut().write(start, data)
    }

    /// A writable view of the elements in `range`.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the range is not inside the buffer.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>, Error> {
        self.all_mut().part(range)
    }

    /// The address of the first element, in device memory, or on the CPU in host memory. Null for an empty
    /// buffer.
    pub fn as_device_ptr(&self) -> u64 {
        match &self.storage {
            Storage::Host(data) if data.is_empty() => 0,
            Storage::Host(data) => data.as_ptr().addr() as u64,
            Storage::Device(memory) => memory.address(),
        }
    }

    /// Gives up ownership of the device memory and returns its address; on failure, returns the error and the
    /// unchanged buffer.
    pub(crate) fn release(self) -> Result<u64, Box<(Error, Self)>> {
        let Self {
            backend,
            len,
            storage,
        } = self;
        let failed = |error, storage| {
            let given = Self {
                backend,
                len,
                storage,
            };
            Err(Box::new((error, given)))
        };
        match storage {
            Storage::Host(_) => {
                let what = "a buffer of `cust`";
                failed(Error::NeedsGpu { what }, storage)
            }
            Storage::Device(memory) => match memory.release() {
                Ok(address) => Ok(address),
                Err(unchanged) => {
                    let (error, memory) = *unchanged;
                    failed(error, Storage::Device(memory))
                }
            },
        }
    }

    /// A writable view of all elements.
    pub(crate) fn all_mut(&mut self) -> ViewMut<'_, T> {
        let location = match &mut self.storage {
            Storage::Host(data) => LocationMut::Host(data),
            Storage::Device(memory) => LocationMut::Device(memory.all_mut()),
        };
        ViewMut::new(&self.backend, location)
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self.backend.name();
        write!(f, "Buffer<{}>({} on {device})", name_of::<T>(), self.len)
    }
}

/// A read-only view of a [`Buffer`] or of a part of it; cheap to copy, like a reference.
pub struct View<'a, T: Element> {
    owner: &'a Backend,
    location: Location<'a, T>,
}

impl<'a, T: Element> View<'a, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self.location {
            Location::Host(data) => data.len(),
            Location::Device(span) => span.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A view of a part; the range counts from this view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the range is not inside the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'a, T>, Error> {
        let (start, end) = indices(range, self.len())?;
        let location = match self.location {
            Location::Host(data) => Location::Host(&data[start..end]),
            Location::Device(span) => Location::Device(span.part(start, end - start)),
        };
        let owner = self.owner;
        Ok(View { owner, location })
    }

    /// Copies the elements to the host, as [`Buffer::download`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.download_on(self.owner)
    }

    /// [`download`](Self::download) after the work on the backend's stream.
    pub(crate) fn download_on(&self, backend: &Backend) -> Result<Vec<T>, Error> {
        match (self.location, backend) {
            (Location::Host(data), _) => host::copy(data),
            (Location::Device(span), Backend::Gpu(queue)) => span.download(queue),
            (Location::Device(_), Backend::Cpu(_)) => {
                unreachable!("the CPU's buffers are on the host")
            }
        }
    }

    /// A view of device memory of the owner, a GPU.
    pub(crate) fn of_span(owner: &'a Backend, span: Span<'a, T>) -> Self {
        let location = Location::Device(span);
        Self { owner, location }
    }

    /// A view of host memory of the owner, the CPU.
    pub(crate) fn of_slice(owner: &'a Backend, data: &'a [T]) -> Self {
        let location = Location::Host(data);
        Self { owner, location }
    }

    pub(crate) fn owner(&self) -> &'a Backend {
        self.owner
    }

    /// The memory that holds the elements.
    pub(crate) fn location(&self) -> Location<'a, T> {
        self.location
    }
}

/// The start and the end (exclusive) of a range in an array of `len` elements.
pub(crate) fn indices(range: impl RangeBounds<usize>, len: usize) -> Result<(usize, usize), Error> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    match start <= end && end <= len {
        true => Ok((start, end)),
        false => Err(Error::ViewRange { start, end, len }),
    }
}

/// The memory that holds a view's elements.
#[derive(Clone, Copy)]
pub(crate) enum Location<'a, T: Element> {
    Host(&'a [T]),
    Device(Span<'a, T>),
}

impl<T: Element> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for View<'_, T> {}

impl<T: Element> std::fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "View<{}>({} on {})",
            name_of::<T>(),
            self.len(),
            self.owner.name()
        )
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for View<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        let location = match &buffer.storage {
            Storage::Host(data) => Location::Host(data),
            Storage::Device(memory) => Location::Device(memory.all()),
        };
        let owner = &buffer.backend;
        View { owner, location }
    }
}
