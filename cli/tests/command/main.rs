//! The program itself, on small files, against plain loops.

mod answers;
mod by_key;
mod failures;
mod files;

use std::process::{Command, Stdio};

/// What the program said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program.
fn warpfold(words: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
    let output = command.args(words).stdin(Stdio::null()).output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What it prints where nothing is wrong, on the CPU.
#[track_caller]
fn answer(words: &[&str]) -> String {
    let said = warpfold(&[words, &["--device", "cpu"]].concat());
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    said.stdout
}
