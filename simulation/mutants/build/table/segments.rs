//! Segmented reductions.

mod short;
mod tiles;

use super::{Source, mutant};

pub use short::{LANES, SELECT};
pub use tiles::{BY_PART, PARTIALS, PARTS_OF_ARRAYS, SELECT_TILE, TILE_OF_A_PART};

/// A float sum, whose bits depend on its order, and an operator that is not commutative.
const ALL: &[&str] = &["segments_sum_f32", "segments_horner_u32"];

const SUM: &[&str] = &["segments_sum_f32"];

const HORNER: &[&str] = &["segments_horner_u32"];

const ARG_MAX: &[&str] = &["segments_arg_max_f32"];

const ALL_AND_ARG_MAX: &[&str] = &[
    "segments_sum_f32",
    "segments_horner_u32",
    "segments_arg_max_f32",
];

pub const SOURCE: Source = Source {
    path: "segments.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "signed_as_unsigned",
            "a negative offset of 32 bits loses its sign",
            "true => offset as i32 as usize",
            "true => (offset as i32).unsigned_abs() as usize",
        ),
        mutant(
            "bad_for_ever",
            "combines nothing after a launch with a bad offset",
            "self.words.set(Self::BAD, Self::NONE);",
            "",
        ),
        mutant(
            "last_bad_reported",
            "reports any of the bad offsets",
            ".combine_atomic::<u64, Min>(Min, Self::FIRST, told)",
            ".set(Self::FIRST, told)",
        ),
        mutant(
            "partials_of_first_tiles_overwritten",
            "first tiles and others share the places of their partials",
            "others: self.partials.len() / 2 + cell,",
            "others: cell,",
        ),
        mutant(
            "cells_overlap_plans",
            "the cells do not follow the plans",
            "        Self::PLANS + Plan::WORDS * self.layout.windows
    }",
            "        Self::PLANS + Plan::WORDS * (self.layout.windows - 1)
    }",
        ),
        mutant(
            "edge_before_is_its_own",
            "the segment before a window starts where the window's first one does",
            "_ => offsets.get(first - 1)",
            "_ => offsets.get(first)",
        ),
    ],
};

pub const PARTITION: Source = Source {
    path: "segments/partition.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "start_without_number",
            "counts only the items before a start, not the segments",
            "offsets.get(middle).wrapping_add(middle);",
            "offsets.get(middle);",
        ),
        mutant(
            "edge_belongs_to_both",
            "a segment that starts at an edge belongs to the window before",
            "match diagonal < begin {",
            "match diagonal <= begin {",
        ),
        mutant(
            "guess_is_the_answer",
            "the search ends with its first guess",
            "            guesses -= 1;
",
            "            (low, high) = (middle, middle);
",
        ),
        mutant(
            "guess_not_clamped",
            "a guess may be outside of the part where the segment is",
            "guess.clamp(low, high - 1)",
            "guess",
        ),
        mutant(
            "last_lane_plans",
            "the lane that finds where the next window begins makes a plan too",
            "if lane < OF_WARP && window < windows {",
            "if window < windows {",
        ),
        mutant(
            "counts_kept",
            "huge segments are added to those of an earlier launch",
            "        work.counts.set(Work::HUGE, 0);
",
            "",
        ),
        mutant(
            "cells_kept",
            "the segments of an earlier launch stay in their cells",
            "        work.set_no_long(cell);
",
            "",
        ),
        mutant(
            "cells_of_one_grid",
            "empties as many cells as the launch has threads",
            "        cell += grid_dim_x() as usize * block_dim_x() as usize;
",
            "        break;
",
        ),
        mutant(
            "last_edge_searched",
            "empty segments behind the last window's begin belong to no window",
            "    if window == offsets.shape.windows as usize {
        low = high;
    }
",
            "    if window == offsets.shape.windows as usize {
        high = offsets.segments() - 1;
    }
",
        ),
    ],
};

pub const WINDOW: Source = Source {
    path: "segments/window.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "no_barrier_after_list",
            "a warp reads the list before all threads have added to it",
            "        if unsafe { any(is_bad) } {
            return false;
        }
",
            "        if is_bad {
            return false;
        }
",
        ),
        mutant(
            "bad_offsets_ignored",
            "reduces the segments although an offset is bad",
            "        if unsafe { any(is_bad) } {
            return false;
        }
        let warp",
            "        unsafe { any(is_bad) };
        let warp",
        ),
        mutant(
            "decreasing_offsets_ignored",
            "does not check that a segment ends behind its start",
            "                    && (segment.len <= items - segment.start || i + 1 == self.count);",
            "                    && segment.start < u32::MAX;",
        ),
        mutant(
            "late_starts_ignored",
            "does not check that a segment starts before the last one does",
            "segment.start <= last
                    && (segment.len <= items - segment.start",
            "segment.start < u32::MAX
                    && (segment.len <= items.wrapping_sub(segment.start)",
        ),
        mutant(
            "first_offset_not_checked",
            "does not check that the first segment starts in the array",
            "if segment == 0 && start > n {",
            "if segment == 0 && start > n + 2000 {",
        ),
        mutant(
            "far_wraps",
            "a start beyond the window is cut to 32 bits",
            "let distance = distance.min(u32::MAX.into()) as u32;",
            "let distance = distance as u32 & 0xff;",
        ),
        mutant(
            "no_end_of_last",
            "the last segment of a window has the length that shared memory happens to hold",
            "            self.starts.set(self.count, self.plan.end);
",
            "",
        ),
        mutant(
            "thread_takes_a_lane_more",
            "a thread reduces segments with an item more than its lanes have",
            "if segment.len <= Self::OF_THREAD * Self::ADJACENT {",
            "if segment.len <= Self::OF_THREAD * Self::ADJACENT + 1 {",
        ),
        mutant(
            "team_takes_two_rows",
            "a team leaves out the second row of a segment",
            "} else if segment.len <= Self::OF_TEAM * Self::ADJACENT {",
            "} else if segment.len <= 2 * Self::OF_TEAM * Self::ADJACENT {",
        )
        .on(SUM),
        mutant(
            "list_of_warps_one_off",
            "a warp reduces the segment before its own in the list",
            "let i = self.listed.get(most_listed::<I>() as u32 - 1 - number);",
            "let i = self.listed.get(most_listed::<I>() as u32 - for_warps + number.min(for_warps - 2));",
        ),
        mutant(
            "list_without_end",
            "lists more segments than there is room for",
            "if teams + warps >= most {",
            "if false {",
        )
        .on(SUM),
        mutant(
            "every_lane_stores",
            "all lanes of a warp store the segment's result",
            "        if thread_idx_x().is_multiple_of(WARP_SIZE) {
            self.set_result(i, value);
        }
",
            "        self.set_result(i, value);
",
        ),
        mutant(
            "team_of_nobody_stores",
            "a team without a segment stores an identity",
            "if exists && own == 0 {",
            "if own == 0 {",
        ),
        mutant(
            "team_in_pairs",
            "a team combines the adjacent lanes of a commutative operator",
            "true => Self::TEAM / 2 / step,",
            "true => step,",
        )
        .on(SUM),
        mutant(
            "team_by_halves",
            "a team combines the halves of an operator that is not commutative",
            "false => step,
            };
            // A thread",
            "false => Self::TEAM / 2 / step,
            };
            // A thread",
        )
        .on(HORNER),
        mutant(
            "row_and_segment_behind",
            "a window of rows begins with the row before",
            "Edge::of(offsets, begin.div_ceil(diagonals).min(offsets.segments()))",
            "Edge::of(offsets, (begin / diagonals).min(offsets.segments()))",
        ),
    ],
};

pub const PLAN: Source = Source {
    path: "segments/plan.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "items_of_all_offsets",
            "does not check that the items are in the array",
            "            && behind <= n
",
            "",
        ),
        mutant(
            "two_tiles_are_short",
            "leaves out the other tiles of a segment of two tiles that starts in the window before",
            "is_begun: at.wrapping_sub(before) > staged,",
            "is_begun: at.wrapping_sub(before) > 2 * staged,",
        ),
    ],
};

/// What lanes exchange is an accumulator, or the best item and its vector.
const ROWS_OF: &[&str] = &["segments_sum_f32", "segments_arg_max_f32"];

pub const ROWS: Source = Source {
    path: "segments/window/rows.rs",
    kernels: ROWS_OF,
    mutants: &[
        mutant(
            "rows_behind_the_last_vector",
            "leaves out the rows behind the last whole vector",
            "while row * R < I::len(arrays) {",
            "while false {",
        ),
        mutant(
            "first_row_again",
            "all rows of a vector are its first one",
            "items[m * R + e]",
            "items[e]",
        ),
        mutant(
            "vectors_of_the_first_loads",
            "each thread takes as many vectors as it loads at once",
            "first += warps * (IN_FLIGHT * LANES);",
            "break;",
        ),
        mutant(
            "vectors_behind_the_last_loaded",
            "loads vectors behind the last row",
            "let first = begin.min(n - items_of_tile::<I>());",
            "let first = begin;",
        ),
        mutant(
            "fewer_rows_than_a_tile",
            "loads a tile of rows that have fewer items",
            "        && n >= items_of_tile::<I>()
",
            "",
        ),
        mutant(
            "rows_go_on",
            "a row of several vectors of a lane goes on with the next row",
            "V::take(op, &mut own, of_row == 0,",
            "V::take(op, &mut own, k == 0,",
        ),
        mutant(
            "index_in_the_tile",
            "the index counts from the tile's start",
            "(vector & ((1 << log_vectors) - 1)) as u64",
            "vector as u64",
        ),
        mutant(
            "upper_half_of_the_lower",
            "the upper half of the lanes has the results of the lower half",
            "number += if is_upper { left } else { 0 };",
            "number += 0;",
        ),
        mutant(
            "part_of_a_row_stored",
            "stores what a lane has before a row's last vector",
            "let is_whole = vector & (each - 1) == each - 1;",
            "let is_whole = true;",
        ),
        mutant(
            "rows_stored_twice",
            "the last tile stores rows of the tile before again",
            "if is_whole && place >= begin {",
            "if is_whole {",
        ),
    ],
};

pub const VALUE: Source = Source {
    path: "segments/window/value.rs",
    kernels: ARG_MAX,
    mutants: &[
        mutant(
            "later_of_equal_vectors",
            "of equal items, takes the one of the other lane",
            "is_better | (is_equal & (other.vector < own.vector))",
            "is_better | is_equal",
        ),
        mutant(
            "last_of_equal_vectors",
            "of equal items, a lane takes that of its last vector",
            "if is_first | op.precedes(item, own.item) {",
            "if is_first | !op.precedes(own.item, item) {",
        ),
        mutant(
            "vectors_of_all_lanes_alike",
            "all lanes number their vectors alike",
            "vector: own.vector * WARP_SIZE + lane,",
            "vector: own.vector * WARP_SIZE,",
        ),
    ],
};

pub const TILES: Source = Source {
    path: "segments/window/tiles.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "tiles_rounded_down",
            "leaves out the tile that starts in a cell behind the segment's start",
            "(from - (start + segment)).div_ceil(tile_items)",
            "(from - (start + segment)) / tile_items",
        ),
        mutant(
            "cell_entered_twice",
            "enters a segment into a cell that has one",
            "self.cells.fetch_add(self.cell_of(diagonal), i + 1) == NONE",
            "{ self.cells.set(self.cell_of(diagonal), i); true }",
        )
        .on(SUM),
        mutant(
            "first_tile_left_out",
            "the first tile of a long segment has no partial",
            "Some((start, end - start, 0, own_cell))",
            "None",
        ),
        mutant(
            "one_cell_of_each_warp",
            "a warp takes one tile only",
            "            job += Self::WARPS;
",
            "            break;
",
        ),
        mutant(
            "segment_of_the_cell_itself",
            "takes the tiles of the segment that starts in the cell, not of the one before",
            "begun & ((2 << cell) - 1)",
            "begun & ((4 << cell) - 1)",
        ),
        mutant(
            "not_begun_not_asked",
            "skips the tiles of the segment before if none starts here",
            "if begun == 0 {",
            "if entered == 0 {",
        ),
        mutant(
            "every_lane_stores_its_value",
            "lanes without the tile's result store too",
            "if thread_idx_x().is_multiple_of(WARP_SIZE) {",
            "if true {",
        ),
        mutant(
            "tiles_rounded_down_in_list",
            "the last tile is not in the list's number of tiles",
            "tiles: (end - start).div_ceil(items_of_tile::<I>()) as u32,",
            "tiles: ((end - start) / items_of_tile::<I>()) as u32,",
        ),
        mutant(
            "last_end_at_the_next_start",
            "takes the end of the last segment from behind the window's starts",
            "true => (self.start(i), self.behind()),",
            "true => (self.start(i), self.at + self.plan.last as usize),",
        ),
    ],
};

pub const COMBINE: Source = Source {
    path: "segments/combine.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "bad_offsets_combined",
            "combines partials although an offset is bad",
            "if !offsets.are_rows() && storage.work.reports().is_bad() {",
            "if false {",
        ),
        mutant(
            "every_lane_stores_the_result",
            "lanes without the result store too",
            "                if lane == 0 {
                    self.storage.output",
            "                if lane < 2 {
                    self.storage.output",
        ),
        mutant(
            "nobody_for_small",
            "the result of a segment of a few tiles is not stored",
            "if 0 < tiles && tiles <= OF_LANE {",
            "if 2 < tiles && tiles <= OF_LANE {",
        ),
        mutant(
            "adjacent_rows",
            "a warp takes adjacent rows, of which other warps take some again",
            "true => (self.offsets.segments(), self.warp, self.warps),",
            "true => (self.offsets.segments(), self.warp, 1),",
        ),
        mutant(
            "runs_of_every_warp",
            "each warp combines every run",
            "                run += warps;
            }
            first += WARP_SIZE",
            "                run += 1;
            }
            first += WARP_SIZE",
        ),
        mutant(
            "run_of_the_next_segment",
            "the first run of a segment is taken from the segment before",
            "through <= run)",
            "through < run)",
        ),
        mutant(
            "runs_behind_all",
            "counts a run from the first one of 32 segments, not of its own",
            "cell, tiles, run - of_earlier)",
            "cell, tiles, run)",
        ),
    ],
};

pub const STAGED: Source = Source {
    path: "mem/staged.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "permuted_by_one_line_less",
            "reads granules from other places than they were stored to",
            "byte ^ ((byte / LINE) & ((LINE - 1) * GRANULE as u32))",
            "byte ^ ((byte / LINE) & ((LINE / 2 - 1) * GRANULE as u32))",
        ),
        mutant(
            "rest_left_out",
            "copies only the granules of the first loads",
            "        while own + k * THREADS < whole {
",
            "        while false {
",
        ),
        mutant(
            "last_granule_whole",
            "loads the last granule although the array does not have all of it",
            "granules - u32::from(granules > 0 && base + granules as usize * GRANULE > self.end());",
            "granules;",
        ),
        mutant(
            "first_granule_whole",
            "loads the first granule although the array begins in it",
            "let skipped = u32::from(base < self.start.addr());",
            "let skipped = 0u32;",
        ),
    ],
};
