//! Sharing device memory with other code, without a copy.

use std::sync::Arc;

use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use cust::module::Module;

use crate::backend::Queue;
use crate::buffer::{Buffer, Location, View};
use crate::device::Device;
use crate::driver;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::memory::{DeviceMemory, Span};
use crate::module::Embedded;

/// A value that a call refused, and the reason. The operator `?` converts it to an [`Error`], which has only
/// the reason.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refused<B> {
    /// The reason.
    #[source]
    pub error: Error,
    /// The unchanged value.
    pub given: B,
}

impl<B> From<Box<Refused<B>>> for Error {
    fn from(refused: Box<Refused<B>>) -> Self {
        refused.error
    }
}

pub(crate) fn refused<B>(error: Error, given: B) -> Box<Refused<B>> {
    Box::new(Refused { error, given })
}

impl Device {
    /// An input of `len` elements at `address` in device memory that other code owns.
    ///
    /// Work that other code has enqueued to write the elements must be complete before this device's stream
    /// reads them: use the same stream ([`on_stream_ptr`](Self::on_stream_ptr)), an event, or a wait.
    ///
    /// # Safety
    ///
    /// - `address` points to `len` initialised elements, in memory that kernels of this device can read.
    /// - The memory stays allocated and no code writes it, until the view and all values made from it are
    ///   dropped and all work enqueued with them is complete.
    ///
    /// # Errors
    ///
    /// [`Error::NotDeviceMemory`] if the address is null or not aligned, or if the driver does not know it as
    /// memory of this device; [`Error::NeedsGpu`] on the CPU; [`Error::Cuda`], [`Error::Deferred`].
    pub unsafe fn view_ptr<T: Element>(
        &self,
        address: u64,
        len: usize,
    ) -> Result<View<'_, T>, Error> {
        let gpu = self.backend().gpu_for("device memory")?;
        check::<T>(gpu, address, len)?;
        // SAFETY: the caller's contract, for as long as the view lives; `check` has checked the alignment.
        let span = unsafe { Span::of_address(gpu, address, len) };
        Ok(View::of_span(self.backend(), span))
    }

    /// A writable array of `len` elements at `address` in device memory that other code owns.
    ///
    /// Dropping it waits for all streams of the device and frees nothing.
    ///
    /// ```no_run
    /// use warpfold::{Device, Sum};
    ///
    /// // Memory in which another crate's kernels expect the sum.
    /// # let theirs = 0;
    /// let device = Device::first()?;
    /// let x = device.upload(&[1, 2, 3])?;
    /// // SAFETY: one i32, which another crate frees later.
    /// let mut sum = unsafe { device.buffer_ptr::<i32>(theirs, 1) }?;
    /// device.reduce_into(&x, Sum, &mut sum, 0, &mut device.scratch()?)?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// - `address` points to `len` initialised elements, in memory that kernels of this device can read and
    ///   write.
    /// - The memory stays allocated until the buffer is dropped. Until then other code uses it only in stream
    ///   order.
    ///
    /// # Errors
    ///
    /// As [`view_ptr`](Self::view_ptr).
    pub unsafe fn buffer_ptr<T: Element>(
        &self,
        address: u64,
        len: usize,
    ) -> Result<Buffer<T>, Error> {
        let queue = self.queue_for("device memory")?;
        check::<T>(queue.gpu(), address, len)?;
        // SAFETY: the caller's contract, until the buffer is dropped; `check` has checked the alignment. Not
        // owned.
        let memory = unsafe { DeviceMemory::of_address(queue.gpu(), address, len, false) };
        Ok(Buffer::device(queue, len, memory))
    }

    /// Takes ownership of a buffer of `cust`, without a copy.
    ///
    /// Work that other code has enqueued on it must be ordered as for [`view_ptr`](Self::view_ptr). The
    /// library orders its own work.
    ///
    /// ```no_run
    /// use cust::memory::{CopyDestination, DeviceBuffer};
    /// use warpfold::Device;
    ///
    /// let device = Device::first()?;
    /// let theirs = DeviceBuffer::from_slice(&[1.0f32, 2.0])?;
    /// let x = device.buffer_from_cust(theirs)?;
    /// assert_eq!(device.sum(&x)?, 3.0);
    /// let theirs = x.into_cust()?;
    /// let mut back = [0.0; 2];
    /// theirs.copy_to(&mut back)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`view_ptr`](Self::view_ptr), together with the buffer.
    pub fn buffer_from_cust<T: Element + DeviceCopy>(
        &self,
        buffer: DeviceBuffer<T>,
    ) -> Result<Buffer<T>, Box<Refused<DeviceBuffer<T>>>> {
        let (address, len) = (buffer.as_device_ptr().as_raw(), buffer.len());
        let checked = self.queue_for("a buffer of `cust`").and_then(|queue| {
            check::<T>(queue.gpu(), address, len)?;
            Ok(queue)
        });
        match checked {
            Err(error) => Err(refused(error, buffer)),
            Ok(queue) => {
                std::mem::forget(buffer);
                // SAFETY: the elements of a buffer of this device (`check`). The buffer has been forgotten,
                // so this library owns the memory and frees it as `cust` would. (An empty buffer has no
                // memory.) The elements are initialised, as `cust` requires when a buffer is made.
                let memory =
                    unsafe { DeviceMemory::of_address(queue.gpu(), address, len, len > 0) };
                Ok(Buffer::device(queue, len, memory))
            }
        }
    }

    /// Loads a PTX module that [`embedded!`](crate::embedded) has included in the program.
    ///
    /// For kernels outside the library's families, marked `#[kernel(module = name)]`, which `cust` launches.
    /// Afterwards the device's context is current on this thread. A simulated device runs only the library's
    /// families ([`Error::OnlyFamilies`]); run other kernels with `cuda_sim::Simulator`.
    ///
    /// ```ignore
    /// let module = device.module(&KERNELS, "calibration")?;
    /// let calibrate = module.get_function("calibrate")?;
    /// // A slice parameter of a kernel: the address and the length.
    /// let (address, len) = (readings.address()?, readings.len());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU; [`Error::OnlyFamilies`], [`Error::NoSuchModule`],
    /// [`Error::NoKernelForDevice`], [`Error::ModuleRejected`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn module(&self, embedded: &'static Embedded, name: &str) -> Result<Module, Error> {
        let gpu = self.backend().gpu_for("a PTX module")?;
        if gpu.is_simulated() {
            return Err(Error::OnlyFamilies {
                module: name.into(),
            });
        }
        let arch = embedded.choose(&gpu.info.name, gpu.info.compute_capability)?;
        gpu.enter()?;
        arch.load(name)
    }

    fn queue_for(&self, what: &'static str) -> Result<&Arc<Queue>, Error> {
        self.queue().ok_or(Error::NeedsGpu { what })
    }
}

impl<T: Element> Buffer<T> {
    /// The address on the device, for kernels that `cust` launches; 0 for an empty view. Does not wait for
    /// the work in flight on the device's stream.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub fn address(&mut self) -> Result<u64, Error> {
        View::from(&*self).address()
    }
}

impl<T: Element> View<'_, T> {
    /// The address on the device, for kernels that `cust` launches and that only read the elements.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub fn address(&self) -> Result<u64, Error> {
        match self.location() {
            Location::Device(span) => Ok(span.address()),
            Location::Host(_) => Err(Error::NeedsGpu {
                what: "an address of device memory",
            }),
        }
    }
}

impl<T: Element + DeviceCopy> Buffer<T> {
    /// Converts the memory to a buffer of `cust`, without a copy, after a wait for all streams of the device.
    ///
    /// To free it, `cust` requires the device's primary context to be current, as it is on a thread whose
    /// last call was to this library.
    ///
    /// # Errors
    ///
    /// With the buffer: [`Error::NeedsGpu`] for a buffer on the CPU; [`Error::NotDeviceMemory`] if other code
    /// owns the memory ([`Device::buffer_ptr`]); [`Error::Cuda`], also for a fault in a kernel;
    /// [`Error::Deferred`].
    pub fn into_cust(self) -> Result<DeviceBuffer<T>, Box<Refused<Self>>> {
        let len = self.len();
        let address = self.release().map_err(|failed| {
            let (error, given) = *failed;
            refused(error, given)
        })?;
        let address = DevicePointer::from_raw(address);
        // SAFETY: `len` initialised elements in memory from the driver's `cuMemAlloc`, which no other value
        // owns, or none.
        Ok(unsafe { DeviceBuffer::from_raw_parts(address, len) })
    }
}

/// An error unless the driver accepts `address` as device memory of this device, aligned for the elements.
fn check<T: Element>(gpu: &Gpu, address: u64, len: usize) -> Result<(), Error> {
    let wrong = |why: String| {
        Err(Error::NotDeviceMemory {
            address,
            len,
            element: name_of::<T>(),
            why,
        })
    };
    gpu.enter()?;
    if len == 0 {
        return Ok(());
    }
    if address == 0 {
        return wrong("the address is null".into());
    }
    if !address.is_multiple_of(align_of::<T>() as u64) {
        let multiple = align_of::<T>();
        return wrong(format!("the address is not a multiple of {multiple}"));
    }
    match driver::device_of(address)? {
        Some(index) if index == gpu.info.index => Ok(()),
        Some(index) => wrong(format!(
            "the address belongs to device {index}, not to device {}",
            gpu.info.index
        )),
        None => wrong("the driver knows no memory at this address".into()),
    }
}
