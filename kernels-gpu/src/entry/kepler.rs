//! Shuffles and atomics: `stable`, `warp_atomic` and `block_atomic`, by one element at a time, by
//! two and by four.

use super::Entry;
use crate::kepler::{block_atomic::block_atomic, stable::stable, warp_atomic::warp_atomic};
use crate::mem::{Global, Shared};
use crate::needs::{Load, Needs, Scratch};
use crate::op::{Max, Min, Sum};
use cuda_std::kernel;

/// All entry points of the family.
pub const ENTRIES: &[Entry] = flat!(ALL);

/// A load brings `elements`; a partial for each block.
const fn by(elements: usize) -> Needs {
    Needs::any_grid(Scratch::PerWarp, Load::Elements(elements))
}

/// The same without shared memory.
const fn by_warps(elements: usize) -> Needs {
    Needs::any_grid(Scratch::None, Load::Elements(elements))
}

entries!(ALL in kepler: [
    Sum i32, Sum u32, Sum i64, Sum u64, Sum f32, Sum f64,
    Min i32, Min f32,
    Max i32, Max f32
] x {
    |input, output, scratch|
    stable [by(1)] = stable::<T, O, 1>(input, output, scratch);
    stable_vec2 [by(2)] = stable::<T, O, 2>(input, output, scratch);
    stable_vec4 [by(4)] = stable::<T, O, 4>(input, output, scratch);
    warp_atomic [by_warps(1).into_cell()] = warp_atomic::<T, O, 1>(input, output);
    warp_atomic_vec2 [by_warps(2).into_cell()] = warp_atomic::<T, O, 2>(input, output);
    warp_atomic_vec4 [by_warps(4).into_cell()] = warp_atomic::<T, O, 4>(input, output);
    block_atomic [by(1).into_cell()] = block_atomic::<T, O, 1>(input, output, scratch);
    block_atomic_vec2 [by(2).into_cell()] = block_atomic::<T, O, 2>(input, output, scratch);
    block_atomic_vec4 [by(4).into_cell()] = block_atomic::<T, O, 4>(input, output, scratch);
});
