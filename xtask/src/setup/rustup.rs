//! Adds the source of `core` to the pinned toolchain by rustup.

use super::{DEVICE_COMPILER, Provided, Step, described};
use crate::{process, workspace};
use anyhow::Result;
use cuda_builder::toolchain;
use std::process::Command;
use std::time::{Duration, Instant};

/// The time limit of rustup, which would retry for longer without a network.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn provide() -> Result<Provided> {
    let start = Instant::now();
    let pinned = workspace::pinned_version()?.to_string();
    let mut add = Command::new("rustup");
    add.args(["component", "add", "rust-src", "--toolchain", &pinned])
        .current_dir(workspace::root());
    process::report(&format!("setup: {}", process::shown(&add)));
    process::bounded(&mut add, LIMIT)?;
    let found = toolchain::find()?;
    let step = Step::fetched(DEVICE_COMPILER, described(&found), None, start);
    Ok((found.rustc, step))
}
