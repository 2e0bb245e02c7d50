//! Device memory of other code's, in and out, without a copy.

use std::sync::Arc;

use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use cust::module::Module;

use crate::backend::Queue;
use crate::buffer::{Buffer, Place, View};
use crate::device::Device;
use crate::driver;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::gpu::Gpu;
use crate::memory::{DeviceMemory, Span};
use crate::module::Embedded;

/// Something that was not taken over, with the reason. As an [`Error`] (by `?`) it is the reason alone.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refused<B> {
    /// Why.
    #[source]
    pub error: Error,
    /// What was given, unchanged.
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
    /// `len` elements that other code has put at `address` of the device's memory, as an input.
    ///
    /// What other code has enqueued to write them must be done before this device's stream reads
    /// them: by one stream ([`on_stream_ptr`](Self::on_stream_ptr)), an event, or a wait.
    ///
    /// # Safety
    ///
    /// - `len` elements are at `address`, in memory that kernels of this device read, and are
    ///   initialised.
    /// - They stay there, and nobody writes them, until the view and what was made of it have gone
    ///   and all that was enqueued with them has been waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NotDeviceMemory`] where the address is null or not aligned, or the driver knows it as
    /// another device's or not at all; [`Error::NeedsGpu`] on the CPU; [`Error::Cuda`],
    /// [`Error::Deferred`].
    pub unsafe fn view_ptr<T: Element>(
        &self,
        address: u64,
        len: usize,
    ) -> Result<View<'_, T>, Error> {
        let gpu = self.backend().gpu_for("device memory")?;
        check::<T>(gpu, address, len)?;
        // SAFETY: the caller's contract, for as long as the view lives; `check` has seen to the
        // alignment.
        let span = unsafe { Span::of_address(gpu, address, len) };
        Ok(View::of_span(self.backend(), span))
    }

    /// `len` elements that other code has put at `address` of the device's memory, as an array that
    /// can be written as well; dropping it waits for all streams of the device and frees nothing.
    ///
    /// ```no_run
    /// use warpfold::{Device, Sum};
    ///
    /// // Where another crate's kernels want the sum.
    /// # let theirs = 0;
    /// let device = Device::first()?;
    /// let x = device.upload(&[1, 2, 3])?;
    /// // SAFETY: one i32 of another crate's, which frees it after us.
    /// let mut sum = unsafe { device.buffer_ptr::<i32>(theirs, 1) }?;
    /// device.reduce_into(&x, Sum, &mut sum, 0, &mut device.scratch()?)?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// - `len` elements are at `address`, in memory that kernels of this device read and write, and
    ///   are initialised.
    /// - They stay there, and nobody else uses them but in the order of the streams, until the buffer
    ///   has been dropped.
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
        // SAFETY: the caller's contract, until the buffer is dropped; `check` has seen to the
        // alignment. Not owned.
        let memory = unsafe { DeviceMemory::of_address(queue.gpu(), address, len, false) };
        Ok(Buffer::device(queue, len, memory))
    }

    /// Takes over a buffer of `cust`'s, without a copy. What other code has enqueued on it must be
    /// ordered as for [`view_ptr`](Self::view_ptr); work of ours is.
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
    /// As [`view_ptr`](Self::view_ptr), with the buffer.
    pub fn buffer_from_cust<T: Element + DeviceCopy>(
        &self,
        buffer: DeviceBuffer<T>,
    ) -> Result<Buffer<T>, Box<Refused<DeviceBuffer<T>>>> {
        let (address, len) = (buffer.as_device_ptr().as_raw(), buffer.len());
        let checked = self.queue_for("a buffer of cust's").and_then(|queue| {
            check::<T>(queue.gpu(), address, len)?;
            Ok(queue)
        });
        match checked {
            Err(error) => Err(refused(error, buffer)),
            Ok(queue) => {
                std::mem::forget(buffer);
                // SAFETY: the elements of a buffer of this device (`check`), which has been forgotten,
                // so that they are ours alone, to be freed as cust would. (One of no elements has no
                // memory.) They are initialised: cust asks for it where its buffers are made.
                let memory =
                    unsafe { DeviceMemory::of_address(queue.gpu(), address, len, len > 0) };
                Ok(Buffer::device(queue, len, memory))
            }
        }
    }

    /// A module of PTX that [`embedded!`](crate::embedded) has put into the program, loaded for this device: for
    /// kernels that are none of the library's families, marked `#[kernel(module = name)]`, which `cust` launches. The
    /// device's context is current afterwards on this thread.
    ///
    /// A simulated device runs the kernels of the library's families only: [`Error::OnlyFamilies`]. Run kernels of
    /// your own by `cuda_sim::Simulator`.
    ///
    /// ```ignore
    /// let module = device.module(&KERNELS, "calibration")?;
    /// let calibrate = module.get_function("calibrate")?;
    /// // What a kernel is given in place of a slice.
    /// let (address, len) = (readings.address()?, readings.len());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU; [`Error::OnlyFamilies`], [`Error::NoSuchModule`], [`Error::NoKernelForDevice`],
    /// [`Error::ModuleRejected`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn module(&self, embedded: &'static Embedded, name: &str) -> Result<Module, Error> {
        let gpu = self.backend().gpu_for("a module of PTX")?;
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
    /// The address on the device, for kernels that `cust` launches; 0 where there are no elements. What is in flight on
    /// the device's stream is not waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub fn address(&mut self) -> Result<u64, Error> {
        View::from(&*self).address()
    }
}

impl<T: Element> View<'_, T> {
    /// The address on the device, for kernels that `cust` launches and that only read.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU.
    pub fn address(&self) -> Result<u64, Error> {
        match self.place() {
            Place::Device(span) => Ok(span.address()),
            Place::Host(_) => Err(Error::NeedsGpu {
                what: "an address of device memory",
            }),
        }
    }
}

impl<T: Element + DeviceCopy> Buffer<T> {
    /// The memory as a buffer of `cust`'s, without a copy, after a wait for all streams of the device.
    /// To free it, `cust` needs the device's primary context to be current, which it is on a thread
    /// that has called this library last.
    ///
    /// # Errors
    ///
    /// With the buffer: [`Error::NeedsGpu`] of the CPU's; [`Error::NotDeviceMemory`] where it is
    /// another's ([`Device::buffer_ptr`]); [`Error::Cuda`], also for a kernel's own fault;
    /// [`Error::Deferred`].
    pub fn into_cust(self) -> Result<DeviceBuffer<T>, Box<Refused<Self>>> {
        let len = self.len();
        let address = self.release().map_err(|failed| {
            let (error, given) = *failed;
            refused(error, given)
        })?;
        let address = DevicePointer::from_raw(address);
        // SAFETY: `len` initialised elements in memory that the driver's `cuMemAlloc` gave and that is
        // nobody's any more, or none.
        Ok(unsafe { DeviceBuffer::from_raw_parts(address, len) })
    }
}

/// Whether `len` elements can be at `address` of the device's memory, as far as the driver knows.
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
        return wrong(format!("the address is no multiple of {multiple}"));
    }
    match driver::device_of(address)? {
        Some(index) if index == gpu.info.index => Ok(()),
        Some(index) => wrong(format!(
            "the address is of device {index}, and not of {}",
            gpu.info.index
        )),
        None => wrong("the driver knows of no memory there".into()),
    }
}
