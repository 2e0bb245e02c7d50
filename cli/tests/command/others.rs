//! Big-endian arrays, pipes, and commands without a reduction.

use std::fs;
use std::process::Command;

use crate::files::{Folder, Sample, big_endian, bytes, for_every_type, header, npy};
use crate::{answer, answers, piped, warpfold};

#[test]
fn big_endian_arrays() {
    fn check<T: Sample>(folder: &Folder) {
        let elements: Vec<T> = (0..1000).map(|i| T::of(i * 7 % 23)).collect();
        let content = big_endian(&elements);
        let file = folder.file("big.npy", &content);
        let little = folder.npy("little.npy", &elements);
        for command in ["sum", "argmax", "min", "max"] {
            let dtype = ["--dtype", T::NAME];
            let right = answer(&[&[command, &little], &dtype[..]].concat());
            for got in answers(&[&[command, &file], &dtype[..]].concat()) {
                assert_eq!(got, right, "{command} {}", T::NAME);
            }
            let output = piped(
                &[&[command, "-", "--device=cpu"], &dtype[..]].concat(),
                &content,
            );
            assert_eq!(output.stdout, right, "{command} {}", T::NAME);
        }
    }
    for_every_type!(check(&Folder::new()));
}

#[test]
fn standard_input() {
    let elements: Vec<i32> = (0..100_000).map(|i| (i - 7) % 1000).collect();
    let (npy, raw) = (npy(&elements), bytes(&elements));
    let sum = |words: &[&str], bytes: &[u8]| {
        let output = piped(&[&["sum", "-", "--device=cpu"], words].concat(), bytes);
        assert_eq!(
            (output.code, output.stderr.as_str()),
            (Some(0), ""),
            "{words:?}"
        );
        output.stdout
    };
    let right = format!("{}\n", elements.iter().map(|x| i64::from(*x)).sum::<i64>());
    assert_eq!(sum(&[], &npy), right);
    assert_eq!(sum(&["--dtype=i32"], &npy), right);
    assert_eq!(sum(&["--dtype=i32"], &raw), right);
    // Chunks that end in the middle of a read from the pipe.
    assert_eq!(sum(&["--dtype=i32", "--device-memory=133001"], &raw), right);
    assert_eq!(sum(&["--device-memory=133001"], &npy), right);
    assert_eq!(sum(&["--dtype=i32"], b""), "0\n");
    // Fewer bytes than the signature of a .npy file.
    assert_eq!(sum(&["--dtype=i8"], &[1, 2, 3]), "6\n");
    let report: serde_json::Value = serde_json::from_str(&sum(&["--json"], &npy)).unwrap();
    assert_eq!(
        (&report["file"], &report["n"]),
        (&"-".into(), &100_000.into())
    );

    let fails = |words: &[&str], bytes: &[u8], code, text: &str| {
        let output = piped(&[words, &["--device=cpu"]].concat(), bytes);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(code), ""),
            "{output:?}"
        );
        assert!(output.stderr.contains(text), "{output:?}");
    };
    let no_type = "standard input: there is no .npy header; give the type of its raw elements";
    fails(&["sum", "-"], &raw, 2, no_type);
    fails(&["sum", "-"], b"", 2, no_type);
    fails(
        &["sum", "-"],
        b"PK\x03\x04",
        2,
        "cannot be read from a pipe",
    );
    fails(&["sum", "-", "-"], &npy, 2, "read only once");
    fails(
        &["sum", "-", "--dtype=f32"],
        &npy,
        1,
        "standard input holds i32, not f32",
    );
    let short = &npy[..npy.len() - 1];
    fails(&["sum", "-"], short, 1, "standard input: too short: ");
    let wrong = "standard input: its length, 399999 bytes, is not a multiple of 4";
    fails(&["sum", "-", "--dtype=i32"], &raw[..399_999], 1, wrong);
    fails(
        &["max", "-", "--dtype=i32"],
        b"",
        1,
        "standard input: 0 element(s), too few for max",
    );
    let huge = header("<f4", usize::MAX);
    fails(
        &["sum", "-"],
        &huge,
        1,
        "but the header and the elements of its shape need 2^64 or more",
    );
}

/// Like the shell's `<(..)`.
#[test]
fn named_pipes() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let content = npy(&[1.5f32, 2.0, -7.0]);
    std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, &content).unwrap());
        assert_eq!(answer(&["argmin", &pipe]), "2 -7.0\n");
    });
}

#[test]
fn keys_from_a_pipe() {
    let folder = Folder::new();
    let values = folder.npy("a.npy", &[1i32, 2, 3, 4]);
    let by_key = |words: &[&str], keys: &[u8]| {
        let by_key = ["reduce-by-key", "--device=cpu", "--keys"];
        piped(&[&by_key, words].concat(), keys)
    };
    let keys = npy(&[1u32, 0, 1, 1]);
    let output = by_key(&["-", &values, "--cells=2"], &keys);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "2\n8\n"));
    let output = by_key(&["-", &values], &keys);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("give --cells, or save"),
        "{output:?}"
    );
    let output = by_key(&["-", "-", "--cells=2"], &keys);
    assert_eq!(output.code, Some(2));

    // The number of values is known only at their end.
    let keys = folder.npy("keys.npy", &[1u32, 0, 1, 1]);
    let words = [&keys, "-", "--dtype=i32"];
    let output = by_key(&words, &bytes(&[1i32, 2, 3, 4]));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "2\n8\n"));
    for (n, raw) in [(3, bytes(&[1i32; 3])), (5, bytes(&[1i32; 5])), (0, vec![])] {
        for memory in ["2GiB", "131152"] {
            let output = by_key(&[&words[..], &["--device-memory", memory]].concat(), &raw);
            assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{n}");
            let text = format!("keys.npy has 4 keys, but standard input has {n} elements");
            assert!(output.stderr.contains(&text), "{output:?}");
        }
    }
}

#[test]
fn devices() {
    let text = warpfold(&["devices"]);
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = text.stdout.lines().collect();
    assert!(lines[0].starts_with("cpu     CPU, "), "{text:?}");
    assert!(lines[0].ends_with(" threads"), "{text:?}");
    let json = warpfold(&["devices", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["devices"][0]["device"], "cpu");
    assert!(json["devices"][0]["threads"].as_u64().unwrap() > 0);
    match warpfold::Device::first() {
        Ok(gpu) => {
            let info = gpu.info().unwrap();
            let listed = &json["devices"][1];
            assert_eq!(listed["device"], "cuda:0");
            assert_eq!(listed["name"], info.name);
            assert_eq!(listed["memory_bytes"], info.total_memory);
            assert!(lines[1].starts_with("cuda:0  "), "{text:?}");
            assert!(lines[1].contains("compute capability"), "{text:?}");
        }
        Err(_) => {
            assert!(lines[1].starts_with("cuda"), "{text:?}");
            assert!(lines[1].contains("not usable: "), "{text:?}");
            assert!(!json["unusable"][0]["reason"].as_str().unwrap().is_empty());
        }
    }
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = answer_without_device(&["completions", shell]);
        for word in ["warpfold", "argmin", "reduce-by-key", "device-memory"] {
            assert!(script.contains(word), "{shell} {word}");
        }
    }
    let page = answer_without_device(&["man"]);
    assert!(page.contains(".TH warpfold 1"), "{page}");
    assert!(page.contains("warpfold\\-sum(1)"), "{page}");
    let page = answer_without_device(&["man", "count"]);
    assert!(page.contains(".TH warpfold-count 1"), "{page}");
    assert!(page.contains("\\-\\-nonzero"), "{page}");

    for (words, text) in [
        (&["man", "mode"][..], "there is no command \"mode\""),
        (&["completions", "dos"], "possible values: bash"),
        (&["completions"], "<SHELL>"),
    ] {
        let output = warpfold(words);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(2), ""),
            "{words:?}"
        );
        assert!(output.stderr.contains(text), "{output:?}");
    }
}

/// The standard output of a successful command without the option `--device`.
fn answer_without_device(words: &[&str]) -> String {
    let output = warpfold(words);
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    output.stdout
}
