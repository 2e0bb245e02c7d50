//! A reduction prepared: everything allocated and looked up, nothing left but launches.

use std::sync::Arc;

use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::Op;

use crate::algorithm::Pass;
use crate::cpu;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::launch::Kernel;
use crate::memory::{DeviceMemory, Span};

/// A reduction of one input, ready to run any number of times.
///
/// It owns the scratch memory that the passes write to in turn, so [`enqueue`](Self::enqueue)
/// neither allocates nor waits. Made by [`Reduction::plan`](crate::Reduction::plan) and
/// [`Device::read_ceiling`](crate::Device::read_ceiling).
///
/// Dropping it waits for what it has enqueued.
pub struct Plan<'a, T: Element> {
    kernel: &'static str,
    identity: T,
    combine: fn(T, T) -> T,
    passes: Vec<Pass>,
    work: Work<'a, T>,
    enqueued: bool,
}

/// What an enqueue does.
enum Work<'a, T: Element> {
    /// An empty input: the identity, without a launch.
    Nothing,
    Cpu {
        input: &'a [T],
        reduce: fn(&[T]) -> T,
        value: T,
    },
    Gpu(Launches<'a, T>),
}

struct Launches<'a, T: Element> {
    gpu: Arc<Gpu>,
    kernel: Kernel<T>,
    input: Span<'a, T>,
    /// Written to by the passes in turn: pass 0 writes the first, pass 1 reads it and writes the
    /// second, and so on. The second is empty when there is one pass.
    scratch: [DeviceMemory<T>; 2],
    /// What the result cell is set to first, for kernels that combine into it.
    identity: Option<DeviceMemory<T>>,
}

impl<'a, T: Element> Plan<'a, T> {
    pub(crate) fn cpu<O: Op<T>>(kernel: &'static str, input: &'a [T]) -> Self {
        let work = match input {
            [] => Work::Nothing,
            input => Work::Cpu {
                input,
                reduce: cpu::reduce::<T, O>,
                value: O::IDENTITY,
            },
        };
        Self::new::<O>(kernel, Vec::new(), work)
    }

    /// `passes` are of the kernel's shape and over `input`, which is on the kernel's device.
    pub(crate) fn gpu<O: Op<T>>(
        kernel: Kernel<T>,
        input: Span<'a, T>,
        passes: Vec<Pass>,
    ) -> Result<Self, Error> {
        let shape = *kernel.shape();
        if passes.is_empty() {
            return Ok(Self::new::<O>(shape.kernel, passes, Work::Nothing));
        }
        let gpu = Arc::clone(input.gpu());
        let scratch = |pass: usize| {
            let len = passes
                .get(pass)
                .map_or(0, |pass| shape.needs.outputs(pass.blocks));
            DeviceMemory::filled(&gpu, len, 0)
        };
        let identity = match shape.needs.result {
            ResultIn::Partials => None,
            ResultIn::OneCell => Some(DeviceMemory::upload(&gpu, &[O::IDENTITY])?),
        };
        let launches = Launches {
            scratch: [scratch(0)?, scratch(1)?],
            gpu,
            kernel,
            input,
            identity,
        };
        Ok(Self::new::<O>(shape.kernel, passes, Work::Gpu(launches)))
    }

    fn new<O: Op<T>>(kernel: &'static str, passes: Vec<Pass>, work: Work<'a, T>) -> Self {
        Self {
            kernel,
            identity: O::IDENTITY,
            combine: O::combine,
            passes,
            work,
            enqueued: false,
        }
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
        match &mut self.work {
            Work::Nothing => {}
            Work::Cpu {
                input,
                reduce,
                value,
            } => *value = reduce(input),
            Work::Gpu(launches) => launches.enqueue(&self.passes)?,
        }
        self.enqueued = true;
        Ok(())
    }

    /// Waits for the last enqueue and returns its value; the operator's identity when the input
    /// is empty.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also when the last enqueue failed; [`Error::Cuda`], also for a
    /// kernel's own fault; [`Error::Deferred`].
    pub fn result(&self) -> Result<T, Error> {
        if !self.enqueued {
            let kernel = self.kernel;
            return Err(Error::NotEnqueued { kernel });
        }
        match &self.work {
            Work::Nothing => Ok(self.identity),
            Work::Cpu { value, .. } => Ok(*value),
            Work::Gpu(launches) => {
                let values = launches.download(&self.passes)?;
                Ok(values.into_iter().fold(self.identity, self.combine))
            }
        }
    }

    /// The device address of the cell that the last pass writes; 0 where nothing is launched.
    ///
    /// For a benchmark whose peer must write the same cell: how fast atomics on one address are
    /// served depends on the address.
    #[doc(hidden)]
    pub fn result_ptr(&self) -> u64 {
        match &self.work {
            Work::Gpu(launches) => launches.last(&self.passes).pointer().as_raw(),
            _ => 0,
        }
    }

    /// What the first pass alone leaves, for a test: a partial of each block, or the one cell.
    /// Nothing where nothing is launched.
    #[doc(hidden)]
    pub fn first_outputs(&mut self) -> Result<Vec<T>, Error> {
        self.enqueued = false;
        match &mut self.work {
            Work::Gpu(launches) => {
                launches.enqueue(&self.passes[..1])?;
                launches.download(&self.passes[..1])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Overwrites all scratch memory, so that a test sees a partial that nobody wrote.
    #[doc(hidden)]
    pub fn fill_scratch(&mut self, byte: u8) -> Result<(), Error> {
        if let Work::Gpu(launches) = &mut self.work {
            for memory in &mut launches.scratch {
                memory.fill(byte)?;
            }
        }
        Ok(())
    }
}

impl<T: Element> Launches<'_, T> {
    fn enqueue(&mut self, passes: &[Pass]) -> Result<(), Error> {
        self.gpu.enter()?;
        let [first, second] = &mut self.scratch;
        for (i, pass) in passes.iter().enumerate() {
            let (partials, output) = match i % 2 {
                0 => (&*second, &mut *first),
                _ => (&*first, &mut *second),
            };
            let values = match i {
                0 => self.input,
                _ => partials.span(0, pass.n as usize),
            };
            if let Some(identity) = &self.identity {
                output.enqueue_first(identity)?;
            }
            self.kernel.launch(pass, values, output)?;
        }
        Ok(())
    }

    /// What the last pass wrote: one value, or the partials of a plan with a fixed grid.
    fn download(&self, passes: &[Pass]) -> Result<Vec<T>, Error> {
        let outputs = self
            .kernel
            .shape()
            .needs
            .outputs(passes[passes.len() - 1].blocks);
        self.last(passes).download(0, outputs)
    }

    /// The memory that the last pass writes.
    fn last(&self, passes: &[Pass]) -> &DeviceMemory<T> {
        &self.scratch[(passes.len() - 1) % 2]
    }
}

impl<T: Element> std::fmt::Debug for Plan<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({} of {}: {:?})", self.kernel, T::NAME, self.passes)
    }
}
