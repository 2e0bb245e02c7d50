//! Runs of neighbouring items.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "in_order.rs",
    kernels: &[
        "single_pass_horner_u32",
        "single_pass_horner_u32_3",
        "single_pass_horner_u32_u8",
    ],
    mutants: MUTANTS,
};

const PAIR: &[&str] = &["single_pass_horner_u32_u8"];

const NUMBER: &[&str] = &["single_pass_horner_u32"];

const TWELVE_BYTES: &[&str] = &["single_pass_horner_u32_3"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "head_of_items",
        "arrays with different alignment start with the second item",
        "            head: 0,",
        "            head: 1,",
    )
    .on(PAIR),
    mutant(
        "no_tile_for_the_tail",
        "skips the items after the last vector if they would start a tile",
        "(self.vectors + 1).div_ceil(lanes * K)",
        "self.vectors.div_ceil(lanes * K)",
    )
    .on(NUMBER),
    mutant(
        "tiles_rounded_down",
        "skips a partial tile",
        "(self.vectors + 1).div_ceil(lanes * K)",
        "(self.vectors + 1) / (lanes * K)",
    )
    .on(NUMBER),
    mutant(
        "shares_rounded_down",
        "skips the tiles beyond equal shares",
        "let share = tiles.div_ceil(warps);",
        "let share = tiles / warps;",
    )
    .on(NUMBER),
    mutant(
        "warps_by_block",
        "uses the warp's index in its block instead of the grid",
        "let warp = block_idx_x() as usize * warps_of_block + thread_idx_x() as usize / lanes;",
        "let warp = thread_idx_x() as usize / lanes;",
    )
    .on(NUMBER),
    mutant(
        "warps_in_turn",
        "adjacent warps take tiles of different blocks",
        "let warp = block_idx_x() as usize * warps_of_block + thread_idx_x() as usize / lanes;",
        "let warp = thread_idx_x() as usize / lanes * grid_dim_x() as usize + block_idx_x() as usize;",
    )
    .on(NUMBER),
    mutant(
        "no_head",
        "skips the items before the first vector",
        "if warp == 0 && lane == 0 {",
        "if warp == 0 && lane == 32 {",
    )
    .on(TWELVE_BYTES),
    mutant(
        "head_of_every_warp",
        "every warp loads the items before the first vector",
        "if warp == 0 && lane == 0 {",
        "if lane == 0 {",
    )
    .on(NUMBER),
    mutant(
        "head_from_the_second",
        "skips the first item",
        "value = one_by_one(op, arrays, value, 0, self.head);",
        "value = one_by_one(op, arrays, value, 1, self.head);",
    )
    .on(TWELVE_BYTES),
    mutant(
        "tiles_in_turn",
        "a warp's tiles are the number of warps apart",
        "let mut tile = warp * share;
        // The same number of rounds in all lanes of a warp.
        while tile < end {",
        "let mut tile = warp;
        let end = tiles;
        while tile < end {",
    )
    .on(NUMBER),
    mutant(
        "one_tile",
        "skips all but the first tile of a warp",
        "while tile < end {",
        "if tile < end {",
    )
    .on(NUMBER),
    mutant(
        "lanes_in_turn",
        "a lane's vectors are a warp apart",
        "let v = (tile * lanes + lane) * K;",
        "let v = tile * lanes * K + lane;",
    )
    .on(NUMBER),
    mutant(
        "lanes_backwards",
        "the last lane loads the first items of a tile",
        "let v = (tile * lanes + lane) * K;",
        "let v = (tile * lanes + lanes - 1 - lane) * K;",
    )
    .on(NUMBER),
    mutant(
        "tile_before_what_there_is",
        "combines a tile before its predecessors",
        "value = op.combine(value, of_tile);",
        "value = op.combine(of_tile, value);",
    )
    .on(NUMBER),
    mutant(
        "lanes_values_kept",
        "lanes without the warp's value combine theirs too",
        "if lane == 0 { value } else { op.identity() }",
        "value",
    )
    .on(NUMBER),
    mutant(
        "bound_of_first_load",
        "checks the bounds of the first of a lane's vectors only",
        "if v + K <= self.vectors {",
        "if v < self.vectors {",
    )
    .on(NUMBER),
    mutant(
        "tail_lost",
        "the lane after the last vector loads nothing",
        "} else if v <= self.vectors {",
        "} else if v < self.vectors {",
    )
    .on(NUMBER),
    mutant(
        "step_without_distance",
        "all loads of a lane load its first vector",
        "loaded[k] = (self.load)(v + k);",
        "loaded[k] = (self.load)(v);",
    )
    .on(NUMBER),
    mutant(
        "indices_of_first_load",
        "a lane's later vectors use the indices of the first",
        "first[k] = index(v + k) as u64;",
        "first[k] = index(v) as u64;",
    )
    .on(NUMBER),
    mutant(
        "indices_without_head",
        "indices start at the first vector",
        "let index = |v: usize| self.head + v * N;",
        "let index = |v: usize| v * N;",
    )
    .on(TWELVE_BYTES),
    mutant(
        "tail_without_its_last",
        "skips the last item",
        "while i < end {",
        "while i + 1 < end {",
    )
    .on(NUMBER),
    mutant(
        "items_before_what_there_is",
        "combines each item before its predecessor",
        "value = op.absorb(value, [[I::get(arrays, i)]], [i as u64]);",
        "value = op.combine(op.lift(I::get(arrays, i), i as u64), value);",
    )
    .on(PAIR),
];
