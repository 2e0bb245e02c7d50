//! Sums of triples: of all x, all y and all z.

use std::sync::Arc;

use kernels_gpu::entry::{self, Triple};
use kernels_gpu::op::{Op, Sum};

use crate::backend::Queue;
use crate::buffer::Location;
use crate::cpu;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{DeviceMemory, Span};
use crate::pass::Pass;
use crate::plan::{Job, Plan};

/// The order in which a warp does the steps of three reductions; see [`kernels_gpu::kepler::triple`].
///
/// On the CPU the choice has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TripleOrder {
    /// Each step for x, y and z before the next step.
    #[default]
    Interleaved,
    /// All of x, then all of y, then all of z.
    InTurn,
}

impl TripleOrder {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::Interleaved, Self::InTurn];

    /// The kernel's name in `kernels-gpu`, such as `triple_interleaved`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Interleaved => "triple_interleaved",
            Self::InTurn => "triple_in_turn",
        }
    }
}

/// The sums of triples on a GPU.
struct Launch<'a, T: Element> {
    queue: Arc<Queue>,
    kernel: Kernel,
    pass: Pass,
    input: Span<'a, T>,
    cells: DeviceMemory<T>,
    /// The initial values of the cells.
    identities: DeviceMemory<T>,
}

impl Device {
    /// Prepares the sums of all x, all y and all z of an array of triples, in which x, y and z of the first
    /// triple precede those of the second.
    ///
    /// ```
    /// use warpfold::{Device, TripleOrder};
    ///
    /// let device = Device::auto()?;
    /// let points = device.upload(&[1.0f32, 10.0, 100.0, 2.0, 20.0, 200.0])?;
    /// let sums = device.sum_triples(&points, TripleOrder::Interleaved)?.run()?;
    /// assert_eq!(sums, [3.0, 30.0, 300.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// The sums of an empty array are zero. Float sums depend on the order in which the atomics of the warps
    /// arrive, and an atomic addition treats a subnormal `f32` as zero. On the CPU the order depends only on
    /// the number of triples.
    ///
    /// # Errors
    ///
    /// [`Error::Triples`] if the last triple is incomplete; [`Error::OtherDevice`], [`Error::OutOfMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn sum_triples<'a, T: Element>(
        &self,
        triples: impl Input<'a, T>,
        order: TripleOrder,
    ) -> Result<Plan<'a, [T; 3]>, Error>
    where
        Sum: Triple<T>,
    {
        let triples = triples.into_views();
        self.check_owner(&triples)?;
        let (kernel, len) = (order.kernel_name(), triples.len());
        if !len.is_multiple_of(3) {
            return Err(Error::Triples { kernel, len });
        }
        if len == 0 {
            return Ok(Plan::on_cpu(
                kernel,
                || [<Sum as Op<T>>::initial(&Sum); 3],
                |sums| sums,
            ));
        }
        let identity = <Sum as Op<T>>::identity(&Sum);
        match (triples.location(), self.queue()) {
            (Location::Host(input), _) => {
                let work = move || cpu::reduce_triples::<T, Sum>(Sum, input);
                Ok(Plan::on_cpu(kernel, work, |sums| sums))
            }
            (Location::Device(input), Some(queue)) => {
                let gpu = queue.gpu();
                let Some(pass) = pass(len, gpu.info.multiprocessors) else {
                    return Ok(Plan::on_cpu(kernel, move || [identity; 3], |sums| sums));
                };
                let entry = entry::find(<Sum as Triple<T>>::ENTRIES, kernel);
                let launch = Launch {
                    queue: Arc::clone(queue),
                    kernel: Kernel::find(gpu, entry.expect("the family has both kernels"))?,
                    pass,
                    input,
                    cells: DeviceMemory::upload(queue, &[identity; 3])?,
                    identities: DeviceMemory::upload(queue, &[identity; 3])?,
                };
                Ok(Plan::new(kernel, vec![pass], launch))
            }
            (Location::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }
}

impl<T: Element> Job<[T; 3]> for Launch<'_, T> {
    fn enqueue(&mut self) -> Result<(), Error> {
        let queue = &self.queue;
        queue.gpu().enter()?;
        self.cells.enqueue_copy(queue, &self.identities)?;
        let grid = Grid {
            blocks: self.pass.blocks,
            threads: self.pass.threads,
        };
        let arguments = [
            Argument::input(self.input),
            Argument::operator(&Sum),
            Argument::output(&mut self.cells),
        ];
        // SAFETY:
        // - The row is for sums of this element (`Triple`, which is unsafe to implement).
        // - The input is borrowed and holds whole triples (`Device::sum_triples`); the plan owns the three
        //   cells.
        // - The kernel is a grid-stride loop, right for any number of blocks of whole warps.
        unsafe { self.kernel.launch(queue, grid, &arguments) }
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn result(&self) -> Result<[T; 3], Error> {
        let sums = self.cells.all().download(&self.queue)?;
        Ok([sums[0], sums[1], sums[2]])
    }

    fn result_ptr(&self) -> u64 {
        self.cells.address()
    }

    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.cells.enqueue_fill(&self.queue, byte)
    }
}

/// The launch for an array of `n` elements: one thread per triple, but at most as many threads as the device
/// runs at once.
fn pass(n: usize, multiprocessors: u32) -> Option<Pass> {
    const THREADS: u32 = 256;
    // The maximum of all devices so far: 2048 threads per multiprocessor.
    const BLOCKS_PER_MULTIPROCESSOR: u32 = 2048 / THREADS;
    let blocks = (n / 3).div_ceil(THREADS as usize);
    let most = multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    (blocks > 0).then(|| Pass {
        blocks: blocks.min(most as usize) as u32,
        threads: THREADS,
        n: n as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_sums_and_checks_the_length() {
        let device = Device::cpu();
        for n in [0, 1, 2, 1000, 70_001] {
            let x: Vec<i32> = (0..3 * n).map(|i| i % 3 * 1000 + i / 3 % 7).collect();
            let mut expected = [0; 3];
            for (i, value) in x.iter().enumerate() {
                expected[i % 3] += value;
            }
            let x = device.upload(&x).unwrap();
            for order in TripleOrder::ALL {
                let sums = device.sum_triples(&x, order).unwrap().run();
                assert_eq!(sums, Ok(expected), "{n} triples");
            }
        }
        let x = device.upload(&[1.0f32; 7]).unwrap();
        let error = device.sum_triples(&x, TripleOrder::InTurn).unwrap_err();
        let kernel = "triple_in_turn";
        assert_eq!(error, Error::Triples { kernel, len: 7 });
        let x = device.upload(&[1.0f64; 6]).unwrap();
        let plan = device.sum_triples(&x, TripleOrder::Interleaved).unwrap();
        let kernel = "triple_interleaved";
        assert_eq!(plan.result(), Err(Error::NotEnqueued { kernel }));
    }

    #[test]
    fn a_thread_for_each_triple_until_the_device_is_full() {
        let blocks = |n| pass(n, 132).map(|pass| pass.blocks);
        assert_eq!(blocks(0), None);
        assert_eq!(blocks(3), Some(1));
        assert_eq!(blocks(3 * 257), Some(2));
        assert_eq!(blocks(3 << 30), Some(1056));
    }
}
