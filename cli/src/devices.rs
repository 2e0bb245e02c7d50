//! The devices of this machine.

use std::io::{self, Write};

use bytesize::ByteSize;
use serde::Serialize;
use warpfold::{Device, Error};

/// A device, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The value for `--device`.
    device: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_capability: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
}

/// The usable devices, and the unusable CUDA devices with the reasons. Without any CUDA device, the reason is
/// that of the driver.
#[derive(Debug, Serialize)]
pub struct Devices {
    devices: Vec<Listed>,
    unusable: Vec<Unusable>,
}

#[derive(Debug, Serialize)]
struct Unusable {
    device: String,
    reason: String,
}

/// Why a CUDA device cannot be used, and what to do.
pub fn reason(error: &Error) -> String {
    match error {
        // The library's own text names a function of the library.
        Error::NoDriver { tried, reason } => format!(
            "there is no CUDA driver: {tried} cannot be used ({reason}); install NVIDIA's driver \
             (`nvidia-smi` then lists the devices), or compute on the CPU with --device cpu"
        ),
        error => error.to_string(),
    }
}

impl Devices {
    pub fn list() -> Self {
        let mut devices = vec![Listed {
            device: "cpu".into(),
            name: Device::cpu().name().into(),
            threads: Some(rayon::current_num_threads()),
            compute_capability: None,
            memory_bytes: None,
        }];
        let mut unusable = vec![];
        for index in 0.. {
            let device = format!("cuda:{index}");
            match Device::nth(index) {
                Ok(gpu) => devices.extend(gpu.info().map(|info| {
                    let (major, minor) = info.compute_capability;
                    Listed {
                        device,
                        name: info.name.clone(),
                        threads: None,
                        compute_capability: Some(format!("{major}.{minor}")),
                        memory_bytes: Some(info.total_memory),
                    }
                })),
                Err(Error::DeviceIndex { .. }) => break,
                Err(error) => {
                    let none = matches!(error, Error::NoDriver { .. } | Error::NoDevice { .. });
                    unusable.push(Unusable {
                        device: if none { "cuda".into() } else { device },
                        reason: reason(&error),
                    });
                    if none {
                        break;
                    }
                }
            }
        }
        Self { devices, unusable }
    }

    pub fn write(&self, json: bool, to: &mut dyn Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut *to, self)?;
            return writeln!(to);
        }
        for listed in &self.devices {
            write!(to, "{:<7} {}", listed.device, listed.name)?;
            if let Some(threads) = listed.threads {
                write!(to, ", {threads} threads")?;
            }
            if let Some(capability) = &listed.compute_capability {
                write!(to, ", compute capability {capability}")?;
            }
            if let Some(bytes) = listed.memory_bytes {
                write!(to, ", {}", ByteSize(bytes).display().iec())?;
            }
            writeln!(to)?;
        }
        for Unusable { device, reason } in &self.unusable {
            writeln!(to, "{device:<7} not usable: {reason}")?;
        }
        Ok(())
    }
}
