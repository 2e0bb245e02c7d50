//! `cargo xtask profile`: the ladder under Nsight Compute.

use crate::bench::measure;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Ask Nsight Compute what the kernels do and where their time goes: --ladder, --out DIR
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench profile`, which also answers --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Becomes the bench's `profile`.
    pub fn run(self) -> Result<ExitCode> {
        measure("profile", self.args)
    }
}
