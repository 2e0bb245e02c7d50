//! `cargo xtask profile`: kernels under Nsight Compute.

use crate::bench::measure_with;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Ask Nsight Compute what kernels do and where their time goes: --ladder, --kepler, --entries E,..,
/// --out DIR; with --lines, in which lines of their source
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench profile`, which also answers --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Becomes the bench's `profile`; for lines, of kernels that know theirs.
    pub fn run(self) -> Result<ExitCode> {
        let lines = self.args.iter().any(|arg| arg == "--lines");
        let built = lines.then_some(("WARPFOLD_LINE_INFO", "1"));
        measure_with("profile", self.args, built)
    }
}
