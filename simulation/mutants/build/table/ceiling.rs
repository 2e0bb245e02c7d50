//! `read_ceiling`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "ceiling.rs",
    kernels: &["read_ceiling"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "threads_without_vectors_leave",
        "an early return before shuffle and barrier",
        "    let mut value = op.identity();
",
        "    let mut value = op.identity();
    if thread >= vectors.len() { return; }
",
    ),
    mutant(
        "bound_of_first_load",
        "asks whether the first of the four loads is inside",
        "while v + (IN_FLIGHT - 1) * stride < vectors.len() {",
        "while v < vectors.len() {",
    ),
    mutant(
        "vectors_read_again",
        "four vectors are read, but the loop goes on by one",
        "v += IN_FLIGHT * stride;",
        "v += stride;",
    ),
    mutant(
        "first_of_vector_left_out",
        "the first element of each vector is not added",
        "for e in 0..N {",
        "for e in 1..N {",
    )
    .nth(2, 2),
    mutant(
        "no_tail",
        "elements behind the last vector are left out",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = input.len() + thread;",
    ),
    mutant(
        "tail_too_early",
        "the tail begins at the vectors' number, not the elements'",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = vectors.len() + thread;",
    ),
    mutant(
        "thread_u32",
        "the thread's number in the grid wraps at 2^32",
        "block_idx_x() as usize * threads as usize + tid as usize;",
        "(block_idx_x() * threads + tid) as usize;",
    ),
];
