//! Counts by key.

use std::fs;

use npyz::NpyFile;

use crate::files::{Folder, Sample, bytes, npy};
use crate::{answer, answers, piped, warpfold};

#[test]
fn every_key_type_in_one_chunk_and_in_many() {
    fn check<K: Sample>() {
        let folder = Folder::new();
        // Squares modulo 7 are 0, 1, 2 and 4.
        let keys: Vec<i32> = (0..5000).map(|i| i * i % 7).collect();
        let count = |key: i32| keys.iter().filter(|k| **k == key).count();
        let lines =
            |cells: i32| -> String { (0..cells).map(|key| format!("{}\n", count(key))).collect() };
        let keys: Vec<K> = keys.iter().map(|key| K::of(*key)).collect();
        let file = folder.npy("keys.npy", &keys);
        for got in answers(&["count-by-key", &file]) {
            assert_eq!(got, lines(5), "{}", K::NAME);
        }
        for got in answers(&["count-by-key", &file, "--cells=12"]) {
            assert_eq!(got, lines(12), "{}", K::NAME);
        }
        let raw = folder.raw("keys.raw", &keys);
        for got in answers(&["count-by-key", &raw, "--dtype", K::NAME]) {
            assert_eq!(got, lines(5), "{}", K::NAME);
        }
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<i8>();
    check::<i16>();
    check::<i32>();
    check::<i64>();
}

#[test]
fn keys_without_a_cell() {
    let folder = Folder::new();
    let mut keys: Vec<i16> = (0..100_000).map(|i| (i % 7) as i16).collect();
    (keys[67_890], keys[98_765]) = (-3, 7);
    let file = folder.npy("keys.npy", &keys);
    let count = |key: i16| keys.iter().filter(|k| **k == key).count();
    let lines: String = (0..7).map(|key| format!("{}\n", count(key))).collect();
    let words = ["count-by-key", &file, "--device=cpu", "--cells=7"];
    // One chunk, and many.
    for memory in ["2GiB", "140KiB"] {
        let memory = ["--device-memory", memory];
        let output = warpfold(&[&words, &memory[..]].concat());
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
        assert_eq!(
            output.stderr,
            format!(
                "warpfold: {file}: 2 of 100000 keys have no cell, the first of them -3 at index 67890; the keys of 7 \
                 cells are 0 to 6; give --ignore-others to leave such elements out\n"
            )
        );
        let output = warpfold(&[&words, &memory[..], &["--ignore-others"]].concat());
        assert_eq!((output.code, &output.stdout), (Some(0), &lines));
        assert_eq!(output.stderr, "warpfold: 2 of 100000 keys have no cell\n");
    }
    // Without --cells, only negative keys have none.
    let words = ["count-by-key", &file, "--device=cpu", "--ignore-others"];
    let output = warpfold(&words);
    assert_eq!((output.code, output.stdout), (Some(0), lines + "1\n"));
    assert_eq!(output.stderr, "warpfold: 1 of 100000 keys have no cell\n");
}

#[test]
fn several_files_pipes_and_empty_input() {
    let folder = Folder::new();
    let a = folder.npy("a.npy", &[2u8, 0, 2]);
    let b = folder.npy("b.npy", &[1u8, 2]);
    let empty = folder.npy::<u8>("empty.npy", &[]);
    for got in answers(&["count-by-key", &a, &empty, &b]) {
        assert_eq!(got, "1\n1\n3\n");
    }
    assert_eq!(
        answer(&["count-by-key", "--each", &a, &b]),
        format!("1 {a}\n0 {a}\n2 {a}\n0 {b}\n1 {b}\n1 {b}\n")
    );
    assert_eq!(answer(&["count-by-key", &empty]), "");
    assert_eq!(answer(&["count-by-key", &empty, "--cells=2"]), "0\n0\n");

    let piped = |words: &[&str], content: &[u8]| {
        piped(
            &[&["count-by-key", "-", "--device=cpu"], words].concat(),
            content,
        )
    };
    let keys = [1u16, 1, 0];
    let output = piped(&["--cells=2"], &npy(&keys));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "1\n2\n"));
    let output = piped(&["--cells=2", "--dtype=u16"], &bytes(&keys));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "1\n2\n"));
    let output = piped(&[], &npy(&keys));
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    let text =
        "without --cells, keys are read twice, and a pipe can be read only once; give --cells";
    assert!(output.stderr.contains(text), "{output:?}");
}

#[test]
fn json_and_a_file_of_cells() {
    let folder = Folder::new();
    let keys = folder.npy("keys.npy", &[1u32, 3, 1]);
    let report = |options: &[&str]| -> serde_json::Value {
        let words = ["count-by-key", &keys, "--json"];
        serde_json::from_str(&answer(&[&words, options].concat())).unwrap()
    };
    let counted = report(&[]);
    assert_eq!(
        (&counted["op"], &counted["n"]),
        (&"count-by-key".into(), &3.into())
    );
    assert_eq!(
        counted["result"],
        serde_json::json!({"cells": [0, 2, 0, 1], "rejected": 0})
    );
    // The keys twice, or once.
    assert_eq!(counted["bytes"], 2 * 3 * 4);
    assert_eq!(report(&["--cells=4"])["bytes"], 3 * 4);
    let output = folder.path("out.npy");
    let written = report(&["--output", &output]);
    let result = serde_json::json!({"output": output, "cells": 4, "rejected": 0});
    assert_eq!(written["result"], result);
    let npy = NpyFile::new(fs::File::open(&output).unwrap()).unwrap();
    assert_eq!(npy.into_vec::<u64>().unwrap(), [0, 2, 0, 1]);
}

#[test]
fn failures() {
    let folder = Folder::new();
    let fails = |words: &[&str], text: &str| {
        let output = warpfold(&[&["count-by-key", "--device=cpu"], words].concat());
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
        assert!(output.stderr.contains(text), "{output:?}");
    };
    let floats = folder.npy("floats.npy", &[1.0f32]);
    fails(&[&floats], "floats.npy holds f32; keys must be integers");
    let missing = folder.path("missing.npy");
    fails(&[&missing], "missing.npy: No such file");
    let keys = folder.npy("keys.npy", &[u64::MAX, 1]);
    fails(
        &[&keys],
        "18446744073709551615 cells and chunks of one element require",
    );
    let output = folder.path("missing/out.npy");
    fails(
        &[&keys, "--cells=2", "--ignore-others", "--output", &output],
        "out.npy: No such file",
    );
}
