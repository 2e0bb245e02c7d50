//! `reduce_0`, and with a real division `reduce_0_modulo`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_0.rs",
    kernels: &["reduce_0"],
    mutants: MUTANTS,
};

const MODULO: &[&str] = &["reduce_0_modulo"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_after_load",
        "the tree begins before the elements are there",
        "    scratch.set(tid, loaded);
    sync_threads();
",
        "    scratch.set(tid, loaded);
",
    )
    .nth(1, 2),
    mutant(
        "no_barrier_in_tree",
        "a step reads what the one before is still writing",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "",
    ),
    mutant(
        "one_step_too_many",
        "`<=` for `<`: the last step reads behind the scratch",
        "while s < threads {",
        "while s <= threads {",
    )
    .nth(1, 2),
    mutant(
        "one_step_too_few",
        "the loop ends before its last step",
        "while s < threads {",
        "while 2 * s < threads {",
    )
    .nth(1, 2),
    mutant(
        "every_thread_adds",
        "neighbours that should be added are written at the same time",
        "if tid % (2 * s) == 0 {",
        "if tid % s == 0 {",
    ),
    mutant(
        "odd_threads_add",
        "the other half of the threads adds",
        "if tid % (2 * s) == 0 {",
        "if tid % (2 * s) == 1 {",
    ),
    mutant(
        "tail_unwritten",
        "threads past the end leave their scratch as it is",
        "    scratch.set(tid, loaded);",
        "    if i < input.len() { scratch.set(tid, loaded); }",
    )
    .nth(1, 2),
    mutant(
        "tail_leaves_early",
        "threads past the end return before the barriers",
        "    scratch.set(tid, loaded);",
        "    if i >= input.len() { return; }
    scratch.set(tid, loaded);",
    )
    .nth(1, 2),
    mutant(
        "workers_leave_early",
        "threads without work in a step return from the kernel",
        "        // The next step reads what this one wrote.
        sync_threads();
        s *= 2;
",
        "        if tid % (2 * s) != 0 { return; }
        sync_threads();
        s *= 2;
",
    ),
    mutant(
        "result_of_thread_1",
        "thread 1 writes the result, before thread 0 is done or after",
        "    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));",
        "    if tid == 1 {
        output.set(block_idx_x() as usize, scratch.get(1));",
    )
    .nth(1, 2),
    mutant(
        "result_at_thread",
        "the partial goes to the thread's number, not the block's",
        "output.set(block_idx_x() as usize,",
        "output.set(tid as usize,",
    )
    .nth(1, 2),
    mutant(
        "modulo_barrier_in_branch",
        "only threads that add come to the barrier",
        "            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
        }
        sync_threads();
",
        "            scratch.set(tid, op.combine(scratch.get(tid), scratch.get(tid + s)));
            sync_threads();
        }
",
    )
    .on(MODULO),
    mutant(
        "modulo_neighbour",
        "every step adds the direct neighbour",
        "scratch.get(tid + s)",
        "scratch.get(tid + 1)",
    )
    .nth(2, 2)
    .on(MODULO),
    mutant(
        "modulo_steps_of_two",
        "the distance grows by 2, it does not double",
        "s *= 2;",
        "s += 2;",
    )
    .nth(2, 2)
    .on(MODULO),
];
