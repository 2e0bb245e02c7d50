//! Ranks as threads on the CPU print what one process prints.

use std::fs;

use clap::Parser;
use tempfile::TempDir;
use warpfold::many::{Distributed, Threads};

use super::*;

/// The text of one process.
fn of_one(words: &[&str]) -> String {
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let all = [&["warpfold"], words, &["--device", "cpu"]].concat();
    let code = crate::run(
        all.iter().map(Into::into),
        &mut &[][..],
        &mut stdout,
        &mut stderr,
    );
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(code, 0, "{words:?}: {stderr}");
    String::from_utf8(stdout).unwrap() + &stderr
}

/// The report of `size` ranks, and their messages.
fn report_of(size: usize, words: &[&str]) -> (Result<Report, Failure>, String) {
    let cli = Cli::parse_from([&["warpfold"], words].concat());
    let input = cli.command.input().unwrap();
    let ranks = Threads::new(size).into_iter();
    let ranks = ranks.map(|rank| at_level(Distributed::new(Device::cpu(), rank), input));
    let ranks: Vec<_> = ranks.collect();
    let mut stderr = vec![];
    let report = super::report(&ranks, &cli, input, &input.files, &mut stderr);
    (report, String::from_utf8(stderr).unwrap())
}

fn of_ranks(size: usize, words: &[&str]) -> String {
    let (report, messages) = report_of(size, words);
    let report = report.unwrap_or_else(|failure| panic!("{words:?} on {size} ranks: {failure}"));
    assert_eq!(report.ranks, Some(size));
    let mut text = vec![];
    report.write(false, false, &mut text).unwrap();
    String::from_utf8(text).unwrap() + &messages
}

#[track_caller]
fn same(words: &[&str]) {
    let one = of_one(words);
    for size in [2, 3, 5] {
        assert_eq!(of_ranks(size, words), one, "{words:?} on {size} ranks");
    }
}

/// A folder of files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A `.npy` file; in Fortran order the elements are in the order of the file.
    fn npy(&self, name: &str, descr: &str, shape: &[usize], order: &str, data: &[u8]) -> String {
        let shape: String = shape.iter().map(|len| format!("{len},")).collect();
        let dict =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape})}}\n");
        let start = [b"\x93NUMPY\x01\0", &[dict.len() as u8, 0][..]].concat();
        let path = self.path(name);
        fs::write(&path, [&start, dict.as_bytes(), data].concat()).unwrap();
        path
    }
}

/// Floats of many magnitudes, so that another order of additions would have other bits.
fn floats(n: usize) -> Vec<u8> {
    let float = |i: usize| ((i * 7919 % 10_007) as f32 - 5000.0) / (1 + i % 97) as f32;
    (0..n).flat_map(|i| float(i).to_le_bytes()).collect()
}

fn integers(n: usize, range: i64) -> Vec<u8> {
    let integer = |i: usize| (i as i64 * 7919 % range) - range / 3;
    (0..n).flat_map(|i| integer(i).to_le_bytes()).collect()
}

const SMALL: [&str; 2] = ["--device-memory", "200kB"];

#[test]
fn dot_products() {
    let files = Files::new();
    for n in [0, 1, 33, 4095, 4097, 50_001] {
        let a = files.npy("a.npy", "<f4", &[n], "False", &floats(n));
        let reversed: Vec<u8> = floats(n).chunks(4).rev().flatten().copied().collect();
        let b = files.npy("b.npy", "<f4", &[n], "False", &reversed);
        same(&["dot", &a, &b, SMALL[0], SMALL[1]]);
        same(&["dot", &a, &b, "--exact"]);
    }
}

#[test]
fn parts_of_any_layout() {
    let files = Files::new();
    let shapes: [&[usize]; 8] = [
        &[6, 5, 7],
        &[1, 40, 3],
        &[2, 2, 2000],
        &[3000, 2],
        &[2, 3000],
        &[1, 1],
        &[0, 4],
        &[17],
    ];
    for shape in shapes {
        let n = shape.iter().product();
        for order in ["False", "True"] {
            let x = files.npy("x.npy", "<f4", shape, order, &floats(n));
            for command in ["sum", "argmax", "min-max"] {
                for axes in ["0", "-1", "0,1", "0,1,2"] {
                    if axes.split(',').count() > shape.len() || (n == 0 && command != "sum") {
                        continue;
                    }
                    same(&[command, &x, "--axis", axes]);
                }
            }
        }
    }
    let x = files.npy("x.npy", "<f4", &[12_000], "False", &floats(12_000));
    for command in [
        &["sum"][..],
        &["mean"],
        &["var", "--ddof", "1"],
        &["norm"],
        &["norm", "--order", "inf"],
        &["product"],
        &["argmin"],
        &["count", "--less", "0"],
    ] {
        for rows in ["1", "4", "3000", "12000"] {
            same(&[command, &[&x, "--rows", rows][..], &SMALL].concat());
        }
    }
    for offsets in [
        &[0u32, 12_000][..],
        &[5],
        &[5, 8, 8, 8, 8, 8, 8, 8, 8, 9_000, 9_001],
        &[100, 200, 300, 4000, 12_000],
    ] {
        let bytes: Vec<u8> = offsets.iter().flat_map(|at| at.to_le_bytes()).collect();
        let by = files.npy("by.npy", "<u4", &[offsets.len()], "False", &bytes);
        for command in ["sum", "mean", "argmax", "max"] {
            same(&[command, &x, "--segments", &by]);
        }
    }
}

#[test]
fn results_in_a_file_are_written_once() {
    let files = Files::new();
    let x = files.npy("x.npy", "<f4", &[30, 50], "False", &floats(1500));
    let keys = files.npy("keys.npy", "<i8", &[1500], "False", &integers(1500, 30));
    let (one, all) = (files.path("one.npy"), files.path("all.npy"));
    let commands: [&[&str]; 4] = [
        &["sum", &x, "--axis", "0", "--output"],
        &["argmin", &x, "--rows", "300", "--output"],
        &["count-by-key", &keys, "--ignore-others", "--output"],
        &["group-by", &keys, &x, "--sorted", "--out"],
    ];
    for command in commands {
        of_one(&[command, &[&one]].concat());
        of_ranks(3, &[command, &[&all]].concat());
        let read = |path: &String| fs::read(path).unwrap();
        assert!(read(&one) == read(&all), "{command:?}");
        fs::remove_file(&all).unwrap();
    }
}

#[test]
fn keys() {
    let files = Files::new();
    for n in [0, 1, 2, 1000, 9001] {
        let x = files.npy("x.npy", "<i8", &[n], "False", &integers(n, 1 << 40));
        let y = files.npy("y.npy", "<f4", &[n], "False", &floats(n));
        let range = if n > 1 { 30 } else { 1 };
        let keys = files.npy("keys.npy", "<i8", &[n], "False", &integers(n, range));
        for (values, op) in [(&x, "sum"), (&x, "min"), (&y, "max")] {
            let words = ["reduce-by-key", values, "--keys", &keys, "--op", op];
            same(&[&words[..], &["--ignore-others"], &SMALL].concat());
            same(&[&words[..], &["--ignore-others", "--cells", "7"]].concat());
        }
        same(&["count-by-key", &keys, "--ignore-others"]);
        same(&["count-by-key", &keys, "--ignore-others", "--cells", "3"]);
        for values in [&x, &y] {
            let ops = "sum,count,mean,min,max";
            same(&["group-by", &keys, values, "--sorted", "--ops", ops]);
        }
        same(&["group-by", &keys, &x, "--sorted", "--ops", "count"]);
    }
}

#[test]
fn failures_are_those_of_one_process() {
    let files = Files::new();
    let x = files.npy("x.npy", "<f4", &[90, 100], "False", &floats(9000));
    let keys = files.npy("keys.npy", "<i8", &[9000], "False", &integers(9000, 30));
    let short = files.npy("short.npy", "<i8", &[7], "False", &integers(7, 3));
    let commands: [&[&str]; 9] = [
        &["dot", &x, &keys],
        &["dot", &keys, &short],
        &["sum", &x, "--rows", "7"],
        &["sum", &x, "--axis", "2"],
        &["sum", &x, "--segments", &short],
        &["reduce-by-key", &x, "--keys", &short],
        &["count-by-key", &keys],
        &["count-by-key", &x],
        &["group-by", &keys, &x, "--device-memory", "1kB"],
    ];
    for words in commands {
        let (one, _) = report_of(1, words);
        let one = one.unwrap_err().to_string();
        for size in [2, 3] {
            let (all, _) = report_of(size, words);
            let all = all.unwrap_err().to_string();
            match words[0] {
                // Each rank needs memory for its items.
                "group-by" => assert!(all.contains("--device-memory 1000 is too small"), "{all}"),
                _ => assert_eq!(all, one, "{words:?} on {size} ranks"),
            }
        }
    }
}

/// A rank that fails where it reads its part tells the others.
#[test]
fn a_failure_of_one_rank_is_one_of_all() {
    let files = Files::new();
    let x = files.npy("x.npy", "<f4", &[9000], "False", &floats(9000));
    let keys: Vec<u8> = (0..9000i32)
        .flat_map(|i| (i / 8990).to_le_bytes())
        .collect();
    let keys = files.npy("keys.npy", "<i4", &[9000], "False", &keys);
    // The group of rank 0 fits, and that of the last does not.
    let offsets: Vec<u8> = [0u32, 1000, 9000]
        .iter()
        .flat_map(|at| at.to_le_bytes())
        .collect();
    let by = files.npy("by.npy", "<u4", &[3], "False", &offsets);
    let memory = ["--device-memory", "140kB"];
    for words in [
        &[
            "sum",
            &x,
            "--segments",
            &by,
            "--output",
            &files.path("none/out.npy"),
        ][..],
        &["sum", &x, "--segments", &by, memory[0], memory[1]],
        &["group-by", &keys, &x, memory[0], "400kB"],
    ] {
        let (report, _) = report_of(2, words);
        let failure = report.unwrap_err();
        assert!(!is_told(&failure), "{words:?}: {failure}");
    }
    let (report, _) = report_of(3, &["dot", &x, "none/x.npy"]);
    assert!(report.unwrap_err().to_string().contains("none/x.npy"));
}

#[test]
fn each_rank_reads_its_part() {
    let files = Files::new();
    let n = 100_000;
    let x = files.npy(
        "x.npy",
        "<i8",
        &[n / 50, 50],
        "False",
        &integers(n, 1 << 40),
    );
    let keys = files.npy("keys.npy", "<i8", &[n], "False", &integers(n, 30));
    let bytes = 8 * n as u64;
    let commands: [(&[&str], u64); 8] = [
        (&["sum", &x], 1),
        (&["dot", &x, &x], 2),
        (&["sum", &x, "--axis", "1"], 1),
        (&["sum", &x, "--rows", "100"], 1),
        (
            &["count-by-key", &keys, "--cells", "30", "--ignore-others"],
            1,
        ),
        (&["count-by-key", &keys, "--ignore-others"], 2),
        (
            &["reduce-by-key", &x, "--keys", &keys, "--ignore-others"],
            3,
        ),
        (&["group-by", &keys, &x], 2),
    ];
    for (words, arrays) in commands {
        let report = report_of(4, words).0.unwrap();
        let quarter = arrays * bytes / 4;
        assert!(
            (quarter * 9 / 10..quarter * 11 / 10).contains(&report.bytes),
            "{words:?}: {} of {} bytes",
            report.bytes,
            arrays * bytes
        );
        assert_eq!(report.n, n);
    }
}
