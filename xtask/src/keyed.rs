//! `cargo xtask keyed`: the table of reduction by key for this machine.

use crate::{process, setup};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure reduction by key on this machine, every algorithm on particles in a box of cells: --side C,
/// --particles P, --threads T, --json FILE, --peers
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench keyed`, which also answers --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Builds the bench and becomes its `keyed`.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let mut cargo = process::cargo();
        cargo.args(["run", "--release", "--package", "warpfold-bench", "--"]);
        cargo.arg("keyed").args(self.args);
        Ok(process::forwarded(process::status(&mut cargo)?))
    }
}
