//! A crate outside of the workspace, as a user has it, with operators and elements of its own
//! (`examples`): it builds, and gives the right answers on the CPU and on the simulated GPU. On a GPU
//! `cargo xtask dist` brings the same program.

use std::process::Stdio;
use xtask::{process, workspace};

/// What cargo prints in that workspace, if it succeeds.
fn cargo(args: &[&str]) -> String {
    let (command, rest) = args.split_first().expect("a command");
    let manifest = workspace::root().join("examples/Cargo.toml");
    let mut cargo = process::cargo();
    cargo
        .args([command, "--quiet", "--locked", "--manifest-path"])
        .arg(&manifest)
        // What is built of this repository's crates on the way is shared with others.
        .arg("--target-dir")
        .arg(
            workspace::target_dir()
                .expect("cargo knows it")
                .join("outside"),
        )
        // Its own configuration, not the repository's.
        .current_dir(manifest.parent().expect("it is in a folder"))
        .args(rest)
        .stdin(Stdio::null());
    let output = cargo.output().expect("cargo runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

/// Runs the program on a device of this name.
fn run(device: &str) {
    let package = ["--package", "outside", "--features", "simulator"];
    let out = cargo(&[&["run"], &package[..], &["--", device]].concat());
    let passed = format!(" passed, 0 failed, on {device}");
    assert!(out.contains(&passed), "{out}");
}

#[test]
fn operators_of_another_crate_are_right_on_the_cpu_and_under_the_simulator() {
    run("cpu");
    run("simulator");
}

#[test]
fn operators_of_another_crate_keep_the_laws() {
    let out = cargo(&["test", "--package", "outside-kernels", "--test", "laws"]);
    assert!(out.contains("test result: ok. 9 passed; 0 failed"), "{out}");
}

/// The operator in README is that of the crate which the test above runs.
#[test]
fn the_readme_shows_lines_of_the_crate() {
    let read = |path: &str| std::fs::read_to_string(workspace::root().join(path)).expect(path);
    let readme = read("README.md");
    let (_, rest) = readme
        .split_once("// kernels/src/lib.rs\n")
        .expect("a block of code");
    let (block, _) = rest.split_once("```").expect("its end");
    let source = read("examples/kernels/src/lib.rs");
    let mut lines = source.lines().map(str::trim);
    let shown = block.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in shown {
        assert!(
            lines.any(|other| other == line),
            "not there, or not in this order: {line}"
        );
    }
}

/// Lines of code: neither comments nor empty.
fn code(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

/// Each page that explains a file line by line shows all lines of it, in their order. The first line of a block
/// names its file.
#[test]
fn the_pages_show_their_files_line_by_line() {
    let folder = workspace::root().join("examples");
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect(path);
    for (page, files) in PAGES {
        let page = read(page);
        for file in files {
            let heading = format!("```rust\n// {file}\n");
            let blocks = page.split(&heading).skip(1);
            let shown: String = blocks
                .map(|rest| rest.split_once("```").expect("the end of a block").0)
                .collect();
            assert_eq!(code(&shown), code(&read(file)), "{file}");
        }
    }
}

/// Pages and the files that they explain.
const PAGES: [(&str, &[&str]); 1] = [("log_sum_exp.md", &["kernels/src/log_sum_exp.rs"])];
