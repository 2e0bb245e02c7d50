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
        "returns before the shuffle and the barrier",
        "    let mut value = op.identity();
",
        "    let mut value = op.identity();
    if thread >= vectors.len() { return; }
",
    ),
    mutant(
        "bound_of_first_load",
        "checks the bounds of the first of the four loads only",
        "while v + (IN_FLIGHT - 1) * stride < vectors.len() {",
        "while v < vectors.len() {",
    ),
    mutant(
        "vectors_read_again",
        "reads four vectors, but the loop advances by one",
        "v += IN_FLIGHT * stride;",
        "v += stride;",
    ),
    mutant(
        "first_of_vector_left_out",
        "does not add the first element of each vector",
        "for e in 0..N {",
        "for e in 1..N {",
    )
    .nth(2, 2),
    mutant(
        "no_tail",
        "skips the elements after the last vector",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = input.len() + thread;",
    ),
    mutant(
        "tail_too_early",
        "the tail starts at the number of vectors instead of elements",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = vectors.len() + thread;",
    ),
    mutant(
        "thread_u32",
        "the thread's index in the grid wraps at 2^32",
        "block_idx_x() as usize * threads as usize + tid as usize;",
        "(block_idx_x() * threads + tid) as usize;",
    ),
];
