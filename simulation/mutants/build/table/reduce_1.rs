//! `reduce_1`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_1.rs",
    kernels: &["reduce_1"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_in_tree",
        "a step reads what the previous step is still writing",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "",
    ),
    mutant(
        "barrier_in_branch",
        "only threads that add reach the barrier",
        "            );
        }
        // The next step reads what this one wrote.
        sync_threads();
",
        "            );
            sync_threads();
        }
",
    ),
    mutant(
        "barriers_by_thread",
        "a thread without work leaves the loop, and executes fewer barriers than the others",
        "while s < threads {",
        "while s < threads && (tid == 0 || 2 * s * tid < threads) {",
    ),
    mutant(
        "bound_includes_the_end",
        "`<=` for `<`: one thread adds behind the scratch",
        "if index < threads {",
        "if index <= threads {",
    ),
    mutant(
        "bound_on_thread",
        "compares the thread's index instead of its element's",
        "if index < threads {",
        "if tid < threads / 2 {",
    ),
    mutant(
        "stride_half",
        "pairs overlap",
        "let index = 2 * s * tid;",
        "let index = s * tid;",
    ),
    mutant(
        "neighbour",
        "every step adds the adjacent element",
        "scratch.get(index + s)",
        "scratch.get(index + 1)",
    ),
    mutant(
        "written_to_thread",
        "stores the sum at the thread's element instead of the pair's",
        "                index,
                op.combine",
        "                tid,
                op.combine",
    ),
    mutant(
        "index_u32",
        "the index wraps at 2^32",
        "block_idx_x() as usize * threads as usize + tid as usize;",
        "(block_idx_x() * threads + tid) as usize;",
    ),
];
