//! The architectures to compile PTX for: only those that this machine's devices need.

use crate::driver;
use cuda_builder::NvvmArch;
use std::collections::BTreeSet;

/// The environment variable with the architectures.
pub const VARIABLE: &str = "WARPFOLD_ARCHES";

/// Its value for a build without PTX.
pub const NONE: &str = "none";

/// The architectures of this machine's devices, separated by commas; `None` without a device.
pub fn of_devices() -> Option<String> {
    of_driver(driver::query().ok().as_ref())
}

fn of_driver(driver: Option<&driver::Driver>) -> Option<String> {
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
    (!arches.is_empty()).then(|| arches.into_iter().collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_selects_the_newest_ptx_that_it_runs() {
        let arches = |capabilities: &[(i32, i32)]| {
            let devices = capabilities
                .iter()
                .map(|&compute_capability| driver::Device {
                    name: "a device".into(),
                    compute_capability,
                    memory: 1,
                });
            let devices = devices.collect();
            of_driver(Some(&driver::Driver {
                cuda: (13, 0),
                devices,
            }))
        };
        assert_eq!(of_driver(None), None);
        assert_eq!(arches(&[]), None);
        assert_eq!(arches(&[(7, 0)]), None);
        assert_eq!(arches(&[(7, 5)]).as_deref(), Some("sm_75"));
        assert_eq!(arches(&[(9, 0), (8, 6)]).as_deref(), Some("sm_80"));
        assert_eq!(arches(&[(12, 0), (7, 5)]).as_deref(), Some("sm_75,sm_80"));
    }
}
