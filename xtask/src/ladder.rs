//! `cargo xtask ladder`: measures the ladder of kernels, or with `--sim` counts their work in the simulator.

use crate::{arches, process, setup};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure the ladder of kernels on this machine: --n N, --threads T, --json FILE, --peers. Or count the work
/// of a block of each kernel in the simulator: --sim, with --threads T, --element E, --lines
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Passed to `warpfold-bench ladder`, with --sim to `kernels-sim ladder`; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Args {
    /// Builds what the command needs, without the sweeps, and runs it.
    pub fn run(mut self) -> Result<ExitCode> {
        let all = self.args.len();
        self.args.retain(|arg| arg != "--sim");
        if self.args.len() == all {
            return measured(self.args);
        }
        // Needs no device compiler. The tests use the same profile, so they share the build.
        let mut cargo = process::cargo();
        cargo.args(["run", "--quiet", "--package", "kernels-sim", "--"]);
        cargo.arg("ladder").args(self.args);
        Ok(process::forwarded(process::status(&mut cargo)?))
    }
}

fn measured(args: Vec<OsString>) -> Result<ExitCode> {
    let mut cargo = process::cargo();
    let requested = std::env::var_os(arches::VARIABLE);
    let arches = requested.or_else(|| arches::of_devices().map(Into::into));
    if arches.is_some() {
        setup::for_builds()?;
    }
    cargo.env(
        arches::VARIABLE,
        arches.unwrap_or_else(|| arches::NONE.into()),
    );
    cargo.args(["run", "--release", "--package", "warpfold-bench"]);
    cargo.args(["--no-default-features", "--", "ladder"]);
    Ok(process::forwarded(process::status(cargo.args(args))?))
}
