//! Tiles.

mod items;

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = source(VECTORS);

/// Those of shifted vectors, single items and accumulators.
pub const MORE: Source = source(items::MUTANTS);

const fn source(mutants: &'static [Mutant]) -> Source {
    Source {
        path: "tile.rs",
        kernels: &["single_pass_sum_i32"],
        mutants,
    }
}

/// Not commutative: lanes have adjacent items. Uses the index.
const HORNER: &[&str] = &["single_pass_horner_u32"];

/// The same with two groups of two rows each, instead of one group of four.
const TWELVE_BYTES: &[&str] = &["single_pass_horner_u32_3"];

/// Arrays with different alignment.
const PAIR: &[&str] = &["single_pass_horner_u32_u8"];

/// An accumulator for each of two slots; the start may have any alignment.
const SLOTS: &[&str] = &["single_pass_parity_u16_4"];

/// One accumulator for the items of all slots, and groups of four rows.
const ONE_SLOT: &[&str] = &["single_pass_mean_variance_i8"];

/// Uses the index, in any order.
const ARG_MIN: &[&str] = &["single_pass_arg_min_i32"];

/// Counts every item, in any order.
const COUNT: &[&str] = &["single_pass_count_less_i32_i32"];

/// Vectors of one item.
const SINGLE: &[&str] = &["single_pass_arg_min_indexed_i64"];

const VECTORS: &[Mutant] = &[
    // The tile.
    mutant(
        "half_a_tile",
        "reduces four rows of a tile",
        "pub const ROWS: usize = 8;",
        "pub const ROWS: usize = 4;",
    ),
    mutant(
        "slots_not_in_order",
        "a non-commutative operator has an accumulator for each slot",
        "O::COMMUTATIVE && !O::ABSORBS && !O::ANY_ORDER && few",
        "!O::ABSORBS && !O::ANY_ORDER && few",
    )
    .on(HORNER),
    mutant(
        "tiles_overlap",
        "tiles start as many vectors apart as they should start items apart",
        "let start = tile * ROWS * LANES * N;",
        "let start = tile * ROWS * LANES;",
    )
    .on(ONE_SLOT),
    mutant(
        "lane_of_block",
        "uses the thread's index in its block instead of the warp",
        "let lane = thread_idx_x() as usize % LANES;",
        "let lane = thread_idx_x() as usize;",
    ),
    mutant(
        "columns_in_order",
        "lanes of a non-commutative operator have columns",
        "false => (lane * ROWS * N, N),",
        "false => (lane * N, LANES * N),",
    )
    .on(HORNER),
    mutant(
        "lanes_overlap",
        "the runs of adjacent lanes overlap",
        "false => (lane * ROWS * N, N),",
        "false => (lane * N, N),",
    )
    .on(HORNER),
    mutant(
        "rows_overlap",
        "a row starts one vector behind the one before",
        "true => (lane * N, LANES * N),",
        "true => (lane * N, N),",
    ),
    mutant(
        "tile_without_its_last_row",
        "does not check whether the last row is in the array",
        "let end = start + ROWS * LANES * N;",
        "let end = start + (ROWS - 1) * LANES * N;",
    ),
    mutant(
        "tile_without_its_last_vector",
        "does not check whether the last vector is in the array",
        "let end = start + ROWS * LANES * N;",
        "let end = start + ROWS * LANES * N - N;",
    ),
    mutant(
        "end_as_if_two_skews",
        "adds the items before the array to its end",
        "share.combine_adjacent(acc, end - skew);",
        "share.combine_adjacent(acc, end - 2 * skew);",
    ),
    mutant(
        "begun_from_before_the_array",
        "loads vectors before an array that ends in its first tile",
        "if !is_shifted && start >= skew {",
        "if !is_shifted {",
    ),
    mutant(
        "shifted_past_the_array",
        "loads granules outside the array",
        "} else if is_shifted && share.is_whole(start) {",
        "} else if is_shifted {",
    )
    .on(HORNER),
    mutant(
        "first_granule_not_checked",
        "loads a granule before the array",
        "I::have_granules::<N>(self.source.0, start) && ",
        "",
    )
    .on(HORNER),
    mutant(
        "last_granule_not_checked",
        "loads a granule past the end of the array",
        " && I::have_granules::<N>(self.source.0, last)",
        "",
    )
    .on(SLOTS),
    mutant(
        "granules_of_the_last_but_one",
        "checks the granules of the last vector but one",
        "let last = start + (ROWS * LANES - 1) * N;",
        "let last = start + (ROWS * LANES - 2) * N;",
    )
    .on(HORNER),
    mutant(
        "every_second_of_several",
        "a warp that takes several tiles leaves out every second one",
        "tile += grid_dim_x() * (block_dim_x() / WARP_SIZE);",
        "tile += 2 * grid_dim_x() * (block_dim_x() / WARP_SIZE);",
    )
    .on(ARG_MIN),
    mutant(
        "several_without_the_skew",
        "leaves out the last tile if the first one begins before the array",
        ">= I::len(arrays) + skew {",
        ">= I::len(arrays) {",
    )
    .on(COUNT),
    mutant(
        "halves_of_lanes",
        "a non-commutative operator combines lanes that are not adjacent",
        "they leave the loop together.
    unsafe { reduce_to_first::<I, O>(op, value) }",
        "they leave the loop together.
    unsafe { crate::warp::reduce_down::<I, O>(op, value) }",
    )
    .on(HORNER),
    mutant(
        "lane_0_alone",
        "does not combine the lanes",
        "they leave the loop together.
    unsafe { reduce_to_first::<I, O>(op, value) }",
        "nothing.
    value",
    ),
    // Indices.
    mutant(
        "step_of_columns",
        "rows of adjacent items are a warp's vectors apart",
        "self.first.wrapping_add(row * self.step)",
        "self.first.wrapping_add(row * LANES * N)",
    )
    .on(HORNER),
    mutant(
        "indices_of_the_first_row",
        "all rows have the indices of the first",
        "indices[k] = self.first_of(row + k) as u64",
        "indices[k] = self.first_of(row) as u64",
    )
    .on(ARG_MIN),
    mutant(
        "one_item_too_many",
        "`<=` for `<`: an item behind the array",
        "i < self.source.len()",
        "i <= self.source.len()",
    ),
    // Whole tiles.
    mutant(
        "half_of_the_pairs",
        "skips half of the groups of rows",
        "const PAIRS: usize = ROWS / K / 2;",
        "const PAIRS: usize = ROWS / K / 4;",
    )
    .on(PAIR),
    mutant(
        "pairs_overlap",
        "advances by one group of rows instead of two",
        "let row = 2 * K * pair;",
        "let row = K * pair;",
    )
    .on(PAIR),
    mutant(
        "low_for_high",
        "loads the lower rows of a pair twice",
        "let (low, high) = (self.load(row, ROWS), self.load(row + K, ROWS));",
        "let (low, high) = (self.load(row, ROWS), self.load(row, ROWS));",
    ),
    mutant(
        "high_before_low",
        "combines the upper rows of a pair before the lower ones",
        "            lane.absorb(low, self.indices(row));
            lane.absorb(high, self.indices(row + K));
",
        "            lane.absorb(high, self.indices(row + K));
            lane.absorb(low, self.indices(row));
",
    )
    .on(HORNER),
    mutant(
        "indices_of_low",
        "the upper rows of a pair have the indices of the lower ones",
        "lane.absorb(high, self.indices(row + K));",
        "lane.absorb(high, self.indices(row));",
    )
    .on(HORNER),
    mutant(
        "high_left_out",
        "skips the upper rows of a pair",
        "            lane.absorb(high, self.indices(row + K));
",
        "",
    )
    .on(SLOTS),
    // Begun tiles.
    mutant(
        "begun_one_vector_short",
        "does not count a last vector that ends with the array",
        "(len + 1).checked_sub(self.first + N)",
        "len.checked_sub(self.first + N)",
    )
    .on(SINGLE),
    mutant(
        "begun_one_item_too_many",
        "counts a vector of which the last item is missing as whole",
        "(len + 1).checked_sub(self.first + N)",
        "(len + 2).checked_sub(self.first + N)",
    ),
    mutant(
        "cut_vector_counted",
        "counts the vector that the end of the array cuts as whole",
        "(len + 1).checked_sub(self.first + N)",
        "len.checked_sub(self.first)",
    )
    .on(HORNER),
    mutant(
        "begun_rows_rounded_down",
        "does not count the last row if another one would not be whole",
        "Some(more) => more.div_ceil(self.step).min(ROWS),",
        "Some(more) => (more / self.step).min(ROWS),",
    ),
    mutant(
        "begun_rows_of_other_lanes",
        "a lane's run does not end after 8 rows",
        "Some(more) => more.div_ceil(self.step).min(ROWS),",
        "Some(more) => more.div_ceil(self.step),",
    )
    .on(HORNER),
    mutant(
        "begun_row_of_none",
        "a lane without a whole vector loads one",
        "None => 0,",
        "None => 1,",
    ),
    mutant(
        "first_pair_alone",
        "skips all rows after the first pair of groups",
        "while row < whole {",
        "if row < whole {",
    )
    .on(TWELVE_BYTES),
    mutant(
        "begun_pairs_overlap",
        "advances by one group of rows instead of two",
        "if Self::BY_GROUP { K } else { 2 * K }",
        "K",
    )
    .on(HORNER),
    mutant(
        "begun_bound_of_the_tile",
        "loads rows that the array does not have",
        "let high = self.load(row + K, whole);",
        "let high = self.load(row + K, ROWS);",
    ),
    mutant(
        "begun_low_for_high",
        "the upper rows of a pair are those of the lower ones",
        "self.absorb(lane, high, row + K, whole);",
        "self.absorb(lane, low, row + K, whole);",
    ),
    mutant(
        "begun_high_left_out",
        "skips the upper rows of a pair",
        "                self.absorb(lane, high, row + K, whole);
",
        "",
    )
    .on(SLOTS),
    mutant(
        "cut_vector_of_the_first_row",
        "loads the first row again instead of the vector that the end of the array cuts",
        "let next = self.first_of(whole);",
        "let next = self.first_of(0);",
    ),
    mutant(
        "cut_vector_of_the_next_lane",
        "a lane with 8 rows combines the first row of the next lane",
        "if N > 1 && whole < ROWS && next < len {",
        "if N > 1 && next < len {",
    )
    .on(HORNER),
    mutant(
        "cut_vector_of_one_item",
        "skips the vector that the end of the array cuts after its first item",
        "if N > 1 && whole < ROWS && next < len {",
        "if N > 1 && whole < ROWS && next + 1 < len {",
    ),
    mutant(
        "cut_vector_twice",
        "combines a group of rows that is not whole twice",
        "} else if whole % K == 0 {",
        "} else if whole % K > 0 {",
    )
    .on(HORNER),
    mutant(
        "cut_group_left_out",
        "skips the items of a group of rows of which the first is not whole",
        "} else if whole % K == 0 {",
        "} else if false {",
    )
    .on(ONE_SLOT),
    mutant(
        "row_behind_the_last",
        "loads the row behind the last whole one",
        "let row = if row < rows { row } else { rows - 1 };",
        "let row = if row <= rows { row } else { rows - 1 };",
    ),
    mutant(
        "rows_of_the_first",
        "loads the first row of a group for all its rows",
        "loaded[k] = vector(row + k);",
        "loaded[k] = vector(row);",
    ),
    mutant(
        "clamped_row_combined",
        "combines the last row again in place of the one behind it",
        "unrolled!(|k < K| if row + k < whole {",
        "unrolled!(|k < K| if row + k <= whole {",
    ),
    mutant(
        "last_whole_row_left_out",
        "skips the last whole row",
        "unrolled!(|k < K| if row + k < whole {",
        "unrolled!(|k < K| if row + k + 1 < whole {",
    )
    .on(SLOTS),
    mutant(
        "begun_indices_of_the_first_row",
        "the rows of a group have the index of its first",
        "lane.absorb([rows[k]], [self.first_of(row + k) as u64]);",
        "lane.absorb([rows[k]], [self.first_of(row) as u64]);",
    )
    .on(ARG_MIN),
    mutant(
        "group_of_some_rows",
        "combines a group of rows of which some are not whole",
        "} else if row + K <= whole {",
        "} else if row < whole {",
    )
    .on(HORNER),
    mutant(
        "some_rows_left_out",
        "skips a group of rows of which some are not whole",
        "} else if row < whole {
            self.absorb_one_by_one(lane, row);
",
        "} else if row < whole {
",
    )
    .on(HORNER),
];
