//! The start of a program's ranks by what its launcher says.

use std::fs;

use cust::device::{Device as CudaDevice, DeviceAttribute};

use super::communicator::{Communicator, Single};
use super::distributed::Distributed;
use super::launch::Launch;
use super::message::gather;
use super::mpi::Mpi;
use super::nccl::{Nccl, NcclId};
use super::start::meet;
use super::watch::Watch;
use crate::device::Device;
use crate::driver::{self, check};
use crate::error::{Error, StartError};

impl Distributed {
    /// The rank of this process, as its launcher says; one rank on [`Device::auto`] without a launcher.
    ///
    /// With `torchrun`, `srun` or `mpirun` each process gets the GPU with its local rank, and NCCL moves the bytes. The ranks
    /// meet over MPI where `mpirun` has started them, else over TCP at the address of [`Launch`]; each waits at most
    /// [`Launch::limit`]. Without GPUs or NCCL, MPI moves the bytes too.
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
            Some(launch) => Self::of_launch(&launch, launch.device()),
        }
    }

    /// The rank of this process on `device`, as [`from_env`](Self::from_env). If there is no device, the other ranks have the
    /// error too.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env), and that of `device`.
    pub fn of_launch(launch: &Launch, device: Result<Device, Error>) -> Result<Self, Error> {
        if launch.size() == 1 {
            return Ok(Self::new(device?, Single));
        }
        if launch.is_mpi() {
            match mpi(launch) {
                Ok(mpi) => return Self::by_mpi(mpi, launch, device),
                // Ranks with GPUs need no MPI, if they can meet.
                Err(error) if launch.address.is_none() || !has_gpu(&device) => return Err(error),
                Err(_) => {}
            }
        }
        let device = device.and_then(|device| match device.is_gpu() {
            true => Ok(device),
            false => Err(StartError::NoEngine {
                size: launch.size(),
                reason: match device.fallback_reason() {
                    Some(reason) => reason.to_string(),
                    None => "NCCL moves bytes between GPUs".into(),
                },
            }
            .into()),
        });
        let place = device.clone().and_then(|device| {
            // Before the ranks meet, so that all know if one cannot open it.
            Nccl::version()?;
            place(&device)
        });
        let (id, watch) = meet(launch, place, || Ok(NcclId::new()?.to_bytes().to_vec()))?;
        let (device, id) = (device?, id_of(id)?);
        let rank = (launch.rank(), launch.size());
        let ranks = Nccl::watched(&device, &id, rank, launch.limit(), Some(watch))?;
        Ok(Self::new(device, ranks))
    }

    /// A rank that MPI has started. NCCL moves the bytes if all ranks have a GPU and NCCL; else MPI does.
    fn by_mpi(mpi: Mpi, launch: &Launch, device: Result<Device, Error>) -> Result<Self, Error> {
        let own = device.clone().and_then(|device| match device.is_gpu() {
            true => place(&device),
            false => Ok(String::new()),
        });
        let has_nccl = has_gpu(&device) && Nccl::version().is_ok();
        let told = own.map(|place| format!("{}{place}", if has_nccl { "+" } else { "-" }));
        let places = gather(&mpi, "start", told.map(String::into_bytes))?;
        let device = device?;
        for (second, place) in places.iter().enumerate() {
            let first = places.iter().position(|other| other[1..] == place[1..]);
            if let Some(first) = first.filter(|first| *first < second && place.len() > 1) {
                let gpu = String::from_utf8_lossy(&place[1..]).into_owned();
                return Err(StartError::SameGpu { first, second, gpu }.into());
            }
        }
        if !places.iter().all(|place| place.starts_with(b"+")) {
            return Ok(Self::new(device, mpi));
        }
        let id = match mpi.rank() {
            0 => NcclId::new().map(|id| id.to_bytes().to_vec()),
            _ => Ok(vec![]),
        };
        let id = id_of(gather(&mpi, "NCCL's id", id)?.swap_remove(0))?;
        let rank = (mpi.rank(), mpi.size());
        let ranks = Nccl::watched(&device, &id, rank, launch.limit(), Some(Watch::of_job(mpi)))?;
        Ok(Self::new(device, ranks))
    }
}

/// MPI, whose ranks are those of the launcher.
fn mpi(launch: &Launch) -> Result<Mpi, Error> {
    let mpi = Mpi::world()?.limit(launch.limit());
    if (mpi.rank(), mpi.size()) != (launch.rank(), launch.size()) {
        return Err(StartError::OtherMpi {
            launcher: launch.launcher,
            rank: mpi.rank(),
            size: mpi.size(),
            expected: format!("rank {} of {}", launch.rank(), launch.size()),
        }
        .into());
    }
    Ok(mpi)
}

fn has_gpu(device: &Result<Device, Error>) -> bool {
    device.as_ref().is_ok_and(Device::is_gpu)
}

fn id_of(bytes: Vec<u8>) -> Result<NcclId, Error> {
    let id = bytes
        .try_into()
        .map_err(|_| Error::other("rank 0 has sent no id of NCCL"))?;
    Ok(NcclId::from_bytes(id))
}

impl Launch {
    /// The GPU with the local rank; the only one, if the launcher shows each process one of its own; or the CPU, if no GPU can
    /// run the kernels.
    ///
    /// # Errors
    ///
    /// [`StartError::NoGpu`]; otherwise as [`Device::auto`].
    pub fn device(&self) -> Result<Device, Error> {
        device_of(self.local_rank())
    }
}

fn device_of(local_rank: usize) -> Result<Device, Error> {
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
