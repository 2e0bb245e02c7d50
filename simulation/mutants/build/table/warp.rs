//! The cooperative steps of a warp.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "warp.rs",
    kernels: &["reduce_4", "read_ceiling"],
    mutants: MUTANTS,
};

/// Adds the numbers of a warp's lanes.
const LIST: &[&str] = &["group_list_by_u32"];

/// Not commutative.
const HORNER: &[&str] = &["single_pass_horner_u32"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "sum_without_the_distance",
        "a lane's sum leaves out the lane at its distance",
        "sum += if lane >= distance { below } else { 0 };",
        "sum += if lane > distance { below } else { 0 };",
    )
    .on(LIST),
    mutant(
        "mask_without_last_lane",
        "the mask names lanes 0 to 30",
        "FULL_MASK: u32 = u32::MAX;",
        "FULL_MASK: u32 = u32::MAX >> 1;",
    ),
    mutant(
        "mask_of_half_a_warp",
        "the mask names lanes 0 to 15",
        "FULL_MASK: u32 = u32::MAX;",
        "FULL_MASK: u32 = 0xFFFF;",
    ),
    mutant(
        "mask_of_half_a_warp_each",
        "each half has its own mask, but the lower half reads from the upper",
        "value.shuffle(FULL_MASK, Shuffle::Down(offset))",
        "value.shuffle(0xFFFF << (cuda_std::warp::lane_id() & 16), Shuffle::Down(offset))",
    )
    .nth(1, 2),
    mutant(
        "first_step_left_out",
        "does not add lanes 16 to 31",
        "let mut offset = WARP_SIZE / 2;",
        "let mut offset = WARP_SIZE / 4;",
    ),
    mutant(
        "last_step_left_out",
        "does not add odd lanes",
        "while offset > 0 {",
        "while offset > 1 {",
    ),
    mutant(
        "offset_always_1",
        "every step adds the adjacent element",
        "Shuffle::Down(offset)",
        "Shuffle::Down(1)",
    )
    .nth(1, 2),
    mutant(
        "half_a_warp",
        "lane 0 adds lane 8 where it should add lane 16",
        "Shuffle::Down(offset)",
        "Shuffle::Down(offset.min(8))",
    )
    .nth(1, 2),
    mutant(
        "up_for_down",
        "combines values in the last lane instead of the first",
        "Shuffle::Down(offset)",
        "Shuffle::Up(offset)",
    )
    .nth(1, 2),
    mutant(
        "only_receivers_shuffle",
        "lanes whose value is read do not reach the shuffle",
        "        // SAFETY: the caller guarantees that all lanes of the full mask arrive.
        let above",
        "        if cuda_std::warp::lane_id() >= offset { break; }
        let above",
    )
    .nth(1, 2),
    mutant(
        "halving_in_order",
        "a non-commutative operator combines lanes that are not adjacent",
        "            reduce_in_order::<I, O>(op, value)",
        "            reduce_down::<I, O>(op, value)",
    )
    .on(HORNER),
    mutant(
        "first_neighbours_left_out",
        "does not combine odd lanes",
        "let mut offset = 1;",
        "let mut offset = 2;",
    )
    .on(HORNER),
    mutant(
        "upper_half_left_out",
        "does not combine lanes 16 to 31",
        "while offset < WARP_SIZE {",
        "while 2 * offset < WARP_SIZE {",
    )
    .on(HORNER),
    mutant(
        "above_before_own",
        "combines the lane above as if it preceded this lane",
        "value = op.combine(value, above);",
        "value = op.combine(above, value);",
    )
    .nth(2, 2)
    .on(HORNER),
    mutant(
        "redux_of_oneself",
        "the mask names only the calling lane",
        "warp_reduce(FULL_MASK, value, O::REDUX)",
        "warp_reduce(1 << cuda_std::warp::lane_id(), value, O::REDUX)",
    )
    .on(&["reduce_4_redux"]),
    mutant(
        "redux_mask_without_last_lane",
        "the mask names lanes 0 to 30",
        "warp_reduce(FULL_MASK, value, O::REDUX)",
        "warp_reduce(FULL_MASK >> 1, value, O::REDUX)",
    )
    .on(&["reduce_4_redux"]),
];
