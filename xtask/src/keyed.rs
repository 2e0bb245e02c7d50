//! `cargo xtask keyed`: the table of reduction by key for this machine.

use crate::bench::measure;
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
    /// Becomes the bench's `keyed`.
    pub fn run(self) -> Result<ExitCode> {
        measure("keyed", self.args)
    }
}
