//! The program itself, on small files, against plain loops.

mod answers;
mod archives;
mod by_key;
mod failures;
mod files;
mod others;
mod several;

use std::io::Write;
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

/// Runs it with a pipe as standard input, into which `bytes` are written.
fn piped(words: &[&str], bytes: &[u8]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
    command.args(words).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that fails does not read all.
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output().unwrap()
    });
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

/// Room for one chunk, and for many: of 964 bytes, or less with cells.
const MEMORY: [&str; 2] = ["2GiB", "133000"];

/// What it prints on the CPU and on what `auto` is, in one chunk and in many.
fn answers(words: &[&str]) -> Vec<String> {
    let mut answers = vec![];
    for device in ["cpu", "auto"] {
        for memory in MEMORY {
            let place = ["--device", device, "--device-memory", memory];
            let said = warpfold(&[words, &place].concat());
            assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
            answers.push(said.stdout);
        }
    }
    answers
}
