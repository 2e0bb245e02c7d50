//! The architectures whose PTX is compiled: those of the devices at hand, because no other kernel can run here.

use crate::driver;
use cuda_builder::NvvmArch;
use std::collections::BTreeSet;

/// The environment variable that names them.
pub const VARIABLE: &str = "WARPFOLD_ARCHES";

/// What this machine's devices run; `None` without a device.
pub fn at_hand() -> Option<String> {
    of(driver::ask().ok().as_ref())
}

fn of(driver: Option<&driver::Driver>) -> Option<String> {
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
    fn ptx_is_for_the_devices_at_hand() {
        let arches = |capabilities: &[(i32, i32)]| {
            let devices = capabilities
                .iter()
                .map(|&compute_capability| driver::Device {
                    name: "a device".into(),
                    compute_capability,
                    memory: 1,
                });
            let devices = devices.collect();
            of(Some(&driver::Driver {
                cuda: (13, 0),
                devices,
            }))
        };
        assert_eq!(of(None), None);
        assert_eq!(arches(&[]), None);
        assert_eq!(arches(&[(7, 0)]), None);
        assert_eq!(arches(&[(7, 5)]).as_deref(), Some("sm_75"));
        assert_eq!(arches(&[(9, 0), (8, 6)]).as_deref(), Some("sm_80"));
        assert_eq!(arches(&[(12, 0), (7, 5)]).as_deref(), Some("sm_75,sm_80"));
    }
}
