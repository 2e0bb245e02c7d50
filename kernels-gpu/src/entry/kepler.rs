//! Shuffles and atomics: `stable`, `warp_atomic` and `block_atomic`, by one element at a time, by
//! two and by four.

use super::Entry;
use crate::element::{
    bf16, f16, indexed_f32, indexed_f64, indexed_i32, indexed_i64, indexed_u32, indexed_u64,
};
use crate::kepler::{block_atomic::block_atomic, stable::stable, warp_atomic::warp_atomic};
use crate::mem::{Global, Shared};
use crate::needs::{Load, Needs, Scratch};
use crate::op::{And, ArgMax, ArgMin, Max, Min, NanMax, NanMin, Or, Product, Sum, SumWide, Xor};
use cuda_std::kernel;

/// All entry points of the family.
pub const ENTRIES: &[Entry] = flat!(FORMS, PLACES, PARTIALS);

/// A load brings `elements`; a partial for each block.
const fn by(elements: usize) -> Needs {
    Needs::any_grid(Scratch::PerWarp, Load::Elements(elements))
}

/// The same without shared memory.
const fn by_warps(elements: usize) -> Needs {
    Needs::any_grid(Scratch::None, Load::Elements(elements))
}

// Every operator that an atomic can apply: each kernel, each width. What is used most has modules of
// its own, and what few use does not lengthen their loading.
entries!(FORMS in
    kepler: [
        Sum i8, Sum i16, Sum i32, Sum i64, Sum u8, Sum u16, Sum u32, Sum u64,
        Sum f16, Sum bf16, Sum f32, Sum f64,
        Min i32, Min f32,
        Max i32, Max f32
    ],
    kepler_others: [
        SumWide i8, SumWide i16, SumWide i32, SumWide i64,
        SumWide u8, SumWide u16, SumWide u32, SumWide u64,
        SumWide f16, SumWide bf16, SumWide f32, SumWide f64,
        Product i8, Product i16, Product i32, Product i64,
        Product u8, Product u16, Product u32, Product u64,
        Product f16, Product bf16, Product f32, Product f64,
        Min i8, Min i16, Min i64, Min u8, Min u16, Min u32, Min u64, Min f16, Min bf16, Min f64,
        Max i8, Max i16, Max i64, Max u8, Max u16, Max u32, Max u64, Max f16, Max bf16, Max f64,
        NanMin f16, NanMin bf16, NanMin f32, NanMin f64,
        NanMax f16, NanMax bf16, NanMax f32, NanMax f64
    ],
    kepler_bits: [
        And i8, And i16, And i32, And i64, And u8, And u16, And u32, And u64,
        Or i8, Or i16, Or i32, Or i64, Or u8, Or u16, Or u32, Or u64,
        Xor i8, Xor i16, Xor i32, Xor i64, Xor u8, Xor u16, Xor u32, Xor u64
    ]
x {
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

// Places are two words, which no atomic combines.
entries!(PLACES in kepler_places: [
    ArgMin i8, ArgMin i16, ArgMin i32, ArgMin i64, ArgMin u8, ArgMin u16, ArgMin u32, ArgMin u64,
    ArgMin f16, ArgMin bf16, ArgMin f32, ArgMin f64,
    ArgMax i8, ArgMax i16, ArgMax i32, ArgMax i64, ArgMax u8, ArgMax u16, ArgMax u32, ArgMax u64,
    ArgMax f16, ArgMax bf16, ArgMax f32, ArgMax f64
] x {
    |input, output, scratch|
    stable [by(1)] = stable::<T, O, 1>(input, output, scratch);
    stable_vec2 [by(2)] = stable::<T, O, 2>(input, output, scratch);
    stable_vec4 [by(4)] = stable::<T, O, 4>(input, output, scratch);
});

// The second pass of the former.
entries!(PARTIALS in kepler_places: [
    ArgMin indexed_i32, ArgMin indexed_u32, ArgMin indexed_i64,
    ArgMin indexed_u64, ArgMin indexed_f32, ArgMin indexed_f64,
    ArgMax indexed_i32, ArgMax indexed_u32, ArgMax indexed_i64,
    ArgMax indexed_u64, ArgMax indexed_f32, ArgMax indexed_f64
] x {
    |input, output, scratch|
    stable [by(1)] = stable::<T, O, 1>(input, output, scratch);
});
