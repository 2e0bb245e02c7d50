//! Builds and tests other workspaces, like a user's, with their own operators, elements and kernels:
//! `examples`, and a project of `cargo xtask new`. Programs run on the CPU and on the simulated GPU.

use std::path::Path;
use std::process::Stdio;
use xtask::{process, workspace};

/// Runs cargo in a workspace and returns its output; panics if cargo fails.
fn cargo(folder: &Path, args: &[&str]) -> String {
    let (succeeds, text) = output(folder, args);
    assert!(succeeds, "{text}");
    text
}

/// Runs cargo in a workspace; returns whether it succeeds, and its output.
fn output(folder: &Path, args: &[&str]) -> (bool, String) {
    let (command, rest) = args.split_first().expect("a command");
    let mut cargo = process::cargo();
    cargo
        .args([command, "--quiet", "--target-dir"])
        // All tests share the builds of this repository's crates.
        .arg(
            workspace::target_dir()
                .expect("cargo metadata succeeds")
                .join("outside"),
        )
        // cargo reads the workspace's configuration, not the repository's.
        .current_dir(folder)
        .args(rest)
        .stdin(Stdio::null());
    let output = cargo.output().expect("cargo runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    (output.status.success(), format!("{out}{err}"))
}

/// Tests the laws of the operators, the stencil on the simulated GPU, and the programs on the CPU and on the
/// simulated GPU, by one command, so that each crate is compiled once.
#[test]
fn everything_is_right_on_the_cpu_and_under_the_simulator() {
    let packages = ["--package=outside-kernels", "--package=heat-kernels"];
    let programs = ["--package=outside", "--package=heat", "--bins"];
    let tests = ["--test=laws", "--test=simulator", "--test=programs"];
    let features = ["--features=outside/simulator"];
    let args = [
        &["test", "--locked"],
        &packages[..],
        &programs,
        &tests,
        &features,
    ]
    .concat();
    let out = cargo(&workspace::root().join("examples"), &args);
    for (tests, name) in [(9, "laws"), (3, "the stencil"), (11, "programs")] {
        let passed = format!("test result: ok. {tests} passed; 0 failed");
        assert!(out.contains(&passed), "{name}: {out}");
    }
}

/// A project of `cargo xtask new` in a path with spaces.
#[test]
fn a_new_project_runs_and_its_tests_pass() {
    let parent = tempfile::Builder::new().prefix("a new ").tempdir().unwrap();
    let folder = parent.path().join("warm-day");
    xtask::new::write(&folder, None, &workspace::root()).unwrap();

    let out = cargo(&folder, &["run"]);
    let warm = |i: &usize| ((i * 7919 % 401) as f32 / 4.0 - 40.0) * 1.25 - 0.5 > 25.0;
    let hours = (0..172_800).filter(warm).count() as f64 * 0.5 / 3600.0;
    let result = format!("above 25 degrees for {hours:.2} of 24 hours");
    assert!(out.contains(&result), "{out}");
    let on_the_cpu = out.contains("on the CPU: no usable CUDA device;");
    // Only `--why` prints the reason and what to do.
    assert!(!out.contains("nvidia-smi"), "{out}");
    let why = cargo(&folder, &["run", "--", "--why"]);
    assert_eq!(why.contains("nvidia-smi"), on_the_cpu, "{why}");

    let out = cargo(&folder, &["test"]);
    assert_eq!(out.matches("test result: ok. 1 passed").count(), 2, "{out}");
    assert!(out.contains("test result: ok. 3 passed"), "{out}");
    assert_eq!(out.contains("on_a_gpu is skipped"), on_the_cpu, "{out}");

    // Exactly one error for each line that needs the derived trait.
    let source = folder.join("kernels/src/lib.rs");
    let right = std::fs::read_to_string(&source).unwrap();
    for (derive, lines, message) in [
        ("Element", 3, "`Reading` cannot be reduced"),
        ("Value", 2, "`TimeAbove` cannot be a kernel's parameter"),
    ] {
        let wrong = right.replacen(&format!(", {derive})]"), ")]", 1);
        std::fs::write(&source, wrong).unwrap();
        let (succeeds, text) = output(&folder, &["check", "--package=warm-day-kernels"]);
        assert!(!succeeds && text.contains(message), "{text}");
        let errors = format!("due to {lines} previous errors");
        assert!(text.contains(&errors), "{text}");
    }
}

/// The lines without comments and empty lines.
fn code(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

/// A page that explains a file line by line must show all its lines in order. The first line of a block names
/// the file.
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
const PAGES: [(&str, &[&str]); 2] = [
    ("log_sum_exp.md", &["kernels/src/log_sum_exp.rs"]),
    (
        "heat.md",
        &[
            "heat/kernels/src/lib.rs",
            "heat/kernels/tests/simulator.rs",
            "heat/build.rs",
            "heat/src/main.rs",
        ],
    ),
];
