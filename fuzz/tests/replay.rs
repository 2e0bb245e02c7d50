//! Replays all inputs of `corpus` and `found`.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use warpfold_fuzz::{TARGETS, Target};

/// The inputs of a target in `corpus` or `found`.
fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(target);
    let Ok(entries) = fs::read_dir(&folder) else {
        return vec![];
    };
    let mut inputs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

/// The inputs for which the target panics.
fn failing(target: Target, inputs: &[PathBuf]) -> Vec<&Path> {
    let (_, run) = target;
    let fails = |input: &&PathBuf| {
        let bytes = fs::read(input).unwrap();
        panic::catch_unwind(AssertUnwindSafe(|| run(&bytes))).is_err()
    };
    inputs.iter().filter(fails).map(PathBuf::as_path).collect()
}

#[test]
fn no_known_input_fails() {
    for target in TARGETS {
        let mut all = inputs("corpus", target.0);
        assert!(!all.is_empty(), "no initial inputs for {}", target.0);
        all.extend(inputs("found", target.0));
        assert_eq!(failing(target, &all), Vec::<&Path>::new(), "{}", target.0);
    }
}

#[test]
fn a_failing_target_is_noticed() {
    let fails: Target = ("files", |bytes| assert!(bytes.is_empty()));
    let inputs = inputs("corpus", "files");
    assert_eq!(failing(fails, &inputs).len(), inputs.len());
}

#[test]
fn files_of_numpy_are_read_as_every_type() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/tests/data/npy");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let content = fs::read(entry.unwrap().path()).unwrap();
        for dtype in 0..12 {
            warpfold_fuzz::files(&[&[dtype], &content[..]].concat());
        }
        files += 1;
    }
    assert!(files > 20);
}
