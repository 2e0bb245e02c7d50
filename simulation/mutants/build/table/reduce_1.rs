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
        "a step reads what the one before is still writing",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "",
    ),
    mutant(
        "barrier_in_branch",
        "only threads that add come to the barrier",
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
        "the loop ends for a thread that is out of work: fewer barriers than the others",
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
        "the thread's number is compared, not its element's",
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
        "every step adds the direct neighbour",
        "scratch.get(index + s)",
        "scratch.get(index + 1)",
    ),
    mutant(
        "written_to_thread",
        "the sum goes to the thread's element, not the pair's",
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
