//! Sums of triples: of x, of y and of z, at once or one after the other.

use std::sync::Arc;

use kernels_gpu::entry::triple::{ENTRIES, TripleEntry};
use kernels_gpu::op::{Op, Sum};

use crate::algorithm::Pass;
use crate::buffer::{Place, View};
use crate::cpu;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::launch::TripleKernel;
use crate::memory::{DeviceMemory, Span};
use crate::operator::Operator;
use crate::stream::Stream;

/// In which order a warp takes the steps of three reductions; see [`kernels_gpu::kepler::triple`].
///
/// On the CPU device the choice has no effect.
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
    /// Both.
    pub const ALL: [Self; 2] = [Self::Interleaved, Self::InTurn];

    /// The kernel's name in `kernels-gpu`, as `triple_interleaved`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Interleaved => "triple_interleaved",
            Self::InTurn => "triple_in_turn",
        }
    }

    fn entry<T: Element>(self) -> Result<&'static TripleEntry, Error> {
        let (kernel, element) = (self.kernel_name(), T::NAME);
        let is_it = |entry: &&TripleEntry| entry.kernel == kernel && entry.element == element;
        ENTRIES.iter().find(is_it).ok_or(Error::NotAvailable {
            kernel,
            op: <Sum as Op<i32>>::NAME,
            element,
        })
    }
}

/// The sums of triples prepared; see [`Device::sum_triples`].
#[derive(Debug)]
pub struct TriplePlan<'a, T: Element> {
    kernel: &'static str,
    identity: T,
    work: Work<'a, T>,
    enqueued: bool,
}

enum Work<'a, T: Element> {
    Cpu {
        input: &'a [T],
        reduce: fn(&[T]) -> [T; 3],
        sums: [T; 3],
    },
    Gpu {
        stream: Arc<Stream>,
        kernel: TripleKernel<T>,
        /// None for no triples.
        pass: Option<Pass>,
        input: Span<'a, T>,
        cells: DeviceMemory<T>,
        /// What the cells begin with.
        identities: DeviceMemory<T>,
    },
}

impl Device {
    /// Prepares the sums of all x, all y and all z of an array of triples, which lie one behind the
    /// other: x, y and z of the first, then those of the second.
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
    /// Of `i32`, `f32` and `f64`. The sums of no triples are zero (`-0.0` of floats, the identity of
    /// their addition). Those of floats depend on the order in which the atomics of the device's
    /// warps arrive, and an atomic addition takes a subnormal `f32` for zero. On the CPU they do not: the order
    /// depends on the number of triples alone.
    ///
    /// # Errors
    ///
    /// [`Error::Triples`] when the last triple is not whole; [`Error::NotAvailable`] for another
    /// type; [`Error::OtherDevice`], [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn sum_triples<'a, T: Element>(
        &self,
        triples: impl Into<View<'a, T>>,
        order: TripleOrder,
    ) -> Result<TriplePlan<'a, T>, Error>
    where
        Sum: Operator<T, Acc = T>,
    {
        let triples = triples.into();
        self.check_owner(&triples)?;
        let entry = order.entry::<T>()?;
        let (kernel, len) = (entry.kernel, triples.len());
        if !len.is_multiple_of(3) {
            return Err(Error::Triples { kernel, len });
        }
        let identity = <Sum as Op<T>>::IDENTITY;
        let work = match (triples.place(), self.stream()) {
            (Place::Host(input), _) => Work::Cpu {
                input,
                reduce: cpu::reduce_triples::<T, Sum>,
                sums: [identity; 3],
            },
            (Place::Device(input), Some(stream)) => {
                let gpu = input.gpu();
                Work::Gpu {
                    stream: Arc::clone(stream),
                    kernel: TripleKernel::find(gpu, entry)?,
                    pass: pass(len, gpu.info.multiprocessors),
                    input,
                    cells: DeviceMemory::upload(stream, &[identity; 3])?,
                    identities: DeviceMemory::upload(stream, &[identity; 3])?,
                }
            }
            (Place::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        };
        Ok(TriplePlan {
            kernel,
            identity,
            work,
            enqueued: false,
        })
    }
}

impl<T: Element> TriplePlan<'_, T> {
    /// Puts it on the device's stream and returns; no allocation, no wait. On the CPU device it
    /// is done here and now.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] when the launch is refused; [`Error::Deferred`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueued = false;
        match &mut self.work {
            Work::Cpu {
                input,
                reduce,
                sums,
            } => *sums = reduce(input),
            Work::Gpu { pass: None, .. } => {}
            Work::Gpu {
                stream,
                kernel,
                pass: Some(pass),
                input,
                cells,
                identities,
            } => {
                stream.gpu().enter()?;
                cells.enqueue_copy(stream, identities)?;
                kernel.launch(stream, pass, *input, cells)?;
            }
        }
        self.enqueued = true;
        Ok(())
    }

    /// Waits for the last enqueue and returns the sums of x, y and z.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also when the last enqueue failed; [`Error::Cuda`], also for a
    /// kernel's own fault; [`Error::Deferred`].
    pub fn result(&self) -> Result<[T; 3], Error> {
        if !self.enqueued {
            let kernel = self.kernel;
            return Err(Error::NotEnqueued { kernel });
        }
        Ok(match &self.work {
            Work::Cpu { sums, .. } => *sums,
            Work::Gpu { stream, cells, .. } => {
                let mut sums = [self.identity; 3];
                sums.copy_from_slice(&cells.all().download(stream)?);
                sums
            }
        })
    }

    /// Does it and waits.
    ///
    /// # Errors
    ///
    /// Those of [`enqueue`](Self::enqueue) and [`result`](Self::result).
    pub fn run(mut self) -> Result<[T; 3], Error> {
        self.enqueue()?;
        self.result()
    }

    /// The launch; `None` for no triples and on the CPU.
    pub fn pass(&self) -> Option<&Pass> {
        match &self.work {
            Work::Cpu { .. } => None,
            Work::Gpu { pass, .. } => pass.as_ref(),
        }
    }
}

impl<T: Element> std::fmt::Debug for Work<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Cpu { input, .. } => write!(f, "{} elements on the CPU", input.len()),
            Work::Gpu { pass, .. } => write!(f, "{pass:?}"),
        }
    }
}

/// The launch for an array of `n` elements: a thread for each triple, but no more threads than the
/// device runs at once, which then stride.
fn pass(n: usize, multiprocessors: u32) -> Option<Pass> {
    const THREADS: u32 = 256;
    // Of all devices so far that of the largest: 2048 threads per multiprocessor.
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
    fn the_cpu_sums_and_refuses_alike() {
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
        let x = device.upload(&[1u64; 6]).unwrap();
        let error = device.sum_triples(&x, TripleOrder::InTurn).unwrap_err();
        assert!(matches!(error, Error::NotAvailable { element: "u64", .. }));
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
