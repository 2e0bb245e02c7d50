//! `reduce_3`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_3.rs",
    kernels: &["reduce_3"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_after_load",
        "the tree starts before the elements are stored",
        "    scratch.set(tid, value);
    sync_threads();
",
        "    scratch.set(tid, value);
",
    ),
    mutant(
        "barrier_in_branch",
        "only threads that add reach the barrier",
        "        }
        // The next step reads what this one wrote.
        sync_threads();
",
        "            sync_threads();
        }
",
    ),
    mutant(
        "second_bound_includes_the_end",
        "`<=` for `<`: a thread reads past the end",
        "if second < input.len() {",
        "if second <= input.len() {",
    ),
    mutant(
        "second_bound_is_the_first",
        "the bound of the first element guards the second",
        "if second < input.len() {",
        "if i < input.len() {",
    ),
    mutant(
        "second_next_block",
        "the second element is the next block's first",
        "(block_idx_x() + grid_dim_x())",
        "(block_idx_x() + 1)",
    ),
    mutant(
        "second_alone",
        "the second element replaces the first",
        "value = op.combine(value, input.get(second));",
        "value = input.get(second);",
    ),
    mutant(
        "second_left_out",
        "does not read the second half of the input",
        "value = op.combine(value, input.get(second));",
        "",
    ),
    mutant(
        "tail_unwritten",
        "threads past the end do not initialise their scratch memory (the post's own bug)",
        "    scratch.set(tid, value);",
        "    if i < input.len() { scratch.set(tid, value); }",
    ),
    mutant(
        "second_u32",
        "the second element's index wraps at 2^32",
        "(block_idx_x() + grid_dim_x()) as usize * threads as usize + tid as usize;",
        "((block_idx_x() + grid_dim_x()) * threads + tid) as usize;",
    ),
];
