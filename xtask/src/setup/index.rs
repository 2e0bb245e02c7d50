//! Downloads the crates of the workspace and of the standard library. Device builds compile only `core`,
//! which needs none of the latter, but cargo resolves the standard library's whole lock file.

use super::{Step, download};
use crate::{process, workspace};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const CRATES: &str = "crates";

pub(super) fn provide(rustc: &Path) -> Result<Step> {
    let start = Instant::now();
    let used = "in cargo's cache";
    if process::stdout_of(fetch(rustc).arg("--offline")).is_ok() {
        return Ok(Step::present(CRATES, used.into()));
    }
    let before = downloaded();
    process::output_of(&mut fetch(rustc))?;
    let bytes = downloaded().saturating_sub(before);
    Ok(Step::fetched(CRATES, used.into(), Some(bytes), start))
}

/// The command that fetches crates for this machine and, for the device, those of `rustc`'s standard library.
fn fetch(rustc: &Path) -> Command {
    let mut cargo = process::cargo();
    cargo
        .args(["fetch", "--quiet", "-Zbuild-std=core"])
        .args(["--target", workspace::DEVICE_TARGET])
        .args(["--target", "host-tuple"])
        .env("RUSTC", rustc)
        .env("RUSTC_BOOTSTRAP", "1");
    cargo
}

/// The bytes of the crates in cargo's cache.
fn downloaded() -> u64 {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .unwrap_or_default();
    let registries = std::fs::read_dir(home.join("registry").join("cache"));
    registries
        .into_iter()
        .flatten()
        .flatten()
        .map(|registry| download::bytes_in(&registry.path()))
        .sum()
}
