//! The device's clocks, read with NVML.

use std::time::Instant;

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use warpfold_results::schema::Clocks;

/// Reads the clocks of one device.
pub struct ClockReader {
    nvml: Nvml,
    pci_bus_id: String,
    begun: Instant,
}

impl ClockReader {
    /// Opens NVML for the device with this PCI bus ID. After an error the sweep continues without clocks.
    pub fn open(pci_bus_id: String, begun: Instant) -> Result<Self, String> {
        let nvml = Nvml::init().map_err(|error| format!("NVML: {error}"))?;
        let reader = Self {
            nvml,
            pci_bus_id,
            begun,
        };
        reader.read().map_err(|error| format!("NVML: {error}"))?;
        Ok(reader)
    }

    /// The current clocks.
    pub fn read(&self) -> Result<Clocks, nvml_wrapper::error::NvmlError> {
        let device = self.nvml.device_by_pci_bus_id(self.pci_bus_id.as_str())?;
        // The clocks are required; other values are left out if the card does not report them.
        Ok(Clocks {
            at_s: self.begun.elapsed().as_secs_f64(),
            sm_mhz: device.clock_info(Clock::SM)?,
            memory_mhz: device.clock_info(Clock::Memory)?,
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
            power_w: device.power_usage().ok().map(|mw| f64::from(mw) / 1e3),
            throttled: device
                .current_throttle_reasons()
                .map(reason_names)
                .unwrap_or_default(),
        })
    }
}

/// The names of the throttle reasons, apart from idleness.
fn reason_names(reasons: ThrottleReasons) -> Vec<String> {
    let reasons = reasons - ThrottleReasons::GPU_IDLE;
    let names = reasons.iter_names().map(|(name, _)| name);
    names
        .map(|name| name.to_lowercase().replace('_', " "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_device_is_not_throttled() {
        assert!(reason_names(ThrottleReasons::GPU_IDLE).is_empty());
        let hot = ThrottleReasons::GPU_IDLE | ThrottleReasons::SW_THERMAL_SLOWDOWN;
        assert_eq!(reason_names(hot), ["sw thermal slowdown"]);
    }
}
