//! `cargo xtask parts`: shows records of segments, axes, runs and groups.

use crate::bench::measure;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Show the records of segments, axes, runs and groups as tables and figures: --read DIR, --out DIR, --page FILE,..
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench parts`; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Runs `warpfold-bench parts`.
    pub fn run(self) -> Result<ExitCode> {
        measure("parts", self.args)
    }
}
