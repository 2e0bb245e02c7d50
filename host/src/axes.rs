//! Reductions along axes of an array.

#[cfg(feature = "ndarray")]
mod arrays;
mod dims;
mod launch;

use kernels_gpu::axes::THREADS;
use kernels_gpu::entry::Axes;

use crate::backend::{Backend, Queue};
use crate::cpu;
use crate::determinism::Determinism;
use crate::device::Device;
use crate::error::Error;
use crate::host;
use crate::input::{self, Input, Items, Views};
use crate::memory::DeviceMemory;
use crate::segments::{Parts, SegmentScratch, finish};
use crate::view_mut::{LocationMut, Target};
use dims::Dims;
pub use dims::Strided;
use launch::Launch;

/// Temporary storage for [`Device::reduce_axis_into`], made by [`Device::axis_scratch`].
///
/// It belongs to one stream of the device; the launches on a stream use it one after another. It grows when a call needs
/// more than all before it.
pub struct AxisScratch {
    stream: Backend,
    /// For axes that are rows.
    segments: SegmentScratch,
    partials: Option<DeviceMemory<u64>>,
}

impl std::fmt::Debug for AxisScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AxisScratch(on {})", self.stream)
    }
}

impl Device {
    /// Temporary storage for [`reduce_axis_into`](Self::reduce_axis_into).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn axis_scratch(&self) -> Result<AxisScratch, Error> {
        Ok(AxisScratch {
            stream: self.backend().clone(),
            segments: self.segment_scratch()?,
            partials: None,
        })
    }

    /// Reduces an array along `axes` by `op`: a result for each index of the other axes, in C order.
    ///
    /// `shape` has the lengths of up to 8 dimensions, outermost first; the items of `input` are the array in C order, or
    /// any [`Strided`] one, also backwards. All axes give one result, and no axes a result for each item.
    ///
    /// The bits of each result are those of [`reduce`](Self::reduce) for its items in C order of the reduced axes. Indices, such
    /// as those of [`ArgMax`](crate::ArgMax), are those along the axis; of several axes, in C order of them. If a
    /// reduced axis is empty, the results are the operator's [`empty`](kernels_gpu::op::Op::empty) one.
    ///
    /// ```
    /// use warpfold::{ArgMax, Device, Strided, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(device.reduce_axis(&x, &[2, 3], &[0], Sum)?, [5, 7, 9]);
    /// assert_eq!(device.reduce_axis(&x, &[2, 3], &[1], Sum)?, [6, 15]);
    /// assert_eq!(device.reduce_axis(&x, &[2, 3], &[0, 1], Sum)?, [21]);
    ///
    /// let greatest = device.reduce_axis(&x, &[2, 3], &[1], ArgMax)?;
    /// assert_eq!(greatest[1].map(|found| (found.value(), found.index())), Some((6, 2)));
    ///
    /// // The transpose, and the rows from the last to the first.
    /// let transpose = Strided::new(&[3, 2], &[1, 3]);
    /// assert_eq!(device.reduce_axis(&x, transpose, &[0], Sum)?, [6, 15]);
    /// let backwards = Strided::new(&[2, 3], &[-3, 1]).starting_at(3);
    /// assert_eq!(device.reduce_axis(&x, backwards, &[1], Sum)?, [15, 6]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TooManyDims`]; [`Error::AxisRange`] and [`Error::AxisTwice`]; [`Error::ShapeLen`] unless the shape has as many
    /// items as the array; for a strided array, [`Error::StridesLen`] unless there is a stride for each dimension, and
    /// [`Error::StridedRange`] if an item is not in `input`; [`Error::ShapeOverflow`];
    /// [`Error::Determinism`] for floats on a device of the level [`Exact`](crate::Determinism::Exact); [`Error::Lengths`],
    /// [`Error::NotRegistered`], [`Error::OtherDevice`], [`Error::GridTooLarge`], [`Error::OutOfMemory`],
    /// [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn reduce_axis<'a, 's, I: Items, O: Axes<I>>(
        &self,
        input: impl Input<'a, I>,
        shape: impl Into<Strided<'s>>,
        axes: &[usize],
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let (accumulators, are_empty) =
            self.axis_accumulators::<I, O>(input.into_views(), shape.into(), axes, op)?;
        match are_empty {
            true => Ok(accumulators.iter().map(|_| op.empty()).collect()),
            false => Ok(finish::<I, O>(op, accumulators, None)),
        }
    }

    /// [`reduce_axis`](Self::reduce_axis), before the results are finished; and whether they have no items.
    pub(crate) fn axis_accumulators<I: Items, O: Axes<I>>(
        &self,
        views: I::Of<Views<'_>>,
        shape: Strided<'_>,
        axes: &[usize],
        op: O,
    ) -> Result<(Vec<O::Acc>, bool), Error> {
        let (views, dims) = self.check_axes::<I, O>(views, shape, axes)?;
        if let Some(len) = dims.rows() {
            let (accumulators, _) =
                self.part_accumulators::<I, u64, O>(views, Parts::Rows(len), op)?;
            return Ok((accumulators, false));
        }
        let accumulators = match self.backend() {
            Backend::Cpu(_) => {
                let mut accumulators = host::filled(dims.columns(), op.identity())?;
                on_cpu::<I, O>(op, views, &dims, &mut accumulators);
                accumulators
            }
            Backend::Gpu(queue) if dims.columns() > 0 => {
                let mut output = DeviceMemory::filled(queue, dims.columns(), 0)?;
                let launch = Launch {
                    queue,
                    views,
                    op,
                    dims: &dims,
                };
                launch.enqueue(&mut queue.axes(), output.all_mut())?;
                output.all().download(queue)?
            }
            Backend::Gpu(_) => vec![],
        };
        Ok((accumulators, dims.items() == 0))
    }

    /// Reduces an array along `axes`, as [`reduce_axis`](Self::reduce_axis), and stores the accumulators on the device, in the
    /// first elements of `output`.
    ///
    /// On a GPU the call enqueues its launches and returns. It neither allocates nor waits if the scratch has been used
    /// before for the same shape. If a reduced axis is empty, the accumulators are the operator's identity.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// let (mut sums, mut scratch) = (device.alloc::<i32>(3)?, device.axis_scratch()?);
    /// device.reduce_axis_into(&x, &[2, 3], &[0], Sum, &mut sums, &mut scratch)?;
    /// assert_eq!(sums.download()?, [5, 7, 9]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `output` has too few elements; [`Error::OtherStream`] if `scratch` belongs to another
    /// stream; otherwise as [`reduce_axis`](Self::reduce_axis).
    pub fn reduce_axis_into<'a, 's, 'c, I: Items, O: Axes<I>>(
        &self,
        input: impl Input<'a, I>,
        shape: impl Into<Strided<'s>>,
        axes: &[usize],
        op: O,
        output: impl Target<'c, O::Acc>,
        scratch: &mut AxisScratch,
    ) -> Result<(), Error> {
        let (views, dims) = self.check_axes::<I, O>(input.into_views(), shape.into(), axes)?;
        if let Some(len) = dims.rows() {
            let (parts, scratch) = (Parts::Rows(len), &mut scratch.segments);
            return self.reduce_parts_into::<I, u64, O>(views, parts, op, output, scratch);
        }
        let output = output.into_view_mut().part(..dims.columns())?;
        self.backend().check_same(output.owner())?;
        if !scratch.stream.is_same_stream(self.backend()) {
            return Err(Error::OtherStream);
        }
        match (output.into_location(), self.backend()) {
            (LocationMut::Host(output), Backend::Cpu(_)) => {
                on_cpu::<I, O>(op, views, &dims, output);
                Ok(())
            }
            (LocationMut::Device(output), Backend::Gpu(queue)) => {
                if dims.columns() == 0 {
                    return Ok(());
                }
                let launch = Launch {
                    queue,
                    views,
                    op,
                    dims: &dims,
                };
                launch.enqueue(&mut scratch.partials, output)
            }
            _ => unreachable!("the input and the output are on this device"),
        }
    }

    /// The items from the lowest to the highest offset, and the dimensions; or an error in the arguments.
    fn check_axes<'a, I: Items, O: Axes<I>>(
        &self,
        views: I::Of<Views<'a>>,
        shape: Strided<'_>,
        axes: &[usize],
    ) -> Result<(I::Of<Views<'a>>, Dims), Error> {
        let entry = &<O as Axes<I>>::ENTRIES[0];
        let n = self.check_input::<I>(views, entry)?;
        if self.level == Determinism::Exact && !O::ANY_ORDER {
            return Err(self.broken(entry, "axes are reduced by accumulators of the operator"));
        }
        let dims = Dims::new(shape, axes, n)?;
        Ok((input::part::<I>(views, dims.window()), dims))
    }
}

/// Reduces the axes on the CPU.
fn on_cpu<I: Items, O: Axes<I>>(
    op: O,
    views: I::Of<Views<'_>>,
    dims: &Dims,
    output: &mut [O::Acc],
) {
    if dims.items() == 0 {
        output.fill(op.identity());
    } else {
        let items = input::slices::<I>(views);
        cpu::reduce_axes::<I, O>(op, items, dims.kept(), dims.reduced(), output);
    }
}
