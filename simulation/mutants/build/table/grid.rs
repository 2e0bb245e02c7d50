//! The single pass: where the blocks of a grid meet.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "grid.rs",
    kernels: &[
        "single_pass_sum_i32",
        "single_pass_sum_wide_i32",
        "single_pass_horner_u32",
    ],
    mutants: MUTANTS,
};

/// Not commutative.
const HORNER: &[&str] = &["single_pass_horner_u32"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "every_thread_draws",
        "a number for every thread, not for every block",
        "if thread_idx_x() == 0 && blocks > 1 {",
        "if blocks > 1 {",
    ),
    mutant(
        "index_for_arrival",
        "the block with the last index need not be the last to begin",
        "self.arrivals.fetch_increment(0, blocks)",
        "block_idx_x()",
    ),
    mutant(
        "one_arrival_too_many",
        "after the last number the next is not 0 again",
        "self.arrivals.fetch_increment(0, blocks)",
        "self.arrivals.fetch_increment(0, blocks + 1)",
    ),
    mutant(
        "no_such_arrival",
        "blocks are numbered from 0: none has this number",
        "if arrival != blocks - 1 {",
        "if arrival != blocks {",
    ),
    mutant(
        "first_arrival_combines",
        "the first block waits for some that may never begin",
        "if arrival != blocks - 1 {",
        "if arrival != 0 {",
    ),
    mutant(
        "arrival_of_lane_0",
        "the other lanes have not drawn, and leave",
        "let arrival = unsafe { arrival.shuffle(FULL_MASK, Shuffle::Idx(0)) };",
        "",
    ),
    mutant(
        "left_by_arrival",
        "partials are combined in the order in which their blocks have begun",
        "partials.store(own as usize, partial);",
        "partials.store(arrival as usize, partial);",
    )
    .on(HORNER),
    mutant(
        "last_leaves_nothing",
        "the block that takes waits for its own partial",
        "    if tid == 0 {
        storage.partials.store(",
        "    if tid == 0 && arrival != blocks - 1 {
        storage.partials.store(",
    ),
    mutant(
        "one_block_too_many",
        "`<=` for `<`: looks at a place behind the last",
        "let has = |i: u32| i < share && block(i) < blocks;",
        "let has = |i: u32| i < share && block(i) <= blocks;",
    ),
    mutant(
        "last_not_looked_at",
        "takes the last partial without having looked whether it is there",
        "                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
",
        "                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) && block(number(k)) + 1 < blocks {
",
    ),
    mutant(
        "looks_once",
        "a partial that is not there yet is taken all the same",
        "                if ready {
                    break;
                }
",
        "                break;
",
    ),
    mutant(
        "last_not_taken",
        "the partial of the last block is left out",
        "            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                let partial",
        "            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) && block(number(k)) + 1 < blocks {
                let partial",
    ),
    mutant(
        "first_round_alone",
        "partials beyond the first looks of each lane stay where they are",
        "while has(i) {",
        "if has(i) {",
    ),
    mutant(
        "one_step_of_several",
        "goes on by one look of each lane, to partials that have been taken",
        "i += Self::IN_FLIGHT as u32;",
        "i += 1;",
    ),
    mutant(
        "every_lane_stores",
        "lanes that do not hold the result write it too",
        "    if tid == 0 {
        storage.result.set(0, total);
",
        "    if tid < WARP_SIZE {
        storage.result.set(0, total);
",
    ),
    mutant(
        "lane_1_stores",
        "a lane that does not hold the result writes it",
        "    if tid == 0 {
        storage.result.set(0, total);
",
        "    if tid == 1 {
        storage.result.set(0, total);
",
    ),
    mutant(
        "blocks_in_turn",
        "of an operator that is not commutative, a lane takes partials of blocks 32 apart",
        "            if O::COMMUTATIVE {
                lane + i",
        "            if true {
                lane + i",
    )
    .on(HORNER),
    mutant(
        "share_rounded_down",
        "partials beyond equal shares of the lanes are lost",
        "let share = blocks.div_ceil(WARP_SIZE);",
        "let share = blocks / WARP_SIZE;",
    )
    .on(HORNER),
    mutant(
        "partial_before_what_there_is",
        "a partial is combined as if its block stood before the others",
        "value = op.combine(value, partial);",
        "value = op.combine(partial, value);",
    )
    .on(HORNER),
    mutant(
        "partials_begin_again",
        "a lane keeps its last partial alone",
        "value = op.combine(value, partial);",
        "value = partial;",
    )
    .on(&["single_pass_histogram_u8"]),
];
