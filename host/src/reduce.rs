//! Reductions: what the caller asks for, checked, and turned into a [`Plan`].

use std::marker::PhantomData;

use kernels_gpu::ceiling::LOAD_BYTES;
use kernels_gpu::op::{Op, Sum};

use crate::algorithm::{Algorithm, CPU_MAX_BLOCKS, CPU_MAX_THREADS, Pass, Shape, check_threads};
use crate::buffer::{Place, View};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::launch::{self, Kernels};
use crate::operator::Operator;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::single_pass::{self, Grid, Prepared};

/// A reduction that has been described and not yet run; see [`Device::reduce`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before run() or plan()"]
pub struct Reduction<'a, T: Element, O: Operator<T>> {
    device: Device,
    input: View<'a, T>,
    /// The policy's where nobody has said.
    algorithm: Option<Algorithm>,
    /// The algorithm's own where nobody has said.
    threads: Option<u32>,
    /// The policy's where nobody has said.
    blocks: Option<u32>,
    op: PhantomData<O>,
}

impl<'a, T: Element, O: Operator<T>> Reduction<'a, T, O> {
    /// Chooses the algorithm; the default is [`Algorithm::SinglePass`].
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// Chooses the threads per block, a power of two from 32 to the kernel's limit on the
    /// device (1024 on all so far); the default is the algorithm's [`Policy`].
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Chooses the blocks of the grid, 1 or more, of [`Algorithm::SinglePass`], whose threads go on
    /// until the input ends (at most [`Policy::SINGLE_PASS_MAX_BLOCKS`]). The default is as many as
    /// keep the device's memory busy, or fewer for a short input.
    pub fn blocks(mut self, blocks: u32) -> Self {
        self.blocks = Some(blocks);
        self
    }

    /// Runs it and waits. The operator's identity when the input is empty.
    ///
    /// In a single pass this is one launch, without an allocation after the stream's first call.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan), [`Plan::enqueue`] and [`Plan::result`].
    pub fn run(self) -> Result<O::Output, Error> {
        self.device.check_owner(&self.input)?;
        let combined = match (self.chosen(), self.input.place(), self.device.stream()) {
            (Algorithm::SinglePass, Place::Device(values), Some(stream)) if values.len() > 0 => {
                let grid = |max_threads| self.grid(max_threads, stream.gpu().info.multiprocessors);
                single_pass::reduce::<T, O>(stream, values, grid)?
            }
            _ => {
                let mut plan = self.plan()?;
                plan.enqueue()?;
                return plan.result();
            }
        };
        Ok(O::finish(combined))
    }

    /// Checks everything and allocates the scratch memory, for any number of runs.
    ///
    /// # Errors
    ///
    /// [`Error::Chunks`], [`Error::Vector`], [`Error::NotAvailable`], [`Error::BlockSize`],
    /// [`Error::Blocks`], [`Error::BlocksFixed`], [`Error::GridTooLarge`], [`Error::OtherDevice`],
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn plan(self) -> Result<Plan<'a, T, O::Acc, O::Output>, Error> {
        self.device.check_owner(&self.input)?;
        let algorithm = self.chosen();
        if algorithm == Algorithm::SinglePass {
            return self.plan_single_pass();
        }
        let shape = algorithm.shape()?;
        if let Some(blocks) = self.blocks {
            let kernel = shape.kernel;
            return Err(Error::BlocksFixed { kernel, blocks });
        }
        let threads = self.threads.unwrap_or(Policy::threads_of(algorithm));
        let n = self.input.len() as u64;
        let passes = |max_threads, max_blocks| {
            shape.check_threads(threads, max_threads)?;
            shape.passes(n, threads, max_blocks)
        };
        match (self.input.place(), self.device.stream()) {
            (Place::Device(values), Some(stream)) => {
                let gpu = stream.gpu();
                let kernels = Kernels::find::<O>(gpu, shape)?;
                let passes = passes(kernels.first.max_threads(), gpu.info.max_blocks)?;
                Plan::gpu::<O>(stream, kernels, values, passes)
            }
            (Place::Host(values), _) => {
                launch::entry::<T>(shape.kernel, O::NAME)?;
                passes(CPU_MAX_THREADS, CPU_MAX_BLOCKS)?;
                Ok(Plan::cpu::<O>(shape.kernel, values))
            }
            (Place::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }

    fn plan_single_pass(self) -> Result<Plan<'a, T, O::Acc, O::Output>, Error> {
        let kernel = Algorithm::SinglePass.kernel_name();
        launch::single_pass_entry(O::NAME, T::NAME)?;
        match (self.input.place(), self.device.stream()) {
            (Place::Device(values), Some(stream)) if values.len() > 0 => {
                let grid = |max_threads| self.grid(max_threads, stream.gpu().info.multiprocessors);
                let prepared = Prepared::new::<O>(stream, values, grid)?;
                Ok(Plan::single_pass::<O>(prepared))
            }
            (Place::Device(_), _) => {
                self.grid(CPU_MAX_THREADS, 1)?;
                Ok(Plan::nothing::<O>(kernel))
            }
            (Place::Host(values), _) => {
                self.grid(CPU_MAX_THREADS, 1)?;
                Ok(Plan::cpu::<O>(kernel, values))
            }
        }
    }

    fn chosen(&self) -> Algorithm {
        self.algorithm.unwrap_or_else(Policy::algorithm_of::<T, O>)
    }

    /// The grid of a single pass: what the caller asked for, checked, and the policy for the rest.
    fn grid(&self, max_threads: u32, multiprocessors: u32) -> Result<Grid, Error> {
        let kernel = Algorithm::SinglePass.kernel_name();
        let threads = self
            .threads
            .unwrap_or_else(|| Policy::single_pass_threads::<T>(self.input.len(), max_threads));
        check_threads(kernel, threads, max_threads)?;
        let limit = Policy::SINGLE_PASS_MAX_BLOCKS;
        let blocks = match self.blocks {
            Some(blocks) if (1..=limit).contains(&blocks) => blocks,
            Some(blocks) => {
                return Err(Error::Blocks {
                    kernel,
                    blocks,
                    limit,
                });
            }
            None => Policy::single_pass_blocks::<T>(self.input.len(), threads, multiprocessors),
        };
        Ok(Grid { blocks, threads })
    }
}

impl Device {
    /// Describes a reduction of `input` by `op`, which [`Reduction::run`] or
    /// [`Reduction::plan`] then does.
    ///
    /// ```
    /// use warpfold::{Algorithm, Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4])?;
    /// let sum = device.reduce(&x, Sum).algorithm(Algorithm::Reduce2).threads(64).run()?;
    /// assert_eq!(sum, 10);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn reduce<'a, T: Element, O: Operator<T>>(
        &self,
        input: impl Into<View<'a, T>>,
        op: O,
    ) -> Reduction<'a, T, O> {
        let _ = op; // names the type; operators have no values
        Reduction {
            device: self.clone(),
            input: input.into(),
            algorithm: None,
            threads: None,
            blocks: None,
            op: PhantomData,
        }
    }

    /// A plan that reads all of `input` as fast as this library knows how: what the device's
    /// memory allows, for the ladder to be compared with. 16-byte loads, four in flight, 256
    /// bytes per thread. Its value is the sum.
    ///
    /// Types: `i32`, `i64`, `f32`, `f64`.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] when the input does not start at a multiple of 16 bytes, and those
    /// of [`Reduction::plan`].
    pub fn read_ceiling<'a, T: Element>(
        &self,
        input: impl Into<View<'a, T>>,
    ) -> Result<Plan<'a, T>, Error>
    where
        Sum: Operator<T, Acc = T, Output = T>,
    {
        // The fastest of 64, 128, ..., 1024 bytes per thread, by 1.2 and 2.0 % over a grid that
        // just fills the device (H200, 2026-11-20, n = 400 million and 2^32 `i32`).
        const BYTES_PER_THREAD: usize = 256;
        const THREADS: u32 = 256;
        const ALIGNMENT: u64 = LOAD_BYTES as u64;
        let shape = Shape::of("read_ceiling", (BYTES_PER_THREAD / size_of::<T>()) as u32);
        let input = input.into();
        self.check_owner(&input)?;
        match (input.place(), self.stream()) {
            (Place::Device(values), Some(stream)) => {
                let address = values.address();
                if !address.is_multiple_of(ALIGNMENT) {
                    return Err(Error::Misaligned {
                        kernel: shape.kernel,
                        address,
                        multiple: ALIGNMENT,
                    });
                }
                let kernels = Kernels::find::<Sum>(stream.gpu(), shape)?;
                shape.check_threads(THREADS, kernels.first.max_threads())?;
                let tile = (THREADS * shape.items_per_thread) as usize;
                // 64 KiB per block; with fewer blocks each would read more, and rightly.
                let blocks = values.len().div_ceil(tile).min(i32::MAX as usize);
                let pass = Pass {
                    blocks: blocks as u32,
                    threads: THREADS,
                    n: values.len() as u64,
                };
                let passes = if input.is_empty() { vec![] } else { vec![pass] };
                Plan::gpu::<Sum>(stream, kernels, values, passes)
            }
            (Place::Host(values), _) => {
                launch::entry::<T>(shape.kernel, <Sum as Op<T>>::NAME)?;
                Ok(Plan::cpu::<Sum>(shape.kernel, values))
            }
            (Place::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }
}
