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
        "arrays that lie differently begin with the second item",
        "            head: 0,",
        "            head: 1,",
    )
    .on(PAIR),
    mutant(
        "no_tile_for_the_tail",
        "what lies behind the last vector is lost where it would begin a tile",
        "(self.vectors + 1).div_ceil(lanes * K)",
        "self.vectors.div_ceil(lanes * K)",
    )
    .on(NUMBER),
    mutant(
        "tiles_rounded_down",
        "a tile that is not full is lost",
        "(self.vectors + 1).div_ceil(lanes * K)",
        "(self.vectors + 1) / (lanes * K)",
    )
    .on(NUMBER),
    mutant(
        "shares_rounded_down",
        "tiles beyond equal shares are lost",
        "let share = tiles.div_ceil(warps);",
        "let share = tiles / warps;",
    )
    .on(NUMBER),
    mutant(
        "warps_by_block",
        "the warp's number in its block for that in the grid",
        "let warp = block_idx_x() as usize * warps_of_block + thread_idx_x() as usize / lanes;",
        "let warp = thread_idx_x() as usize / lanes;",
    )
    .on(NUMBER),
    mutant(
        "warps_in_turn",
        "neighbouring warps are blocks apart",
        "let warp = block_idx_x() as usize * warps_of_block + thread_idx_x() as usize / lanes;",
        "let warp = thread_idx_x() as usize / lanes * grid_dim_x() as usize + block_idx_x() as usize;",
    )
    .on(NUMBER),
    mutant(
        "no_head",
        "the items before the first vector are lost",
        "if warp == 0 && lane == 0 {",
        "if warp == 0 && lane == 32 {",
    )
    .on(TWELVE_BYTES),
    mutant(
        "head_of_every_warp",
        "every warp brings the items before the first vector",
        "if warp == 0 && lane == 0 {",
        "if lane == 0 {",
    )
    .on(NUMBER),
    mutant(
        "head_from_the_second",
        "the first item is lost",
        "value = one_by_one(op, arrays, value, 0, self.head);",
        "value = one_by_one(op, arrays, value, 1, self.head);",
    )
    .on(TWELVE_BYTES),
    mutant(
        "tiles_in_turn",
        "a warp's tiles lie as far apart as there are warps",
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
        "a warp's other tiles are lost",
        "while tile < end {",
        "if tile < end {",
    )
    .on(NUMBER),
    mutant(
        "lanes_in_turn",
        "a lane's vectors lie a warp apart",
        "let v = (tile * lanes + lane) * K;",
        "let v = tile * lanes * K + lane;",
    )
    .on(NUMBER),
    mutant(
        "lanes_backwards",
        "the last lane has the first items of a tile",
        "let v = (tile * lanes + lane) * K;",
        "let v = (tile * lanes + lanes - 1 - lane) * K;",
    )
    .on(NUMBER),
    mutant(
        "tile_before_what_there_is",
        "a tile is combined as if it stood before those that it follows",
        "value = op.combine(value, of_tile);",
        "value = op.combine(of_tile, value);",
    )
    .on(NUMBER),
    mutant(
        "lanes_values_kept",
        "lanes that do not hold the warp's value give theirs too",
        "if lane == 0 { value } else { op.identity() }",
        "value",
    )
    .on(NUMBER),
    mutant(
        "bound_of_first_load",
        "asks whether the first of a lane's vectors is inside",
        "if v + K <= self.vectors {",
        "if v < self.vectors {",
    )
    .on(NUMBER),
    mutant(
        "tail_lost",
        "the lane behind the last vector brings nothing",
        "} else if v <= self.vectors {",
        "} else if v < self.vectors {",
    )
    .on(NUMBER),
    mutant(
        "step_without_distance",
        "every load of a lane is its first vector",
        "loaded[k] = (self.load)(v + k);",
        "loaded[k] = (self.load)(v);",
    )
    .on(NUMBER),
    mutant(
        "indices_of_first_load",
        "a lane's other vectors have the indices of the first",
        "first[k] = index(v + k) as u64;",
        "first[k] = index(v) as u64;",
    )
    .on(NUMBER),
    mutant(
        "indices_without_head",
        "indices count from the first vector on",
        "let index = |v: usize| self.head + v * N;",
        "let index = |v: usize| v * N;",
    )
    .on(TWELVE_BYTES),
    mutant(
        "tail_without_its_last",
        "the last item is lost",
        "while i < end {",
        "while i + 1 < end {",
    )
    .on(NUMBER),
    mutant(
        "items_before_what_there_is",
        "one item after the other, each before the last",
        "value = op.absorb(value, [[I::get(arrays, i)]], [i as u64]);",
        "value = op.combine(op.lift(I::get(arrays, i), i as u64), value);",
    )
    .on(PAIR),
];
