//! `cargo xtask bench`: measures the suites over many sizes and writes a report.

use crate::{process, setup};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure the library's suites over many sizes, compare them with other libraries and the hardware's limit,
/// and write a report: --suite S, --sizes 2^10..2^28, --peers all, --quick, --budget 120s, --out DIR
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench bench`; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Runs `warpfold-bench bench`.
    pub fn run(self) -> Result<ExitCode> {
        measure("bench", self.args)
    }
}

/// Builds `warpfold-bench` and runs one of its commands.
pub fn measure(command: &str, args: Vec<OsString>) -> Result<ExitCode> {
    measure_with(command, args, None)
}

/// [`measure`] with an environment variable for the build.
pub fn measure_with(
    command: &str,
    args: Vec<OsString>,
    variable: Option<(&str, &str)>,
) -> Result<ExitCode> {
    setup::for_builds()?;
    let mut cargo = process::cargo();
    cargo.envs(variable);
    cargo.args(["run", "--release", "--package", "warpfold-bench", "--"]);
    cargo.arg(command).args(args);
    Ok(process::forwarded(process::status(&mut cargo)?))
}
