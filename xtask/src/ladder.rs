//! `cargo xtask ladder`: the ladder's table for this machine.

use crate::{process, setup};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure the ladder of kernels on this machine: --n N, --threads T, --json FILE, --peers
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench ladder`, which also answers --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Provisions, builds `warpfold-bench` and becomes its `ladder`.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let mut bench = process::cargo();
        bench
            .args(["run", "--release", "--package", "warpfold-bench", "--"])
            .arg("ladder")
            .args(self.args);
        Ok(process::forwarded(process::status(&mut bench)?))
    }
}
