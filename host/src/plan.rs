//! Plans: prepared reductions that only need to be launched.

use std::fmt;

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;

use crate::backend::Queue;
use crate::error::Error;
use crate::pass::Pass;

/// A prepared reduction of one input, which can run any number of times.
///
/// It owns the memory that its passes write, so [`enqueue`](Self::enqueue) neither allocates nor waits.
/// [`Reduction::plan`](crate::Reduction::plan) makes one. `R` is the type of the result. Dropping a plan
/// waits for the work that it has enqueued.
pub struct Plan<'a, R> {
    kernel: &'static str,
    passes: Vec<Pass>,
    job: Box<dyn Job<R> + Send + 'a>,
    enqueued: bool,
}

/// The implementation of a plan: on a GPU, on the CPU, or for empty input.
pub(crate) trait Job<R> {
    /// Enqueues the work on the stream; the CPU does the work before it returns.
    fn enqueue(&mut self) -> Result<(), Error>;

    /// Waits for the result of the last enqueue.
    fn result(&self) -> Result<R, Error>;

    /// The stream of the work; `None` if nothing is launched.
    fn queue(&self) -> Option<&Queue> {
        None
    }

    /// The device address of the cell that the last pass writes; 0 if nothing is launched.
    fn result_ptr(&self) -> u64 {
        0
    }

    /// Overwrites the result and the partials, so that a test detects a value that no kernel has written.
    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        let _ = byte;
        Ok(())
    }

    /// The bytes that the first pass writes.
    fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }
}

/// Work on the CPU: stores the accumulator, and finishes it when the result is requested.
struct OnCpu<W, A, F> {
    work: W,
    value: Option<A>,
    finish: F,
}

impl<A: Copy, R, W: FnMut() -> A, F: Fn(A) -> R> Job<R> for OnCpu<W, A, F> {
    fn enqueue(&mut self) -> Result<(), Error> {
        self.value = Some((self.work)());
        Ok(())
    }

    fn result(&self) -> Result<R, Error> {
        let value = self
            .value
            .expect("a plan is enqueued before its result is requested");
        Ok((self.finish)(value))
    }
}

impl<'a, R> Plan<'a, R> {
    pub(crate) fn new(
        kernel: &'static str,
        passes: Vec<Pass>,
        job: impl Job<R> + Send + 'a,
    ) -> Self {
        Self {
            kernel,
            passes,
            job: Box::new(job),
            enqueued: false,
        }
    }

    /// A plan for empty input, without a launch.
    pub(crate) fn empty<I: Items, O: Op<I, Output = R> + 'a>(kernel: &'static str, op: O) -> Self {
        Self::on_cpu(kernel, || (), move |()| op.empty())
    }

    /// A plan on the CPU: `work` computes the accumulator, `finish` makes the result from it.
    pub(crate) fn on_cpu<A: Copy + Send + 'a>(
        kernel: &'static str,
        work: impl FnMut() -> A + Send + 'a,
        finish: impl Fn(A) -> R + Send + 'a,
    ) -> Self {
        let value = None;
        Self::new(
            kernel,
            Vec::new(),
            OnCpu {
                work,
                value,
                finish,
            },
        )
    }

    /// The launches of one enqueue, in order. Empty for empty input, and on the CPU.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Enqueues every pass on the device's stream and returns; it neither allocates nor waits.
    ///
    /// The CPU computes the value before the call returns.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if the driver refuses a launch; [`Error::Deferred`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueued = false;
        self.job.enqueue()?;
        self.enqueued = true;
        Ok(())
    }

    /// Waits for the last enqueue and returns its result; for empty input the operator's
    /// [`empty`](kernels_gpu::op::Op::empty) result.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also if the last enqueue failed; [`Error::Cuda`], also for a fault in a
    /// kernel; [`Error::Deferred`].
    pub fn result(&self) -> Result<R, Error> {
        self.check_enqueued()?;
        self.job.result()
    }

    /// Whether all work on the device's stream is complete, so that [`result`](Self::result) would not wait.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also if the last enqueue failed; [`Error::Cuda`], also for a fault in a
    /// kernel; [`Error::Deferred`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.check_enqueued()?;
        self.job.queue().map_or(Ok(true), |queue| queue.is_idle())
    }

    fn check_enqueued(&self) -> Result<(), Error> {
        match self.enqueued {
            true => Ok(()),
            false => Err(Error::NotEnqueued {
                kernel: self.kernel,
            }),
        }
    }

    /// Enqueues the passes and waits for the result.
    ///
    /// # Errors
    ///
    /// Those of [`enqueue`](Self::enqueue) and [`result`](Self::result).
    pub fn run(mut self) -> Result<R, Error> {
        self.enqueue()?;
        self.result()
    }

    /// The device address of the cell that the last pass writes; 0 if nothing is launched.
    ///
    /// A benchmark compares with a peer that writes the same cell, because the speed of atomics on one
    /// address depends on the address.
    #[doc(hidden)]
    pub fn result_ptr(&self) -> u64 {
        self.job.result_ptr()
    }

    /// The bytes that the first pass writes, for tests: a partial per block, or one cell. Empty if nothing is
    /// launched.
    #[doc(hidden)]
    pub fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        self.enqueued = false;
        self.job.first_outputs()
    }

    /// Enqueues a fill of the result and of all partials, so that a test detects a value that no kernel has
    /// written.
    ///
    /// Does not fill the partials of a single-pass reduction, whose ready flags must be 0 between launches.
    #[doc(hidden)]
    pub fn fill_scratch(&mut self, byte: u8) -> Result<(), Error> {
        self.job.fill(byte)
    }
}

impl<R> fmt::Debug for Plan<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({}: {:?})", self.kernel, self.passes)
    }
}
