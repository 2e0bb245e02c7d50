//! `cargo xtask profile`: the ladder under Nsight Compute.

use crate::{process, setup};
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
    /// Provisions, builds `warpfold-bench` and becomes its `profile`.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let mut bench = process::cargo();
        bench
            .args(["run", "--release", "--package", "warpfold-bench", "--"])
            .arg("profile")
            .args(self.args);
        Ok(process::forwarded(process::status(&mut bench)?))
    }
}
