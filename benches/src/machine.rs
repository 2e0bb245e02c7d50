//! The computer the bench runs on, and its CUDA device.

use std::env;
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use cust_raw::CUdevice_attribute::{
    self, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
use warpfold::{Device, DeviceInfo};
use warpfold_results::machine::{Cuda, Machine};

use crate::driver::checked;

/// The first fields of a record.
#[derive(serde::Serialize)]
pub struct Started {
    pub date: String,
    pub command_line: String,
    pub machine: Machine,
}

impl Started {
    pub fn now() -> Result<Started> {
        let arguments: Vec<_> = env::args_os()
            .map(|a| a.to_string_lossy().into_owned())
            .collect();
        Ok(Started {
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command_line: arguments.join(" "),
            machine: current()?,
        })
    }
}

/// This computer, with its free memory as of now.
pub fn current() -> Result<Machine> {
    let system = System::new_with_specifics(
        RefreshKind::nothing()
            .with_memory(MemoryRefreshKind::nothing().with_ram())
            .with_cpu(CpuRefreshKind::nothing()),
    )
    .map_err(|error| anyhow!("cannot read this machine's memory and processors: {error}"))?;
    let container = system
        .cgroup_limits()
        .map_or(u64::MAX, |limits| limits.free_memory);
    let unknown = || "unknown".to_owned();
    Ok(Machine {
        os: System::long_os_version().unwrap_or_else(|_| unknown()),
        cpu: system
            .cpus()
            .first()
            .map(|cpu| cpu.brand().trim().to_owned())
            .filter(|brand| !brand.is_empty())
            .unwrap_or_else(unknown),
        logical_cpus: system.cpus().len(),
        memory_bytes: system.total_memory(),
        free_memory_bytes: system.available_memory().min(container),
    })
}

/// The device's properties, for a record.
pub fn describe(gpu: &Device, info: &DeviceInfo) -> Result<Cuda> {
    let (major, minor) = info.driver_version;
    Ok(Cuda {
        name: info.name.clone(),
        index: info.index,
        compute_capability: info.compute_capability,
        multiprocessors: info.multiprocessors,
        memory_bytes: info.total_memory,
        l2_bytes: info.l2_bytes,
        clock_khz: info.clock_khz,
        memory_clock_khz: info.memory_clock_khz,
        memory_bus_bits: info.memory_bus_bits,
        driver: format!("{major}.{minor}"),
        ptx_arch: info.module_arch.into(),
        stream: stream_kind(gpu)?.into(),
    })
}

/// The kind of the timed stream.
fn stream_kind(gpu: &Device) -> Result<&'static str> {
    let mut flags = 0;
    // SAFETY: the stream lives as long as its device `gpu`; `flags` is a valid pointer for the result.
    let status = unsafe { cust_raw::cuStreamGetFlags(gpu.stream_ptr().cast(), &mut flags) };
    checked("cuStreamGetFlags", status)?;
    let non_blocking = cust_raw::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
    Ok(if flags & non_blocking != 0 {
        "non-blocking"
    } else {
        "blocking"
    })
}

/// The PCI bus ID of the device with this index, by which NVML finds it: `00000000:1B:00.0`.
pub fn pci_bus_id(index: u32) -> Result<String> {
    let [domain, bus, device] = [
        CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    ]
    .map(|which| attribute(index, which));
    Ok(format!("{:08X}:{:02X}:{:02X}.0", domain?, bus?, device?))
}

fn attribute(index: u32, which: CUdevice_attribute) -> Result<i32> {
    let (mut device, mut value) = (0, 0);
    // SAFETY: `device` is a valid pointer for the result; an index out of range is an error.
    let status = unsafe { cust_raw::cuDeviceGet(&mut device, index as i32) };
    checked("cuDeviceGet", status)?;
    // SAFETY: `value` is a valid pointer for the result; the driver returned the device's handle.
    let status = unsafe { cust_raw::cuDeviceGetAttribute(&mut value, which, device) };
    checked("cuDeviceGetAttribute", status)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory_and_processors() {
        let machine = current().unwrap();
        assert!(machine.logical_cpus > 0);
        assert!(machine.free_memory_bytes > 0, "{machine:?}");
        assert!(
            machine.free_memory_bytes <= machine.memory_bytes,
            "{machine:?}"
        );
    }
}
