use cuda_sim::{Bug, Simulator};
use kernels_gpu::entry::{ENTRIES, Entry, Function};

use super::{Case, Wrong};
use crate::data::Data;

fn entry(name: &str) -> Entry {
    *ENTRIES.iter().find(|entry| entry.name == name).unwrap()
}

fn run(name: &str, function: Function) -> Wrong {
    let entry = Entry {
        function,
        ..entry(name)
    };
    let case = Case {
        start: 5,
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
    ] {
        let simulator = || Simulator::new().check_all().count();
        for n in [0, 1, 63, 64, 65, 1000] {
            let case = Case::new(entry(name), 64, n);
            let report = case
                .run(simulator())
                .unwrap_or_else(|wrong| panic!("{wrong}"));
            assert_eq!(report.blocks, case.blocks);
            assert!(report.counters.is_some());
        }
    }
}

#[test]
fn nothing_written_is_wrong() {
    for name in ["reduce_2_sum_i64", "reduce_2_sum_f32", "reduce_2_max_i32"] {
        let what = answer(name, |_, _, _, _| {});
        assert!(
            what.starts_with("the partial of block 0: ") && what.contains(" instead of "),
            "{what}"
        );
    }
    let what = answer("reduce_naive_sum_u64", |_, _, _, _| {});
    assert!(what.starts_with("0 instead of"), "{what}");
}

#[test]
fn other_memory_is_not_to_be_touched() {
    fn right(input: *const (), n: usize, output: *mut (), cells: usize) {
        // SAFETY: as the entry itself is called.
        unsafe { (entry("reduce_2_sum_i32").function)(input, n, output, cells) }
    }
    fn first() -> bool {
        // SAFETY: plain reads of the simulated thread's place.
        (
            cuda_std::thread::block_idx_x(),
            cuda_std::thread::thread_idx_x(),
        ) == (0, 0)
    }
    let what = answer("reduce_2_sum_i32", |input, n, output, cells| {
        right(input, n, output, cells);
        if first() {
            // SAFETY: the memory goes on behind the cells.
            unsafe { output.cast::<i32>().add(cells).write(0) };
        }
    });
    assert_eq!(what, "element 2 of 2 outputs was written");
    let what = answer("reduce_2_sum_i32", |input, n, output, cells| {
        right(input, n, output, cells);
        if first() {
            // SAFETY: the memory begins before the cells.
            unsafe { output.cast::<i32>().sub(2).write(0) };
        }
    });
    assert_eq!(what, "2 elements before the output were written");
}

#[test]
fn findings_come_before_answers() {
    let wrong = run("reduce_2_sum_i32", |input, n, output, cells| {
        // One element more than there is output for.
        // SAFETY: as the entry itself is called; the simulator refuses what lies beyond.
        unsafe { (entry("reduce_2_sum_i32").function)(input, n, output, cells - 1) }
    });
    let Wrong::Findings { failure, .. } = &wrong else {
        panic!("{wrong}");
    };
    assert!(matches!(failure.findings[0].bug, Bug::OutOfBounds { .. }));
    let text = wrong.to_string();
    assert!(
        text.starts_with("reduce_2_sum_i32, 2 blocks of 64 threads, n = 100 from 5"),
        "{text}"
    );
}
