//! Exact sums: on a GPU by the kernels of [`kernels_gpu::exact_sum`], on the CPU by those of `cpu::exact`.

use kernels_gpu::entry::{Entry, Parameter, SinglePass};
use kernels_gpu::exact::{Accumulator, Flags};
use kernels_gpu::exact_sum::{Layout, rows_of};
use kernels_gpu::op::Dot;

use crate::backend::{Backend, Queue};
use crate::chunks::ChunkSource;
use crate::cpu;
use crate::device::Device;
use crate::error::Error;
use crate::input::{self, Items, Views};
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{DeviceMemory, PinnedMemory};
use crate::reduce::Reduction;

/// Threads per block.
const THREADS: u32 = 256;

/// The blocks of that many threads for which a multiprocessor has registers.
const BLOCKS: u32 = 3;

/// The most cells of a sum.
const MOST_CELLS: usize = Layout::<(f64, f64), Dot>::CELLS as usize;

/// The cells of a sum on a GPU, to which launches add.
pub(crate) struct Cells {
    /// The cells of this sum, and those of the next one, which are 0.
    cells: [DeviceMemory<u64>; 2],
    /// Where a launch leaves the values of its cells.
    copy: PinnedMemory<u64>,
    /// The counter of the blocks that have finished.
    arrivals: DeviceMemory<u32>,
    /// The number of items that have been added.
    items: u64,
}

impl Cells {
    pub(crate) fn new(queue: &Queue) -> Result<Self, Error> {
        let cells = || DeviceMemory::filled(queue, MOST_CELLS, 0);
        Ok(Self {
            cells: [cells()?, cells()?],
            copy: PinnedMemory::new(queue.gpu(), MOST_CELLS)?,
            arrivals: DeviceMemory::filled(queue, 1, 0)?,
            items: 0,
        })
    }

    /// Enqueues the launch that adds `n` items. It leaves the values of the cells in the copy.
    fn add<I: Items>(
        &mut self,
        queue: &Queue,
        views: I::Of<Views<'_>>,
        n: usize,
        entry: &'static Entry,
    ) -> Result<(), Error> {
        let copy = self.copy.address();
        // SAFETY: the copy has room for the cells of any sum, and is read only after a wait (`take`).
        unsafe { self.add_to::<I>(queue, views, n, entry, copy) }
    }

    /// Enqueues the launch that adds `n` items. It leaves the values of the cells at `copy`.
    ///
    /// # Safety
    ///
    /// `copy` points to pinned memory for as many words as the sum has cells ([`cells_of`]). It stays allocated, and no other
    /// code uses it, until the stream has been waited for.
    unsafe fn add_to<I: Items>(
        &mut self,
        queue: &Queue,
        views: I::Of<Views<'_>>,
        n: usize,
        entry: &'static Entry,
        copy: u64,
    ) -> Result<(), Error> {
        let kernel = Kernel::find(queue.gpu(), entry)?;
        let threads = THREADS.min(kernel.max_threads());
        let is_input = |parameter: &&Parameter| matches!(parameter, Parameter::Input(..));
        let arrays = entry.parameters.iter().filter(is_input).count();
        let group = I::VECTOR * rows_of(arrays) * threads as usize;
        let most = BLOCKS * queue.gpu().info.multiprocessors;
        let blocks = n.div_ceil(group).clamp(1, most as usize) as u32;
        let cells = cells_of(entry);
        queue.gpu().enter()?;
        let mut arguments = input::arguments::<I>(views);
        let [now, next] = &mut self.cells;
        let (now, _) = now.all_mut().split_at(cells);
        arguments.push(Argument::output_span(now));
        // All of it, because the next sum may have more cells.
        arguments.push(Argument::output(next));
        arguments.push(Argument::words_at(copy, cells, queue.gpu()));
        arguments.push(Argument::output(&mut self.arrivals));
        // SAFETY:
        // - The row is that of an exact sum over these items (`exact_of`).
        // - The views borrow live memory of this device, of the same length (`input::check`, before every launch).
        //   The cells belong to this stream, and are as many as the row says; so are those of the copy (the caller's
        //   contract). Memory is freed only after a wait for all streams.
        // - The counter is 0: every launch leaves it so, and cells of a launch that failed are not used again.
        // - Any number of blocks is right, of whole warps.
        unsafe { kernel.launch(queue, Grid { blocks, threads }, arguments.as_slice()) }?;
        self.items += n as u64;
        Ok(())
    }

    /// Waits for the sum. The next one starts with 0.
    fn take(&mut self, queue: &Queue, entry: &Entry) -> Result<Accumulator, Error> {
        queue.synchronize()?;
        let sum = sum_of(
            &self.copy.words(cells_of(entry)),
            entry,
            std::mem::take(&mut self.items),
        );
        self.cells.swap(0, 1);
        Ok(sum)
    }
}

/// The number of cells of an exact sum.
pub(crate) fn cells_of(entry: &Entry) -> usize {
    entry.acc_bytes / size_of::<i32>()
}

/// The sum of `items` items with these values of its cells.
pub(crate) fn sum_of(cells: &[u64], entry: &Entry, items: u64) -> Accumulator {
    let (flags, digits) = cells.split_last().expect("a cell for the flags");
    let digits: Vec<i64> = digits.iter().map(|digit| *digit as i64).collect();
    let mut sum = Accumulator::new();
    sum.add_digits(&digits, entry.lowest);
    sum.add_flags(Flags::from_bits(*flags as u32).expect("flags of a kernel"));
    sum.count_items(items);
    sum
}

/// Enqueues the exact sum of an input that is not empty; the kernel leaves the values of its cells at `copy`. After a wait for
/// the stream, the cells are [given back](Cells::give_back).
///
/// # Safety
///
/// That of [`Cells::add_to`].
pub(crate) unsafe fn enqueue_at<I: Items>(
    queue: &Queue,
    views: I::Of<Views<'_>>,
    n: usize,
    entry: &'static Entry,
    copy: u64,
) -> Result<Cells, Error> {
    // After a failure the cells are not 0.
    let mut cells = match queue.exact_cells().take() {
        Some(cells) => cells,
        None => Cells::new(queue)?,
    };
    // SAFETY: the caller's contract.
    unsafe { cells.add_to::<I>(queue, views, n, entry, copy) }?;
    Ok(cells)
}

impl Cells {
    /// Leaves the cells to the stream's next sum. The stream has been waited for.
    pub(crate) fn give_back(mut self, queue: &Queue) {
        self.items = 0;
        self.cells.swap(0, 1);
        *queue.exact_cells() = Some(self);
    }
}

/// The exact sum of an input that is not empty.
pub(crate) fn accumulate<I: Items>(
    device: &Device,
    views: I::Of<Views<'_>>,
    n: usize,
    entry: &'static Entry,
) -> Result<Accumulator, Error> {
    match device.backend() {
        Backend::Cpu(_) => Ok(cpu::accumulate::<I>(entry.op, input::slices::<I>(views))),
        Backend::Gpu(queue) => {
            let mut workspace = queue.exact_cells();
            // After a failure the cells are not 0.
            let mut cells = match workspace.take() {
                Some(cells) => cells,
                None => Cells::new(queue)?,
            };
            cells.add::<I>(queue, views, n, entry)?;
            let sum = cells.take(queue, entry)?;
            *workspace = Some(cells);
            Ok(sum)
        }
    }
}

impl<I: Items, O: SinglePass<I>> Reduction<'_, I, O> {
    /// The exact sum of the items, before it is rounded; at any [level](crate::Determinism).
    ///
    /// Exact sums can be merged: those of several arrays, streams, devices or machines, in any order.
    ///
    /// ```
    /// use warpfold::{Accumulator, Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1e16, 1.0, -1e16])?;
    /// let mut sum = device.reduce(x.view(..2)?, Sum).accumulate()?;
    /// sum.merge(&device.reduce(x.view(2..)?, Sum).accumulate()?);
    /// assert_eq!((sum.sum::<f64>(), sum.count()), (1.0, 3));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Determinism`] if the operator is no sum of floats; otherwise as [`run`](Self::run).
    pub fn accumulate(self) -> Result<Accumulator, Error> {
        let device = self.device.determinism(crate::Determinism::Exact);
        let n = device.check_input::<I>(self.views, O::ENTRY)?;
        self.options.check(O::ENTRY)?;
        let entry = device.exact_sum_entry::<I, O>()?;
        match n {
            0 => Ok(Accumulator::new()),
            _ => accumulate::<I>(&device, self.views, n, entry),
        }
    }
}

impl Device {
    /// The exact sum of an array that comes in pieces, before it is rounded; see
    /// [`reduce_chunks_of`](Self::reduce_chunks_of) and [`Reduction::accumulate`].
    ///
    /// # Errors
    ///
    /// [`Error::Determinism`] if the operator is no sum of floats; otherwise as
    /// [`reduce_chunks_of`](Self::reduce_chunks_of).
    pub fn accumulate_chunks_of<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        mut chunks: C,
        mut fill: impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<Accumulator, Error> {
        self.accumulate_some::<C, O>(op, &mut chunks, u64::MAX, &mut fill)
    }

    /// The exact sum of at most `most` items.
    pub(crate) fn accumulate_some<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        chunks: &mut C,
        most: u64,
        fill: &mut impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<Accumulator, Error> {
        let _ = op;
        let exact = self.determinism(crate::Determinism::Exact);
        exact.check_knows(O::ENTRY)?;
        let entry = exact.exact_sum_entry::<C::Items, O>()?;
        let mut cells = self.queue().map(|queue| Cells::new(queue)).transpose()?;
        let mut sum = Accumulator::new();
        let mut left = most;
        while left > 0 {
            chunks.next(0..0)?;
            let all = 0..chunks
                .chunk_len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let Some(n) = fill(chunks.slices(all.clone())?)? else {
                break;
            };
            crate::chunks::check(n, all)?;
            left -= n as u64;
            if n == 0 {
                continue;
            }
            let views = chunks.send(n)?;
            self.check_input::<C::Items>(views, O::ENTRY)?;
            match (self.queue(), &mut cells) {
                (Some(queue), Some(cells)) => cells.add::<C::Items>(queue, views, n, entry)?,
                _ => sum.merge(&accumulate::<C::Items>(&exact, views, n, entry)?),
            }
        }
        match (self.queue(), &mut cells) {
            (Some(queue), Some(cells)) => cells.take(queue, entry),
            _ => Ok(sum),
        }
    }
}
