//! Segmented reductions: each of many adjacent parts of an array by itself.

mod launch;
mod runs;
mod search;
mod storage;

use kernels_gpu::element::Number;
use kernels_gpu::entry::segments::PARTITION;
use kernels_gpu::entry::{Entry, Segments};
use kernels_gpu::segments::by_part::{blocks_of, is_for, places_of, team_of};
use kernels_gpu::segments::{Layout, Reports, Shape, THREADS, most_staged};

use crate::backend::{Backend, Queue};
use crate::buffer::{Location, View};
use crate::cpu::{self, Starts};
use crate::determinism::Determinism;
use crate::device::Device;
use crate::error::Error;
use crate::host;
use crate::input::{self, Input, Items, Views};
use crate::launch::{Argument, Arguments, Grid, Kernel};
use crate::memory::{DeviceMemory, SpanMut};
use crate::view_mut::{LocationMut, Target};
use launch::Launch;
pub use runs::{RunLengths, Runs};
pub(crate) use storage::Storage;

/// An offset of a segment: `i32`, `u32`, `i64` or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an offset of a segment",
    label = "not an offset",
    note = "offsets are integers of 32 or 64 bits: `i32`, `u32`, `i64` or `u64`"
)]
pub trait Offset: Number + sealed::Sealed {
    /// Whether it can be negative.
    #[doc(hidden)]
    const SIGNED: bool;

    /// The number; `None` if it is negative.
    #[doc(hidden)]
    fn index(self) -> Option<usize>;

    /// The offset with this number, which has its type.
    #[doc(hidden)]
    fn of_index(index: usize) -> Self;

    /// The greatest number that has the type.
    #[doc(hidden)]
    const MOST: u64;

    /// The number, for an error's text.
    #[doc(hidden)]
    fn value(self) -> i128;
}

mod sealed {
    use crate::cpu::Starts;

    pub trait Sealed: Sized {
        /// Checked offsets, for the CPU.
        fn starts(offsets: &[Self]) -> Starts<'_>;
    }
}

macro_rules! offsets {
    ($($offset:ident $signed:literal $starts:ident),*) => { $(
        impl sealed::Sealed for $offset {
            fn starts(offsets: &[Self]) -> Starts<'_> {
                Starts::$starts(offsets)
            }
        }

        impl Offset for $offset {
            const SIGNED: bool = $signed;

            fn index(self) -> Option<usize> {
                self.try_into().ok()
            }

            fn of_index(index: usize) -> Self {
                index as Self
            }

            const MOST: u64 = $offset::MAX as u64;

            fn value(self) -> i128 {
                self.into()
            }
        }
    )* };
}

offsets!(i32 true I32, u32 false U32, i64 true I64, u64 false U64);

/// The segments of a call.
#[derive(Clone, Copy)]
pub(crate) enum Parts<'a, T: Offset> {
    /// Offsets, and the most items of a segment, if that is known.
    Offsets(View<'a, T>, Option<usize>),
    /// Rows of this length.
    Rows(usize),
}

impl<T: Offset> Parts<'_, T> {
    /// The number of segments of `n` items.
    fn count(&self, n: usize) -> usize {
        match self {
            Self::Offsets(offsets, _) => offsets.len() - 1,
            Self::Rows(len) => n / len,
        }
    }

    /// The most items of a segment.
    fn longest(&self, n: usize) -> usize {
        match self {
            Self::Offsets(_, longest) => longest.unwrap_or(n),
            Self::Rows(len) => *len,
        }
    }

    fn shape<I: Items>(&self, n: usize) -> Shape {
        let (segments, row) = self.segments(n);
        Shape::new::<I>(n, segments, row, T::SIGNED)
    }

    /// The number of segments, and their length; 0 if there are offsets.
    fn segments(&self, n: usize) -> (usize, usize) {
        match self {
            Self::Offsets(..) => (self.count(n), 0),
            Self::Rows(len) => (self.count(n), *len),
        }
    }
}

/// The accumulators of segments, and their offsets; `None` for rows.
pub(crate) type Accumulated<A, T> = (Vec<A>, Option<Vec<T>>);

/// Temporary storage for [`Device::reduce_segments_into`], [`Device::reduce_rows_into`], [`Device::count_runs_into`] and
/// [`Device::reduce_runs_into`], made by [`Device::segment_scratch`].
///
/// It belongs to one stream of the device; the launches on a stream use it one after another. It grows when a call needs
/// more than all before it.
pub struct SegmentScratch {
    stream: Backend,
    /// None on the CPU, which needs no temporary storage.
    storage: Option<Storage>,
}

impl SegmentScratch {
    fn of(&mut self, backend: &Backend) -> Result<Option<&mut Storage>, Error> {
        match self.stream.is_same_stream(backend) {
            true => Ok(self.storage.as_mut()),
            false => Err(Error::OtherStream),
        }
    }

    /// Waits for the work on the stream, and returns an error if a call since the last check had a bad offset. `offsets`
    /// are those of the call.
    ///
    /// # Errors
    ///
    /// [`Error::Offset`]; [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn check<'a, T: Offset>(&mut self, offsets: impl Input<'a, T>) -> Result<(), Error> {
        match (&self.stream, &mut self.storage) {
            (Backend::Gpu(queue), Some(storage)) => match storage.take_bad(queue)? {
                Some(index) => Err(bad_offset(queue, offsets.into_views(), index, None)?),
                None => queue.synchronize(),
            },
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for SegmentScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SegmentScratch(on {})", self.stream)
    }
}

/// The error for bad offset `index`, whose value is read again.
fn bad_offset<T: Offset>(
    queue: &Queue,
    offsets: View<'_, T>,
    index: u64,
    len: Option<usize>,
) -> Result<Error, Error> {
    let at = index as usize;
    let read = |at: usize| -> Result<Option<i128>, Error> {
        match offsets.location() {
            Location::Device(span) if at < span.len() => {
                Ok(Some(span.part(at, 1).download(queue)?[0].value()))
            }
            _ => Ok(None),
        }
    };
    Ok(Error::Offset {
        index: at,
        value: read(at)?.unwrap_or_default(),
        before: match at {
            0 => None,
            _ => read(at - 1)?,
        },
        len,
    })
}

/// An error unless the offsets do not decrease and lie within `n` items.
fn check_offsets<T: Offset>(offsets: &[T], n: usize) -> Result<(), Error> {
    let mut before = 0;
    for (index, offset) in offsets.iter().enumerate() {
        match offset.index() {
            Some(value) if before <= value && value <= n => before = value,
            _ => {
                return Err(Error::Offset {
                    index,
                    value: offset.value(),
                    before: index.checked_sub(1).map(|before| offsets[before].value()),
                    len: Some(n),
                });
            }
        }
    }
    Ok(())
}

impl Device {
    /// Temporary storage for [`reduce_segments_into`](Self::reduce_segments_into),
    /// [`reduce_rows_into`](Self::reduce_rows_into), [`count_runs_into`](Self::count_runs_into) and
    /// [`reduce_runs_into`](Self::reduce_runs_into).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn segment_scratch(&self) -> Result<SegmentScratch, Error> {
        Ok(SegmentScratch {
            stream: self.backend().clone(),
            storage: self.queue().map(|queue| Storage::new(queue)).transpose()?,
        })
    }

    /// Reduces each segment of `input` by `op`: segment `s` has the items from `offsets[s]` to `offsets[s + 1]`.
    ///
    /// The bits of each result are those of [`reduce`](Self::reduce) for a view of the segment: neighbours do not matter. An
    /// empty segment has the operator's [`empty`](kernels_gpu::op::Op::empty) result. Indices, such as those of
    /// [`ArgMax`](crate::ArgMax), count from the segment's start. Items before the first offset and behind the last one
    /// belong to no segment.
    ///
    /// ```
    /// use warpfold::{Device, Max, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5])?;
    /// let offsets = device.upload(&[0u32, 2, 2, 5])?;
    /// assert_eq!(device.reduce_segments(&x, &offsets, Sum)?, [3, 0, 12]);
    /// assert_eq!(device.reduce_segments(&x, &offsets, Max)?, [Some(2), None, Some(5)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Offset`] for an offset that is negative, smaller than the one before, or beyond the items;
    /// [`Error::NoOffsets`]; [`Error::Determinism`] for floats on a device of the level
    /// [`Exact`](crate::Determinism::Exact); [`Error::Lengths`], [`Error::NotRegistered`], [`Error::OtherDevice`],
    /// [`Error::GridTooLarge`], [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn reduce_segments<'a, 'b, I: Items, T: Offset, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        offsets: impl Input<'b, T>,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let parts = Parts::Offsets(offsets.into_views(), None);
        self.reduce_parts::<I, T, O>(input.into_views(), parts, op)
    }

    /// Reduces each row of `len` items by `op`, as [`reduce_segments`](Self::reduce_segments).
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(device.reduce_rows(&x, 3, Sum)?, [6, 15]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] unless the number of items is a multiple of `len`, which is not 0; otherwise as
    /// [`reduce_segments`](Self::reduce_segments).
    pub fn reduce_rows<'a, I: Items, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        len: usize,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        self.reduce_parts::<I, u64, O>(input.into_views(), Parts::Rows(len), op)
    }

    /// Reduces each segment of `input`, as [`reduce_segments`](Self::reduce_segments), and stores the accumulators on the
    /// device, in the first elements of `output`.
    ///
    /// On a GPU the call enqueues its launches and returns. It neither allocates nor waits if the scratch has been used
    /// before for as many items and segments. The accumulator of an empty segment is the operator's identity.
    ///
    /// A bad offset is found by the device: after it the elements of `output` are unspecified, and
    /// [`SegmentScratch::check`] returns the error. On the CPU this call returns it.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (x, offsets) = (device.upload(&[1, 2, 3, 4, 5])?, device.upload(&[0u32, 2, 5])?);
    /// let (mut sums, mut scratch) = (device.alloc::<i32>(2)?, device.segment_scratch()?);
    /// device.reduce_segments_into(&x, &offsets, Sum, &mut sums, &mut scratch)?;
    /// scratch.check(&offsets)?;
    /// assert_eq!(sums.download()?, [3, 12]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `output` has too few elements; [`Error::OtherStream`] if `scratch` belongs to another
    /// stream; otherwise as [`reduce_segments`](Self::reduce_segments).
    pub fn reduce_segments_into<'a, 'b, 'c, I: Items, T: Offset, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        offsets: impl Input<'b, T>,
        op: O,
        output: impl Target<'c, O::Acc>,
        scratch: &mut SegmentScratch,
    ) -> Result<(), Error> {
        let parts = Parts::Offsets(offsets.into_views(), None);
        self.reduce_parts_into::<I, T, O>(input.into_views(), parts, op, output, scratch)
    }

    /// Reduces each row of `len` items, as [`reduce_rows`](Self::reduce_rows), and stores the accumulators on the device, as
    /// [`reduce_segments_into`](Self::reduce_segments_into).
    ///
    /// # Errors
    ///
    /// As [`reduce_rows`](Self::reduce_rows) and [`reduce_segments_into`](Self::reduce_segments_into).
    pub fn reduce_rows_into<'a, 'c, I: Items, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        len: usize,
        op: O,
        output: impl Target<'c, O::Acc>,
        scratch: &mut SegmentScratch,
    ) -> Result<(), Error> {
        let parts = Parts::<u64>::Rows(len);
        self.reduce_parts_into::<I, u64, O>(input.into_views(), parts, op, output, scratch)
    }

    /// The number of items, or an error in the arguments.
    pub(crate) fn check_items<I: Items, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
    ) -> Result<usize, Error> {
        let entry: &'static Entry = &O::ENTRIES[0];
        let n = self.check_input::<I>(views, entry)?;
        match self.level == Determinism::Exact && !O::ANY_ORDER {
            true => Err(self.broken(
                entry,
                "segments are reduced by accumulators of the operator",
            )),
            false => Ok(n),
        }
    }

    /// The same, also for the segments.
    fn check_parts<I: Items, T: Offset, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
        parts: &Parts<'_, T>,
    ) -> Result<usize, Error> {
        let n = self.check_items::<I, O>(views)?;
        match parts {
            Parts::Offsets(offsets, _) => {
                self.check_owner(offsets)?;
                match offsets.is_empty() {
                    true => Err(Error::NoOffsets),
                    false => Ok(n),
                }
            }
            Parts::Rows(len) => match n.is_multiple_of(*len) && *len > 0 {
                true => Ok(n),
                false => Err(Error::Rows {
                    items: n,
                    len: *len,
                }),
            },
        }
    }

    pub(crate) fn reduce_parts<I: Items, T: Offset, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
        parts: Parts<'_, T>,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let (accumulators, offsets) = self.part_accumulators::<I, T, O>(views, parts, op)?;
        Ok(finish::<I, O>(
            op,
            accumulators,
            offsets.as_deref().map(T::starts),
        ))
    }

    /// [`reduce_parts`](Self::reduce_parts), before the results are finished.
    pub(crate) fn part_accumulators<I: Items, T: Offset, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
        parts: Parts<'_, T>,
        op: O,
    ) -> Result<Accumulated<O::Acc, T>, Error> {
        let n = self.check_parts::<I, T, O>(views, &parts)?;
        let count = parts.count(n);
        let accumulators = match self.backend() {
            Backend::Cpu(_) => {
                let mut accumulators = host::filled(count, op.identity())?;
                on_cpu::<I, T, O>(op, views, n, parts, &mut accumulators)?;
                accumulators
            }
            Backend::Gpu(queue) if count > 0 => {
                let mut output = DeviceMemory::filled(queue, count, 0)?;
                let mut storage = queue.segments();
                let storage = match &mut *storage {
                    Some(storage) => storage,
                    empty => empty.insert(Storage::new(queue)?),
                };
                let launch = Launch {
                    queue,
                    views,
                    n,
                    op,
                    parts,
                };
                launch.enqueue(storage, output.all_mut())?;
                if let Parts::Offsets(offsets, _) = parts
                    && let Some(index) = storage.take_bad(queue)?
                {
                    return Err(bad_offset(queue, offsets, index, Some(n))?);
                }
                output.all().download(queue)?
            }
            Backend::Gpu(_) => vec![],
        };
        let offsets = match parts {
            Parts::Offsets(offsets, _) => Some(offsets.download_on(self.backend())?),
            Parts::Rows(_) => None,
        };
        Ok((accumulators, offsets))
    }

    pub(crate) fn reduce_parts_into<'c, I: Items, T: Offset, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
        parts: Parts<'_, T>,
        op: O,
        output: impl Target<'c, O::Acc>,
        scratch: &mut SegmentScratch,
    ) -> Result<(), Error> {
        let n = self.check_parts::<I, T, O>(views, &parts)?;
        let output = output.into_view_mut().part(..parts.count(n))?;
        self.backend().check_same(output.owner())?;
        let storage = scratch.of(self.backend())?;
        self.store_parts::<I, T, O>(views, n, parts, op, output.into_location(), storage)
    }

    /// Reduces the segments into `output`, which has an element for each. All arguments have been checked, and `storage` is
    /// that of this stream.
    pub(crate) fn store_parts<I: Items, T: Offset, O: Segments<I>>(
        &self,
        views: I::Of<Views<'_>>,
        n: usize,
        parts: Parts<'_, T>,
        op: O,
        output: LocationMut<'_, O::Acc>,
        storage: Option<&mut Storage>,
    ) -> Result<(), Error> {
        match (output, self.backend()) {
            (LocationMut::Host(output), Backend::Cpu(_)) => {
                on_cpu::<I, T, O>(op, views, n, parts, output)
            }
            (LocationMut::Device(output), Backend::Gpu(queue)) => {
                if output.all().len() == 0 {
                    return Ok(());
                }
                let launch = Launch {
                    queue,
                    views,
                    n,
                    op,
                    parts,
                };
                launch.enqueue(storage.ok_or(Error::OtherStream)?, output)
            }
            _ => unreachable!("the input and the output are on this device"),
        }
    }
}

/// The results of accumulators; without `starts`, none of their segments is empty.
pub(crate) fn finish<I: Items, O: Segments<I>>(
    op: O,
    accumulators: Vec<O::Acc>,
    starts: Option<Starts<'_>>,
) -> Vec<O::Output> {
    let accumulators = accumulators.into_iter();
    let Some(starts) = starts else {
        return accumulators.map(|acc| op.finish(acc)).collect();
    };
    let results = accumulators.enumerate();
    results
        .map(|(segment, acc)| match starts.is_empty(segment) {
            true => op.empty(),
            false => op.finish(acc),
        })
        .collect()
}

/// Reduces the segments on the CPU.
fn on_cpu<I: Items, T: Offset, O: Segments<I>>(
    op: O,
    views: I::Of<Views<'_>>,
    n: usize,
    parts: Parts<'_, T>,
    output: &mut [O::Acc],
) -> Result<(), Error> {
    let items = input::slices::<I>(views);
    let starts = match parts {
        Parts::Rows(len) => Starts::Rows(len),
        Parts::Offsets(offsets, _) => {
            let Location::Host(offsets) = offsets.location() else {
                unreachable!("the offsets are on the CPU");
            };
            check_offsets(offsets, n)?;
            T::starts(offsets)
        }
    };
    cpu::reduce_segments::<I, O>(op, items, starts, output);
    Ok(())
}
