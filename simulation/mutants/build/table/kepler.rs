//! Shuffles and atomics, and what they are made of.

use super::{Mutant, Source, mutant};

pub const BLOCK: Source = Source {
    path: "block.rs",
    kernels: &["stable", "block_atomic", "read_ceiling"],
    mutants: &[
        mutant(
            "barrier_of_first_lanes",
            "only lane 0 of each warp reaches the barrier",
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
            "the other warps do not store their values",
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
            "the first warp loads the others' values before they are stored",
            "    // The first warp reads what all of them wrote.
    sync_threads();
",
            "",
        ),
        mutant(
            "lane_for_warp",
            "stores every warp's value at the lane's index instead of the warp's",
            "scratch.set(tid / WARP_SIZE, partial);",
            "scratch.set(tid % WARP_SIZE, partial);",
        ),
        mutant(
            "every_lane_leaves_its_value",
            "lanes without the warp's result store too",
            "if tid % WARP_SIZE == 0 {",
            "if warps > 0 {",
        ),
        mutant(
            "no_identity_for_missing_warps",
            "lanes without a corresponding warp read the scratch memory too",
            "let partial = if tid < warps {",
            "let partial = if tid < WARP_SIZE {",
        ),
        mutant(
            "shuffle_of_few",
            "only as many lanes as there are warps reach a shuffle of 32",
            "    if tid >= WARP_SIZE {
",
            "    if tid >= warps {
",
        ),
        mutant(
            "halves_of_warps",
            "a non-commutative operator combines warps that are not adjacent",
            "unsafe { reduce_in_order::<I, O>(op, partial) }",
            "unsafe { crate::warp::reduce_down::<I, O>(op, partial) }",
        )
        .on(HORNER),
        mutant(
            "halves_of_threads",
            "a non-commutative operator combines partials of blocks that are not adjacent",
            "reduce_in_order::<I, O>(op, value), scratch)",
            "crate::warp::reduce_down::<I, O>(op, value), scratch)",
        )
        .on(HORNER),
        mutant(
            "lane_0_of_threads",
            "does not combine the partials of a warp's threads",
            "combine_warps::<I, O>(op, reduce_in_order::<I, O>(op, value), scratch)",
            "combine_warps::<I, O>(op, value, scratch)",
        )
        .on(HORNER),
        mutant(
            "lane_0_of_each_warp",
            "does not combine the values of a warp",
            "combine_warps::<I, O>(op, reduce_to_first::<I, O>(op, value), scratch)",
            "combine_warps::<I, O>(op, value, scratch)",
        ),
        mutant(
            "no_barrier_before_broadcast",
            "threads load the result before thread 0 has stored it",
            "    // All threads read what thread 0 wrote.
    sync_threads();
",
            "",
        )
        .on(ALL),
        mutant(
            "first_warp_broadcasts",
            "lanes without the result store theirs too",
            "    if thread_idx_x() == 0 {
        scratch.set(0, result);",
            "    if thread_idx_x() < WARP_SIZE {
        scratch.set(0, result);",
        )
        .on(ALL),
        mutant(
            "no_broadcast",
            "every thread keeps what it has after the first round",
            "    scratch.get(0)
",
            "    result
",
        )
        .on(ALL),
    ],
};

/// Every thread has the result.
const ALL: &[&str] = &["stable_all"];

/// Not commutative.
const HORNER: &[&str] = &["single_pass_horner_u32"];

pub const GRID_STRIDE: Source = Source {
    path: "grid_stride.rs",
    kernels: &["stable", "warp_atomic_vec2", "block_atomic_vec4"],
    mutants: &[
        mutant(
            "bound_of_first_load",
            "checks the bounds of the first of the four loads only",
            "while (self.has)(v + (K - 1) * stride) {",
            "while (self.has)(v) {",
        ),
        mutant(
            "vectors_read_again",
            "reads four vectors, but the loop advances by one",
            "v = opaque(v + K * stride);",
            "v = opaque(v + stride);",
        ),
        mutant(
            "bound_of_last_step",
            "treats a last step of two vectors as one of three",
            "if K > 2 && (self.has)(v + 2 * stride) {",
            "if K > 2 && (self.has)(v + stride) {",
        ),
        mutant(
            "third_vector_lost",
            "reads only two vectors in a last step of three",
            "step::<T, O, N, 3>(",
            "step::<T, O, N, 2>(",
        ),
        mutant(
            "single_vector_lost",
            "skips a last step of one vector",
            "if K > 1 && (self.has)(v) {",
            "if K > 1 && (self.has)(v + 2 * stride) {",
        ),
        mutant(
            "step_without_stride",
            "all loads of a step load its first vector",
            "loaded[k] = (self.load)(v + k * stride);",
            "loaded[k] = (self.load)(v);",
        ),
        mutant(
            "no_elements_around",
            "skips the elements around the vectors if the array starts with a vector",
            "if N > 1 && !input.is_all_vectors::<N>() {",
            "if N > 1 && !input.is_all_vectors::<N>() && head > 0 {",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "no_tail",
            "skips the elements after the last vector",
            "        if i < input.len() {
",
            "        if i < head {
",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "head_for_tail",
            "the tail starts at the number of vectors instead of elements",
            "vectors.len() * N;",
            "vectors.len();",
        )
        .on(&["stable_vec4", "warp_atomic_vec2"]),
        mutant(
            "thread_u32",
            "the thread's index in the grid wraps at 2^32",
            "block_idx_x() as usize * threads + thread_idx_x() as usize;",
            "(block_idx_x() * threads as u32 + thread_idx_x()) as usize;",
        ),
    ],
};

pub const STABLE: Source = Source {
    path: "kepler/stable.rs",
    kernels: &["stable", "stable_vec4"],
    mutants: &[
        mutant(
            "two_threads_store",
            "a thread without the result stores too",
            "if thread_idx_x() == 0 {",
            "if thread_idx_x() < 2 {",
        ),
        mutant(
            "no_thread_stores",
            "no thread has the number of the block's threads",
            "if thread_idx_x() == block_dim_x() - 1 {",
            "if thread_idx_x() == block_dim_x() {",
        )
        .on(ALL),
    ],
};

pub const WARP_ATOMIC: Source = Source {
    path: "kepler/warp_atomic.rs",
    kernels: &["warp_atomic", "warp_atomic_vec4"],
    mutants: &[
        mutant(
            "every_lane_adds",
            "lanes without the warp's result combine theirs too",
            "if thread_idx_x().is_multiple_of(WARP_SIZE) {",
            "if thread_idx_x().is_multiple_of(1) {",
        ),
        mutant(
            "first_warp_alone",
            "skips the other warps' values",
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
        "the first lane of each warp combines, instead of the first of the block",
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
        "loads two fields from the same element",
        "input.get(3 * i + 1)",
        "input.get(3 * i + 2)",
    )
    .on(INTERLEAVED),
    mutant(
        "y_and_z_exchanged",
        "combines the warp's y with the z of the next lane",
        "y = op.combine(y, y_above);",
        "y = op.combine(y, z_above);",
    )
    .on(INTERLEAVED),
    mutant(
        "first_step_left_out",
        "does not add lanes 16 to 31",
        "let mut offset = WARP_SIZE / 2;",
        "let mut offset = WARP_SIZE / 4;",
    )
    .on(INTERLEAVED),
    mutant(
        "every_lane_adds_z",
        "lanes without the warp's result combine theirs too",
        "        output.combine_atomic::<T, O>(op, 1, y);\n        output.combine_atomic::<T, O>(op, 2, z);\n    }",
        "        output.combine_atomic::<T, O>(op, 1, y);\n    }\n    output.combine_atomic::<T, O>(op, 2, z);",
    )
    .on(INTERLEAVED),
    mutant(
        "fields_in_one_cell",
        "combines all three fields into the first cell",
        "output.combine_atomic::<T, O>(op, field, value);",
        "output.combine_atomic::<T, O>(op, 0, value);",
    )
    .on(&["triple_in_turn"]),
    mutant(
        "last_triple_left_out",
        "skips the last triple",
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
        "every block loads all triples of its threads repeatedly",
        "grid_dim_x() as usize * threads;",
        "threads;",
    ),
];
