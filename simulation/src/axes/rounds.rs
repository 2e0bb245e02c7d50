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
    let tiles = random.random_range(combine::RUN + 1..3 * combine::RUN);
    let columns = random.random_range(1..4);
    let dims =
        [columns, tiles * tile - random.random_range(0..tile)].map(|len| Dim { len, stride: 1 });
    let shape = Shape::new::<f32, Sum>(&dims[..1], &dims[1..]);
    let partials: Vec<f32> = (0..tiles * columns).map(|_| rough(random)).collect();
    let wanted = (0..columns).map(|column| {
        let own = (0..tiles).map(|tile| partials[tile * columns + column]);
        sum_of_tree(own.collect()).to_bits()
    });
    let wanted: Vec<u32> = wanted.collect();
    let partials = Buffer::from(&partials);
    let output: Buffer<f32> = Buffer::uninitialised(columns);
    for round in 0..combine::rounds(shape.tiles) {
        let shape = shape.of_round(round);
        let arrays = [
            Array::new("shape", &raw const shape, 1),
            Array::new("output", output.as_ptr(), columns),
            Array::new("partials", partials.as_ptr(), partials.len()),
        ];
        // SAFETY: the arrays exist, and have the lengths that the shape asks for.
        unsafe { launch(entry, simulator().grid(3).block(THREADS), Sum, &arrays) }
            .map_err(|failure| Wrong::Findings(entry.name, failure))?;
    }
    let got: Vec<u32> = output.to_vec().iter().map(|sum| sum.to_bits()).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(Wrong::Results(format!("{got:?} instead of {wanted:?}"))),
    }
}
