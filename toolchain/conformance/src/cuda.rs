//! The backend that executes a module on a CUDA device.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::from_mut;

use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::function::{BlockSize, GridSize};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};

use crate::backend::{Backend, BackendError};
use crate::case::Launch;
use crate::module::Module;

/// The device's properties, for the list of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The device's name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
}

/// The first CUDA device.
///
/// # Errors
/// [`BackendError::NoDevice`] if there is none; other errors if the device or its driver does not work.
pub fn describe() -> Result<Description, BackendError> {
    let device = first_device()?;
    let attribute = |attribute| {
        let value = device
            .get_attribute(attribute)
            .map_err(setup("device attribute"))?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(Description {
        name: device.name().map_err(setup("device name"))?,
        capability: (
            attribute(DeviceAttribute::ComputeCapabilityMajor)?,
            attribute(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
    })
}

fn first_device() -> Result<Device, BackendError> {
    libcuda::driver().map_err(|error| BackendError::NoDevice {
        cause: error.to_string(),
    })?;
    let (device, failure) = libcuda::record(|| {
        cust::init(cust::CudaFlags::empty())?;
        match Device::num_devices()? {
            0 => Err(CudaError::NoDevice),
            _ => Device::get_device(0),
        }
    });
    device.map_err(|error| match (error, failure) {
        (CudaError::NoDevice, _) => BackendError::NoDevice {
            cause: "the driver has no device".into(),
        },
        // `CudaError` lacks newer codes, such as those of an incompatible driver.
        (_, Some(failure)) => BackendError::Setup {
            step: failure.function,
            cause: driver_words(failure.code),
        },
        (error, None) => setup("the first device")(error),
    })
}

/// The driver's name and description of a result code.
fn driver_words(code: i32) -> String {
    let name = libcuda::error_name(code).unwrap_or_else(|| "unnamed".into());
    let text = libcuda::error_text(code).unwrap_or_else(|| "no description".into());
    format!("{name} ({code}): {text}")
}

fn setup(step: &'static str) -> impl Fn(CudaError) -> BackendError {
    // `CudaError`'s `Display` calls the driver and can panic.
    move |error| BackendError::Setup {
        step,
        cause: format!("{error:?}"),
    }
}

/// A module, loaded on the first device.
pub struct Cuda {
    module: cust::module::Module,
    stream: Stream,
    /// The launch that made the context unusable, if any.
    dead: RefCell<Option<String>>,
    // Last, so that it is dropped last.
    context: Context,
}

impl Cuda {
    /// Makes the device's context current and loads `module`.
    ///
    /// # Errors
    /// [`BackendError::NoDevice`]; [`BackendError::Setup`] if the device rejects the module.
    pub fn load(module: &Module) -> Result<Self, BackendError> {
        let context = Context::new(first_device()?).map_err(setup("context"))?;
        CurrentContext::set_current(&context).map_err(setup("context"))?;
        let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(setup("stream"))?;
        let module = cust::module::Module::from_ptx(module.ptx(), &[])
            .map_err(setup("loading the module"))?;
        Ok(Self {
            module,
            stream,
            dead: RefCell::new(None),
            context,
        })
    }

    fn launch(&self, launch: &Launch, buffers: &Buffers) -> Result<(), BackendError> {
        let failed = |step| {
            move |error: CudaError| BackendError::Launch {
                kernel: launch.kernel.clone(),
                step,
                cause: format!("{error:?}"),
            }
        };
        let function = self
            .module
            .get_function(&launch.kernel)
            .map_err(failed("lookup"))?;
        let [x, y, z] = launch.grid;
        let grid = GridSize::xyz(x, y, z);
        let [x, y, z] = launch.block;
        let block = BlockSize::xyz(x, y, z);
        let mut arguments = buffers.arguments(launch.parameters);
        let pointers = arguments
            .each_mut()
            .map(|word| from_mut(word).cast::<c_void>());
        // SAFETY: every entry of the modules has ten 64-bit parameters, which a test of `module` checks. The
        // buffers have the lengths of their arguments and outlive the launch, because the stream is waited
        // for below. The cases launch each kernel in the shape that it requires, which the suite itself
        // tests.
        unsafe {
            self.stream
                .launch(&function, grid, block, launch.shared_bytes, &pointers)
        }
        .map_err(failed("launch"))?;
        self.stream.synchronize().map_err(|error| {
            *self.dead.borrow_mut() = Some(launch.kernel.clone());
            failed(RUN)(error)
        })
    }
}

/// The step of [`BackendError::Launch`] in which a trap is reported.
pub const RUN: &str = "run";

impl Backend for Cuda {
    fn run(
        &self,
        launches: &[Launch],
        input: &[u64],
        output: &mut [u64],
        scratch_bytes: u64,
    ) -> Result<(), BackendError> {
        if let Some(kernel) = &*self.dead.borrow() {
            return Err(BackendError::Setup {
                step: "not run",
                cause: format!("{kernel} failed before and made the context unusable"),
            });
        }
        CurrentContext::set_current(&self.context).map_err(setup("context"))?;
        let buffers = Buffers::new(input, output, scratch_bytes)?;
        for launch in launches {
            self.launch(launch, &buffers)?;
        }
        buffers.fetch(output)
    }
}

/// A case's buffers on the device. None is empty, because an empty one has no address.
struct Buffers {
    input: DeviceBuffer<u64>,
    output: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u64>,
    lengths: [u64; 3],
}

impl Buffers {
    fn new(input: &[u64], output: &[u64], scratch_bytes: u64) -> Result<Self, BackendError> {
        let lengths = [input.len() as u64, output.len() as u64, scratch_bytes / 8];
        let bytes = 8 * lengths.iter().sum::<u64>();
        let allocated = |error| match error {
            CudaError::OutOfMemory => BackendError::OutOfMemory {
                bytes,
                cause: "out of memory".into(),
            },
            error => setup("buffers")(error),
        };
        let filled = |words: &[u64]| match words {
            [] => DeviceBuffer::zeroed(1),
            words => DeviceBuffer::from_slice(words),
        };
        let scratch_words = usize::try_from(lengths[2]).unwrap_or(usize::MAX);
        Ok(Self {
            input: filled(input).map_err(allocated)?,
            output: filled(output).map_err(allocated)?,
            scratch: DeviceBuffer::zeroed(scratch_words.max(1)).map_err(allocated)?,
            lengths,
        })
    }

    fn arguments(&self, parameters: [u64; 4]) -> [u64; 10] {
        let [input_len, output_len, scratch_len] = self.lengths;
        let [a, b, c, d] = parameters;
        [
            self.input.as_device_ptr().as_raw(),
            input_len,
            self.output.as_device_ptr().as_raw(),
            output_len,
            self.scratch.as_device_ptr().as_raw(),
            scratch_len,
            a,
            b,
            c,
            d,
        ]
    }

    fn fetch(&self, output: &mut [u64]) -> Result<(), BackendError> {
        if output.is_empty() {
            return Ok(());
        }
        self.output.copy_to(output).map_err(setup("output"))
    }
}
