//! Prepared reductions that own their input.

use kernels_gpu::entry::SinglePass;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::input::{self, Inputs};
use crate::interop::{Refused, refused};
use crate::temp::Scratch;

/// A prepared reduction that owns its buffers, for use as a field of a structure; made by
/// [`Device::owned_plan`].
///
/// A [`Plan`](crate::Plan) borrows its input.
///
/// ```
/// use warpfold::{Buffer, Device, Error, Max, OwnedPlan};
///
/// /// The largest of the last readings of some sensors.
/// struct Alarm {
///     largest: OwnedPlan<Buffer<f32>, Max>,
/// }
///
/// impl Alarm {
///     fn new(device: &Device, sensors: usize) -> Result<Self, Error> {
///         let readings = device.alloc(sensors)?;
///         Ok(Self { largest: device.owned_plan(readings, Max)? })
///     }
///
///     fn read(&mut self, sensor: usize, value: f32) -> Result<Option<f32>, Error> {
///         self.largest.input_mut().write(sensor, &[value])?;
///         self.largest.enqueue()?;
///         self.largest.result()
///     }
/// }
///
/// let mut alarm = Alarm::new(&Device::auto()?, 8)?;
/// assert_eq!(alarm.read(3, 2.5)?, Some(2.5));
/// assert_eq!(alarm.read(0, 1.0)?, Some(2.5));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// The input is one buffer, or several of the same length that are reduced together.
pub struct OwnedPlan<B: Inputs, O: SinglePass<B::Items>> {
    device: Device,
    input: B,
    cell: Buffer<O::Acc>,
    scratch: Scratch,
    /// The input length of the last enqueue; `None` if it failed.
    enqueued: Option<usize>,
    op: O,
}

impl Device {
    /// Prepares the reduction of `input` by `op`, with the default grid, for any number of runs.
    ///
    /// # Errors
    ///
    /// With the input: [`Error::OtherDevice`], [`Error::NotRegistered`], [`Error::Lengths`],
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn owned_plan<B: Inputs, O: SinglePass<B::Items>>(
        &self,
        input: B,
        op: O,
    ) -> Result<OwnedPlan<B, O>, Box<Refused<B>>> {
        let made = self
            .check_input::<B::Items>(input.views(), O::ENTRY)
            .and_then(|_| {
                self.refuse_exact::<B::Items, O>("a plan stores an accumulator of the operator")
            })
            .and_then(|_| Ok((self.alloc(1)?, self.scratch()?)));
        match made {
            Ok((cell, scratch)) => Ok(OwnedPlan::new(self, input, op, cell, scratch)),
            Err(error) => Err(refused(error, input)),
        }
    }
}

impl<B: Inputs, O: SinglePass<B::Items>> OwnedPlan<B, O> {
    pub(crate) fn new(
        device: &Device,
        input: B,
        op: O,
        cell: Buffer<O::Acc>,
        scratch: Scratch,
    ) -> Self {
        Self {
            device: device.clone(),
            input,
            cell,
            scratch,
            enqueued: None,
            op,
        }
    }

    /// Enqueues the reduction on the device's stream and returns; it neither allocates nor waits.
    ///
    /// On the CPU, reduces before the call returns.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if the driver refuses a launch; [`Error::Deferred`]. After a buffer has been exchanged
    /// through [`input_mut`](Self::input_mut), also [`Error::OtherDevice`] and [`Error::Lengths`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueue_by(|plan| {
            let (views, cell) = (plan.input.views(), plan.cell.all_mut());
            let scratch = &mut plan.scratch;
            plan.device
                .reduce_views_into::<B::Items, O>(views, plan.op, cell, 0, scratch)
        })
    }

    /// [`enqueue`](Self::enqueue) by the given function.
    pub(crate) fn enqueue_by(
        &mut self,
        enqueue: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.enqueued = None;
        enqueue(self)?;
        self.enqueued = Some(input::len::<B::Items>(self.input.views()));
        Ok(())
    }

    /// Whether all work on the device's stream is complete, so that [`result`](Self::result) would not wait.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`]; [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.check_enqueued()?;
        self.device.is_idle()
    }

    /// Waits for the last enqueue and returns its result; for empty input the operator's
    /// [`empty`](kernels_gpu::op::Op::empty) result.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also if the last enqueue failed; [`Error::Cuda`], also for a fault in a
    /// kernel; [`Error::Deferred`].
    pub fn result(&self) -> Result<O::Output, Error> {
        let n = self.check_enqueued()?;
        let combined = self.device.download(&self.cell)?;
        Ok(match n {
            0 => self.op.empty(),
            _ => self.op.finish(combined[0]),
        })
    }

    /// The input length of the last enqueue.
    fn check_enqueued(&self) -> Result<usize, Error> {
        self.enqueued.ok_or(Error::NotEnqueued {
            kernel: O::ENTRY.kernel,
        })
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The buffers that are reduced.
    pub fn input(&self) -> &B {
        &self.input
    }

    /// The buffers that are reduced, writable.
    pub fn input_mut(&mut self) -> &mut B {
        &mut self.input
    }

    /// Drops the plan and returns its buffers.
    pub fn into_input(self) -> B {
        self.input
    }
}

impl<B: Inputs, O: SinglePass<B::Items>> std::fmt::Debug for OwnedPlan<B, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnedPlan({} on {})", O::ENTRY.name, self.device)
    }
}
