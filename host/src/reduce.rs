//! Reductions: what the caller asks for, checked, and turned into a [`Plan`].

use std::marker::PhantomData;

use kernels_gpu::ceiling::LOAD_BYTES;
use kernels_gpu::op::{Op, Sum};

use crate::algorithm::{Algorithm, CPU_MAX_BLOCKS, CPU_MAX_THREADS, Pass, Shape};
use crate::buffer::{Place, View};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::launch::{self, Kernels};
use crate::operator::Operator;
use crate::plan::Plan;
use crate::policy::Policy;

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
    op: PhantomData<O>,
}

impl<'a, T: Element, O: Operator<T>> Reduction<'a, T, O> {
    /// Chooses the algorithm; the default is [`Policy::DEFAULT`]'s, or [`Policy::KEPLER`]'s for types
    /// and operators that the ladder does not have.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// Chooses the threads per block, a power of two from 32 to the kernel's limit on the
    /// device (1024 on all so far); the default is [`Policy::KEPLER`]'s for shuffles and atomics,
    /// and [`Policy::DEFAULT`]'s for the ladder.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Runs it and waits. The operator's identity when the input is empty.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan), [`Plan::enqueue`] and [`Plan::result`].
    pub fn run(self) -> Result<O::Output, Error> {
        let mut plan = self.plan()?;
        plan.enqueue()?;
        plan.result()
    }

    /// Checks everything and allocates the scratch memory, for any number of runs.
    ///
    /// # Errors
    ///
    /// [`Error::Chunks`], [`Error::Vector`], [`Error::NotAvailable`], [`Error::BlockSize`],
    /// [`Error::GridTooLarge`], [`Error::OtherDevice`], [`Error::OutOfMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn plan(self) -> Result<Plan<'a, T, O::Acc, O::Output>, Error> {
        self.device.check_owner(&self.input)?;
        let algorithm = self.algorithm.unwrap_or_else(Policy::algorithm_of::<T, O>);
        let shape = algorithm.shape()?;
        let threads = self.threads.unwrap_or(Policy::threads_of(algorithm));
        let n = self.input.len() as u64;
        let passes = |max_threads, max_blocks| {
            shape.check_threads(threads, max_threads)?;
            shape.passes(n, threads, max_blocks)
        };
        match self.input.place() {
            Place::Device(values) => {
                let kernels = Kernels::find::<O>(values.gpu(), shape)?;
                let passes = passes(kernels.first.max_threads(), values.gpu().info.max_blocks)?;
                Plan::gpu::<O>(kernels, values, passes)
            }
            Place::Host(values) => {
                launch::entry::<T>(shape.kernel, O::NAME)?;
                passes(CPU_MAX_THREADS, CPU_MAX_BLOCKS)?;
                Ok(Plan::cpu::<O>(shape.kernel, values))
            }
        }
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
        match input.place() {
            Place::Device(values) => {
                let address = values.pointer().as_raw();
                if !address.is_multiple_of(ALIGNMENT) {
                    return Err(Error::Misaligned {
                        kernel: shape.kernel,
                        address,
                        multiple: ALIGNMENT,
                    });
                }
                let kernels = Kernels::find::<Sum>(values.gpu(), shape)?;
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
                Plan::gpu::<Sum>(kernels, values, passes)
            }
            Place::Host(values) => {
                launch::entry::<T>(shape.kernel, <Sum as Op<T>>::NAME)?;
                Ok(Plan::cpu::<Sum>(shape.kernel, values))
            }
        }
    }
}
