//! The launches of a reduction along axes.

use kernels_gpu::axes::Shape;

use super::*;
use crate::launch::{Argument, Arguments, Grid, Kernel};
use crate::memory::SpanMut;

/// A reduction along axes of an input on a GPU.
pub(super) struct Launch<'q, 'a, I: Items, O> {
    pub(super) queue: &'q Queue,
    pub(super) views: I::Of<Views<'a>>,
    pub(super) op: O,
    pub(super) dims: &'q Dims,
}

impl<I: Items, O: Axes<I>> Launch<'_, '_, I, O> {
    /// Enqueues the launches and returns; the last one stores the accumulators in `output`, at least one. It allocates nothing
    /// if there is room for the partials.
    pub(super) fn enqueue(
        &self,
        room: &mut Option<DeviceMemory<u64>>,
        mut output: SpanMut<'_, O::Acc>,
    ) -> Result<(), Error> {
        let queue = self.queue;
        let [columns, combine] = <O as Axes<I>>::ENTRIES else {
            unreachable!("`Axes` has two rows");
        };
        let gpu = queue.gpu();
        let shape = Shape::new::<I, O>(self.dims.kept(), self.dims.reduced());
        let partials = reserve(queue, room, shape.partials(), columns.acc_bytes)?;
        gpu.enter()?;
        let mut arguments = input::arguments::<I>(self.views);
        self.push_rest(&mut arguments, &shape, output.reborrow(), partials);
        let kernel = Kernel::find(gpu, columns)?;
        // SAFETY:
        // - The row is that of this operator over these items (`Axes`, which is unsafe to implement).
        // - The views borrow live memory of this device, of the same length (`input::check`, before every launch); the
        //   dimensions do not leave it (`Dims::new`). The output is borrowed mutably, and has an element for each
        //   column. The partials belong to this stream, whose launches do not overlap, and there is room for them. Device
        //   memory is freed only after a wait for all streams.
        // - Any number of blocks is right.
        unsafe { launch(&kernel, queue, shape.blocks(), &arguments) }?;
        if shape.rounds() == 0 {
            return Ok(());
        }
        let kernel = Kernel::find(gpu, combine)?;
        for round in 0..shape.rounds() {
            let shape = shape.of_round(round);
            let most = u64::from(8 * gpu.info.multiprocessors);
            let blocks = shape.blocks_of_round().min(most) as u32;
            let mut arguments = Arguments::new();
            self.push_rest(&mut arguments, &shape, output.reborrow(), partials);
            // SAFETY: as above; any number of blocks is right.
            unsafe { launch(&kernel, queue, blocks, &arguments) }?;
        }
        Ok(())
    }

    /// The arguments behind the inputs.
    fn push_rest<'s>(
        &'s self,
        arguments: &mut Arguments<'s>,
        shape: &'s Shape,
        output: SpanMut<'s, O::Acc>,
        partials: &'s mut DeviceMemory<u64>,
    ) {
        let acc_bytes = <O as Axes<I>>::ENTRIES[0].acc_bytes;
        arguments.push(Argument::operator(&self.op));
        arguments.push(Argument::plain(shape));
        arguments.push(Argument::output_span(output));
        arguments.push(Argument::room(
            partials,
            shape.partials() as usize,
            acc_bytes,
        ));
    }
}

/// Makes room for `partials`. If there is too little, it allocates, which waits for all work on the device.
fn reserve<'r>(
    queue: &Queue,
    room: &'r mut Option<DeviceMemory<u64>>,
    partials: u64,
    acc_bytes: usize,
) -> Result<&'r mut DeviceMemory<u64>, Error> {
    let bytes = partials.saturating_mul(acc_bytes as u64);
    let words = bytes.div_ceil(size_of::<u64>() as u64) as usize;
    match room {
        Some(memory) if words <= memory.len() => {}
        _ => {
            // Not rounded up, because it may be a large part of the device's memory.
            *room = Some(DeviceMemory::filled(queue, words, 0)?);
        }
    }
    match room {
        Some(memory) => Ok(memory),
        None => unreachable!("it was made above"),
    }
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
