//! `cargo xtask ladder`: the ladder's table for this machine, or with `--sim` what the simulator
//! counts of each rung.

use crate::{driver, process, setup};
use anyhow::Result;
use cuda_builder::NvvmArch;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;

/// The architectures whose PTX is compiled, where the environment does not name others.
const ARCHES: &str = "WARPFOLD_ARCHES";

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
    /// Builds what the command needs, without the sweeps, and runs it.
    pub fn run(mut self) -> Result<ExitCode> {
        let all = self.args.len();
        self.args.retain(|arg| arg != "--sim");
        if self.args.len() == all {
            return measured(self.args);
        }
        // Needs no device compiler. Built in the tests' profile, which shares it with the tests.
        let mut cargo = process::cargo();
        cargo.args(["run", "--quiet", "--package", "kernels-sim", "--"]);
        cargo.arg("ladder").args(self.args);
        Ok(process::forwarded(process::status(&mut cargo)?))
    }
}

fn measured(args: Vec<OsString>) -> Result<ExitCode> {
    let mut cargo = process::cargo();
    if std::env::var_os(ARCHES).is_none() {
        let arches = arches(driver::ask().ok().as_ref());
        if arches != NONE {
            setup::for_builds()?;
        }
        cargo.env(ARCHES, arches);
    } else {
        setup::for_builds()?;
    }
    cargo.args(["run", "--release", "--package", "warpfold-bench"]);
    cargo.args(["--no-default-features", "--", "ladder"]);
    Ok(process::forwarded(process::status(cargo.args(args))?))
}

/// No PTX at all.
const NONE: &str = "none";

/// What this machine's devices run, and nothing else: a kernel that no device here can run is not compiled.
fn arches(driver: Option<&driver::Driver>) -> String {
    let devices = driver.map_or(&[][..], |driver| &driver.devices);
    let arch = |device: &driver::Device| {
        let (major, minor) = device.compute_capability;
        let runs = |arch: &NvvmArch| {
            let (arch_major, arch_minor) = arch.capability();
            (i64::from(arch_major), i64::from(arch_minor)) <= (major.into(), minor.into())
        };
        [NvvmArch::Compute80, NvvmArch::Compute75]
            .into_iter()
            .find(runs)
    };
    let arches: BTreeSet<_> = devices.iter().filter_map(arch).map(NvvmArch::sm).collect();
    match arches.is_empty() {
        true => NONE.to_owned(),
        false => arches.into_iter().collect::<Vec<_>>().join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_for_the_devices_at_hand() {
        let of = |capabilities: &[(i32, i32)]| {
            let devices = capabilities
                .iter()
                .map(|&compute_capability| driver::Device {
                    name: "a device".into(),
                    compute_capability,
                    memory: 1,
                });
            let devices = devices.collect();
            arches(Some(&driver::Driver {
                cuda: (13, 0),
                devices,
            }))
        };
        assert_eq!(arches(None), "none");
        assert_eq!(of(&[]), "none");
        assert_eq!(of(&[(7, 0)]), "none");
        assert_eq!(of(&[(7, 5)]), "sm_75");
        assert_eq!(of(&[(9, 0), (8, 6)]), "sm_80");
        assert_eq!(of(&[(12, 0), (7, 5)]), "sm_75,sm_80");
    }
}
