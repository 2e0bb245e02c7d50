//! Arrays on a device, and parts of them.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use crate::backend::{Backend, Queue};
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::memory::{DeviceMemory, Span};
use crate::view_mut::{PlaceMut, ViewMut};

/// An array of `T` on a [`Device`](crate::Device), made by [`Device::upload`](crate::Device::upload) or
/// [`Device::alloc`](crate::Device::alloc).
///
/// Dropping it waits for the work on all streams of the device and gives the memory back; a
/// failure there is reported by the device's next call ([`Error::Deferred`]).
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

    /// The elements, copied to the host after all work on the stream of the device that made it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::Cuda`], also for the fault of an earlier kernel;
    /// [`Error::Deferred`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        View::from(self).download()
    }

    /// The elements in `range`, starting at any of them. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the buffer.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>, Error> {
        View::from(self).view(range)
    }

    /// Overwrites the elements from `start` on, after the work on the stream of the device that made
    /// the buffer. They have arrived when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the buffer has not so many; [`Error::Cuda`], [`Error::Deferred`].
    pub fn write(&mut self, start: usize, data: &[T]) -> Result<(), Error> {
        self.all_mut().write(start, data)
    }

    /// The elements in `range`, to be written.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the buffer.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>, Error> {
        self.all_mut().part(range)
    }

    /// The address of the first element: of device memory, or on the CPU device of host
    /// memory. Null when there are no elements.
    pub fn as_device_ptr(&self) -> u64 {
        match &self.storage {
            Storage::Host(data) if data.is_empty() => 0,
            Storage::Host(data) => data.as_ptr().addr() as u64,
            Storage::Device(memory) => memory.address(),
        }
    }

    /// The address of memory of the device's, which is the caller's from here on. Else the buffer as it was,
    /// and why.
    pub(crate) fn release(self) -> Result<u64, Box<(Error, Self)>> {
        let Self {
            backend,
            len,
            storage,
        } = self;
        let again = |error, storage| {
            let given = Self {
                backend,
                len,
                storage,
            };
            Err(Box::new((error, given)))
        };
        match storage {
            Storage::Host(_) => {
                let what = "a buffer of cust's";
                again(Error::NeedsGpu { what }, storage)
            }
            Storage::Device(memory) => match memory.release() {
                Ok(address) => Ok(address),
                Err(failed) => {
                    let (error, memory) = *failed;
                    again(error, Storage::Device(memory))
                }
            },
        }
    }

    /// All elements, to be written.
    pub(crate) fn all_mut(&mut self) -> ViewMut<'_, T> {
        let place = match &mut self.storage {
            Storage::Host(data) => PlaceMut::Host(data),
            Storage::Device(memory) => PlaceMut::Device(memory.all_mut()),
        };
        ViewMut::new(&self.backend, place)
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self.backend.name();
        write!(f, "Buffer<{}>({} on {device})", name_of::<T>(), self.len)
    }
}

/// A part of a [`Buffer`], or all of it; a reference that is cheap to copy.
pub struct View<'a, T: Element> {
    owner: &'a Backend,
    place: Place<'a, T>,
}

impl<'a, T: Element> View<'a, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self.place {
            Place::Host(data) => data.len(),
            Place::Device(span) => span.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of this part; the range counts from the view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'a, T>, Error> {
        let (start, end) = indices(range, self.len())?;
        let place = match self.place {
            Place::Host(data) => Place::Host(&data[start..end]),
            Place::Device(span) => Place::Device(span.part(start, end - start)),
        };
        let owner = self.owner;
        Ok(View { owner, place })
    }

    /// The elements, as [`Buffer::download`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.download_on(self.owner)
    }

    /// The same after the work on the backend's stream.
    pub(crate) fn download_on(&self, backend: &Backend) -> Result<Vec<T>, Error> {
        match (self.place, backend) {
            (Place::Host(data), _) => host::copy(data),
            (Place::Device(span), Backend::Gpu(queue)) => span.download(queue),
            (Place::Device(_), Backend::Cpu(_)) => {
                unreachable!("the CPU's buffers are on the host")
            }
        }
    }

    /// Elements on the owner, which is a GPU.
    pub(crate) fn of_span(owner: &'a Backend, span: Span<'a, T>) -> Self {
        let place = Place::Device(span);
        Self { owner, place }
    }

    /// Elements on the owner, which is the CPU.
    pub(crate) fn of_slice(owner: &'a Backend, data: &'a [T]) -> Self {
        let place = Place::Host(data);
        Self { owner, place }
    }

    pub(crate) fn owner(&self) -> &'a Backend {
        self.owner
    }

    /// Where the elements are.
    pub(crate) fn place(&self) -> Place<'a, T> {
        self.place
    }
}

/// The first index of a range of `len` elements, and the one behind the last.
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

/// Where a view's elements are.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a, T: Element> {
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
        let place = match &buffer.storage {
            Storage::Host(data) => Place::Host(data),
            Storage::Device(memory) => Place::Device(memory.all()),
        };
        let owner = &buffer.backend;
        View { owner, place }
    }
}
