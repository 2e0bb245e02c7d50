//! Work prepared: everything allocated and looked up, nothing left but launches.

use std::fmt;

use kernels_gpu::items::Items;
use kernels_gpu::op::Op;

use crate::backend::Queue;
use crate::error::Error;
use crate::pass::Pass;

/// Work over one input, ready to be done any number of times.
///
/// It owns the memory that its passes write to, so [`enqueue`](Self::enqueue) neither allocates nor waits.
/// Made by [`Reduction::plan`](crate::Reduction::plan). `R` is its result.
///
/// Dropping it waits for what it has enqueued.
pub struct Plan<'a, R> {
    kernel: &'static str,
    passes: Vec<Pass>,
    job: Box<dyn Job<R> + Send + 'a>,
    enqueued: bool,
}

/// What a plan does: on a GPU, on the CPU, or for an empty input.
pub(crate) trait Job<R> {
    /// Puts it on the stream; on the CPU, does it here and now.
    fn enqueue(&mut self) -> Result<(), Error>;

    /// Waits for the result of the last enqueue.
    fn result(&self) -> Result<R, Error>;

    /// The stream that it is enqueued on; `None` where nothing is launched.
    fn queue(&self) -> Option<&Queue> {
        None
    }

    /// The device address of the cell that the last pass writes; 0 where nothing is launched.
    fn result_ptr(&self) -> u64 {
        0
    }

    /// Overwrites the result and the partials, so that a test sees one that nobody wrote.
    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        let _ = byte;
        Ok(())
    }

    /// The bytes that the first pass alone leaves.
    fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }
}

/// Work on the CPU: what it computes is kept, and finished when somebody asks.
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
            .expect("a plan is enqueued before its result is asked for");
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

    /// The reduction of an empty input: nothing to do.
    pub(crate) fn of_nothing<I: Items, O: Op<I, Output = R> + 'a>(
        kernel: &'static str,
        op: O,
    ) -> Self {
        Self::on_cpu(kernel, || (), move |()| op.empty())
    }

    /// Work on the CPU: what computes, and what makes the result of that.
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

    /// The launches of one enqueue, in their order. Empty for an empty input and on the CPU.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Puts every pass on the device's stream and returns; no allocation, no wait. On the CPU
    /// device it computes the value here and now.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] when a launch is refused; [`Error::Deferred`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueued = false;
        self.job.enqueue()?;
        self.enqueued = true;
        Ok(())
    }

    /// Waits for the last enqueue and returns its value; for empty input the operator's
    /// [`empty`](kernels_gpu::op::Op::empty) result.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also when the last enqueue failed; [`Error::Cuda`], also for a
    /// kernel's own fault; [`Error::Deferred`].
    pub fn result(&self) -> Result<R, Error> {
        self.check_enqueued()?;
        self.job.result()
    }

    /// Whether [`result`](Self::result) would not wait: everything enqueued on the device's stream so far is
    /// done.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also when the last enqueue failed; [`Error::Cuda`], also for a kernel's own
    /// fault; [`Error::Deferred`].
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

    /// Does it and waits.
    ///
    /// # Errors
    ///
    /// Those of [`enqueue`](Self::enqueue) and [`result`](Self::result).
    pub fn run(mut self) -> Result<R, Error> {
        self.enqueue()?;
        self.result()
    }

    /// The device address of the cell that the last pass writes; 0 where nothing is launched.
    ///
    /// For a benchmark whose peer must write the same cell: how fast atomics on one address are
    /// served depends on the address.
    #[doc(hidden)]
    pub fn result_ptr(&self) -> u64 {
        self.job.result_ptr()
    }

    /// What the first pass alone leaves, for a test: the bytes of a partial of each block, or of the one
    /// cell. None where nothing is launched.
    #[doc(hidden)]
    pub fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        self.enqueued = false;
        self.job.first_outputs()
    }

    /// Puts an overwriting of the result and of all partials on the stream and returns, so that a test sees
    /// one that nobody wrote. Not of a single pass's partials, whose flags are 0 between launches.
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
