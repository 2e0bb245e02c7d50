//! Whole-array reductions in one launch: on a stream, and prepared.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, SinglePass};

use crate::backend::Queue;
use crate::error::Error;
use crate::input::{self, Items, Views};
use crate::launch::{Argument, Arguments, Grid, Kernel};
use crate::memory::{DeviceMemory, SpanMut};
use crate::pass::{CPU_MAX_THREADS, Pass, check_threads};
use crate::plan::Job;
use crate::policy::Policy;
use crate::workspace::{Storage, Workspace};

/// What the caller says of the grid; the policy says the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) threads: Option<u32>,
    pub(crate) blocks: Option<u32>,
}

impl Asked {
    /// The grid for `n` items of `bytes` each.
    pub(crate) fn grid(
        self,
        entry: &Entry,
        n: usize,
        bytes: usize,
        max_threads: u32,
        multiprocessors: u32,
    ) -> Result<Grid, Error> {
        let bytes = n.saturating_mul(bytes);
        let threads = match self.threads {
            Some(threads) => {
                check_threads(entry.kernel, threads, max_threads)?;
                threads
            }
            None => Policy::single_pass_threads(bytes, max_threads),
        };
        let limit = Storage::room(entry.acc_bytes);
        let blocks = match self.blocks {
            Some(blocks) if (1..=limit).contains(&blocks) => blocks,
            Some(blocks) => {
                return Err(Error::Blocks {
                    kernel: entry.kernel,
                    blocks,
                    limit,
                });
            }
            None => Policy::single_pass_blocks(bytes, threads, multiprocessors).min(limit),
        };
        Ok(Grid { blocks, threads })
    }

    /// Checks what was asked for on a device without blocks and threads.
    pub(crate) fn check(self, entry: &Entry) -> Result<(), Error> {
        self.grid(entry, 0, 1, CPU_MAX_THREADS, 1).map(|_| ())
    }
}

/// A launch over an input on a GPU, which is not empty.
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
        asked: Asked,
    ) -> Result<Self, Error> {
        let kernel = Kernel::find(queue.gpu(), O::ENTRY)?;
        let multiprocessors = queue.gpu().info.multiprocessors;
        let grid = asked.grid(O::ENTRY, n, I::BYTES, kernel.max_threads(), multiprocessors)?;
        Ok(Self {
            kernel,
            grid,
            views,
            op,
        })
    }

    /// Puts it on the stream and returns; its result will be at an address.
    ///
    /// # Safety
    ///
    /// At `result` is memory for an accumulator that kernels of this device write; nobody else touches it
    /// before the stream has been waited for, and it lives until then.
    unsafe fn enqueue(
        &self,
        queue: &Queue,
        storage: &mut Storage,
        result: u64,
    ) -> Result<(), Error> {
        let entry = O::ENTRY;
        let arrivals = storage.arrivals.address();
        let room = Storage::room(entry.acc_bytes);
        let mut arguments: Arguments<'_> = input::arguments::<I>(self.views);
        arguments.push(Argument::operator(&self.op));
        arguments.push(Argument::room(
            &mut storage.partials,
            room,
            entry.partial_bytes(),
        ));
        arguments.push(Argument::cell(arrivals, size_of::<u32>()));
        arguments.push(Argument::cell(result, entry.acc_bytes));
        // SAFETY:
        // - The row is this operator's over these items (`SinglePass`, which is unsafe to implement), and its
        //   accumulator's size is in the row.
        // - The views borrow live memory of this device (`check` of the items, wherever a launch is made),
        //   aligned for the elements; the storage belongs to this stream, whose launches do not overlap; the
        //   result is the caller's promise. Device memory is freed only after a wait for all streams.
        // - Whole warps (`Asked::grid`), and any number of blocks is right, of which the storage has room for
        //   as many. All arrays have the same length (`check`). Partials and the arrival counter are 0: no
        //   launch has failed half way, or the device gives no answers at all.
        unsafe { self.kernel.launch(queue, self.grid, arguments.as_slice()) }
    }
}

/// The reduction of an input that is not empty, waited for. No allocation but by the stream's first call.
pub(crate) fn blocking<I: Items, O: SinglePass<I>>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    op: O,
    asked: Asked,
) -> Result<O::Acc, Error> {
    let launch = Launch::<I, O>::new(queue, views, n, op, asked)?;
    let mut workspace = queue.workspace();
    let workspace = match &mut *workspace {
        Some(workspace) => workspace,
        empty => empty.insert(Workspace::new(queue)?),
    };
    queue.gpu().enter()?;
    let cell = workspace.cell();
    // SAFETY: the workspace's cell has room for any accumulator, and the guard keeps others away until the
    // stream has been waited for below.
    let launched = unsafe { launch.enqueue(queue, &mut workspace.storage, cell) };
    launched.and_then(|()| queue.synchronize())?;
    Ok(workspace.result())
}

/// Puts the reduction on the stream and returns; its result will be the one element of `cell`.
pub(crate) fn enqueue<I: Items, O: SinglePass<I>>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    op: O,
    cell: SpanMut<'_, O::Acc>,
    storage: &mut Storage,
) -> Result<(), Error> {
    let launch = Launch::<I, O>::new(queue, views, n, op, Asked::default())?;
    queue.gpu().enter()?;
    let cell = cell.into_span();
    assert_eq!(cell.len(), 1);
    let result = cell.address();
    // SAFETY: memory that is borrowed mutably and freed only after a wait for all streams.
    unsafe { launch.enqueue(queue, storage, result) }
}

/// A single pass prepared: its storage is its own.
pub(crate) struct Prepared<'a, I: Items, O: SinglePass<I>> {
    launch: Launch<'a, I, O>,
    queue: Arc<Queue>,
    n: usize,
    storage: Storage,
    cell: DeviceMemory<O::Acc>,
}

impl<'a, I: Items, O: SinglePass<I>> Prepared<'a, I, O> {
    /// Of an input that is not empty and on the stream's device.
    pub(crate) fn new(
        queue: &Arc<Queue>,
        views: I::Of<Views<'a>>,
        n: usize,
        op: O,
        asked: Asked,
    ) -> Result<Self, Error> {
        Ok(Self {
            launch: Launch::new(queue, views, n, op, asked)?,
            n,
            storage: Storage::new(queue)?,
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
        // SAFETY: the plan's own cell.
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

    /// Not the partials, which are 0 between launches.
    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.cell.enqueue_fill(&self.queue, byte)
    }

    fn first_outputs(&mut self) -> Result<Vec<u8>, Error> {
        self.enqueue()?;
        Ok(crate::host::bytes(&[self.accumulator()?]).to_vec())
    }
}
