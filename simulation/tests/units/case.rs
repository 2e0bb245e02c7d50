//! What a launch of a case finds.

use cuda_sim::{Bug, Simulator};
use kernels_gpu::entry::{Entry, Function, Values, teaching};
use kernels_gpu::needs::ResultIn;

use kernels_sim::{Case, Data, Wrong};

fn entry(name: &str) -> Entry {
    let mut entries = teaching::KERNELS.entries.iter();
    *entries.find(|entry| entry.name == name).unwrap()
}

fn run(name: &str, function: Function) -> Wrong {
    let entry = Entry {
        function: Some(function),
        ..entry(name)
    };
    let case = Case {
        starts: [5; 3],
        data: Data::Whole,
        ..Case::new(entry, 64, 100)
    };
    case.run(Simulator::new().check_all()).unwrap_err()
}

fn answer(name: &str, function: Function) -> String {
    match run(name, function) {
        Wrong::Answer { what, .. } => what,
        other => panic!("{other}"),
    }
}

#[test]
fn a_right_kernel_is_right() {
    for name in [
        "reduce_2_sum_f32",
        "reduce_shared_memory_max_i32",
        "read_ceiling_sum_f64",
        "triple_interleaved_sum_f32",
    ] {
        let simulator = || Simulator::new().check_all().count();
        for n in [0, 1, 63, 64, 65, 1000] {
            let case = Case::new(entry(name), 64, n);
            let launched = case
                .launch(simulator())
                .unwrap_or_else(|wrong| panic!("{wrong}"));
            assert_eq!(launched.report.blocks, case.blocks);
            assert!(launched.report.counters.is_some());
            let outputs = match case.entry.needs.result {
                ResultIn::Partials => case.blocks as usize,
                _ if name.starts_with("triple") => 3,
                _ => 1,
            };
            assert_eq!(launched.bytes.len(), outputs * case.entry.acc_bytes);
        }
    }
}

#[test]
fn nothing_written_is_wrong() {
    for name in ["reduce_2_sum_i64", "reduce_2_sum_f32", "reduce_2_max_i32"] {
        let what = answer(name, |_| {});
        assert!(
            what.starts_with("the partial of block 0: ") && what.contains(" instead of "),
            "{what}"
        );
    }
    let what = answer("reduce_naive_sum_u64", |_| {});
    assert!(what.starts_with("0 instead of"), "{what}");
}

/// The parameters of `reduce_2_sum_i32` after its input: the output and its length.
unsafe fn output(values: *const *const ()) -> (*mut i32, usize) {
    // SAFETY: the caller's values are those of the entry.
    unsafe {
        let mut values = Values(values.add(2));
        (values.take(), values.take())
    }
}

/// The unchanged `reduce_2_sum_i32`.
unsafe fn right(values: *const *const ()) {
    let function = entry("reduce_2_sum_i32").function.unwrap();
    // SAFETY: the same arguments as for the entry itself.
    unsafe { function(values) }
}

#[test]
fn other_memory_is_not_to_be_touched() {
    fn first() -> bool {
        (
            cuda_std::thread::block_idx_x(),
            cuda_std::thread::thread_idx_x(),
        ) == (0, 0)
    }
    // SAFETY: the memory extends beyond the cells.
    let what = answer("reduce_2_sum_i32", |values| unsafe {
        right(values);
        if first() {
            let (output, cells) = output(values);
            output.add(cells).write(0);
        }
    });
    assert_eq!(what, "element 2 of 2 outputs was written");
    // SAFETY: the memory starts before the cells.
    let what = answer("reduce_2_sum_i32", |values| unsafe {
        right(values);
        if first() {
            output(values).0.sub(2).write(0);
        }
    });
    assert_eq!(what, "element -2 of 2 outputs was written");
}

#[test]
fn findings_come_before_answers() {
    // One element more than the output has.
    // SAFETY: the same arguments as for the entry itself; the simulator rejects accesses outside the arrays.
    let wrong = run("reduce_2_sum_i32", |values| unsafe {
        let fewer = output(values).1 - 1;
        let mut values = [0, 1, 2, 3].map(|i| *values.add(i));
        values[3] = (&raw const fewer).cast();
        right(values.as_ptr());
    });
    let Wrong::Findings { failure, .. } = &wrong else {
        panic!("{wrong}");
    };
    assert!(matches!(failure.findings[0].bug, Bug::OutOfBounds { .. }));
    let text = wrong.to_string();
    assert!(
        text.starts_with("reduce_2_sum_i32, 2 blocks of 64 threads, n = 100 from [5]"),
        "{text}"
    );
}
