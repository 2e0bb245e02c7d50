//! The computer the bench runs on.

use std::fmt;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// What a record says about the computer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    pub os: String,
    pub cpu: String,
    pub logical_cpus: usize,
    pub memory_bytes: u64,
    /// Free for a new program when the run began: what is available, or what the container allows.
    pub free_memory_bytes: u64,
}

impl Machine {
    /// As it is now.
    pub fn look() -> Result<Machine> {
        let system = System::new_with_specifics(
            RefreshKind::nothing()
                .with_memory(MemoryRefreshKind::nothing().with_ram())
                .with_cpu(CpuRefreshKind::nothing()),
        )
        .map_err(|error| anyhow!("cannot look at this machine's memory and processors: {error}"))?;
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
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let gib = crate::table::gib(self.memory_bytes);
        write!(
            f,
            "{}, {} x {}, {gib:.1} GiB",
            self.os, self.logical_cpus, self.cpu
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory_and_processors() {
        let machine = Machine::look().unwrap();
        assert!(machine.logical_cpus > 0);
        assert!(machine.free_memory_bytes > 0, "{machine:?}");
        assert!(
            machine.free_memory_bytes <= machine.memory_bytes,
            "{machine:?}"
        );
    }
}
