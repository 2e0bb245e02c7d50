//! `cargo xtask lint`: format, clippy, documentation, other platforms and the tree's own rules.

use crate::{platforms, process, setup, tidy, workspace};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// fmt, clippy -D warnings, docs -D warnings, the simulator's types on other platforms, tidy rules
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    /// Runs every check, also after one that fails.
    pub fn run(self) -> Result<ExitCode> {
        Ok(if lint()? {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// True where every check passes. Each is run, whatever the others say.
pub fn lint() -> Result<bool> {
    // clippy and doc run build scripts, and the host's builds the kernels; other platforms are
    // checked by the device's compiler.
    setup::for_builds()?;
    let mut failed = Vec::new();
    for (name, mut command) in cargo_checks()? {
        process::say(&format!("lint: {}", process::shown(&command)));
        if !process::succeeds(&mut command)? {
            failed.push(name);
        }
    }
    process::say("lint: tidy");
    let findings = tidy::check(&workspace::root())?;
    if !findings.is_empty() {
        process::print(&(findings.join("\n") + "\n"))?;
        failed.push("tidy");
    }
    if failed.is_empty() {
        process::say("lint: ok");
    } else {
        process::say(&format!("lint: FAILED: {}", failed.join(", ")));
    }
    Ok(failed.is_empty())
}

fn cargo_checks() -> Result<[(&'static str, Command); 4]> {
    let mut fmt = process::cargo();
    fmt.args(["fmt", "--all", "--check"]);
    let mut clippy = process::cargo();
    clippy
        .args(["clippy", "--workspace", "--all-targets"])
        .args(workspace::ALL_TESTS)
        .args(["--", "-Dwarnings"]);
    let mut doc = process::cargo();
    doc.args(["doc", "--workspace", "--no-deps"])
        .args(workspace::ALL_FEATURES)
        .env("RUSTDOCFLAGS", "-Dwarnings");
    Ok([
        ("fmt", fmt),
        ("clippy", clippy),
        ("doc", doc),
        ("platforms", platforms::check()?),
    ])
}
