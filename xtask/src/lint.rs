//! `cargo xtask lint`: formatting, clippy, documentation, other platforms and the repository's own rules.

use crate::{arches, platforms, process, setup, tidy, workspace};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// Check formatting, clippy, documentation, other platforms, and the repository's own rules
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    /// Runs every check, even after a failure.
    pub fn run(self) -> Result<ExitCode> {
        Ok(if lint()? {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Runs every check, even after a failure; true if all pass.
pub fn lint() -> Result<bool> {
    // The device's compiler checks other platforms.
    setup::for_builds()?;
    let mut failed = Vec::new();
    for (name, mut command) in cargo_checks()? {
        process::report(&format!("lint: {}", process::shown(&command)));
        if !process::succeeds(&mut command)? {
            failed.push(name);
        }
    }
    process::report("lint: tidy");
    let findings = tidy::check(&workspace::root())?;
    if !findings.is_empty() {
        process::print(&(findings.join("\n") + "\n"))?;
        failed.push("tidy");
    }
    if failed.is_empty() {
        process::report("lint: ok");
    } else {
        process::report(&format!("lint: FAILED: {}", failed.join(", ")));
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
        .args(["--", "-Dwarnings"])
        // Clippy says nothing of copies, and all of them would take as long as the rest. It does not read PTX, and neither
        // does rustdoc; the tests compile it.
        .env("WARPFOLD_MUTANTS", "reduce_0")
        .env(arches::VARIABLE, arches::NONE);
    let mut doc = process::cargo();
    doc.args(["doc", "--workspace", "--no-deps"])
        .args(workspace::ALL_FEATURES)
        .env("RUSTDOCFLAGS", "-Dwarnings")
        .env(arches::VARIABLE, arches::NONE);
    Ok([
        ("fmt", fmt),
        ("clippy", clippy),
        ("doc", doc),
        ("platforms", platforms::check()?),
    ])
}
