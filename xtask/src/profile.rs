//! `cargo xtask profile`: profiles kernels with Nsight Compute.

use crate::bench::measure_with;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Profile kernels with Nsight Compute: --ladder, --kepler, --entries E,.., --out DIR; --lines by source line
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench profile`; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Runs `warpfold-bench profile`; with `--lines`, the kernels have line numbers.
    pub fn run(self) -> Result<ExitCode> {
        let lines = self.args.iter().any(|arg| arg == "--lines");
        let built = lines.then_some(("WARPFOLD_LINE_INFO", "1"));
        measure_with("profile", self.args, built)
    }
}
