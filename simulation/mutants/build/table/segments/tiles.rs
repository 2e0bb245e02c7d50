//! The tiles of a segment: items, partials, and a warp for each part.

use super::{ALL, ALL_AND_ARG_MAX, ARG_MAX, Source, mutant};

pub const SELECT_TILE: Source = Source {
    path: "segments/select.rs",
    kernels: ARG_MAX,
    mutants: &[
        mutant(
            "half_of_the_lanes",
            "half of the lanes do not exchange their items",
            "let mut mask = lanes / 2;",
            "let mut mask = lanes / 4;",
        ),
        mutant(
            "later_row_of_a_tile",
            "of rows of a tile with equal items, takes the last",
            "match op.precedes(item, best.item) {
        true => Best",
            "match !op.precedes(best.item, item) {
        true => Best",
        ),
        mutant(
            "row_behind_the_last",
            "loads rows behind the last whole one",
            "(row + k as u32 * step).min(rows - 1);",
            "row + k as u32 * step;",
        ),
        mutant(
            "cut_row_left_out",
            "leaves out the row that the end cuts",
            "while (row as usize) * N < part.len {",
            "while (row as usize) * N + N <= part.len {",
        ),
        mutant(
            "last_row_of_a_tile",
            "the last lane with an item that equals the best one gives its row",
            "WarpReductionOp::Min",
            "WarpReductionOp::Max",
        ),
        mutant(
            "index_in_the_tile",
            "counts the index from the start of the part",
            "op.lift(item, (before + row as usize * N + at) as u64)",
            "op.lift(item, (row as usize * N + at) as u64)",
        ),
        mutant(
            "first_granule_not_asked",
            "loads a granule before the arrays",
            "if !has_granules(0) {",
            "if false {",
        ),
        mutant(
            "last_granule_not_asked",
            "loads a granule behind the arrays",
            "if !has_granules(rows - 1) {",
            "if false {",
        ),
        mutant(
            "first_row_left_out",
            "leaves out the first row if the arrays do not have its granule",
            "best = better::<I, O, N>(op, best, items_of_row(part, 0), 0);",
            "",
        ),
    ],
};

pub const TILE_OF_A_PART: Source = Source {
    path: "tile.rs",
    kernels: ALL,
    mutants: &[mutant(
        "cut_tile_as_a_whole",
        "takes a tile that the end of the part cuts for a whole one",
        "start + items_of_tile::<I>() <= part.len && part.tile",
        "part.tile",
    )],
};

pub const PARTS_OF_ARRAYS: Source = Source {
    path: "tile/source.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "granules_before_the_arrays",
            "loads granules before the arrays",
            "            && I::have_granules::<N>(self.arrays, self.start)
",
            "",
        ),
        mutant(
            "granules_behind_the_arrays",
            "loads granules behind the arrays",
            "            && I::have_granules::<N>(self.arrays, self.start + self.len - N)
",
            "",
        ),
        mutant(
            "vectors_of_the_arrays",
            "loads vectors from the start of the arrays",
            "I::vector(self.arrays, self.start + first)",
            "I::vector(self.arrays, first)",
        ),
    ],
};

pub const PARTIALS: Source = Source {
    path: "segments/partials.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "few_in_a_row",
            "combines four partials from left to right",
            "combine(combine(a, b), combine(c, d))",
            "combine(combine(combine(a, b), c), d)",
        ),
        mutant(
            "number_of_the_group",
            "every lane loads the first lane's partials",
            "let own = group * GROUP + lane as usize * OF_LANE;",
            "let own = group * GROUP;",
        ),
    ],
};

pub const BY_PART: Source = Source {
    path: "segments/by_part.rs",
    kernels: ALL_AND_ARG_MAX,
    mutants: &[
        mutant(
            "first_parts_alone",
            "no team takes the parts of chunks",
            "(number * items_of_part::<I>(W) < len).then_some(part)",
            "(number * items_of_part::<I>(W) < 0).then_some(part)",
        ),
        mutant(
            "part_of_the_chunk_before",
            "takes the part that starts before the chunk",
            "(begin - start).div_ceil(items_of_part::<I>(W))",
            "(begin - start) / items_of_part::<I>(W)",
        ),
        mutant(
            "part_behind_the_end",
            "takes a part behind the segment's end",
            "(number * items_of_part::<I>(W) < len).then_some(part)",
            "(number * items_of_part::<I>(W) <= len).then_some(part)",
        ),
        mutant(
            "teams_of_chunks",
            "the team of a chunk takes the chunk before",
            "part_of_chunk::<I, W>(offsets, chunk + 1)",
            "part_of_chunk::<I, W>(offsets, chunk)",
        ),
        mutant(
            "guess_is_the_answer",
            "goes on behind the last segment that was tried before the chunk",
            "        if count < WARP_SIZE {
            high = next;
        }
",
            "        high = low.max(next.min(low));
",
        ),
        mutant(
            "order_unchecked",
            "does not check that a segment ends behind its start",
            "if !(start <= end && end <= n) {",
            "if !(end <= n) {",
        ),
        mutant(
            "chunk_unchecked",
            "does not check that the segment of a chunk ends in the items",
            "if !(start < begin && begin < end && end <= offsets.shape.items as usize) {",
            "if !(start < begin && begin < end) {",
        ),
        mutant(
            "ends_unchecked",
            "does not check that a segment ends in the items",
            "if !(start <= end && end <= n) {",
            "if !(start <= end) {",
        ),
        mutant(
            "first_offset_reported_as_second",
            "reports the first offset as the second one",
            "if first { 0 } else { segment + 1 }",
            "segment + 1",
        ),
        mutant(
            "one_tile_for_all",
            "reduces the first tile of a part again and again",
            "reduce_tile_of_part::<I, O, N, K>(self.op, items, first + tile)",
            "reduce_tile_of_part::<I, O, N, K>(self.op, items, first)",
        ),
        mutant(
            "tiles_of_the_first_part",
            "every part has the tiles of the first one",
            "let first = self.part.number * Self::TILES;",
            "let first = 0;",
        ),
        mutant(
            "tiles_of_the_first_warp",
            "all warps of a block take the same tiles",
            "let (mut tile, mut number) = (self.own as usize, 0);",
            "let (mut tile, mut number) = (0, 0);",
        ),
        mutant(
            "places_of_warps",
            "the results of a warp's tiles are beside each other",
            "shared.set(W as u32 * lane + self.own, value);",
            "shared.set(WARP_TILES as u32 * self.own + lane, value);",
        ),
        mutant(
            "no_barrier_of_a_team",
            "the first warp does not wait for the others",
            "            // The first warp reads what all of them wrote.
            sync_threads();
",
            "",
        ),
        mutant(
            "rows_of_the_first_warp",
            "all warps of a block select from the same rows",
            "let lane = self.own * WARP_SIZE + thread_idx_x() % WARP_SIZE;",
            "let lane = thread_idx_x() % WARP_SIZE;",
        ),
        mutant(
            "warps_select_alone",
            "the first warp stores its own item",
            "            1 => value,",
            "            _ if true => value,",
        ),
        mutant(
            "left_by_the_last_lane",
            "another lane than the first leaves the partial",
            "        if lane == 0 {
            partials.set(part.number, value);",
            "        if lane == 1 {
            partials.set(part.number, value);",
        ),
        mutant(
            "no_fence_before_the_count",
            "counts partials that may not be visible",
            "            // What was stored is visible before it is counted.
            device_fence();
",
            "",
        ),
        mutant(
            "no_fence_behind_the_count",
            "combines partials that may not be visible",
            "            if is_last > 0 {
                // What others have stored is visible behind this fence; for the other lanes, behind the barrier.
                device_fence();
            }
",
            "",
        ),
        mutant(
            "runs_not_combined",
            "the last warp of the first run stores its result as the segment's",
            "if runs > 1 {",
            "if false {",
        ),
        mutant(
            "one_counter_for_all_runs",
            "all runs of a segment have the counter of the first one",
            "let counter = if begin == 0 { own } else { others + begin };",
            "let counter = own;",
        ),
        mutant(
            "old_counts",
            "adds to the count of an earlier launch",
            "        self.words.combine_atomic::<u64, Max>(Max, word, none);
",
            "",
        ),
    ],
};
