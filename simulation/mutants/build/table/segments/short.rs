//! Segments that a thread, a team or a warp reduces from shared memory.

use super::{ALL, ARG_MAX, SUM, Source, mutant};

pub const LANES: Source = Source {
    path: "segments/window/lanes.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "second_lane_left_out",
            "a thread combines the first of two lanes",
            "if segment.len > Self::ADJACENT {",
            "if segment.len > 2 * Self::ADJACENT {",
        )
        .on(SUM),
        mutant(
            "first_lane_again",
            "a thread combines the first lane twice",
            "self.lane::<N, K>(segment, 1)",
            "self.lane::<N, K>(segment, 0)",
        )
        .on(SUM),
        mutant(
            "lanes_in_order",
            "a thread combines adjacent lanes instead of halves",
            "true => k % 2 * 2 + k / 2,",
            "true => k,",
        )
        .on(SUM),
        mutant(
            "parts_of_adjacent_lanes",
            "a part has adjacent lanes instead of those of a half",
            "true => (first + part * step, Self::PARTS * step),",
            "true => (first + part * FEW as u32 * step, step),",
        )
        .on(SUM),
        mutant(
            "second_part_left_out",
            "a thread combines one part of its lanes",
            "unrolled!(|part < Self::PARTS| self.part::<N, K>(segment, 0, 1, part, &mut value));",
            "self.part::<N, K>(segment, 0, 1, 0, &mut value);",
        )
        .on(SUM),
        mutant(
            "slots_of_granules",
            "combines the slots of granules as if vectors began with them",
            "unsafe { acc.shift_slots(skew) };",
            "unsafe { acc.shift_slots(0) };",
        )
        .on(SUM),
        mutant(
            "items_before_a_segment",
            "the items before a segment in its first granule belong to it",
            "if start + skew <= item && item < end {",
            "if item < end {",
        )
        .on(SUM),
        mutant(
            "last_granule_left_out",
            "leaves out a granule that the segment's end cuts",
            "        if place < end {
",
            "        if place + 3 < end {
",
        )
        .on(SUM),
    ],
};

pub const SELECT: Source = Source {
    path: "segments/window/select.rs",
    kernels: ARG_MAX,
    mutants: &[
        mutant(
            "empty_is_selected_from",
            "selects an item of an empty segment",
            "if segment.len == 0 {",
            "if false {",
        ),
        mutant(
            "last_of_a_short_segment",
            "of equal items of a short segment, selects the last",
            "if self.op.precedes(items[e], item) {",
            "if !self.op.precedes(item, items[e]) {",
        ),
        mutant(
            "part_of_a_row_left_out",
            "leaves out the last row of a segment if it is not whole",
            "(self.skew::<N>() + self.len).div_ceil(N as u32)",
            "(self.skew::<N>() + self.len) / N as u32",
        ),
        mutant(
            "rows_for_fewer_lanes",
            "leaves out rows that do not go round",
            "let rows = all.div_ceil(Self::TEAM);",
            "let rows = all / Self::TEAM;",
        ),
        mutant(
            "first_lane_of_all",
            "the first lane's item is the result",
            "let equals = !self.op.precedes(item, best.item);",
            "let equals = true;",
        ),
        mutant(
            "bits_of_another_team",
            "a team sees the votes of the first one",
            " >> (lane - own)",
            "",
        ),
        mutant(
            "items_behind_a_segment",
            "the items behind a segment's end belong to it",
            "I::staged(own, (first + e as u32).min(self.len - 1))",
            "I::staged(own, first + e as u32)",
        ),
        mutant(
            "later_row_of_equal_items",
            "of rows with equal items, takes the last",
            "if self.op.precedes(item, best.item) {
                best = Best",
            "if !self.op.precedes(best.item, item) {
                best = Best",
        ),
        mutant(
            "last_of_a_row",
            "of equal items of a row, takes the last",
            "            let e = N - 1 - e;
            let own",
            "            let own",
        ),
        mutant(
            "every_second_row_of_a_lane",
            "a lane of a warp leaves out every second one of its rows",
            "best_of_rows::<N>(segment, lane, WARP_SIZE,",
            "best_of_rows::<N>(segment, lane, 2 * WARP_SIZE,",
        ),
    ],
};
