//! What the driver says of the device's clocks, by NVML where there is one.

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
    /// Of the device at this place on the bus; the error is the reason for going on without.
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

    /// As they are now.
    pub fn read(&self) -> Result<Clocks, nvml_wrapper::error::NvmlError> {
        let device = self.nvml.device_by_pci_bus_id(self.pci_bus_id.as_str())?;
        // What a card cannot tell is left out; the clocks it must.
        Ok(Clocks {
            at_s: self.begun.elapsed().as_secs_f64(),
            sm_mhz: device.clock_info(Clock::SM)?,
            memory_mhz: device.clock_info(Clock::Memory)?,
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
            power_w: device.power_usage().ok().map(|mw| f64::from(mw) / 1e3),
            throttled: device
                .current_throttle_reasons()
                .map(words)
                .unwrap_or_default(),
        })
    }
}

/// The reasons that slow a busy device down: an idle one is slow because it is idle.
fn words(reasons: ThrottleReasons) -> Vec<String> {
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
        assert!(words(ThrottleReasons::GPU_IDLE).is_empty());
        let hot = ThrottleReasons::GPU_IDLE | ThrottleReasons::SW_THERMAL_SLOWDOWN;
        assert_eq!(words(hot), ["sw thermal slowdown"]);
    }
}
