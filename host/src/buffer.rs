//! Arrays on a device, and parts of them.

use std::ops::{Bound, RangeBounds};

use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::host;
use crate::memory::{DeviceMemory, Span};

/// An array of `T` on a [`Device`], made by [`Device::upload`] or [`Device::alloc`].
///
/// Dropping it waits for the work on the device's stream and gives the memory back; a
/// failure there is reported by the device's next call ([`Error::Deferred`]).
pub struct Buffer<T: Element> {
    device: Device,
    len: usize,
    storage: Storage<T>,
}

enum Storage<T: Element> {
    Host(Vec<T>),
    Device(DeviceMemory<T>),
}

impl<T: Element> Buffer<T> {
    pub(crate) fn host(device: Device, data: Vec<T>) -> Self {
        Self {
            device,
            len: data.len(),
            storage: Storage::Host(data),
        }
    }

    pub(crate) fn device(device: Device, len: usize, memory: DeviceMemory<T>) -> Self {
        Self {
            device,
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

    /// The elements, copied to the host after all work on the device's stream.
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

    /// The address of the first element: of device memory, or on the CPU device of host
    /// memory. Null when there are no elements.
    pub fn as_device_ptr(&self) -> u64 {
        match &self.storage {
            Storage::Host(data) if data.is_empty() => 0,
            Storage::Host(data) => data.as_ptr().addr() as u64,
            Storage::Device(memory) => memory.pointer().as_raw(),
        }
    }

    /// Where the elements are, for one who writes them.
    pub(crate) fn place_mut(&mut self) -> PlaceMut<'_, T> {
        match &mut self.storage {
            Storage::Host(data) => PlaceMut::Host(data),
            Storage::Device(memory) => PlaceMut::Device(memory),
        }
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self.device.name();
        write!(f, "Buffer<{}>({} on {device})", T::NAME, self.len)
    }
}

/// A part of a [`Buffer`], or all of it; a reference that is cheap to copy.
pub struct View<'a, T: Element> {
    buffer: &'a Buffer<T>,
    // `start + len <= buffer.len`, held by `view`, the only way to a part.
    start: usize,
    len: usize,
}

impl<'a, T: Element> View<'a, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of this part; the range counts from the view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'a, T>, Error> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            let len = self.len;
            return Err(Error::ViewRange { start, end, len });
        }
        Ok(View {
            buffer: self.buffer,
            start: self.start + start,
            len: end - start,
        })
    }

    /// The elements, as [`Buffer::download`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        match &self.buffer.storage {
            Storage::Host(data) => host::copy(&data[self.start..self.start + self.len]),
            Storage::Device(memory) => memory.download(self.start, self.len),
        }
    }

    pub(crate) fn owner(&self) -> &'a Device {
        &self.buffer.device
    }

    /// Where the elements are.
    pub(crate) fn place(&self) -> Place<'a, T> {
        match &self.buffer.storage {
            Storage::Host(data) => Place::Host(&data[self.start..self.start + self.len]),
            Storage::Device(memory) => Place::Device(memory.span(self.start, self.len)),
        }
    }
}

/// Where a view's elements are.
pub(crate) enum Place<'a, T: Element> {
    Host(&'a [T]),
    Device(Span<'a, T>),
}

/// Where all of a buffer's elements are, for one who writes them.
pub(crate) enum PlaceMut<'a, T: Element> {
    Host(&'a mut [T]),
    Device(&'a mut DeviceMemory<T>),
}

impl<T: Element> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for View<'_, T> {}

impl<T: Element> std::fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (start, end) = (self.start, self.start + self.len);
        write!(f, "View({start}..{end} of {:?})", self.buffer)
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for View<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        View {
            buffer,
            start: 0,
            len: buffer.len,
        }
    }
}
