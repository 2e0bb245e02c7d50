//! The program on small files, compared with plain loops.

mod answers;
mod archives;
mod by_key;
mod count_by_key;
mod exact;
mod failures;
mod files;
mod group_by;
mod others;
mod parts;
mod parts_failures;
mod several;

use std::io::Write;
use std::process::{Command, Stdio};

/// The result of a run of the program.
#[derive(Debug)]
struct Output {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program.
fn warpfold(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
    let output = command.args(words).stdin(Stdio::null()).output().unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program with `bytes` in a pipe as standard input.
fn piped(words: &[&str], bytes: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
    command.args(words).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // Writing fails if the program exits before it has read all bytes.
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output().unwrap()
    });
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The standard output of a successful run on the CPU.
#[track_caller]
fn answer(words: &[&str]) -> String {
    let output = warpfold(&[words, &["--device", "cpu"]].concat());
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    output.stdout
}

/// Memory for one large chunk, and for chunks of 964 bytes (less with cells).
const MEMORY: [&str; 2] = ["2GiB", "133000"];

/// The standard outputs on the CPU and on the device `auto`, with one chunk and with many.
fn answers(words: &[&str]) -> Vec<String> {
    let mut answers = vec![];
    for device in ["cpu", "auto"] {
        for memory in MEMORY {
            let options = ["--device", device, "--device-memory", memory];
            let output = warpfold(&[words, &options].concat());
            assert_eq!(output.code, Some(0), "{words:?}: {}", output.stderr);
            answers.push(output.stdout);
        }
    }
    answers
}
