//! `cargo xtask accuracy`: compares sums with the exact sum.

use crate::bench::measure;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Compare sums by this library and by others with the exact sum: --most 2^25, --device D, --out DIR
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench accuracy`; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Runs `warpfold-bench accuracy`.
    pub fn run(self) -> Result<ExitCode> {
        measure("accuracy", self.args)
    }
}
