//! A workspace outside of this one, as a user has it, with operators, elements and kernels of its own
//! (`examples`): it builds, and gives the right answers on the CPU and on the simulated GPU.

use std::path::Path;
use std::process::Stdio;
use xtask::{process, workspace};

/// What cargo prints in a workspace, if it succeeds.
fn cargo(folder: &Path, args: &[&str]) -> String {
    let (succeeds, text) = output(folder, args);
    assert!(succeeds, "{text}");
    text
}

/// Whether cargo succeeds in a workspace, and what it prints.
fn output(folder: &Path, args: &[&str]) -> (bool, String) {
    let (command, rest) = args.split_first().expect("a command");
    let mut cargo = process::cargo();
    cargo
        .args([command, "--quiet", "--target-dir"])
        // What is built of this repository's crates on the way is shared.
        .arg(
            workspace::target_dir()
                .expect("cargo knows it")
                .join("outside"),
        )
        // Its own configuration, not the repository's.
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

/// One command for all, so that each crate is compiled once: the laws of the operators, the stencil on the
/// simulated GPU, and the short programs and the program itself on the CPU and on the simulated GPU.
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
    for (tests, of) in [(9, "laws"), (3, "the stencil"), (11, "programs")] {
        let passed = format!("test result: ok. {tests} passed; 0 failed");
        assert!(out.contains(&passed), "{of}: {out}");
    }
}

/// A project that `cargo xtask new` has just made, in a path with spaces.
#[test]
fn a_new_project_runs_and_its_tests_pass() {
    let parent = tempfile::Builder::new().prefix("a new ").tempdir().unwrap();
    let folder = parent.path().join("warm-day");
    xtask::new::write(&folder, None, &workspace::root()).unwrap();

    let out = cargo(&folder, &["run"]);
    let warm = |i: &usize| ((i * 7919 % 401) as f32 / 4.0 - 40.0) * 1.25 - 0.5 > 25.0;
    let hours = (0..172_800).filter(warm).count() as f64 * 0.5 / 3600.0;
    let answer = format!("above 25 degrees for {hours:.2} of 24 hours");
    assert!(out.contains(&answer), "{out}");
    let on_the_cpu = out.contains("on the CPU: no usable CUDA device;");
    // The reason, with what to do, only where it is asked for.
    assert!(!out.contains("nvidia-smi"), "{out}");
    let why = cargo(&folder, &["run", "--", "--why"]);
    assert_eq!(why.contains("nvidia-smi"), on_the_cpu, "{why}");

    let out = cargo(&folder, &["test"]);
    assert_eq!(out.matches("test result: ok. 1 passed").count(), 2, "{out}");
    assert!(out.contains("test result: ok. 3 passed"), "{out}");
    assert_eq!(out.contains("on_a_gpu is skipped"), on_the_cpu, "{out}");

    // One error for each of the lines that use what is missing, and no more.
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
