//! Reductions by key.

use std::fs;

use npyz::NpyFile;

use crate::files::{Folder, Sample, for_every_type};
use crate::{answer, answers, warpfold};

fn lines(integers: &[i64], shown: fn(i64) -> String) -> String {
    integers.iter().map(|x| shown(*x) + "\n").collect()
}

#[test]
fn every_type_with_every_key_type_in_one_chunk_and_in_many() {
    fn check<T: Sample>(folder: &Folder) {
        check_keys::<T, u8>(folder);
        check_keys::<T, u16>(folder);
        check_keys::<T, u32>(folder);
        check_keys::<T, u64>(folder);
        check_keys::<T, i8>(folder);
        check_keys::<T, i16>(folder);
        check_keys::<T, i32>(folder);
        check_keys::<T, i64>(folder);
    }
    fn check_keys<T: Sample, K: Sample>(folder: &Folder) {
        let elements: Vec<T> = (0..500).map(|i| T::of(i % 90)).collect();
        let keys: Vec<K> = (0..500).map(|i| K::of(i * i % 7)).collect();
        let mut cells = [(0, 90, -1); 7];
        for i in 0..500 {
            let (sum, min, max) = &mut cells[(i * i % 7) as usize];
            let value = i % 90;
            (*sum, *min, *max) = (*sum + value, value.min(*min), value.max(*max));
        }
        // Squares modulo 7 are 0, 1, 2 and 4; the other keys have no elements.
        let cells: Vec<_> = cells.into_iter().take(5).collect();
        let file = folder.npy("a.npy", &elements);
        let keys = folder.npy("keys.npy", &keys);
        let reduced = |op| {
            let words = ["reduce-by-key", &file, "--keys", &keys, "--dtype", T::NAME];
            answers(&[&words, &["--op", op][..]].concat())
        };
        let sums: Vec<i64> = cells.iter().map(|cell| cell.0).collect();
        for text in reduced("sum") {
            assert_eq!(text, lines(&sums, T::shown));
        }
        for op in ["min", "max"] {
            for text in reduced(op) {
                let got: Vec<&str> = text.lines().collect();
                for (key, cell) in cells.iter().enumerate().filter(|(key, _)| *key != 3) {
                    let right = if op == "min" { cell.1 } else { cell.2 };
                    assert_eq!(got[key], T::shown(right), "{op} {key}");
                }
            }
        }
    }
    for_every_type!(check(&Folder::new()));
}

#[test]
fn keys_without_a_cell() {
    let folder = Folder::new();
    let values = folder.npy("a.npy", &[1i32, 2, 3, 4, 5]);
    let keys = folder.npy("keys.npy", &[0i64, -1, 2, i64::MIN, 2]);
    let by_key = |options: &[&str]| {
        let words = ["reduce-by-key", &values, "--keys", &keys, "--device=cpu"];
        let output = warpfold(&[&words, options, &["--ignore-others"]].concat());
        assert_eq!(output.code, Some(0));
        let strict = warpfold(&[&words, options].concat());
        assert_eq!((strict.code, strict.stdout.as_str()), (Some(1), ""));
        let number = output.stderr.strip_prefix("warpfold: ").unwrap();
        assert!(strict.stderr.contains(number.trim_end()), "{strict:?}");
        (output.stdout, output.stderr)
    };
    let rejected = |n| format!("warpfold: {n} of 5 keys have no cell\n");
    assert_eq!(by_key(&[]), ("1\n0\n8\n".into(), rejected(2)));
    assert_eq!(by_key(&["--cells", "2"]), ("1\n0\n".into(), rejected(4)));
    assert_eq!(by_key(&["--cells", "0"]), ("".into(), rejected(5)));
    assert_eq!(by_key(&["--cells", "4"]).0, "1\n0\n8\n0\n");
    let (json, _) = by_key(&["--json", "--op=max"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let result = serde_json::json!({"cells": [1, i64::MIN, 5], "rejected": 2});
    assert_eq!(report["result"], result);
    // The values, and the keys twice.
    assert_eq!(report["bytes"], 5 * 4 + 2 * 5 * 8);
}

#[test]
fn without_ignore_others_the_first_key_without_a_cell_is_named() {
    let folder = Folder::new();
    let n = 10_000;
    let values = folder.npy("a.npy", &vec![1i32; n]);
    let fails = |keys: &str, options: &[&str], text: &str| {
        let words = ["reduce-by-key", &values, "--keys", keys, "--device=cpu"];
        // Also in many chunks.
        for more in [&[][..], &["--device-memory=140KiB"]] {
            let output = warpfold(&[&words, options, more].concat());
            assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
            assert_eq!(output.stderr, format!("warpfold: {keys}: {text}\n"));
        }
    };
    let mut keys: Vec<i16> = (0..n).map(|i| (i % 7) as i16).collect();
    (keys[6789], keys[9876]) = (-3, -2);
    fails(
        &folder.npy("negative.npy", &keys),
        &[],
        "2 of 10000 keys have no cell, the first of them -3 at index 6789; the keys of 7 cells are 0 to 6; give \
         --ignore-others to leave such elements out",
    );
    let keys: Vec<u8> = (0..n).map(|i| (i / 4999) as u8).collect();
    let keys = folder.npy("many.npy", &keys);
    fails(
        &keys,
        &["--cells=1"],
        "5001 of 10000 keys have no cell, the first of them 1 at index 4999; the keys of 1 cells are 0 to 0; give \
         more --cells, or --ignore-others to leave such elements out",
    );
    fails(
        &keys,
        &["--cells=0"],
        "10000 of 10000 keys have no cell, the first of them 0 at index 0; the keys of 0 cells are none; give more \
         --cells, or --ignore-others to leave such elements out",
    );
    // No file either.
    let output = folder.path("out.npy");
    let words = [
        "reduce-by-key",
        &values,
        "--keys",
        &keys,
        "--cells=1",
        "--output",
        &output,
    ];
    assert_eq!(warpfold(&words).code, Some(1));
    assert!(fs::metadata(&output).is_err());
}

#[test]
fn empty_input_and_only_negative_keys_give_no_cells() {
    let folder = Folder::new();
    let by_key = |values: &str, keys: &str| {
        warpfold(&["reduce-by-key", values, "--keys", keys, "--device=cpu"])
    };
    let (values, keys) = (
        folder.npy::<f32>("a.npy", &[]),
        folder.npy::<u32>("keys.npy", &[]),
    );
    let output = by_key(&values, &keys);
    assert_eq!(
        (output.code, output.stdout, output.stderr),
        (Some(0), "".into(), "".into())
    );
    let (values, keys) = (
        folder.npy("a.npy", &[1.0f32]),
        folder.npy("keys.npy", &[-7i32]),
    );
    let output = warpfold(&[
        "reduce-by-key",
        &values,
        "--keys",
        &keys,
        "--device=cpu",
        "--ignore-others",
    ]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""));
    assert_eq!(output.stderr, "warpfold: 1 of 1 keys have no cell\n");
}

#[test]
fn cells_in_a_file() {
    let folder = Folder::new();
    let values = folder.npy("a.npy", &[1.5f32, 2.0, 3.0]);
    let keys = folder.npy("keys.npy", &[1u32, 1, 0]);
    let output = folder.path("out.npy");
    let words = [
        "reduce-by-key",
        &values,
        "--keys",
        &keys,
        "--output",
        &output,
    ];
    assert_eq!(answer(&words), "");
    let npy = NpyFile::new(fs::File::open(&output).unwrap()).unwrap();
    assert_eq!(npy.shape(), [2]);
    assert_eq!(npy.into_vec::<f64>().unwrap(), [3.0, 3.5]);
    assert_eq!(answer(&["max", &output]), "3.5\n");
    let report: serde_json::Value =
        serde_json::from_str(&answer(&[&words[..], &["--json"]].concat())).unwrap();
    let result = serde_json::json!({"output": output, "cells": 2, "rejected": 0});
    assert_eq!(report["result"], result);
}
