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
        "the tree starts before the elements are stored",
        "    scratch.set(tid, loaded);
    sync_threads();
",
        "    scratch.set(tid, loaded);
",
    )
    .nth(1, 2),
    mutant(
        "no_barrier_in_tree",
        "a step reads what the previous step is still writing",
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
        "the wrong half of the threads adds",
        "if tid % (2 * s) == 0 {",
        "if tid % (2 * s) == 1 {",
    ),
    mutant(
        "tail_unwritten",
        "threads past the end do not initialise their scratch memory",
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
        "thread 1 stores the result, without waiting for thread 0",
        "    if tid == 0 {
        output.set(block_idx_x() as usize, scratch.get(0));",
        "    if tid == 1 {
        output.set(block_idx_x() as usize, scratch.get(1));",
    )
    .nth(1, 2),
    mutant(
        "result_at_thread",
        "stores the partial at the thread's index instead of the block's",
        "output.set(block_idx_x() as usize,",
        "output.set(tid as usize,",
    )
    .nth(1, 2),
    mutant(
        "modulo_barrier_in_branch",
        "only threads that add reach the barrier",
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
        "every step adds the adjacent element",
        "scratch.get(tid + s)",
        "scratch.get(tid + 1)",
    )
    .nth(2, 2)
    .on(MODULO),
    mutant(
        "modulo_steps_of_two",
        "the distance increases by 2 instead of doubling",
        "s *= 2;",
        "s += 2;",
    )
    .nth(2, 2)
    .on(MODULO),
];
