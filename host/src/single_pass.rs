//! Whole reductions in one launch: the launch's shape, what it works with, and the calls that wait.

use std::marker::PhantomData;
use std::sync::Arc;

use kernels_gpu::op::Op;

use crate::algorithm::Pass;
use crate::buffer::{Buffer, Place, PlaceMut, View};
use crate::device::{Device, DeviceInfo};
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::launch::{SinglePassKernel, single_pass_entry};
use crate::memory::{DeviceMemory, PinnedMemory, Span};
use crate::operator::Operator;
use crate::policy::Policy;
use crate::stream::Stream;

/// The blocks and threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
}

impl Grid {
    /// What the policy says of `n` elements of `T`, for a kernel of at most `max_threads` in a block.
    pub(crate) fn of<T>(n: usize, max_threads: u32, info: &DeviceInfo) -> Self {
        let threads = Policy::single_pass_threads::<T>(n, max_threads);
        Self {
            blocks: Policy::single_pass_blocks::<T>(n, threads, info.multiprocessors),
            threads,
        }
    }
}

/// What the blocks of a single pass meet in; made by [`Device::scratch`].
///
/// It belongs to its device's stream, on which one launch after another uses it.
pub struct Scratch {
    /// None on the CPU, which needs no scratch.
    place: Option<(Arc<Stream>, Memory)>,
}

/// What single passes on one stream meet in.
struct Memory {
    /// Room for one of each block, of any accumulator. 0 between launches.
    partials: DeviceMemory<u64>,
    /// 0 between launches.
    tickets: DeviceMemory<u32>,
}

impl Memory {
    fn new(stream: &Stream) -> Result<Self, Error> {
        // A word for each half of a word of the accumulator.
        let words = Policy::SINGLE_PASS_MAX_BLOCKS as usize * 2 * PinnedMemory::WORDS;
        Ok(Self {
            partials: DeviceMemory::filled(stream, words, 0)?,
            tickets: DeviceMemory::filled(stream, 1, 0)?,
        })
    }
}

/// Where a launch works and leaves its result, of accumulators `A`.
pub(crate) struct Meeting<'a, A: Element> {
    /// Room for a partial of each of [`Policy::SINGLE_PASS_MAX_BLOCKS`].
    partials: u64,
    tickets: u64,
    result: u64,
    pub(crate) gpu: &'a Arc<Gpu>,
    /// All three are the launch's alone.
    borrows: PhantomData<&'a mut A>,
}

impl<'a, A: Element> Meeting<'a, A> {
    fn new(memory: &'a mut Memory, result: u64) -> Self {
        const {
            assert!(size_of::<A>() <= PinnedMemory::WORDS * size_of::<u64>());
            assert!(align_of::<A>() <= align_of::<u64>());
        }
        Self {
            partials: memory.partials.address(),
            tickets: memory.tickets.address(),
            result,
            gpu: memory.tickets.gpu(),
            borrows: PhantomData,
        }
    }

    /// With the result in element `at` of `cells`.
    ///
    /// # Panics
    ///
    /// When there is no such element.
    fn in_memory(memory: &'a mut Memory, cells: &'a mut DeviceMemory<A>, at: usize) -> Self {
        assert!(Arc::ptr_eq(cells.gpu(), memory.tickets.gpu()));
        Self::new(memory, cells.span(at, 1).address())
    }

    /// What the kernels' last parameters are.
    pub(crate) fn parameters(&self) -> [u64; 4] {
        let room = Policy::SINGLE_PASS_MAX_BLOCKS.into();
        [self.partials, room, self.tickets, self.result]
    }

    /// With the result where the host reads it.
    fn on_host(workspace: &'a mut Workspace) -> Self {
        Self::new(&mut workspace.memory, workspace.cell.address())
    }
}

/// What calls that wait reduce with: made by a stream's first, and used by all.
pub(crate) struct Workspace {
    memory: Memory,
    cell: PinnedMemory<u64>,
}

impl Workspace {
    fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            memory: Memory::new(stream)?,
            cell: PinnedMemory::new(stream.gpu(), PinnedMemory::WORDS)?,
        })
    }
}

/// Launches, waits, and gives what the launch has left. No allocation but by the stream's first.
pub(crate) fn blocking<A: Element>(
    stream: &Stream,
    launch: impl FnOnce(Meeting<'_, A>) -> Result<(), Error>,
) -> Result<A, Error> {
    let mut workspace = stream.workspace();
    let workspace = match &mut *workspace {
        Some(workspace) => workspace,
        empty => empty.insert(Workspace::new(stream)?),
    };
    stream.gpu().enter()?;
    let launched = launch(Meeting::on_host(workspace)).and_then(|()| stream.synchronize());
    launched.map(|()| workspace.cell.read())
}

/// The reduction of `input`, which is not empty, by an operator.
pub(crate) fn reduce<T: Element, O: Operator<T>>(
    stream: &Stream,
    input: Span<'_, T>,
    grid: impl FnOnce(u32) -> Result<Grid, Error>,
) -> Result<O::Acc, Error> {
    let kernel = SinglePassKernel::<T, O::Acc>::find(stream.gpu(), <O as Op<T>>::NAME)?;
    let grid = grid(kernel.max_threads())?;
    blocking(stream, |meeting| {
        kernel.launch(stream, grid, input, meeting)
    })
}

/// A single pass prepared: its scratch is its own.
pub(crate) struct Prepared<'a, T: Element, A: Element> {
    kernel: SinglePassKernel<T, A>,
    stream: Arc<Stream>,
    input: Span<'a, T>,
    grid: Grid,
    memory: Memory,
    cell: DeviceMemory<A>,
}

impl<'a, T: Element, A: Element> Prepared<'a, T, A> {
    /// Of an input that is not empty and on the stream's device.
    pub(crate) fn new<O: Operator<T, Acc = A>>(
        stream: &Arc<Stream>,
        input: Span<'a, T>,
        grid: impl FnOnce(u32) -> Result<Grid, Error>,
    ) -> Result<Self, Error> {
        let kernel = SinglePassKernel::find(stream.gpu(), <O as Op<T>>::NAME)?;
        let grid = grid(kernel.max_threads())?;
        Ok(Self {
            kernel,
            input,
            grid,
            memory: Memory::new(stream)?,
            cell: DeviceMemory::filled(stream, 1, 0)?,
            stream: Arc::clone(stream),
        })
    }

    pub(crate) fn pass(&self) -> Pass {
        Pass {
            blocks: self.grid.blocks,
            threads: self.grid.threads,
            n: self.input.len() as u64,
        }
    }

    /// Puts it on the stream.
    pub(crate) fn enqueue(&mut self) -> Result<(), Error> {
        self.stream.gpu().enter()?;
        let meeting = Meeting::in_memory(&mut self.memory, &mut self.cell, 0);
        self.kernel
            .launch(&self.stream, self.grid, self.input, meeting)
    }

    /// Waits for what it has left.
    pub(crate) fn result(&self) -> Result<A, Error> {
        Ok(self.cell.all().download(&self.stream)?[0])
    }

    pub(crate) fn cell(&self) -> &DeviceMemory<A> {
        &self.cell
    }

    /// Puts an overwriting of the result on the stream and returns. The partials say themselves whether
    /// anybody has left them.
    pub(crate) fn enqueue_fill(&mut self, byte: u8) -> Result<(), Error> {
        self.cell.enqueue_fill(&self.stream, byte)
    }
}

impl Device {
    /// Scratch memory for [`Device::reduce_into`], which then allocates nothing.
    ///
    /// On a GPU about 200 KB, whatever is reduced; on the CPU nothing.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn scratch(&self) -> Result<Scratch, Error> {
        let place = match self.stream() {
            None => None,
            Some(stream) => Some((Arc::clone(stream), Memory::new(stream)?)),
        };
        Ok(Scratch { place })
    }

    /// Reduces `input` by `op` and leaves the result on the device, in element `at` of `cells`, in the
    /// type that the operator combines in ([`Op::Acc`](kernels_gpu::op::Op::Acc): that of the elements
    /// for sums, minima and maxima of 32 and 64 bits). On a GPU it enqueues one launch and returns: no
    /// allocation, no wait. Of an empty input the operator's identity.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (x, y) = (device.upload(&[1, 2, 3])?, device.upload(&[10, 20])?);
    /// let mut sums = device.alloc::<i32>(2)?;
    /// let mut scratch = device.scratch()?;
    /// device.reduce_into(&x, Sum, &mut sums, 0, &mut scratch)?;
    /// device.reduce_into(&y, Sum, &mut sums, 1, &mut scratch)?;
    /// assert_eq!(sums.download()?, [6, 30]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when there is no element `at`; [`Error::OtherStream`] when the scratch was
    /// made by another stream than this one; [`Error::OtherDevice`], [`Error::NotAvailable`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn reduce_into<'a, T: Element, O: Operator<T>>(
        &self,
        input: impl Into<View<'a, T>>,
        op: O,
        cells: &mut Buffer<O::Acc>,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let _ = op; // names the type; operators have no values
        let input = input.into();
        self.check_owner(&input)?;
        self.check_owner(&cells.view(at..at.saturating_add(1))?)?;
        match (input.place(), cells.place_mut(), &mut scratch.place) {
            (Place::Host(input), PlaceMut::Host(cells), None) => {
                single_pass_entry(<O as Op<T>>::NAME, T::NAME)?;
                cells[at] = O::reduce_on_cpu(input);
                Ok(())
            }
            (Place::Device(input), PlaceMut::Device(cells), Some((stream, memory)))
                if self.stream().is_some_and(|own| Arc::ptr_eq(own, stream)) =>
            {
                let gpu = stream.gpu();
                let kernel = SinglePassKernel::find(gpu, <O as Op<T>>::NAME)?;
                let grid = Grid::of::<T>(input.len(), kernel.max_threads(), &gpu.info);
                gpu.enter()?;
                let meeting = Meeting::in_memory(memory, cells, at);
                kernel.launch(stream, grid, input, meeting)
            }
            _ => Err(Error::OtherStream),
        }
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            None => f.write_str("Scratch(none: the CPU's)"),
            Some((stream, _)) => write!(f, "Scratch(of {:?})", stream.handle()),
        }
    }
}
