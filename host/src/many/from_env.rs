//! The start of a program's ranks by what its launcher says.

use std::fs;

use cust::device::{Device as CudaDevice, DeviceAttribute};

use super::communicator::Single;
use super::distributed::Distributed;
use super::launch::Launch;
use super::nccl::{Nccl, NcclId};
use super::start::meet;
use crate::device::Device;
use crate::driver::{self, check};
use crate::error::{Error, StartError};

impl Distributed {
    /// The rank of this process, as its launcher says; one rank on [`Device::auto`] without a launcher.
    ///
    /// With `torchrun`, `srun` or `mpirun` each process gets the GPU with its local rank, and NCCL moves the bytes. The ranks
    /// meet over TCP at the address of [`Launch`]; each waits at most [`Launch::limit`].
    ///
    /// ```
    /// use warpfold::many::Distributed;
    ///
    /// let all = Distributed::from_env()?;
    /// let x = all.device().upload(&[1.0f32; 10])?;
    /// let sum = all.sum(&x)?;
    /// if all.rank() == 0 {
    ///     println!("the sum of {} ranks: {sum}", all.size());
    /// }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`](crate::StartError) for a wrong environment, ranks that do not come or do not agree, two ranks on one
    /// GPU, a rank without a GPU, or without NCCL; [`RanksError`](crate::RanksError); those of [`Device::nth`].
    pub fn from_env() -> Result<Self, Error> {
        match Launch::from_env()? {
            None => Ok(Self::new(Device::auto()?, Single)),
            Some(launch) if launch.size() == 1 => Ok(Self::new(device_of(&launch)?, Single)),
            Some(launch) => Self::launched(&launch),
        }
    }

    fn launched(launch: &Launch) -> Result<Self, Error> {
        let device = device_of(launch).and_then(|device| match device.fallback_reason() {
            None => Ok(device),
            Some(reason) => Err(StartError::NoEngine {
                size: launch.size(),
                reason: reason.to_string(),
            }
            .into()),
        });
        let place = device.clone().and_then(|device| {
            // Before the ranks meet, so that all know if one cannot open it.
            Nccl::version()?;
            place(&device)
        });
        let (id, watch) = meet(launch, place, || Ok(NcclId::new()?.to_bytes().to_vec()))?;
        let id = id
            .try_into()
            .map_err(|_| Error::other("rank 0 has sent no id of NCCL"))?;
        let (device, id) = (device?, NcclId::from_bytes(id));
        let rank = (launch.rank(), launch.size());
        let ranks = Nccl::watched(&device, &id, rank, launch.limit(), Some(watch))?;
        Ok(Self::new(device, ranks))
    }
}

/// The GPU with the local rank; the only one, if the launcher shows each process one of its own; or the CPU, if there is none.
fn device_of(launch: &Launch) -> Result<Device, Error> {
    let local_rank = launch.local_rank();
    match Device::nth(u32::try_from(local_rank).unwrap_or(u32::MAX)) {
        Err(Error::DeviceIndex { count: 1, .. }) => Device::nth(0),
        Err(Error::DeviceIndex { count, .. }) => {
            Err(StartError::NoGpu { local_rank, count }.into())
        }
        Err(
            Error::NoDriver { .. }
            | Error::NoDevice { .. }
            | Error::NoKernelForDevice { .. }
            | Error::ModuleRejected { .. },
        ) => Device::auto(),
        result => result,
    }
}

/// The host and the GPU's address on it.
fn place(device: &Device) -> Result<String, Error> {
    let Some(info) = device.info() else {
        return Ok(String::new());
    };
    driver::init()?;
    let gpu = check(|| CudaDevice::get_device(info.index))?;
    let attribute = |attribute| check(|| gpu.get_attribute(attribute));
    let domain = attribute(DeviceAttribute::PciDomainId)?;
    let bus = attribute(DeviceAttribute::PciBusId)?;
    let slot = attribute(DeviceAttribute::PciDeviceId)?;
    let read = |file| fs::read_to_string(format!("/proc/sys/kernel/{file}")).unwrap_or_default();
    // Hosts may share a name, as containers do.
    let (host, boot) = (read("hostname"), read("random/boot_id"));
    let (host, boot) = (host.trim(), boot.trim());
    Ok(format!(
        "{domain:04x}:{bus:02x}:{slot:02x} of {host} (boot {boot})"
    ))
}
