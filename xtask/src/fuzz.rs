//! `cargo xtask fuzz`: searches for inputs that make a target of `fuzz/` fail.
//!
//! Uses libFuzzer like `cargo fuzz`, but without sanitizers, which need a nightly compiler. An LLVM pass in
//! rustc adds counters of branches to every crate, so the build has its own target folder. libFuzzer needs a
//! C++ compiler.

use crate::{process, setup, workspace};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Search for inputs that break the library, with libFuzzer, guided by the branches that they take
#[derive(clap::Args)]
pub struct Args {
    /// The code to test
    target: Target,
    /// Seconds to search
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Target {
    /// The readers of .npy and raw files
    Files,
    /// Reductions by every algorithm, and by key, on the CPU
    Calls,
    /// Calls such as count, mean and dot; chunks, graphs and pinned memory; on the CPU
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

    /// libFuzzer's options for this target.
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

/// With an explicit target, cargo does not use [`FLAGS`] for build scripts and macros.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Flags for counters of branches, traced comparisons, and the assertions of debug builds.
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
    /// Builds the target and runs libFuzzer, which writes failing inputs to `fuzz/found`. A test replays
    /// them.
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
        // New inputs, with which the next search continues; too many to commit.
        let searched = target_dir.join("corpus").join(name);
        for folder in [&corpus, &found, &searched] {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let program = target_dir.join(PLATFORM).join("release").join(name);
        let mut search = Command::new(&program);
        search
            .arg(format!("-max_total_time={}", self.seconds))
            .args(self.target.options(&fuzz))
            .args(["-timeout=20", "-print_final_stats=1"])
            // The final slash means a folder.
            .arg(format!("-artifact_prefix={}/", found.display()))
            .args([&searched, &corpus]);
        Ok(process::forwarded(process::status(&mut search)?))
    }
}
