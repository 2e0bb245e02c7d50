//! `cargo xtask ladder`: the ladder's table for this machine, or with `--sim` what the simulator
//! counts of each rung.

use crate::bench::measure;
use crate::process;
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure the ladder of kernels on this machine: --n N, --threads T, --json FILE, --peers. Or, on
/// any machine, count what a block of each has to do: --sim, with --threads T, --element E, --lines
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench ladder`, with --sim to `kernels-sim ladder`, which also answers
    /// --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Builds the program for it and becomes its `ladder`.
    pub fn run(mut self) -> Result<ExitCode> {
        let all = self.args.len();
        self.args.retain(|arg| arg != "--sim");
        if self.args.len() == all {
            return measure("ladder", self.args);
        }
        // No device compiler needed, and in the tests' profile: they have built it already.
        let mut cargo = process::cargo();
        cargo.args(["run", "--quiet", "--package", "kernels-sim", "--"]);
        cargo.arg("ladder").args(self.args);
        Ok(process::forwarded(process::status(&mut cargo)?))
    }
}
