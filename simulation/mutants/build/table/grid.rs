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
        "increments the arrival counter in every thread instead of once for each block",
        "if thread_idx_x() == 0 && blocks > 1 {",
        "if blocks > 1 {",
    ),
    mutant(
        "index_for_arrival",
        "uses the block with the last index, which may not be the last to start",
        "self.arrivals.fetch_increment(0, blocks)",
        "block_idx_x()",
    ),
    mutant(
        "one_arrival_too_many",
        "the arrival counter does not wrap to 0 after the last block",
        "self.arrivals.fetch_increment(0, blocks)",
        "self.arrivals.fetch_increment(0, blocks + 1)",
    ),
    mutant(
        "no_such_arrival",
        "no block gets this number, because they are numbered from 0",
        "if arrival != blocks - 1 {",
        "if arrival != blocks {",
    ),
    mutant(
        "first_arrival_combines",
        "the first block waits for blocks that may never start",
        "if arrival != blocks - 1 {",
        "if arrival != 0 {",
    ),
    mutant(
        "arrival_of_lane_0",
        "the other lanes do not have the arrival number, and return",
        "let arrival = unsafe { arrival.shuffle(FULL_MASK, Shuffle::Idx(0)) };",
        "",
    ),
    mutant(
        "left_by_arrival",
        "combines partials in the order in which their blocks have started",
        "partials.store(own as usize, partial);",
        "partials.store(arrival as usize, partial);",
    )
    .on(HORNER),
    mutant(
        "last_leaves_nothing",
        "the combining block waits for its own partial",
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
        "loads the last partial without checking its ready flag",
        "                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
",
        "                unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) && block(number(k)) + 1 < blocks {
",
    ),
    mutant(
        "looks_once",
        "uses a partial that is not ready",
        "                if ready {
                    break;
                }
",
        "                break;
",
    ),
    mutant(
        "last_not_taken",
        "skips the partial of the last block",
        "            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) {
                let partial",
        "            unrolled!(|k < Self::IN_FLIGHT| if has(number(k)) && block(number(k)) + 1 < blocks {
                let partial",
    ),
    mutant(
        "first_round_alone",
        "each lane loads only its first batch of partials",
        "while has(i) {",
        "if has(i) {",
    ),
    mutant(
        "one_step_of_several",
        "advances by one load instead of a batch, to partials that were combined already",
        "i += Self::IN_FLIGHT as u32;",
        "i += 1;",
    ),
    mutant(
        "every_lane_stores",
        "lanes without the result store too",
        "    if tid == 0 {
        storage.result.set(0, total);
",
        "    if tid < WARP_SIZE {
        storage.result.set(0, total);
",
    ),
    mutant(
        "lane_1_stores",
        "a lane without the result stores",
        "    if tid == 0 {
        storage.result.set(0, total);
",
        "    if tid == 1 {
        storage.result.set(0, total);
",
    ),
    mutant(
        "blocks_in_turn",
        "for a non-commutative operator, each lane takes partials of blocks 32 apart",
        "            if O::COMMUTATIVE {
                lane + i",
        "            if true {
                lane + i",
    )
    .on(HORNER),
    mutant(
        "share_rounded_down",
        "skips the partials beyond equal shares of the lanes",
        "let share = blocks.div_ceil(WARP_SIZE);",
        "let share = blocks / WARP_SIZE;",
    )
    .on(HORNER),
    mutant(
        "partial_before_what_there_is",
        "combines a partial before its predecessors",
        "value = op.combine(value, partial);",
        "value = op.combine(partial, value);",
    )
    .on(HORNER),
    mutant(
        "partials_begin_again",
        "a lane keeps only its last partial",
        "value = op.combine(value, partial);",
        "value = partial;",
    )
    .on(&["single_pass_histogram_u8"]),
];
