//! The cooperative steps of a warp.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "warp.rs",
    kernels: &["reduce_4", "read_ceiling"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
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
        "each half has its own mask, and the lower one reads from the upper",
        "warp_shuffle_down(FULL_MASK, value, offset, WARP_SIZE)",
        "warp_shuffle_down(0xFFFF << (cuda_std::warp::lane_id() & 16), value, offset, WARP_SIZE)",
    ),
    mutant(
        "first_step_left_out",
        "lanes 16 to 31 are never added",
        "let mut offset = WARP_SIZE / 2;",
        "let mut offset = WARP_SIZE / 4;",
    ),
    mutant(
        "last_step_left_out",
        "odd lanes are never added",
        "while offset > 0 {",
        "while offset > 1 {",
    ),
    mutant(
        "offset_always_1",
        "every step adds the direct neighbour",
        "value, offset, WARP_SIZE)",
        "value, 1, WARP_SIZE)",
    ),
    mutant(
        "width_of_half_a_warp",
        "lane 0 adds itself where it should add lane 16",
        "value, offset, WARP_SIZE)",
        "value, offset, WARP_SIZE / 2)",
    ),
    mutant(
        "up_for_down",
        "values go to the last lane, not to the first",
        "warp_shuffle_down(FULL_MASK",
        "cuda_std::warp::warp_shuffle_up(FULL_MASK",
    ),
    mutant(
        "only_receivers_shuffle",
        "lanes whose value is asked for do not come to the shuffle",
        "        // SAFETY: the caller brings all lanes that the full mask names.
        let (above",
        "        if cuda_std::warp::lane_id() >= offset { break; }
        let (above",
    ),
    mutant(
        "redux_of_oneself",
        "the mask names the calling lane alone",
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
