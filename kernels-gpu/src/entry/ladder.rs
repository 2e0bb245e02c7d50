//! The Harris ladder, and the ceiling it is measured against.

use super::Entry;
use crate::ceiling::{LOAD_BYTES, read_ceiling};
use crate::harris::{
    naive::reduce_naive,
    reduce_0::{reduce_0, reduce_0_modulo},
    reduce_1::reduce_1,
    reduce_2::reduce_2,
    reduce_3::reduce_3,
    reduce_4::{reduce_4, reduce_4_redux},
    reduce_5::{reduce_5, reduce_5_unrolled},
    shared_memory::reduce_shared_memory,
};
use crate::mem::{Global, Shared};
use crate::needs::{Load, Needs, Scratch};
use crate::op::{Max, Min, Sum};
use cuda_std::kernel;

/// All entry points of the family.
pub const ENTRIES: &[Entry] = flat!(LADDER, LADDER_REDUX, CEILING);

entries!(LADDER in ladder: [
    Sum i32, Sum u32, Sum i64, Sum u64, Sum f32, Sum f64,
    Min i32, Min f32,
    Max i32, Max f32
] x {
    |input, output, scratch|
    reduce_naive [Needs::one_cell(Scratch::None)] = reduce_naive::<T, O>(input, output);
    reduce_shared_memory [Needs::one_cell(Scratch::One)] = reduce_shared_memory::<T, O>(input, output, scratch);
    reduce_0 [Needs::tree(1)] = reduce_0::<T, O>(input, output, scratch);
    reduce_0_modulo [Needs::tree(1)] = reduce_0_modulo::<T, O>(input, output, scratch);
    reduce_1 [Needs::tree(1)] = reduce_1::<T, O>(input, output, scratch);
    reduce_2 [Needs::tree(1)] = reduce_2::<T, O>(input, output, scratch);
    reduce_3 [Needs::tree(2)] = reduce_3::<T, O>(input, output, scratch);
    reduce_4 [Needs::tree(2)] = reduce_4::<T, O>(input, output, scratch);
    reduce_5 [Needs::any_grid(Scratch::PerThread, Load::Element)] = reduce_5::<T, O>(input, output, scratch);
    reduce_5_x1 [Needs::tree(1)] = reduce_5_unrolled::<T, O, 1>(input, output, scratch);
    reduce_5_x2 [Needs::tree(2)] = reduce_5_unrolled::<T, O, 2>(input, output, scratch);
    reduce_5_x4 [Needs::tree(4)] = reduce_5_unrolled::<T, O, 4>(input, output, scratch);
    reduce_5_x8 [Needs::tree(8)] = reduce_5_unrolled::<T, O, 8>(input, output, scratch);
    reduce_5_x16 [Needs::tree(16)] = reduce_5_unrolled::<T, O, 16>(input, output, scratch);
});

// The warp's own instruction exists for 32-bit integers.
entries!(LADDER_REDUX in ladder: [Sum i32, Sum u32, Min i32, Max i32] x {
    |input, output, scratch|
    reduce_4_redux [Needs::tree(2)] = reduce_4_redux::<T, O>(input, output, scratch);
});

entries!(CEILING in ladder: [Sum i32, Sum i64, Sum f32, Sum f64] x {
    |input, output, scratch|
    read_ceiling [Needs::any_grid(Scratch::PerWarp, Load::Bytes(LOAD_BYTES))] =
        read_ceiling::<T, O, { LOAD_BYTES / size_of::<T>() }>(input, output, scratch);
});
