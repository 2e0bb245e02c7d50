//! Columns that are too long for a test of the other kernel: only their partials.

use cuda_sim::{Buffer, Simulator};
use kernels_gpu::axes::{Dim, Shape, THREADS, combine};
use kernels_gpu::entry::Entry;
use kernels_gpu::op::Sum;
use kernels_gpu::tile::items_of_tile;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::data::{rough, sum_of_tree};
use crate::launch::{Array, launch};
use crate::segments::Wrong;

/// Whether the entry combines random partials in several rounds. It is the one for sums of `f32`.
///
/// # Errors
///
/// What is wrong.
pub fn several_rounds(
    entry: &Entry,
    random: &mut StdRng,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let tile = items_of_tile::<f32>();
    // At most 64 tiles of a column belong to a block, which leaves one partial.
    let tiles = random.random_range(64 * combine::RUN + 1..192 * combine::RUN);
    let columns = random.random_range(1..4);
    let dims =
        [columns, tiles * tile - random.random_range(0..tile)].map(|len| Dim { len, stride: 1 });
    let shape = Shape::new::<f32, Sum>(&dims[..1], &dims[1..]);
    assert!(shape.rounds() > 1);
    let of_column = shape.partials_of_column() as usize;
    let partials: Vec<f32> = (0..of_column * columns).map(|_| rough(random)).collect();
    let wanted = (0..columns).map(|column| {
        let own = (0..of_column).map(|partial| partials[partial * columns + column]);
        sum_of_tree(own.collect()).to_bits()
    });
    let wanted: Vec<u32> = wanted.collect();
    let partials = Buffer::from(&partials);
    let output: Buffer<f32> = Buffer::uninitialised(columns);
    let grid = || {
        let shared = entry.needs.shared_bytes(THREADS, size_of::<f32>());
        simulator()
            .grid(3)
            .block(THREADS)
            .dynamic_shared_memory(shared)
    };
    for round in 0..shape.rounds() {
        let shape = shape.of_round(round);
        let arrays = [
            Array::new("shape", &raw const shape, 1),
            Array::new("output", output.as_ptr(), columns),
            Array::new("partials", partials.as_ptr(), partials.len()),
        ];
        // SAFETY: the arrays exist, and have the lengths that the shape asks for.
        unsafe { launch(entry, grid(), Sum, &arrays) }
            .map_err(|failure| Wrong::Findings(entry.name, failure))?;
    }
    let got: Vec<u32> = output.to_vec().iter().map(|sum| sum.to_bits()).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(Wrong::Results(format!("{got:?} instead of {wanted:?}"))),
    }
}
