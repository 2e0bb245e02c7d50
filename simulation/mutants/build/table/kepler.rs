//! Shuffles and atomics, and what they are made of.

use super::{Mutant, Source, mutant};

pub const BLOCK: Source = Source {
    path: "block.rs",
    kernels: &["stable", "block_atomic", "read_ceiling"],
    mutants: &[
        mutant(
            "barrier_of_first_lanes",
            "only lane 0 of each warp comes to the barrier",
            "        scratch.set(tid / WARP_SIZE, partial);
    }
    // The first warp reads what all of them wrote.
    sync_threads();
",
            "        scratch.set(tid / WARP_SIZE, partial);
        sync_threads();
    }
",
        ),
        mutant(
            "first_warp_alone",
            "the other warps' values are not left",
            "if tid % WARP_SIZE == 0 {",
            "if tid == 0 {",
        ),
        mutant(
            "one_warp_too_many",
            "`<=` for `<`: a value behind the scratch is read",
            "let partial = if tid < warps {",
            "let partial = if tid <= warps {",
        ),
        mutant(
            "no_barrier",
            "the first warp takes the others' values before they are there",
            "    // The first warp reads what all of them wrote.
    sync_threads();
",
            "",
        ),
        mutant(
            "lane_for_warp",
            "every warp's value goes to the lane's place, not the warp's",
            "scratch.set(tid / WARP_SIZE, partial);",
            "scratch.set(tid % WARP_SIZE, partial);",
        ),
        mutant(
            "every_lane_leaves_its_value",
            "lanes that do not hold the warp's result write it too",
            "if tid % WARP_SIZE == 0 {",
            "if warps > 0 {",
        ),
        mutant(
            "no_identity_for_missing_warps",
            "lanes without a warp read the scratch all the same",
            "let partial = if tid < warps {",
            "let partial = if tid < WARP_SIZE {",
        ),
        mutant(
            "shuffle_of_few",
            "as many lanes as there are warps come to a shuffle of 32",
            "    if tid >= WARP_SIZE {
",
            "    if tid >= warps {
",
        ),
    ],
};

pub const GRID_STRIDE: Source = Source {
    path: "grid_stride.rs",
    kernels: &["stable", "warp_atomic_vec2", "block_atomic_vec4"],
    mutants: &[
        mutant(
            "bound_of_first_load",
            "asks whether the first of the four loads is inside",
            "while vectors.has(v + (IN_FLIGHT - 1) * stride) {",
            "while vectors.has(v) {",
        ),
        mutant(
            "vectors_read_again",
            "four vectors are read, but the loop goes on by one",
            "v = opaque(v + IN_FLIGHT * stride);",
            "v = opaque(v + stride);",
        ),
        mutant(
            "bound_of_last_step",
            "where there are two vectors of the last step, it takes there to be three",
            "if vectors.has(v + 2 * stride) {",
            "if vectors.has(v + stride) {",
        ),
        mutant(
            "third_vector_lost",
            "of a last step of three vectors it reads two",
            "step::<T, B, N, 3>(",
            "step::<T, B, N, 2>(",
        ),
        mutant(
            "single_vector_lost",
            "a last step of one vector is left out",
            "} else if vectors.has(v) {",
            "} else if vectors.has(v + 2 * stride) {",
        ),
        mutant(
            "step_without_stride",
            "every load of a step is of its first vector",
            "loaded[k] = vectors.get(v + k * stride);",
            "loaded[k] = vectors.get(v);",
        ),
        mutant(
            "no_elements_around",
            "elements around the vectors are left out where the array begins with a vector",
            "if N > 1 && !input.is_all_vectors::<N>() {",
            "if N > 1 && !input.is_all_vectors::<N>() && head > 0 {",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "no_tail",
            "elements behind the last vector are left out",
            "        if i < input.len() {
",
            "        if i < head {
",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "head_for_tail",
            "the tail begins at the vectors' number, not the elements'",
            "        thread + vectors.len() * N
",
            "        thread + vectors.len()
",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "thread_u32",
            "the thread's number in the grid wraps at 2^32",
            "block_idx_x() as usize * threads + thread_idx_x() as usize;",
            "(block_idx_x() * threads as u32 + thread_idx_x()) as usize;",
        ),
    ],
};

pub const STABLE: Source = Source {
    path: "kepler/stable.rs",
    kernels: &["stable", "stable_vec4"],
    mutants: &[mutant(
        "two_threads_store",
        "a thread that does not hold the result writes it too",
        "if thread_idx_x() == 0 {",
        "if thread_idx_x() < 2 {",
    )],
};

pub const WARP_ATOMIC: Source = Source {
    path: "kepler/warp_atomic.rs",
    kernels: &["warp_atomic", "warp_atomic_vec4"],
    mutants: &[
        mutant(
            "every_lane_adds",
            "lanes that do not hold the warp's result combine theirs too",
            "if thread_idx_x().is_multiple_of(WARP_SIZE) {",
            "if thread_idx_x().is_multiple_of(1) {",
        ),
        mutant(
            "first_warp_alone",
            "the other warps' values are lost",
            "if thread_idx_x().is_multiple_of(WARP_SIZE) {",
            "if thread_idx_x() == 0 {",
        ),
    ],
};

pub const BLOCK_ATOMIC: Source = Source {
    path: "kepler/block_atomic.rs",
    kernels: &["block_atomic", "block_atomic_vec2"],
    mutants: &[mutant(
        "every_warp_adds",
        "the first lane of each warp combines, not the first of the block",
        "if thread_idx_x() == 0 {",
        "if thread_idx_x().is_multiple_of(32) {",
    )],
};

pub const TRIPLE: Source = Source {
    path: "kepler/triple.rs",
    kernels: &["triple_interleaved", "triple_in_turn"],
    mutants: TRIPLE_MUTANTS,
};

const INTERLEAVED: &[&str] = &["triple_interleaved"];

const TRIPLE_MUTANTS: &[Mutant] = &[
    mutant(
        "y_of_z",
        "two fields come from the same element",
        "input.get(3 * i + 1)",
        "input.get(3 * i + 2)",
    )
    .on(INTERLEAVED),
    mutant(
        "y_and_z_exchanged",
        "the warp's y is combined with the z above",
        "y = O::combine(y, y_above);",
        "y = O::combine(y, z_above);",
    )
    .on(INTERLEAVED),
    mutant(
        "first_step_left_out",
        "lanes 16 to 31 are never added",
        "let mut offset = WARP_SIZE / 2;",
        "let mut offset = WARP_SIZE / 4;",
    )
    .on(INTERLEAVED),
    mutant(
        "every_lane_adds_z",
        "lanes that do not hold the warp's result combine theirs too",
        "        output.combine_atomic::<T, O>(1, y);\n        output.combine_atomic::<T, O>(2, z);\n    }",
        "        output.combine_atomic::<T, O>(1, y);\n    }\n    output.combine_atomic::<T, O>(2, z);",
    )
    .on(INTERLEAVED),
    mutant(
        "fields_in_one_cell",
        "all three fields go into the first cell",
        "output.combine_atomic::<T, O>(field, value);",
        "output.combine_atomic::<T, O>(0, value);",
    )
    .on(&["triple_in_turn"]),
    mutant(
        "last_triple_left_out",
        "the last triple is not looked at",
        "while i < triples {",
        "while i + 1 < triples {",
    ),
    mutant(
        "triples_rounded_up",
        "one triple too many",
        "input.len() / 3;",
        "input.len() / 3 + 1;",
    ),
    mutant(
        "blocks_again",
        "every block takes all triples of its threads, again and again",
        "grid_dim_x() as usize * threads;",
        "threads;",
    ),
];
