//! Single-pass reductions.

use super::{Source, mutant};

/// Not commutative.
const HORNER: &[&str] = &["single_pass_horner_u32"];

pub const SOURCE: Source = Source {
    path: "single_pass.rs",
    kernels: &["single_pass_sum_i32"],
    mutants: &[
        mutant(
            "drawn_twice",
            "a block increments the arrival counter a second time",
            "grid_reduce::<I, O>(op, value, arrival, storage)",
            "grid_reduce::<I, O>(op, value, storage.arrive(), storage)",
        ),
        mutant(
            "tiles_overlap",
            "a block starts one tile behind the one before, however many warps it has",
            "block_idx_x() * warps + warp",
            "block_idx_x() + warp",
        ),
        mutant(
            "tile_of_block",
            "all warps of a block reduce the same tile",
            "block_idx_x() * warps + warp",
            "block_idx_x() * warps",
        ),
        mutant(
            "lane_for_warp",
            "each lane of a warp has another tile",
            "thread_idx_x() / WARP_SIZE",
            "thread_idx_x() % WARP_SIZE",
        ),
        mutant(
            "tiles_in_turn",
            "adjacent tiles belong to different blocks",
            "block_idx_x() * warps + warp",
            "warp * cuda_std::thread::grid_dim_x() + block_idx_x()",
        )
        .on(HORNER),
        mutant(
            "warps_backwards",
            "the last warp of a block reduces its first tile",
            "block_idx_x() * warps + warp",
            "block_idx_x() * warps + (warps - 1 - warp)",
        )
        .on(HORNER),
    ],
};
