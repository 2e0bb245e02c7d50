//! An open CUDA device: its context and its modules.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cust::context::{Context, CurrentContext};
use cust::device::{Device as CudaDevice, DeviceAttribute};
use cust::sys::{self, CUdevice_attribute, CUstream};
use cust::{CudaApiVersion, memory};
use kernels_gpu::entry::Entry;

use crate::driver::{self, check};
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::module::{self, COUNTS, Embedded, Function, GROUPS, LIBRARY, Loaded, PARTITION};

/// State that all clones of a [`Device`](crate::Device), its streams and its memory share.
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    // The registered lists of kernels; lists are never removed. Fields are dropped in this order, with the
    // context current (see `Drop`).
    lists: RwLock<Vec<Arc<Loaded>>>,
    context: Context,
    /// Whether this is a simulated device.
    simulated: bool,
    /// The streams that are alive. Locked for reading during a wait for all of them; locked for writing while
    /// a stream is added, removed or captured.
    streams: RwLock<Vec<Handle>>,
    /// The first failure that could not be returned where it happened.
    deferred: Mutex<Option<Error>>,
}

/// The handle of a stream.
struct Handle(CUstream);

// SAFETY: the driver's streams may be used from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Gpu {
    pub(crate) fn open(index: u32, simulated: bool) -> Result<Self, Error> {
        driver::choose(simulated);
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

        let context = check(|| Context::new(device))?;
        // `Context::new` sets it too, but ignores the result.
        check(|| CurrentContext::set_current(&context))?;
        let gpu = Self {
            info,
            lists: RwLock::default(),
            context,
            simulated,
            streams: RwLock::default(),
            deferred: Mutex::new(None),
        };
        gpu.register(&LIBRARY)?;
        gpu.register(&PARTITION)?;
        gpu.register(&COUNTS)?;
        gpu.register(&GROUPS)?;
        #[cfg(feature = "teaching")]
        for embedded in &crate::module::TEACHING {
            gpu.register(embedded)?;
        }
        Ok(gpu)
    }

    /// Whether this is a simulated device.
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// Makes the device's context current on the calling thread, as every driver call requires, and returns a
    /// deferred failure if there is one.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        driver::choose(self.simulated);
        check(|| CurrentContext::set_current(&self.context))?;
        let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
        match deferred.take() {
            Some(error) => Err(Error::Deferred(Box::new(error))),
            None => Ok(()),
        }
    }

    /// Registers a list of kernels. Its modules are loaded at their first use.
    pub(crate) fn register(&self, embedded: &'static Embedded) -> Result<(), Error> {
        #[cfg(feature = "simulator")]
        if self.simulated {
            cuda_sim_driver::register(embedded.kernels);
        }
        let arch = embedded.choose(&self.info.name, self.info.compute_capability)?;
        let is_known = |lists: &[Arc<Loaded>]| lists.iter().any(|list| list.is(embedded.kernels));
        let probed = {
            let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
            if is_known(&lists) {
                return Ok(());
            }
            // The library's lists share their PTX, which is checked once.
            lists.iter().any(|list| list.is_of(arch))
        };
        if !probed {
            self.enter()?;
            module::probe(arch)?;
        }
        let list = Arc::new(Loaded::new(embedded, arch));
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if !is_known(&lists) {
            lists.push(list);
        }
        Ok(())
    }

    /// An entry point. The caller must keep this `Gpu` alive as long as it uses the entry point.
    pub(crate) fn function(&self, entry: &'static Entry) -> Result<Function, Error> {
        let list = {
            let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
            let Some(list) = lists.iter().find(|list| list.is(entry.set)) else {
                return Err(Error::NotRegistered {
                    entry: entry.name,
                    package: entry.set.name,
                });
            };
            if let Some(function) = list.known(entry) {
                return Ok(function);
            }
            // Release the lock first: loading a module takes long, and other threads need not wait for it.
            Arc::clone(list)
        };
        self.enter()?;
        list.find(entry, self.info.max_threads_per_block)
    }

    /// Runs calls in a destructor; a failure is kept for the next [`enter`](Self::enter).
    pub(crate) fn in_drop(&self, calls: impl FnOnce() -> Result<(), Error>) {
        driver::choose(self.simulated);
        let entered = check(|| CurrentContext::set_current(&self.context));
        if let Err(error) = entered.and_then(|()| calls()) {
            let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
            deferred.get_or_insert(error);
        }
    }

    /// Waits for all streams of this library. The context must be current. It does not wait for the whole
    /// context, because that would invalidate a capture of another stream.
    pub(crate) fn wait_for_all(&self) -> Result<(), Error> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let mut waited = Ok(());
        for stream in &*streams {
            // SAFETY: a stream is in the list as long as it is alive (`Stream`'s `new` and `drop`), and the
            // read lock keeps it there.
            waited = waited.and(unsafe { driver::wait_unless_captured(stream.0) });
        }
        waited
    }

    /// Adds a stream to the list.
    pub(crate) fn add_stream(&self, stream: CUstream) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.push(Handle(stream));
    }

    /// Removes a stream from the list.
    pub(crate) fn remove_stream(&self, stream: CUstream) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = streams.iter().position(|known| known.0 == stream) {
            streams.swap_remove(index);
        }
    }

    /// Captures a stream. Meanwhile no thread waits for all streams.
    pub(crate) fn captured(
        &self,
        capture: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _no_wait = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        capture()
    }

    /// The error for an allocation of `wanted` bytes that failed with `error`.
    pub(crate) fn allocation_error(&self, wanted: u64, error: Error) -> Error {
        match error.is_out_of_memory() {
            true => self.too_little_memory(wanted),
            false => error,
        }
    }

    /// The error for an allocation that exceeds the free memory. The context must be current.
    pub(crate) fn too_little_memory(&self, wanted: u64) -> Error {
        match check(memory::mem_get_info) {
            Ok((free, total)) => Error::OutOfMemory {
                wanted,
                free: free as u64,
                total: total as u64,
            },
            Err(error) => error,
        }
    }
}

/// Makes the context current for the destructors of the fields. A failure from here on is lost, because no
/// later call can return it.
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
        module_arch: LIBRARY.choose(&name, capability)?.arch,
        name,
        multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
        max_threads_per_block: attribute(DeviceAttribute::MaxThreadsPerBlock)?,
        max_blocks: attribute(DeviceAttribute::MaxGridDimX)?,
        shared_bytes_per_block: shared_bytes_per_block(device)?,
        total_memory: check(|| device.total_memory())? as u64,
        l2_bytes: u64::from(attribute(DeviceAttribute::L2CacheSize)?),
        clock_khz: attribute(DeviceAttribute::ClockRate)?,
        memory_clock_khz: attribute(DeviceAttribute::MemoryClockRate)?,
        memory_bus_bits: attribute(DeviceAttribute::GlobalMemoryBusWidth)?,
        driver_version: (driver.major().unsigned_abs(), driver.minor().unsigned_abs()),
    })
}

/// The maximum shared memory of a block, which a kernel must be [allowed](Function::allow_shared_bytes) to use.
fn shared_bytes_per_block(device: CudaDevice) -> Result<u32, Error> {
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: `bytes` can store an integer.
    driver::call(|| unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes.unsigned_abs())
}
