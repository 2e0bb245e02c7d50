//! `cargo xtask fuzz`: searches for bytes that a target of `fuzz/` finds something wrong with.
//!
//! libFuzzer, as `cargo fuzz` uses it, without a sanitizer, which would need a nightly compiler. rustc's
//! own passes count which branches are taken. The build has a target folder of its own, since every
//! crate is compiled with those counters; a C++ compiler builds libFuzzer itself.

use crate::{process, setup, workspace};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Search for inputs that break the library: libFuzzer, by the branches they take
#[derive(clap::Args)]
pub struct Args {
    /// What takes the inputs
    target: Target,
    /// How long to search
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Target {
    /// The readers of .npy and raw files
    Files,
    /// Reductions by every algorithm, and by key, on the CPU
    Calls,
    /// Whole calls, chunks, graphs and pinned memory, on the CPU
    Whole,
    /// The command line, on the CPU
    Command,
}

impl Target {
    const fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Calls => "calls",
            Self::Whole => "whole",
            Self::Command => "command",
        }
    }

    /// What libFuzzer is told besides.
    fn options(self, fuzz: &Path) -> Vec<String> {
        match self {
            Self::Files => vec![
                format!("-dict={}", fuzz.join("files.dict").display()),
                "-max_len=1024".into(),
            ],
            Self::Calls | Self::Whole => vec!["-max_len=512".into()],
            Self::Command => vec!["-max_len=1024".into()],
        }
    }
}

/// The platform's own name makes cargo keep these flags from build scripts and macros.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Counts edges, and compares what a comparison compares. The assertions of debug builds stay.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

impl Args {
    /// Builds the target, and becomes libFuzzer's search. What it finds lies in `fuzz/found`, where a
    /// test runs it from then on.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let target_dir = workspace::target_dir()?.join("fuzz");
        let mut cargo = process::cargo();
        cargo
            .args(["build", "--release", "--package", "warpfold-fuzz"])
            .args(["--features", "libfuzzer", "--bin", self.target.name()])
            .args(["--target", PLATFORM, "--target-dir"])
            .arg(&target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
        let built = process::status(&mut cargo)?;
        if !built.success() {
            return Ok(process::forwarded(built));
        }

        let fuzz = workspace::root().join("fuzz");
        let name = self.target.name();
        let (corpus, found) = (
            fuzz.join("corpus").join(name),
            fuzz.join("found").join(name),
        );
        // Where the next search goes on: far more files than are worth committing.
        let searched = target_dir.join("corpus").join(name);
        for folder in [&corpus, &found, &searched] {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let program = target_dir.join(PLATFORM).join("release").join(name);
        let mut search = Command::new(&program);
        search
            .arg(format!("-max_total_time={}", self.seconds))
            .args(self.target.options(&fuzz))
            .args(["-timeout=20", "-print_final_stats=1"])
            // A slash at the end: a folder.
            .arg(format!("-artifact_prefix={}/", found.display()))
            .args([&searched, &corpus]);
        Ok(process::forwarded(process::status(&mut search)?))
    }
}
