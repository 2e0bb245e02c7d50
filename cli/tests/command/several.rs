//! Several files: one array, or one result for each.

use std::fs;

use serde_json::Value;

use crate::files::{Folder, npy};
use crate::{answer, answers, piped, warpfold};

#[test]
fn several_files_are_one_array() {
    let folder = Folder::new();
    let all: Vec<i32> = (0..3000).map(|i| i * 7919 % 1009 - 500).collect();
    let whole = folder.npy("whole.npy", &all);
    let (first, second, last) = (&all[..1000], &all[1000..1001], &all[1001..]);
    let parts = [
        folder.npy("a.npy", first),
        folder.npy::<i32>("empty.npy", &[]),
        folder.raw("b", second),
        folder.npz("c.npz", true, &[("c.npy", &npy(last))]),
    ];
    let parts = parts.each_ref().map(String::as_str);
    for command in ["sum", "argmin", "argmax", "min-max", "mean"] {
        let right = answer(&[command, &whole]);
        for got in answers(&[&[command, "--dtype=i32"], &parts[..]].concat()) {
            assert_eq!(got, right, "{command}");
        }
    }
    // Standard input between two files.
    let words = [
        "argmin",
        parts[0],
        "-",
        parts[3],
        "--device=cpu",
        "--dtype=i32",
    ];
    let output = piped(&words, &npy(second));
    assert_eq!(output.stdout, answer(&["argmin", &whole]));

    let json = answer(&["sum", parts[0], parts[3], "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["files"], serde_json::json!([parts[0], parts[3]]));
    assert_eq!((&report["n"], report.get("file")), (&2999.into(), None));

    let keys: Vec<u32> = (0..3000).map(|i| i % 5).collect();
    let keys = folder.npy("keys.npy", &keys);
    let right = answer(&["reduce-by-key", &whole, "--keys", &keys]);
    let by_key = ["reduce-by-key", "--keys", &keys, "--dtype=i32"];
    for got in answers(&[&by_key, &parts[..]].concat()) {
        assert_eq!(got, right);
    }
}

#[test]
fn files_of_one_array_have_one_type() {
    let folder = Folder::new();
    let (a, b) = (folder.npy("a.npy", &[1i32]), folder.npy("b.npy", &[1.5f64]));
    let output = warpfold(&["sum", &a, &b]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
    let text = "b.npy holds f64, but ";
    assert!(output.stderr.contains(text), "{output:?}");
    assert!(
        output
            .stderr
            .contains("a.npy holds i32: files of one array must have"),
        "{output:?}"
    );
    let output = warpfold(&[
        "min",
        &folder.npy::<i32>("c.npy", &[]),
        &folder.npy::<i32>("d.npy", &[]),
    ]);
    assert!(
        output
            .stderr
            .contains("c.npy and 1 more: 0 element(s), too few for min"),
        "{output:?}"
    );
}

#[test]
fn one_result_for_each_file() {
    let folder = Folder::new();
    let (a, b) = (
        folder.npy("a.npy", &[1i32, 5]),
        folder.npy("b.npy", &[1.5f64, -2.0]),
    );
    assert_eq!(
        answer(&["sum", "--each", &a, &b]),
        format!("6 {a}\n-0.5 {b}\n")
    );
    assert_eq!(
        answer(&["argmin", "--each", &b, &a]),
        format!("1 -2.0 {b}\n0 1 {a}\n")
    );
    let lines = answer(&["max", "--each", "--json", &a, &b]);
    let reports: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(reports.len(), 2);
    for (report, file, result) in [
        (&reports[0], &a, Value::from(5)),
        (&reports[1], &b, 1.5.into()),
    ] {
        assert_eq!(
            (&report["file"], &report["result"]),
            (&file.as_str().into(), &result)
        );
        assert_eq!((&report["n"], report.get("files")), (&2.into(), None));
    }
    // The same keys for each file.
    let keys = folder.npy("keys.npy", &[1u32, 0]);
    let by_key = answer(&["reduce-by-key", "--each", &a, &b, "--keys", &keys]);
    assert_eq!(by_key, format!("5 {a}\n1 {a}\n-2.0 {b}\n1.5 {b}\n"));
}

#[test]
fn one_of_the_files_fails() {
    let folder = Folder::new();
    let (a, b) = (folder.npy("a.npy", &[1i32]), folder.npy("b.npy", &[2i32]));
    let (missing, empty) = (
        folder.path("missing.npy"),
        folder.npy::<i32>("empty.npy", &[]),
    );
    let output = warpfold(&["max", "--each", "--device=cpu", &a, &missing, &empty, &b]);
    assert_eq!(output.code, Some(1));
    assert_eq!(output.stdout, format!("1 {a}\n2 {b}\n"));
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{output:?}");
    assert!(lines[0].contains("missing.npy: No such file"), "{output:?}");
    assert!(
        lines[1].contains("empty.npy: 0 element(s), too few"),
        "{output:?}"
    );
    assert_eq!(lines[2], "warpfold: 2 of 4 files failed");
    // Without --each there is no result.
    let output = warpfold(&["max", "--device=cpu", &a, &missing, &b]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));

    // The exit code of a single file is that of its failure; --output and --each exclude each other.
    let raw = folder.file("raw", &[0; 8]);
    assert_eq!(warpfold(&["sum", "--each", &raw]).code, Some(2));
    let keys = folder.npy("keys.npy", &[0u32]);
    let cells = folder.path("out.npy");
    let by_key = [
        "reduce-by-key",
        "--each",
        &a,
        &b,
        "--keys",
        &keys,
        "--output",
        &cells,
    ];
    let output = warpfold(&by_key);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(2), ""),
        "{output:?}"
    );
    assert!(fs::metadata(&cells).is_err());
}
