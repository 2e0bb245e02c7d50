//! Reductions by a chosen algorithm: their passes, and the memory that the passes write.

use std::sync::Arc;

use kernels_gpu::ceiling::LOAD_BYTES;
use kernels_gpu::entry::{self, Ceiling, Entry, Ladder, SinglePass};
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::{Op, Sum};

use super::algorithm::Algorithm;
use crate::backend::Queue;
use crate::buffer::Location;
use crate::cpu;
use crate::device::Device;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{DeviceMemory, Span};
use crate::pass::{CPU_MAX_BLOCKS, CPU_MAX_THREADS, Pass};
use crate::plan::{Job, Plan};
use crate::reduce::Reduction;
use crate::stream::Stream;

/// A reduction by a chosen algorithm; see [`Reduction::algorithm`].
#[derive(Debug)]
#[must_use = "nothing happens before run() or plan()"]
pub struct LadderReduction<'a, T: Element, O: SinglePass<T> + Ladder<T>> {
    reduction: Reduction<'a, T, O>,
    algorithm: Algorithm,
    finishes_on_host: bool,
}

impl<'a, T: Element, O: SinglePass<T> + Ladder<T>> Reduction<'a, T, O> {
    /// Chooses the algorithm: a rung of the ladder, or one by shuffles and atomics.
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
    pub fn algorithm(self, algorithm: Algorithm) -> LadderReduction<'a, T, O> {
        LadderReduction {
            reduction: self,
            algorithm,
            finishes_on_host: false,
        }
    }
}

impl<'a, T: Element, O: SinglePass<T> + Ladder<T>> LadderReduction<'a, T, O> {
    /// Sets the threads per block: a power of two from 32 to the kernel's limit on the device (1024 on all
    /// devices so far). The default is the algorithm's.
    pub fn threads(mut self, threads: u32) -> Self {
        self.reduction = self.reduction.threads(threads);
        self
    }

    /// Launches the kernel once, and combines the partials of its blocks on the host, in the order of the blocks, as the
    /// post "Parallel Reduction with CUDA" does. The default is to launch it again until one value is left.
    ///
    /// [`Plan::result`] downloads the partials and combines them. No effect for algorithms that need one launch, and on
    /// the CPU.
    ///
    /// ```
    /// use warpfold::{Algorithm, Device, Min};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[2.5f32; 1000])?;
    /// let minimum = device.reduce(&x, Min).algorithm(Algorithm::Reduce2Warp).finish_on_host();
    /// assert_eq!(minimum.run()?, Some(2.5));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn finish_on_host(mut self) -> Self {
        self.finishes_on_host = true;
        self
    }

    /// Runs the reduction and waits for the result; for empty input as [`Reduction::run`].
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan), [`Plan::enqueue`] and [`Plan::result`].
    pub fn run(self) -> Result<O::Output, Error> {
        self.plan()?.run()
    }

    /// Prepares the reduction for any number of runs: checks the options and allocates the partials.
    ///
    /// # Errors
    ///
    /// [`Error::Chunks`], [`Error::Vector`]; [`Error::NotAvailable`] if there is no such kernel for the
    /// operator and element ([`Algorithm::Reduce4Redux`] for floats); [`Error::BlockSize`],
    /// [`Error::GridTooLarge`], [`Error::OtherDevice`], [`Error::OutOfMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn plan(self) -> Result<Plan<'a, O::Output>, Error> {
        let Self {
            reduction,
            algorithm,
            finishes_on_host,
        } = self;
        if algorithm == Algorithm::SinglePass {
            return reduction.plan();
        }
        let Reduction {
            device,
            views: input,
            op,
            options,
        } = reduction;
        device.check_owner(&input)?;
        let shape = algorithm.shape()?;
        let kernel = shape.kernel;
        let row = |kernel| {
            entry::find(O::ENTRIES, kernel).ok_or(Error::NotAvailable {
                kernel,
                op: O::ENTRIES[0].op,
                element: name_of::<T>(),
            })
        };
        let (first, second) = (row(kernel)?, row(shape.second())?);
        let threads = options.threads.unwrap_or(algorithm.threads());
        let n = input.len() as u64;
        let passes = |max_threads, max_blocks| {
            shape.check_threads(threads, max_threads)?;
            let mut passes = shape.passes(n, threads, max_blocks)?;
            if finishes_on_host {
                passes.truncate(1);
            }
            Ok::<_, Error>(passes)
        };
        match (input.location(), device.queue()) {
            (Location::Device(values), Some(queue)) => {
                let gpu = queue.gpu();
                let first = Kernel::find(gpu, first)?;
                let passes = passes(first.max_threads(), gpu.info.max_blocks)?;
                plan_of_passes(queue, first, second, values, op, passes)
            }
            (Location::Host(values), _) => {
                if passes(CPU_MAX_THREADS, CPU_MAX_BLOCKS)?.is_empty() {
                    return Ok(Plan::empty::<T, O>(kernel, op));
                }
                let work = move || cpu::reduce::<T, O>(op, values);
                Ok(Plan::on_cpu(kernel, work, move |acc| op.finish(acc)))
            }
            (Location::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }
}

impl Device {
    /// A plan that reads all of `input` as fast as possible, as a limit to compare the ladder with.
    ///
    /// It uses 16-byte loads, four of them in flight, and 256 bytes per thread. Its result is the sum.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] if the input does not start at a multiple of 16 bytes; [`Error::OtherDevice`],
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn read_ceiling<'a, T: Element>(
        &self,
        input: impl Input<'a, T>,
    ) -> Result<Plan<'a, T>, Error>
    where
        Sum: Ceiling<T, Output = T>,
    {
        // The fastest of 64, 128, ..., 1024 bytes per thread, and faster than a grid that just fills the
        // device. Evidence: `benches/records/h200/2026-11-20`.
        const BYTES_PER_THREAD: usize = 256;
        const THREADS: u32 = 256;
        const ALIGNMENT: u64 = LOAD_BYTES as u64;
        let [row] = <Sum as Ceiling<T>>::ENTRIES else {
            unreachable!("the family has one kernel")
        };
        let input = input.into_views();
        self.check_owner(&input)?;
        match (input.location(), self.queue()) {
            (Location::Device(values), Some(queue)) => {
                let address = values.address();
                if !address.is_multiple_of(ALIGNMENT) {
                    return Err(Error::Misaligned {
                        kernel: row.kernel,
                        address,
                        multiple: ALIGNMENT,
                    });
                }
                let first = Kernel::find(queue.gpu(), row)?;
                let tile = THREADS as usize * BYTES_PER_THREAD / size_of::<T>();
                // 64 KiB per block. With fewer blocks, each reads more, and the result is still right.
                let blocks = values.len().div_ceil(tile).min(i32::MAX as usize);
                let pass = Pass {
                    blocks: blocks as u32,
                    threads: THREADS,
                    n: values.len() as u64,
                };
                let passes = if input.is_empty() { vec![] } else { vec![pass] };
                plan_of_passes(queue, first, row, values, Sum, passes)
            }
            (Location::Host([]), _) => Ok(Plan::empty::<T, Sum>(row.kernel, Sum)),
            (Location::Host(values), _) => {
                let work = move || cpu::reduce::<T, Sum>(Sum, values);
                Ok(Plan::on_cpu(row.kernel, work, |acc| {
                    <Sum as Op<T>>::finish(&Sum, acc)
                }))
            }
            (Location::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }
}

/// A plan of a first pass over `input` and further passes over partials; no pass for empty input.
fn plan_of_passes<'a, T: Element, O: Op<T, Acc = T>>(
    queue: &Arc<Queue>,
    first: Kernel,
    second: &'static Entry,
    input: Span<'a, T>,
    op: O,
    passes: Vec<Pass>,
) -> Result<Plan<'a, O::Output>, Error> {
    let entry = first.entry;
    if passes.is_empty() {
        return Ok(Plan::empty::<T, O>(entry.kernel, op));
    }
    let scratch = |pass: usize| {
        let outputs = |pass: &Pass| entry.needs.outputs(pass.blocks);
        DeviceMemory::filled(queue, passes.get(pass).map_or(0, outputs), 0)
    };
    let passes_of_plan = passes.clone();
    let launches = Launches {
        queue: Arc::clone(queue),
        second: Kernel::find(queue.gpu(), second)?,
        identity: match entry.needs.result {
            ResultIn::Partials | ResultIn::Cells => None,
            ResultIn::OneCell => Some(Identity::new(queue, op.identity())?),
        },
        scratch: [scratch(0)?, scratch(1)?],
        first,
        input,
        op,
        passes,
    };
    Ok(Plan::new(entry.kernel, passes_of_plan, launches))
}

/// The passes of a plan on a GPU.
struct Launches<'a, T: Element, O> {
    queue: Arc<Queue>,
    first: Kernel,
    second: Kernel,
    input: Span<'a, T>,
    op: O,
    passes: Vec<Pass>,
    /// Buffers that the passes write alternately: pass 0 writes the first; pass 1 reads it and writes the
    /// second. The second is empty if there is one pass.
    scratch: [DeviceMemory<T>; 2],
    /// The initial value of the result cell, for kernels that combine into it.
    identity: Option<Identity<T>>,
}

/// How a cell is set to the operator's identity. A fill takes a microsecond less than a copy.
enum Identity<T: Element> {
    /// All of its bytes have this value.
    Fill(u8),
    Copy(DeviceMemory<T>),
}

impl<T: Element> Identity<T> {
    fn new(stream: &Stream, identity: T) -> Result<Self, Error> {
        match only_byte(&identity) {
            Some(byte) => Ok(Self::Fill(byte)),
            None => Ok(Self::Copy(DeviceMemory::upload(stream, &[identity])?)),
        }
    }
}

/// The byte that all bytes of the value are equal to, if there is one.
fn only_byte<T: Element>(value: &T) -> Option<u8> {
    let bytes = host::bytes(std::slice::from_ref(value));
    let first = *bytes.first()?;
    bytes.iter().all(|byte| *byte == first).then_some(first)
}

impl<T: Element, O: Op<T, Acc = T>> Launches<'_, T, O> {
    /// Enqueues the first `passes` passes and returns.
    fn enqueue_first(&mut self, passes: usize) -> Result<(), Error> {
        let queue = &self.queue;
        queue.gpu().enter()?;
        let [first, second] = &mut self.scratch;
        for (i, pass) in self.passes[..passes].iter().enumerate() {
            let (partials, output) = match i % 2 {
                0 => (&*second, &mut *first),
                _ => (&*first, &mut *second),
            };
            match &self.identity {
                None => {}
                Some(Identity::Fill(byte)) => output.enqueue_fill(queue, *byte)?,
                Some(Identity::Copy(identity)) => output.enqueue_first(queue, identity)?,
            }
            let (kernel, values) = match i {
                0 => (&self.first, self.input),
                _ => (&self.second, partials.span(0, pass.n as usize)),
            };
            assert!(values.len() as u64 == pass.n && pass.n > 0);
            assert!(output.len() >= kernel.entry.needs.outputs(pass.blocks));
            let grid = Grid {
                blocks: pass.blocks,
                threads: pass.threads,
            };
            let arguments = [
                Argument::input(values),
                Argument::operator(&self.op),
                Argument::output(output),
            ];
            // SAFETY:
            // - The rows are those of this operator over this element (`Ladder` and `Ceiling`, which are
            //   unsafe to implement), and the kernels combine elements in their own type.
            // - The input is borrowed. The output is memory of the plan, has room for the kernel's results
            //   (asserted above), and is not the kernel's input.
            // - `threads` is checked wherever a plan is made, and `blocks` covers the input
            //   (`Shape::passes`). The pass of `read_ceiling` is made in `Device::read_ceiling`, which checks
            //   the input's alignment; its kernel is a grid-stride loop, right for any number of blocks. The
            //   second pass of a limited grid has 1024 threads, which every device supports.
            unsafe { kernel.launch(queue, grid, &arguments) }?;
        }
        Ok(())
    }

    /// The results of pass number `passes`.
    fn outputs(&self, passes: usize) -> Result<Vec<T>, Error> {
        let last = &self.scratch[(passes - 1) % 2];
        let kernel = if passes == 1 {
            &self.first
        } else {
            &self.second
        };
        let outputs = kernel.entry.needs.outputs(self.passes[passes - 1].blocks);
        last.span(0, outputs).download(&self.queue)
    }
}

impl<T: Element, O: Op<T, Acc = T>> Job<O::Output> for Launches<'_, T, O> {
    fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueue_first(self.passes.len())
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn result(&self) -> Result<O::Output, Error> {
        let values = self.outputs(self.passes.len())?.into_iter();
        let combined = values.fold(self.op.identity(), |a, b| self.op.combine(a, b));
        Ok(self.op.finish(combined))
    }

    fn result_ptr(&self) -> u64 {
        self.scratch[(self.passes.len() - 1) % 2].address()
    }

    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        let mut scratch = self.scratch.iter_mut();
        scratch.try_for_each(|memory| memory.enqueue_fill(&self.queue, byte))
    }

    fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        self.enqueue_first(1)?;
        Ok(host::bytes(&self.outputs(1)?).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::only_byte;

    #[test]
    fn values_of_equal_bytes() {
        assert_eq!(only_byte(&0i32), Some(0));
        assert_eq!(only_byte(&u64::MAX), Some(0xFF));
        assert_eq!(only_byte(&i32::MAX), None);
        assert_eq!(only_byte(&-0.0f32), None, "the sign bit is set");
    }
}
