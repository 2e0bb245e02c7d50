//! Writable views of arrays on a device.

use std::ops::RangeBounds;
use std::sync::Arc;

use crate::backend::{Backend, Queue};
use crate::buffer::{Buffer, View, indices};
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::memory::SpanMut;

/// A writable view of a [`Buffer`] or of a part of it, like `&mut [T]` of a `Vec<T>`; made by
/// [`Buffer::view_mut`].
///
/// It can be split, so that several threads fill one buffer, each with its own stream:
///
/// ```
/// use std::thread;
/// use warpfold::{Device, Error, Sum};
///
/// let device = Device::auto()?;
/// let x = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let mut sums = device.alloc::<i32>(4)?;
/// thread::scope(|scope| {
///     let parts = sums.view_mut(..)?.chunks(2)?;
///     let threads: Vec<_> = parts
///         .zip([x.view(..4)?, x.view(4..)?])
///         .map(|(mut part, x)| {
///             let device = &device;
///             scope.spawn(move || -> Result<(), Error> {
///                 let stream = device.new_stream()?;
///                 let mut scratch = stream.scratch()?;
///                 stream.reduce_into(x.view(..2)?, Sum, &mut part, 0, &mut scratch)?;
///                 stream.reduce_into(x.view(2..)?, Sum, &mut part, 1, &mut scratch)?;
///                 stream.synchronize()
///             })
///         })
///         .collect();
///     threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
/// })?;
/// assert_eq!(sums.download()?, [3, 7, 11, 15]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// The borrow ends when the call returns, not when the stream has done the work. Before another stream reads
/// the buffer, wait for the streams that write it, with [`Device::synchronize`](crate::Device::synchronize)
/// or [`Device::wait_for`](crate::Device::wait_for).
pub struct ViewMut<'a, T: Element> {
    owner: &'a Backend,
    location: LocationMut<'a, T>,
}

/// The memory that holds the elements, borrowed mutably.
pub(crate) enum LocationMut<'a, T: Element> {
    Host(&'a mut [T]),
    Device(SpanMut<'a, T>),
}

impl<'a, T: Element> ViewMut<'a, T> {
    pub(crate) fn new(owner: &'a Backend, location: LocationMut<'a, T>) -> Self {
        Self { owner, location }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.location {
            LocationMut::Host(data) => data.len(),
            LocationMut::Device(span) => span.all().len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A read-only view of a part; the range counts from this view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the range is not inside the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>, Error> {
        let all = match &self.location {
            LocationMut::Host(data) => View::of_slice(self.owner, data),
            LocationMut::Device(span) => View::of_span(self.owner, span.all()),
        };
        all.view(range)
    }

    /// A writable view of a part; the range counts from this view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the range is not inside the view.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>, Error> {
        self.reborrow().part(range)
    }

    /// Splits the view into the elements before `at` and those from `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if there are fewer than `at` elements.
    pub fn split_at(self, at: usize) -> Result<(Self, Self), Error> {
        self.view(..at)?;
        let owner = self.owner;
        let (low, high) = match self.location {
            LocationMut::Host(data) => {
                let (low, high) = data.split_at_mut(at);
                (LocationMut::Host(low), LocationMut::Host(high))
            }
            LocationMut::Device(span) => {
                let (low, high) = span.split_at(at);
                (LocationMut::Device(low), LocationMut::Device(high))
            }
        };
        Ok((Self::new(owner, low), Self::new(owner, high)))
    }

    /// Splits the view into parts of `len` elements, in order; the last part has the rest.
    ///
    /// # Errors
    ///
    /// [`Error::ChunkLength`] if `len` is 0.
    pub fn chunks(self, len: usize) -> Result<impl Iterator<Item = Self> + use<'a, T>, Error> {
        if len == 0 {
            return Err(Error::ChunkLength { len });
        }
        let mut rest = Some(self);
        Ok(std::iter::from_fn(move || {
            let all = rest.take().filter(|all| !all.is_empty())?;
            let (first, remaining) = match all.len() > len {
                true => all
                    .split_at(len)
                    .map(|(low, high)| (low, Some(high)))
                    .ok()?,
                false => (all, None),
            };
            rest = remaining;
            Some(first)
        }))
    }

    /// Overwrites the elements from `start` on, after all work on the stream of the device that made the
    /// buffer, and waits until the copy is complete.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if the view has too few elements; [`Error::Cuda`], [`Error::Deferred`].
    pub fn write(&mut self, start: usize, data: &[T]) -> Result<(), Error> {
        let owner = self.owner;
        self.reborrow().write_on(owner.queue(), start, data)
    }

    /// [`write`](Self::write) after the work on a stream.
    pub(crate) fn write_on(
        self,
        queue: Option<&Arc<Queue>>,
        start: usize,
        data: &[T],
    ) -> Result<(), Error> {
        match (
            self.part(start..start.saturating_add(data.len()))?.location,
            queue,
        ) {
            (LocationMut::Host(elements), _) => elements.copy_from_slice(data),
            (LocationMut::Device(span), Some(queue)) => span.write(queue, data)?,
            (LocationMut::Device(_), None) => unreachable!("the CPU's buffers are on the host"),
        }
        Ok(())
    }

    pub(crate) fn part(self, range: impl RangeBounds<usize>) -> Result<Self, Error> {
        let (start, end) = indices(range, self.len())?;
        let (rest, _) = self.split_at(end)?;
        Ok(rest.split_at(start)?.1)
    }

    pub(crate) fn owner(&self) -> &'a Backend {
        self.owner
    }

    /// The memory that holds the elements.
    pub(crate) fn into_location(self) -> LocationMut<'a, T> {
        self.location
    }

    fn reborrow(&mut self) -> ViewMut<'_, T> {
        let location = match &mut self.location {
            LocationMut::Host(data) => LocationMut::Host(data),
            LocationMut::Device(span) => LocationMut::Device(span.reborrow()),
        };
        ViewMut::new(self.owner, location)
    }
}

impl<T: Element> std::fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (element, owner) = (name_of::<T>(), self.owner.name());
        write!(f, "ViewMut<{element}>({} on {owner})", self.len())
    }
}

/// A destination of elements, for calls such as [`Device::reduce_into`](crate::Device::reduce_into): `&mut
/// Buffer<T>`, `ViewMut<T>` or `&mut ViewMut<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot store elements of type `{T}`",
    label = "expected `&mut Buffer<{T}>` or a `ViewMut<{T}>`",
    note = "`device.alloc::<{T}>(len)?` makes a buffer; a reduction stores accumulators (`Op::Acc`), whose \
            type may differ from that of the elements"
)]
pub trait Target<'a, T: Element> {
    /// A view of the elements.
    #[doc(hidden)]
    fn into_view_mut(self) -> ViewMut<'a, T>;
}

impl<'a, T: Element> Target<'a, T> for &'a mut Buffer<T> {
    fn into_view_mut(self) -> ViewMut<'a, T> {
        self.all_mut()
    }
}

impl<'a, T: Element> Target<'a, T> for ViewMut<'a, T> {
    fn into_view_mut(self) -> ViewMut<'a, T> {
        self
    }
}

impl<'a, T: Element> Target<'a, T> for &'a mut ViewMut<'_, T> {
    fn into_view_mut(self) -> ViewMut<'a, T> {
        self.reborrow()
    }
}
