//! How heat spreads over a plate: a stencil with a tile in shared memory; `examples/heat.md` explains this file line by
//! line.

#![cfg_attr(target_arch = "nvptx64", no_std)]

use cuda_std::float::GpuFloat;
use cuda_std::{kernel, launch_bounds, shared_array, thread};
use kernels_gpu::mem::{Global, Shared};

#[cfg(not(target_arch = "nvptx64"))]
pub mod reference;

/// The threads of a block, and the cells that it computes, in x and y.
pub const BLOCK: [u32; 2] = [32, 8];

/// The threads of a block.
const THREADS: u32 = BLOCK[0] * BLOCK[1];

/// Cells of a row of the tile: those of the block, and one more on each side.
const WIDTH: u32 = BLOCK[0] + 2;

/// Cells of the tile.
const CELLS: u32 = WIDTH * (BLOCK[1] + 2);

/// The temperature of a cell after a time step. `rate` is at most 0.25.
#[inline(always)]
fn next(here: f32, west: f32, east: f32, north: f32, south: f32, rate: f32) -> f32 {
    let around = (west + east) + (north + south);
    let flow = GpuFloat::mul_add(-4.0, here, around);
    GpuFloat::mul_add(rate, flow, here)
}

/// The blocks that cover a plate, in x and y.
pub fn grid(columns: u32, rows: u32) -> [u32; 2] {
    [columns.div_ceil(BLOCK[0]), rows.div_ceil(BLOCK[1])]
}

/// One time step of a plate of `columns * rows` cells, row by row, from which no heat is lost.
///
/// # Safety
///
/// - `columns` and `rows` are at least 1, `old` and `new` have `columns * rows` elements each and do not overlap.
/// - The blocks have [`BLOCK`] threads; the grid has [`grid`] blocks.
#[kernel]
#[launch_bounds(max_threads = THREADS)]
pub unsafe fn heat_step(old: &[f32], new: *mut f32, columns: u32, rows: u32, rate: f32) {
    // SAFETY: the caller's promise.
    let (old, new) = unsafe { (Global::from_slice(old), Global::new(new, old.len())) };
    step(old, new, columns, rows, rate, thread::sync_threads);
}

/// The kernel's body. The barrier is a parameter so that a test can leave it out.
#[inline(always)]
pub fn step(
    old: Global<f32>,
    new: Global<f32>,
    columns: u32,
    rows: u32,
    rate: f32,
    barrier: impl Fn(),
) {
    // SAFETY: the array has `CELLS` elements, and all indices below are less.
    let tile = unsafe { Shared::new(shared_array![f32; CELLS as usize]) };
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let left = thread::block_idx_x() * BLOCK[0];
    let top = thread::block_idx_y() * BLOCK[1];
    let index = |column: u32, row: u32| row as usize * columns as usize + column as usize;

    let mut cell = y * BLOCK[0] + x;
    while cell < CELLS {
        let column = (left + cell % WIDTH).saturating_sub(1).min(columns - 1);
        let row = (top + cell / WIDTH).saturating_sub(1).min(rows - 1);
        tile.set(cell, old.get(index(column, row)));
        cell += THREADS;
    }
    barrier();

    let (column, row) = (left + x, top + y);
    if column < columns && row < rows {
        let cell = (y + 1) * WIDTH + x + 1;
        let [west, east] = [tile.get(cell - 1), tile.get(cell + 1)];
        let [north, south] = [tile.get(cell - WIDTH), tile.get(cell + WIDTH)];
        let value = next(tile.get(cell), west, east, north, south, rate);
        new.set(index(column, row), value);
    }
}
