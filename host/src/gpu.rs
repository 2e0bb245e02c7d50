//! One CUDA device, opened: its context, its stream, its modules.

use std::sync::{Mutex, PoisonError};

use cust::context::{Context, CurrentContext};
use cust::device::{Device as CudaDevice, DeviceAttribute};
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};
use cust::{CudaApiVersion, memory};

use crate::device::DeviceInfo;
use crate::driver::{self, check};
use crate::error::Error;
use crate::module::{self, Modules};

/// What all clones of a [`Device`](crate::Device) and all that lives on it share.
///
/// All work goes to one stream. `cust` cannot make a stream that ignores the null stream
/// (it removes the flag); nothing here relies on either behaviour, because every copy is
/// put on this stream and waited for.
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    // Dropped in this order, with the context current (see `Drop`).
    pub(crate) modules: Modules,
    pub(crate) stream: Stream,
    context: Context,
    /// The first failure met where none could be returned.
    deferred: Mutex<Option<Error>>,
}

impl Gpu {
    pub(crate) fn open(index: u32) -> Result<Self, Error> {
        driver::init()?;
        let count = check(CudaDevice::num_devices)?;
        if count == 0 {
            return Err(driver::no_device());
        }
        if index >= count {
            return Err(Error::DeviceIndex { index, count });
        }
        let device = check(|| CudaDevice::get_device(index))?;
        let info = describe(index, device)?;
        let embedded = module::choose(&info.name, info.compute_capability)?;

        let context = check(|| Context::new(device))?;
        // `Context::new` does not look at the result of its own attempt.
        check(|| CurrentContext::set_current(&context))?;
        let stream = check(|| Stream::new(StreamFlags::DEFAULT, None))?;
        let modules = Modules::probe(embedded)?;
        Ok(Self {
            info,
            modules,
            stream,
            context,
            deferred: Mutex::new(None),
        })
    }

    /// Makes the device's context current on the calling thread, which every driver call
    /// needs, and says what has failed in a destructor since the last time.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        check(|| CurrentContext::set_current(&self.context))?;
        let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
        match deferred.take() {
            Some(error) => Err(Error::Deferred(Box::new(error))),
            None => Ok(()),
        }
    }

    /// Runs calls in a destructor: a failure is kept for the next [`enter`](Self::enter).
    pub(crate) fn in_drop(&self, calls: impl FnOnce() -> Result<(), Error>) {
        let entered = check(|| CurrentContext::set_current(&self.context));
        if let Err(error) = entered.and_then(|()| calls()) {
            let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
            deferred.get_or_insert(error);
        }
    }

    /// Waits for everything on the stream. The context is current.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        check(|| self.stream.synchronize())
    }

    /// The time on the stream between before and after `work`, in milliseconds.
    pub(crate) fn time(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        self.enter()?;
        let event = || check(|| Event::new(EventFlags::DEFAULT));
        let (start, end) = (event()?, event()?);
        check(|| start.record(&self.stream))?;
        work()?;
        self.enter()?;
        check(|| end.record(&self.stream))?;
        check(|| end.synchronize())?;
        let milliseconds = check(|| end.elapsed_time_f32(&start))?;
        for event in [start, end] {
            check(|| Event::drop(event).map_err(|(error, _)| error))?;
        }
        Ok(f64::from(milliseconds))
    }

    /// The error for an allocation of `wanted` bytes that failed with `error`.
    pub(crate) fn allocation_error(&self, wanted: u64, error: Error) -> Error {
        const OUT_OF_MEMORY: i32 = 2;
        match error {
            Error::Cuda {
                code: OUT_OF_MEMORY,
                ..
            } => match check(memory::mem_get_info) {
                Ok((free, total)) => Error::OutOfMemory {
                    wanted,
                    free: free as u64,
                    total: total as u64,
                },
                Err(error) => error,
            },
            other => other,
        }
    }
}

/// With the context current for the fields' own destructors. What fails from here on is
/// lost: nobody is left to be told.
impl Drop for Gpu {
    fn drop(&mut self) {
        self.in_drop(|| Ok(()));
    }
}

fn describe(index: u32, device: CudaDevice) -> Result<DeviceInfo, Error> {
    let attribute = |attribute: DeviceAttribute| {
        check(|| device.get_attribute(attribute)).map(|value| value.unsigned_abs())
    };
    let driver = check(CudaApiVersion::get)?;
    let capability = (
        attribute(DeviceAttribute::ComputeCapabilityMajor)?,
        attribute(DeviceAttribute::ComputeCapabilityMinor)?,
    );
    let name = check(|| device.name())?;
    Ok(DeviceInfo {
        index,
        compute_capability: capability,
        module_arch: module::choose(&name, capability)?.arch,
        name,
        multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
        max_threads_per_block: attribute(DeviceAttribute::MaxThreadsPerBlock)?,
        max_blocks: attribute(DeviceAttribute::MaxGridDimX)?,
        total_memory: check(|| device.total_memory())? as u64,
        l2_bytes: u64::from(attribute(DeviceAttribute::L2CacheSize)?),
        clock_khz: attribute(DeviceAttribute::ClockRate)?,
        memory_clock_khz: attribute(DeviceAttribute::MemoryClockRate)?,
        memory_bus_bits: attribute(DeviceAttribute::GlobalMemoryBusWidth)?,
        driver_version: (driver.major().unsigned_abs(), driver.minor().unsigned_abs()),
    })
}
