//! Reductions recorded as a CUDA graph, launched many times on new data.

use std::sync::Arc;

use cust::sys::{self, CUgraphExec, CUstreamCaptureMode};
use kernels_gpu::entry::SinglePass;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::driver;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::input::Inputs;
use crate::interop::{Refused, refused};
use crate::owned_plan::OwnedPlan;
use crate::stream::Stream;
use crate::temp::Scratch;

/// A reduction that is recorded once as a CUDA graph; made by [`Device::graph`].
///
/// A launch costs the host less than any other call. The input can be changed between launches.
///
/// ```
/// use warpfold::{Device, Max};
///
/// let device = Device::auto()?;
/// let mut graph = device.graph(device.upload(&[3, 1, 2])?, Max)?;
/// graph.launch()?;                   // returns at once
/// assert_eq!(graph.result()?, Some(3));
/// graph.write(1, &[10])?;
/// graph.launch()?;
/// assert_eq!(graph.result()?, Some(10));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// A stream that you capture yourself can contain the library's calls too: see [`Device::on_stream_ptr`]. On
/// the CPU, a launch runs the reduction.
///
/// The input is one buffer, or several of the same length that are reduced together.
pub struct Graph<B: Inputs, O: SinglePass<B::Items>> {
    // Dropped before the buffers that it uses; dropping it waits for all streams of the device.
    // None on the CPU.
    recorded: Option<Recorded>,
    plan: OwnedPlan<B, O>,
}

impl Device {
    /// Records the reduction of `input` by `op`, single-pass with the default grid, to be launched on this
    /// device's stream.
    ///
    /// # Errors
    ///
    /// With the input: [`Error::OtherDevice`], [`Error::NotRegistered`], [`Error::Lengths`],
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn graph<B: Inputs, O: SinglePass<B::Items>>(
        &self,
        input: B,
        op: O,
    ) -> Result<Graph<B, O>, Box<Refused<B>>> {
        match self.record(&input, op) {
            Ok((recorded, cell, scratch)) => Ok(Graph {
                recorded,
                plan: OwnedPlan::new(self, input, op, cell, scratch),
            }),
            Err(error) => Err(refused(error, input)),
        }
    }

    #[expect(clippy::type_complexity, reason = "the fields of a graph")]
    fn record<B: Inputs, O: SinglePass<B::Items>>(
        &self,
        input: &B,
        op: O,
    ) -> Result<(Option<Recorded>, Buffer<O::Acc>, Scratch), Error> {
        self.check_input::<B::Items>(input.views(), O::ENTRY)?;
        // Record on a new stream, so that no other work is recorded. The CPU records nothing; it reduces at
        // each launch.
        let recording = match self.is_gpu() {
            true => self.new_stream()?,
            false => self.clone(),
        };
        let mut cell = self.alloc(1)?;
        let mut scratch = recording.scratch()?;
        // Run once without a capture, because loading a module cannot be captured.
        recording.reduce_views_into::<B::Items, O>(
            input.views(),
            op,
            cell.all_mut(),
            0,
            &mut scratch,
        )?;
        recording.synchronize()?;
        let recorded = match recording.queue() {
            None => None,
            Some(stream) => Some(Recorded::new(stream, || {
                recording.reduce_views_into::<B::Items, O>(
                    input.views(),
                    op,
                    cell.all_mut(),
                    0,
                    &mut scratch,
                )
            })?),
        };
        Ok((recorded, cell, scratch))
    }
}

impl<B: Inputs, O: SinglePass<B::Items>> Graph<B, O> {
    /// Enqueues the graph on the stream and returns; it neither allocates nor waits.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn launch(&mut self) -> Result<(), Error> {
        match &self.recorded {
            None => self.plan.enqueue(),
            Some(recorded) => self.plan.enqueue_by(|plan| {
                let stream = plan.device().queue();
                recorded.launch(stream.expect("only a GPU has a recording"))
            }),
        }
    }

    /// Whether the launch is complete; see [`OwnedPlan::is_done`].
    ///
    /// # Errors
    ///
    /// As [`OwnedPlan::is_done`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.plan.is_done()
    }

    /// Waits for the last launch and returns its result.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`] before the first launch, or after a failed one; [`Error::Cuda`], also for a
    /// fault in a kernel; [`Error::Deferred`].
    pub fn result(&self) -> Result<O::Output, Error> {
        self.plan.result()
    }

    /// The buffers that are reduced. Other code's kernels can write new data at a buffer's
    /// [`as_device_ptr`](Buffer::as_device_ptr).
    pub fn input(&self) -> &B {
        self.plan.input()
    }

    /// Drops the graph and returns its buffers.
    pub fn into_input(self) -> B {
        self.plan.into_input()
    }
}

impl<T: Element, O: SinglePass<T>> Graph<Buffer<T>, O> {
    /// Overwrites elements of the input from `start` on, after all work on the stream, and waits until the
    /// copy is complete.
    ///
    /// # Errors
    ///
    /// As [`Buffer::write`].
    pub fn write(&mut self, start: usize, data: &[T]) -> Result<(), Error> {
        let device = self.plan.device().clone();
        let input = self.plan.input_mut().all_mut();
        input.write_on(device.backend().queue(), start, data)
    }
}

impl<B: Inputs, O: SinglePass<B::Items>> std::fmt::Debug for Graph<B, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({} on {})", O::ENTRY.name, self.plan.device())
    }
}

/// The executable graph of the captured calls.
struct Recorded {
    handle: CUgraphExec,
    gpu: Arc<Gpu>,
}

// SAFETY: `launch` uses only the handle. The driver accepts it from any thread, if one thread uses it at a
// time; a launch takes `&mut`.
unsafe impl Send for Recorded {}
// SAFETY: as above.
unsafe impl Sync for Recorded {}

impl Recorded {
    /// Records what `work` enqueues on `stream`. `work` may only enqueue; nothing runs now.
    fn new(stream: &Stream, work: impl FnOnce() -> Result<(), Error>) -> Result<Self, Error> {
        let gpu = stream.gpu();
        gpu.enter()?;
        let mut graph = std::ptr::null_mut();
        gpu.captured(|| {
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            // SAFETY: the stream is alive.
            driver::call(|| unsafe { sys::cuStreamBeginCapture_v2(stream.handle(), mode) })?;
            let worked = work();
            // SAFETY: as above; `graph` can store a handle.
            let ended =
                driver::call(|| unsafe { sys::cuStreamEndCapture(stream.handle(), &mut graph) });
            worked.and(ended)
        })?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the graph has just been made; `handle` can store a handle.
        let made =
            driver::call(|| unsafe { sys::cuGraphInstantiateWithFlags(&mut handle, graph, 0) });
        // SAFETY: the graph has just been made, and it is not used again.
        let destroyed = driver::call(|| unsafe { sys::cuGraphDestroy(graph) });
        made?;
        let recorded = Self {
            handle,
            gpu: Arc::clone(gpu),
        };
        destroyed.map(|()| recorded)
    }

    fn launch(&self, stream: &Stream) -> Result<(), Error> {
        self.gpu.enter()?;
        // SAFETY: both are alive and of the same context. The recorded calls use memory that lives as long as
        // the `Graph` and is freed after a wait for all streams.
        driver::call(|| unsafe { sys::cuGraphLaunch(self.handle, stream.handle()) })
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.gpu.in_drop(|| {
            let waited = self.gpu.wait_for_all();
            // SAFETY: made by `new`, not used again, and none of its launches is in flight.
            let destroyed = driver::call(|| unsafe { sys::cuGraphExecDestroy(self.handle) });
            waited.and(destroyed)
        });
    }
}
