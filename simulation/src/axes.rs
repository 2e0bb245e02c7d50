//! A reduction along axes: the launches of its kernels, and the check of their results.

mod drawn;
mod rounds;

pub use drawn::{Drawn, KINDS};
pub use rounds::several_rounds;

use cuda_sim::{Buffer, Simulator};
use kernels_gpu::axes::{Shape, THREADS};
use kernels_gpu::entry::{Axes, Entry};
use kernels_gpu::items::Items;
use kernels_gpu::op::Op;

use crate::launch::{Array, launch};
use crate::segments::{MARGIN_BYTE, MARGIN_BYTES, Wrong};

/// The kernels of a reduction along axes.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Reduces columns.
    pub columns: Entry,
    /// Combines the partials of long columns.
    pub combine: Entry,
}

impl Kernels {
    /// Those of the library.
    pub fn of<I: Items, O: Axes<I>>() -> Self {
        let [columns, combine] = <O as Axes<I>>::ENTRIES else {
            unreachable!("`Axes` has two rows");
        };
        Self {
            columns: *columns,
            combine: *combine,
        }
    }
}

/// Reduces the columns of a case; the bytes of each accumulator. `simulator` makes one for each launch.
///
/// # Errors
///
/// What is wrong.
pub fn reduce<I: Items, O: Op<I>>(
    kernels: &Kernels,
    op: O,
    drawn: &Drawn,
    simulator: &dyn Fn() -> Simulator,
) -> Result<Vec<Vec<u8>>, Wrong> {
    let input = &drawn.input;
    let shape = Shape::for_threads::<I, O>(&drawn.kept, &drawn.reduced, drawn.many);
    let (columns, partials_len) = (shape.columns as usize, shape.partials() as usize);
    let acc = size_of::<O::Acc>();
    let margin = [MARGIN_BYTE; MARGIN_BYTES];
    let mut output: Buffer<u8> = Buffer::uninitialised(columns * acc + 2 * MARGIN_BYTES);
    output.write_from(0, &margin);
    output.write_from(MARGIN_BYTES + columns * acc, &margin);
    let partials: Buffer<u8> = Buffer::uninitialised(partials_len * acc);
    let arrays = |shape: &Shape| {
        let output = output.as_ptr().wrapping_add(MARGIN_BYTES);
        let mut arrays = input.arrays(0, input.len());
        arrays.extend([
            Array::new("shape", std::ptr::from_ref(shape), 1),
            Array::new("output", output, columns),
            Array::new("partials", partials.as_ptr(), partials_len),
        ]);
        arrays
    };
    let (reducing, combining) = (&kernels.columns, &kernels.combine);
    let findings = |entry: &Entry| {
        let name = entry.name;
        move |failure| Wrong::Findings(name, failure)
    };
    let grid = |blocks: u32| simulator().grid(blocks).block(THREADS);
    let shared = reducing.needs.shared_bytes(THREADS, acc);
    let blocks = grid(shape.blocks().min(drawn.most_blocks)).dynamic_shared_memory(shared);
    // SAFETY: the arrays exist, have the types of the items, and the lengths that the shape asks for.
    unsafe { launch(reducing, blocks, op, &arrays(&shape)) }.map_err(findings(reducing))?;
    let grid = || {
        let shared = combining.needs.shared_bytes(THREADS, acc);
        grid(2).dynamic_shared_memory(shared)
    };
    for round in 0..shape.rounds() {
        let shape = shape.of_round(round);
        // SAFETY: as above, with any number of blocks.
        unsafe { launch(combining, grid(), op, &arrays(&shape)) }.map_err(findings(combining))?;
    }
    if !input.is_unchanged() {
        return Err(Wrong::Changed("an input"));
    }
    let bytes = output.to_vec();
    let (before, rest) = bytes.split_at(MARGIN_BYTES);
    let (accumulators, behind) = rest.split_at(columns * acc);
    if before != margin || behind != margin {
        return Err(Wrong::Changed("memory beside the output"));
    }
    Ok(accumulators.chunks(acc).map(<[u8]>::to_vec).collect())
}
