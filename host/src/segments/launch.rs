//! The launches of a segmented reduction.

use super::*;

/// A segmented reduction of an input on a GPU.
pub(super) struct Launch<'q, 'a, 'p, I: Items, O, T: Offset> {
    pub(super) queue: &'q Queue,
    pub(super) views: I::Of<Views<'a>>,
    pub(super) n: usize,
    pub(super) op: O,
    pub(super) parts: Parts<'p, T>,
}

impl<I: Items, O: Segments<I>, T: Offset> Launch<'_, '_, '_, I, O, T> {
    /// Enqueues the launches and returns. They store the accumulators in `output`, one for each segment, at least one. It
    /// allocates nothing if the storage has [room](Storage::reserve).
    pub(super) fn enqueue(
        &self,
        storage: &mut Storage,
        output: SpanMut<'_, O::Acc>,
    ) -> Result<(), Error> {
        let queue = self.queue;
        let [window, combine, by_part] = O::ENTRIES else {
            unreachable!("`Segments` has three rows");
        };
        let gpu = queue.gpu();
        let segments = self.parts.count(self.n);
        if is_for::<I>(self.n, segments) {
            return self.by_part(by_part, storage, output);
        }
        let layout = Layout::of::<I>(self.n, segments);
        let blocks = self.blocks(window, layout.windows)?;
        storage.reserve(queue, layout, window.acc_bytes)?;
        gpu.enter()?;
        let call = storage.begin(queue)?;
        let shape = self
            .parts
            .shape::<I>(self.n)
            .of_call(call.number, call.epoch);
        if let Parts::Offsets(..) = self.parts {
            let kernel = Kernel::find(gpu, &PARTITION.entries[0])?;
            let mut arguments = Arguments::new();
            arguments.push(Argument::plain(&shape));
            self.push_offsets(&mut arguments);
            push_work(
                &mut arguments,
                &mut storage.work,
                &mut storage.counts,
                layout,
            );
            let blocks = layout.planners().div_ceil(THREADS as usize / 32) as u32;
            // SAFETY: as many warps as the plans need. The rest is as below.
            unsafe { launch(&kernel, queue, blocks, &arguments) }?;
        }
        let mut output = output;
        let mut arguments = input::arguments::<I>(self.views);
        self.push_rest(&mut arguments, &shape, storage, layout, output.reborrow());
        let kernel = Kernel::find(gpu, window)?;
        // SAFETY:
        // - The row is that of this operator over these items (`Segments`, which is unsafe to implement).
        // - The views borrow live memory of this device, of the same length (`input::check`, before every launch); the
        //   offsets too. The output is borrowed mutably, and has an element for each segment. The storage belongs to
        //   this stream, whose launches do not overlap, and has room. Device memory is freed only after a wait for all
        //   streams.
        // - The kernel checks the offsets before it uses them.
        // - A block for each window.
        unsafe { launch(&kernel, queue, blocks, &arguments) }?;
        if self.parts.longest(self.n) <= most_staged::<I>() {
            return Ok(());
        }
        let kernel = Kernel::find(gpu, combine)?;
        // A warp for each row, or a thread for each cell.
        let most = match self.parts {
            Parts::Rows(_) => layout.cells.div_ceil(THREADS as usize / 32),
            Parts::Offsets(..) => layout.cells.div_ceil(THREADS as usize),
        };
        let blocks = (8 * gpu.info.multiprocessors).min(most as u32);
        let mut arguments = Arguments::new();
        self.push_rest(&mut arguments, &shape, storage, layout, output);
        // SAFETY: as above; any number of blocks is right.
        unsafe { launch(&kernel, queue, blocks, &arguments) }
    }

    /// Enqueues the one launch that segments of several tiles need.
    fn by_part(
        &self,
        entry: &'static Entry,
        storage: &mut Storage,
        output: SpanMut<'_, O::Acc>,
    ) -> Result<(), Error> {
        let (queue, gpu) = (self.queue, self.queue.gpu());
        let segments = self.parts.count(self.n);
        let team = team_of::<I>(self.n, segments);
        let blocks = self.blocks(entry, blocks_of::<I>(self.n, segments, team))?;
        let places = places_of::<I>(self.n, segments, team);
        storage.reserve_places(queue, places, entry.acc_bytes)?;
        gpu.enter()?;
        let call = storage.begin(queue)?;
        let shape = self
            .parts
            .shape::<I>(self.n)
            .by_part::<I>(team)
            .of_call(call.number, call.epoch);
        let Storage {
            partials,
            work,
            arrived,
            ..
        } = storage;
        let mut arguments = input::arguments::<I>(self.views);
        self.push_segments(&mut arguments, &shape, output);
        arguments.push(Argument::room(partials, places, entry.acc_bytes));
        arguments.push(Argument::room(work, Reports::WORDS, size_of::<u64>()));
        arguments.push(Argument::room(arrived, places, size_of::<u64>()));
        let kernel = Kernel::find(gpu, entry)?;
        // SAFETY: as in `enqueue`, with a team for each segment and each chunk. The words of the arrivals have earlier epochs, or
        // are 0 (`Storage::begin`, and below).
        unsafe { launch(&kernel, queue, blocks, &arguments) }?;
        match call.is_captured {
            true => storage.arrived.enqueue_fill(queue, 0),
            false => Ok(()),
        }
    }

    /// The number of blocks of a kernel, if the device has room for so many.
    fn blocks(&self, entry: &'static Entry, blocks: usize) -> Result<u32, Error> {
        let limit = self.queue.gpu().info.max_blocks;
        let fitting = u32::try_from(blocks).ok();
        let fitting = fitting.filter(|blocks| *blocks <= limit);
        fitting.ok_or(Error::GridTooLarge {
            kernel: entry.kernel,
            blocks: blocks as u64,
            threads: THREADS,
            limit,
        })
    }

    /// The arguments behind the inputs.
    fn push_rest<'s>(
        &'s self,
        arguments: &mut Arguments<'s>,
        shape: &'s Shape,
        storage: &'s mut Storage,
        layout: Layout,
        output: SpanMut<'s, O::Acc>,
    ) {
        self.push_segments(arguments, shape, output);
        let acc_bytes = O::ENTRIES[0].acc_bytes;
        let partials = &mut storage.partials;
        arguments.push(Argument::room(partials, layout.partials(), acc_bytes));
        push_work(arguments, &mut storage.work, &mut storage.counts, layout);
    }

    /// The operator, the segments, and the output.
    fn push_segments<'s>(
        &'s self,
        arguments: &mut Arguments<'s>,
        shape: &'s Shape,
        output: SpanMut<'s, O::Acc>,
    ) {
        arguments.push(Argument::operator(&self.op));
        arguments.push(Argument::plain(shape));
        self.push_offsets(arguments);
        arguments.push(Argument::output_span(output));
    }

    /// The offsets of 32 bits, and those of 64 bits.
    fn push_offsets<'s>(&'s self, arguments: &mut Arguments<'s>) {
        let offsets = match self.parts {
            Parts::Offsets(offsets, _) => match offsets.location() {
                Location::Device(span) => Some(span),
                Location::Host(_) => unreachable!("the offsets are on the GPU"),
            },
            Parts::Rows(_) => None,
        };
        let is_wide = size_of::<T>() == size_of::<u64>();
        for (bytes, is_own) in [(4, !is_wide), (8, is_wide)] {
            arguments.push(match offsets.filter(|_| is_own) {
                Some(span) => Argument::input(span),
                None => Argument::nothing(bytes, self.queue.gpu()),
            });
        }
    }
}

/// The words between the kernels.
fn push_work<'s>(
    arguments: &mut Arguments<'s>,
    work: &'s mut DeviceMemory<u64>,
    counts: &'s mut DeviceMemory<u32>,
    layout: Layout,
) {
    arguments.push(Argument::room(work, layout.words(), size_of::<u64>()));
    arguments.push(Argument::output(counts));
}

/// Enqueues a launch of blocks of [`THREADS`] threads.
///
/// # Safety
///
/// That of [`Kernel::launch`].
unsafe fn launch(
    kernel: &Kernel,
    queue: &Queue,
    blocks: u32,
    arguments: &Arguments<'_>,
) -> Result<(), Error> {
    let grid = Grid {
        blocks,
        threads: THREADS,
    };
    // SAFETY: the caller's contract.
    unsafe { kernel.launch(queue, grid, arguments.as_slice()) }
}
