//! Parts of arrays on a device that are written.

use std::ops::RangeBounds;
use std::sync::Arc;

use crate::backend::{Backend, Queue};
use crate::buffer::{Buffer, View, indices};
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::memory::SpanMut;

/// A part of a [`Buffer`], or all of it, to be written: what `&mut [T]` is to a `Vec<T>`. Made by
/// [`Buffer::view_mut`].
///
/// It can be split, so that several threads fill one buffer, each by a stream of its own:
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
/// The borrow ends where the call returns, and not where the stream has done its work: before another stream reads
/// the buffer, wait for the streams that write it, by [`Device::synchronize`](crate::Device::synchronize) or
/// [`Device::wait_for`](crate::Device::wait_for).
pub struct ViewMut<'a, T: Element> {
    owner: &'a Backend,
    place: PlaceMut<'a, T>,
}

/// Where the elements are. Nobody else has these.
pub(crate) enum PlaceMut<'a, T: Element> {
    Host(&'a mut [T]),
    Device(SpanMut<'a, T>),
}

impl<'a, T: Element> ViewMut<'a, T> {
    pub(crate) fn new(owner: &'a Backend, place: PlaceMut<'a, T>) -> Self {
        Self { owner, place }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.place {
            PlaceMut::Host(data) => data.len(),
            PlaceMut::Device(span) => span.all().len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of this part, to be read; the range counts from the view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>, Error> {
        let all = match &self.place {
            PlaceMut::Host(data) => View::of_slice(self.owner, data),
            PlaceMut::Device(span) => View::of_span(self.owner, span.all()),
        };
        all.view(range)
    }

    /// A part of this part, to be written; the range counts from the view's first element.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the range is not inside the view.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>, Error> {
        self.reborrow().part(range)
    }

    /// The elements before `at`, and those from there on.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when there are fewer than `at`.
    pub fn split_at(self, at: usize) -> Result<(Self, Self), Error> {
        self.view(..at)?;
        let owner = self.owner;
        let (low, high) = match self.place {
            PlaceMut::Host(data) => {
                let (low, high) = data.split_at_mut(at);
                (PlaceMut::Host(low), PlaceMut::Host(high))
            }
            PlaceMut::Device(span) => {
                let (low, high) = span.split_at(at);
                (PlaceMut::Device(low), PlaceMut::Device(high))
            }
        };
        Ok((Self::new(owner, low), Self::new(owner, high)))
    }

    /// Parts of `len` elements each, in their order; the last has the rest.
    ///
    /// # Errors
    ///
    /// [`Error::ChunkLength`] when `len` is 0.
    pub fn chunks(self, len: usize) -> Result<impl Iterator<Item = Self> + use<'a, T>, Error> {
        if len == 0 {
            return Err(Error::ChunkLength { len });
        }
        let mut rest = Some(self);
        Ok(std::iter::from_fn(move || {
            let all = rest.take().filter(|all| !all.is_empty())?;
            let (first, others) = match all.len() > len {
                true => all
                    .split_at(len)
                    .map(|(low, high)| (low, Some(high)))
                    .ok()?,
                false => (all, None),
            };
            rest = others;
            Some(first)
        }))
    }

    /// Overwrites the elements from `start` on, after the work on the stream of the device that made
    /// the buffer. They have arrived when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when the view has not so many; [`Error::Cuda`], [`Error::Deferred`].
    pub fn write(&mut self, start: usize, data: &[T]) -> Result<(), Error> {
        let owner = self.owner;
        self.reborrow().write_on(owner.queue(), start, data)
    }

    /// The same after the work on a stream.
    pub(crate) fn write_on(
        self,
        queue: Option<&Arc<Queue>>,
        start: usize,
        data: &[T],
    ) -> Result<(), Error> {
        match (
            self.part(start..start.saturating_add(data.len()))?.place,
            queue,
        ) {
            (PlaceMut::Host(elements), _) => elements.copy_from_slice(data),
            (PlaceMut::Device(span), Some(queue)) => span.write(queue, data)?,
            (PlaceMut::Device(_), None) => unreachable!("the CPU's buffers are on the host"),
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

    /// Where the elements are.
    pub(crate) fn into_place(self) -> PlaceMut<'a, T> {
        self.place
    }

    fn reborrow(&mut self) -> ViewMut<'_, T> {
        let place = match &mut self.place {
            PlaceMut::Host(data) => PlaceMut::Host(data),
            PlaceMut::Device(span) => PlaceMut::Device(span.reborrow()),
        };
        ViewMut::new(self.owner, place)
    }
}

impl<T: Element> std::fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (element, owner) = (name_of::<T>(), self.owner.name());
        write!(f, "ViewMut<{element}>({} on {owner})", self.len())
    }
}

/// Where a call leaves elements, such as [`Device::reduce_into`](crate::Device::reduce_into): `&mut Buffer<T>`,
/// `ViewMut<T>` or `&mut ViewMut<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take elements of type `{T}`",
    label = "expected `&mut Buffer<{T}>` or a `ViewMut<{T}>`",
    note = "`device.alloc::<{T}>(len)?` makes a buffer; a reduction leaves accumulators (`Op::Acc`), which may have \
            another type than the elements"
)]
pub trait Target<'a, T: Element> {
    /// The elements.
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
