//! Single-pass reductions: one launch that reduces the whole array.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::grid::Storage;
use kernels_gpu::tile::{items_of_tile, takes_several};
use kernels_gpu::warp::WARP_SIZE;

use crate::backend::Queue;
use crate::error::Error;
use crate::input::{self, Items, Views};
use crate::launch::{Argument, Arguments, Grid, Kernel};
use crate::memory::{DeviceMemory, SpanMut};
use crate::pass::{CPU_MAX_THREADS, Pass, check_threads};
use crate::plan::Job;
use crate::policy::Policy;
use crate::workspace::{TempStorage, Workspace};

/// The grid options of the caller; the policy chooses the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GridOptions {
    pub(crate) threads: Option<u32>,
}

/// What determines a grid, beside the options.
#[derive(Clone, Copy)]
struct Work {
    tiles: u64,
    /// The maximum number of threads per block.
    max_threads: u32,
    /// The maximum number of blocks.
    max_blocks: u32,
    /// The maximum number of warps, if each can take several tiles.
    most_warps: Option<u32>,
}

impl GridOptions {
    /// The grid for some tiles.
    fn grid(self, entry: &Entry, work: Work) -> Result<Grid, Error> {
        let warps = match work.most_warps {
            Some(most) => work.tiles.min(most.into()),
            None => work.tiles,
        };
        let threads = match self.threads {
            Some(threads) => {
                check_threads(entry.kernel, threads, work.max_threads)?;
                threads
            }
            None => Policy::single_pass_threads(warps, work.max_threads),
        };
        let blocks = warps.div_ceil((threads / WARP_SIZE).into()).max(1);
        match u32::try_from(blocks) {
            Ok(blocks) if blocks <= work.max_blocks => Ok(Grid { blocks, threads }),
            _ => Err(Error::GridTooLarge {
                kernel: entry.kernel,
                blocks,
                threads,
                limit: work.max_blocks,
            }),
        }
    }

    /// Checks the options on the CPU, which has no blocks and threads.
    pub(crate) fn check(self, entry: &Entry) -> Result<(), Error> {
        let work = Work {
            tiles: 0,
            max_threads: CPU_MAX_THREADS,
            max_blocks: u32::MAX,
            most_warps: None,
        };
        self.grid(entry, work).map(|_| ())
    }
}

/// The number of tiles of an input. If the kernel may shift the tiles to aligned addresses, they cover up to a vector
/// more.
fn tiles<I: Items, O: SinglePass<I>>(views: I::Of<Views<'_>>, n: usize) -> u64 {
    let shift = match O::ANY_ORDER && !input::is_aligned::<I>(views) {
        true => I::VECTOR - 1,
        false => 0,
    };
    (n + shift).div_ceil(items_of_tile::<I>()) as u64
}

/// A launch on a GPU, for an input that is not empty.
struct Launch<'a, I: Items, O> {
    kernel: Kernel,
    grid: Grid,
    views: I::Of<Views<'a>>,
    op: O,
}

impl<'a, I: Items, O: SinglePass<I>> Launch<'a, I, O> {
    fn new(
        queue: &Queue,
        views: I::Of<Views<'a>>,
        n: usize,
        op: O,
        options: GridOptions,
    ) -> Result<Self, Error> {
        let kernel = Kernel::find(queue.gpu(), O::ENTRY)?;
        let info = &queue.gpu().info;
        let work = Work {
            tiles: tiles::<I, O>(views, n),
            max_threads: kernel.max_threads(),
            max_blocks: info.max_blocks,
            most_warps: takes_several::<I, O>()
                .then(|| Policy::single_pass_warps(info.multiprocessors)),
        };
        let grid = options.grid(O::ENTRY, work)?;
        Ok(Self {
            kernel,
            grid,
            views,
            op,
        })
    }

    /// Enqueues the launch and returns; the kernel stores the result at `result`. It allocates nothing if the storage
    /// has [room](TempStorage::reserve).
    ///
    /// # Safety
    ///
    /// `result` points to memory for an accumulator that kernels of this device can write. It stays
    /// allocated, and no other code uses it, until the stream has been waited for.
    unsafe fn enqueue(
        &self,
        queue: &Queue,
        storage: &mut TempStorage,
        result: u64,
    ) -> Result<(), Error> {
        let entry = O::ENTRY;
        storage.reserve(queue, self.grid, entry)?;
        let Storage { partials, arrivals } = self.grid.storage(entry);
        let mut arguments: Arguments<'_> = input::arguments::<I>(self.views);
        arguments.push(Argument::operator(&self.op));
        arguments.push(Argument::room(
            &mut storage.partials,
            partials,
            entry.partial_bytes(),
        ));
        let (arrivals, _) = storage.arrivals.all_mut().split_at(arrivals);
        arguments.push(Argument::output_span(arrivals));
        arguments.push(Argument::cell(result, entry.acc_bytes));
        // SAFETY:
        // - The row is that of this operator over these items (`SinglePass`, which is unsafe to implement),
        //   and it has the accumulator's size.
        // - The views borrow live memory of this device, aligned for the elements (`input::check`, before
        //   every launch). The storage belongs to this stream, whose launches do not overlap. The caller
        //   guarantees the result's memory. Device memory is freed only after a wait for all streams.
        // - The threads are a power of two of whole warps, and there is a warp for each tile, or warps that take
        //   several (`GridOptions::grid`). All
        //   arrays have the same length (`check`). The storage has room for the grid, and its ready flags and arrival
        //   counters are 0: every launch before this one has completed, or the device is unusable.
        unsafe { self.kernel.launch(queue, self.grid, arguments.as_slice()) }
    }
}

/// Reduces an input that is not empty, and waits for the result. Only the stream's first call allocates, and one whose
/// input needs more temporary storage than all before it.
pub(crate) fn blocking<I: Items, O: SinglePass<I>>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    op: O,
    options: GridOptions,
) -> Result<O::Acc, Error> {
    let launch = Launch::<I, O>::new(queue, views, n, op, options)?;
    let mut workspace = queue.workspace();
    let workspace = match &mut *workspace {
        Some(workspace) => workspace,
        empty => empty.insert(Workspace::new(queue)?),
    };
    queue.gpu().enter()?;
    let cell = workspace.cell();
    // SAFETY: the workspace's cell can store any accumulator, and the lock is held until the stream has been
    // waited for below.
    let launched = unsafe { launch.enqueue(queue, &mut workspace.storage, cell) };
    launched.and_then(|()| queue.synchronize())?;
    Ok(workspace.result())
}

/// Enqueues the reduction and returns; the kernel stores the result in the one element of `cell`.
pub(crate) fn enqueue<I: Items, O: SinglePass<I>>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    op: O,
    cell: SpanMut<'_, O::Acc>,
    storage: &mut TempStorage,
) -> Result<(), Error> {
    let launch = Launch::<I, O>::new(queue, views, n, op, GridOptions::default())?;
    queue.gpu().enter()?;
    let cell = cell.into_span();
    assert_eq!(cell.len(), 1);
    let result = cell.address();
    // SAFETY: the memory is borrowed mutably and freed only after a wait for all streams.
    unsafe { launch.enqueue(queue, storage, result) }
}

/// Enqueues the reduction of an input that is not empty, with the stream's own storage, and returns; the kernel stores the
/// result at `result`.
///
/// # Safety
///
/// `result` points to memory for an accumulator that kernels of this device can write. It stays allocated, and no other code
/// uses it, until the stream has been waited for.
pub(crate) unsafe fn enqueue_at<I: Items, O: SinglePass<I>>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    op: O,
    result: u64,
) -> Result<(), Error> {
    let launch = Launch::<I, O>::new(queue, views, n, op, GridOptions::default())?;
    let mut workspace = queue.workspace();
    let workspace = match &mut *workspace {
        Some(workspace) => workspace,
        empty => empty.insert(Workspace::new(queue)?),
    };
    queue.gpu().enter()?;
    // SAFETY: the caller's contract.
    unsafe { launch.enqueue(queue, &mut workspace.storage, result) }
}

/// A prepared single-pass reduction with its own temporary storage.
pub(crate) struct Prepared<'a, I: Items, O: SinglePass<I>> {
    launch: Launch<'a, I, O>,
    queue: Arc<Queue>,
    n: usize,
    storage: TempStorage,
    cell: DeviceMemory<O::Acc>,
}

impl<'a, I: Items, O: SinglePass<I>> Prepared<'a, I, O> {
    /// The input must not be empty, and must be on the stream's device.
    pub(crate) fn new(
        queue: &Arc<Queue>,
        views: I::Of<Views<'a>>,
        n: usize,
        op: O,
        options: GridOptions,
    ) -> Result<Self, Error> {
        let launch = Launch::new(queue, views, n, op, options)?;
        let mut storage = TempStorage::new(queue)?;
        storage.reserve(queue, launch.grid, O::ENTRY)?;
        Ok(Self {
            launch,
            n,
            storage,
            cell: DeviceMemory::filled(queue, 1, 0)?,
            queue: Arc::clone(queue),
        })
    }

    pub(crate) fn pass(&self) -> Pass {
        Pass {
            blocks: self.launch.grid.blocks,
            threads: self.launch.grid.threads,
            n: self.n as u64,
        }
    }

    fn accumulator(&self) -> Result<O::Acc, Error> {
        Ok(self.cell.all().download(&self.queue)?[0])
    }
}

impl<I: Items, O: SinglePass<I>> Job<O::Output> for Prepared<'_, I, O> {
    fn enqueue(&mut self) -> Result<(), Error> {
        self.queue.gpu().enter()?;
        let result = self.cell.address();
        // SAFETY: the plan owns the cell.
        unsafe { self.launch.enqueue(&self.queue, &mut self.storage, result) }
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn result(&self) -> Result<O::Output, Error> {
        Ok(self.launch.op.finish(self.accumulator()?))
    }

    fn result_ptr(&self) -> u64 {
        self.cell.address()
    }

    /// Does not fill the partials, whose ready flags must be 0 between launches.
    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.cell.enqueue_fill(&self.queue, byte)
    }

    fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        self.enqueue()?;
        Ok(crate::host::bytes(&[self.accumulator()?]).to_vec())
    }
}
