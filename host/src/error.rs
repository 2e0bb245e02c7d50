//! The one error type.

mod other;

use std::path::PathBuf;

pub use other::OtherError;

/// Whatever can go wrong, with the values that say why.
///
/// All sizes are in bytes unless the name says otherwise. Codes are the driver's
/// `CUresult` numbers; names and texts beside them are the driver's own.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver on this machine, or a CUDA toolkit's stub is found in its place.
    #[error(
        "there is no CUDA driver: {tried} cannot be used ({reason}); \
         install NVIDIA's driver (`nvidia-smi` then lists the devices) or use Device::cpu()"
    )]
    NoDriver {
        /// The library that was looked for in the loader's folders.
        tried: &'static str,
        /// The loader's own words, or the driver's on a stub.
        reason: String,
    },

    /// The driver is there and sees no device.
    #[error(
        "the CUDA driver sees no device{}; `nvidia-smi` lists those of this machine",
        hidden(.visible)
    )]
    NoDevice {
        /// The value of `CUDA_VISIBLE_DEVICES`, which hides devices, where it is set.
        visible: Option<String>,
    },

    /// There is no device with this index.
    #[error("there is no device {index}: the CUDA driver sees {count}, counted from 0")]
    DeviceIndex {
        /// The index asked for.
        index: u32,
        /// How many devices there are.
        count: u32,
    },

    /// The device is older than the oldest kernels in this program.
    #[error(
        "{device} has compute capability {}.{}; the kernels need that of {oldest} or a later one",
        .capability.0, .capability.1
    )]
    NoKernelForDevice {
        /// The device's name.
        device: String,
        /// Its compute capability, major and minor.
        capability: (u32, u32),
        /// The oldest architecture there are kernels for, as `sm_75`.
        oldest: &'static str,
    },

    /// The driver did not take the kernels, usually because it is older than they are
    /// (222, `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: a newer driver mends it). Only codes that
    /// judge the module or its compiler; anything else is [`Error::Cuda`].
    #[error("the driver rejects the {arch} module: {name} ({code}): {text}{}", indented(.log))]
    ModuleRejected {
        /// The module's architecture, as `sm_80`.
        arch: String,
        /// The driver's code.
        code: i32,
        /// The code's name.
        name: String,
        /// The driver's sentence on it.
        text: String,
        /// What the driver's compiler wrote; often empty.
        log: String,
    },

    /// A module of PTX was asked for on a simulated device, which runs functions of the host.
    #[error(
        "a simulated device runs operators only, and not the kernels of module `{module}`: run kernels of your own \
         by `cuda_sim::Simulator`"
    )]
    OnlyFamilies {
        /// The module's name.
        module: String,
    },

    /// A program has no module of PTX by this name.
    #[error("there is no module `{module}` in the embedded PTX, which has: {}", .modules.join(", "))]
    NoSuchModule {
        /// The name asked for.
        module: String,
        /// Those that there are.
        modules: Vec<&'static str>,
    },

    /// A number of threads per block that the kernel cannot be launched with.
    #[error("{kernel}: {threads} threads per block; it takes a power of two from 32 to {limit}")]
    BlockSize {
        /// The kernel.
        kernel: &'static str,
        /// The threads per block asked for.
        threads: u32,
        /// The most this kernel can have on this device.
        limit: u32,
    },

    /// A number of chunks that the kernel does not exist for.
    #[error("{kernel}: {chunks} chunks; it takes {allowed}")]
    Chunks {
        /// The kernel.
        kernel: &'static str,
        /// The number of chunks asked for.
        chunks: u32,
        /// The numbers it takes.
        allowed: &'static str,
    },

    /// A number of elements per load that the kernel does not exist for.
    #[error("{kernel}: {vector} elements per load; it takes 1, 2 or 4")]
    Vector {
        /// The kernel.
        kernel: &'static str,
        /// The number of elements asked for.
        vector: u32,
    },

    /// The kernels of a crate have not been given to the device.
    #[error(
        "{entry}: the kernels of `{package}` are not registered with the device; call \
         `Device::with(&..)` with what `warpfold::embedded!` made of them, and use the device it returns"
    )]
    NotRegistered {
        /// The entry point that was needed.
        entry: &'static str,
        /// The package that has it.
        package: &'static str,
    },

    /// The PTX in the program lacks a module: it was made of other kernels than the rows.
    #[error(
        "{entry}: the program has no PTX module `{module}`; build it again, and check that the build \
         script embeds the same crate of kernels"
    )]
    NotEmbedded {
        /// The entry point that was needed.
        entry: &'static str,
        /// The module.
        module: &'static str,
    },

    /// There is no entry point for this kernel, operator and element type.
    #[error("there is no {kernel} for the {op} of {element}")]
    NotAvailable {
        /// The kernel.
        kernel: &'static str,
        /// The operator.
        op: &'static str,
        /// The element type.
        element: &'static str,
    },

    /// There is no entry point for this kernel, operator, element and key type.
    #[error(
        "there is no {kernel} for the {op} of {element} by keys of {key}, {arrays} array(s) at once"
    )]
    NoKeyedKernel {
        /// The kernel.
        kernel: &'static str,
        /// The operator.
        op: &'static str,
        /// The type of the values.
        element: &'static str,
        /// The type of the keys.
        key: &'static str,
        /// How many arrays of values.
        arrays: usize,
    },

    /// More cells than keys of a signed type can have.
    #[error(
        "{cells} cells by keys of {key}, which take at most {limit}; use unsigned keys or keys of 64 bits"
    )]
    CellsOfKey {
        /// The cells of each array.
        cells: usize,
        /// The type of the keys.
        key: &'static str,
        /// The most cells.
        limit: u64,
    },

    /// Other than one value, or one of each array, for each key.
    #[error(
        "{keys} keys and {values} values; {arrays} array(s) of values take as many for each key"
    )]
    KeysAndValues {
        /// The keys.
        keys: usize,
        /// The values.
        values: usize,
        /// How many arrays of values.
        arrays: usize,
    },

    /// Triples, the last of which is not whole.
    #[error("{kernel}: {len} elements, which are no whole triples")]
    Triples {
        /// The kernel.
        kernel: &'static str,
        /// The elements.
        len: usize,
    },

    /// More blocks than a grid can have.
    #[error("{kernel}: {blocks} blocks of {threads} threads; a grid has at most {limit} blocks")]
    GridTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The blocks that the input needs.
        blocks: u64,
        /// The threads of each.
        threads: u32,
        /// The most that a grid has.
        limit: u32,
    },

    /// Too little device memory.
    #[error("{wanted} bytes of device memory wanted, {free} of {total} are free")]
    OutOfMemory {
        /// The bytes asked for.
        wanted: u64,
        /// The bytes free just after the refusal.
        free: u64,
        /// The bytes there are.
        total: u64,
    },

    /// Too little host memory, for a download or for an array on the CPU device.
    #[error("{wanted} bytes of host memory wanted, which this machine does not give")]
    OutOfHostMemory {
        /// The bytes asked for.
        wanted: u64,
    },

    /// A view that is not inside its buffer.
    #[error("elements {start}..{end} of a buffer that has {len}")]
    ViewRange {
        /// The first element asked for.
        start: usize,
        /// One past the last.
        end: usize,
        /// The elements there are.
        len: usize,
    },

    /// An input that starts at an address this kernel cannot load from.
    #[error("{kernel}: the input starts at {address:#x}, which is no multiple of {multiple}")]
    Misaligned {
        /// The kernel.
        kernel: &'static str,
        /// The input's address.
        address: u64,
        /// What the address must be a multiple of.
        multiple: u64,
    },

    /// A buffer of one device given to another. Opening a device twice gives two; clones of a
    /// [`Device`](crate::Device) are one.
    #[error("the buffer is on {buffer}, the reduction on {device}{}", twice(.buffer, .device))]
    OtherDevice {
        /// Where the buffer is.
        buffer: String,
        /// Where it was to be used.
        device: String,
    },

    /// Scratch of one stream given to another.
    #[error(
        "the scratch was made by another stream than it is used on; `Device::scratch` makes one for \
         each"
    )]
    OtherStream,

    /// What only a GPU has.
    #[error("{what}: the CPU has none; this needs a CUDA device")]
    NeedsGpu {
        /// What was asked for.
        what: &'static str,
    },

    /// What only the CPU has.
    #[error("{what}: a GPU reads device memory only; upload the data first (`Device::upload`)")]
    NeedsCpu {
        /// What was asked for.
        what: &'static str,
    },

    /// Two arrays of which one is longer.
    #[error(
        "arrays of {a} and {b} elements are reduced side by side; they must have the same length"
    )]
    Lengths {
        /// The elements of the first.
        a: usize,
        /// The elements of the second.
        b: usize,
    },

    /// Chunks of no elements.
    #[error("chunks of {len} elements; they take 1 or more")]
    ChunkLength {
        /// The elements of a chunk asked for.
        len: usize,
    },

    /// A number of blocks that the kernel cannot be launched with.
    #[error("{kernel}: {blocks} blocks; it takes 1 to {limit}")]
    Blocks {
        /// The kernel.
        kernel: &'static str,
        /// The blocks asked for.
        blocks: u32,
        /// The most it takes.
        limit: u32,
    },

    /// A number of blocks for a kernel whose blocks follow from the elements.
    #[error("{kernel}: {blocks} blocks asked for; its blocks follow from the number of elements")]
    BlocksFixed {
        /// The kernel.
        kernel: &'static str,
        /// The blocks asked for.
        blocks: u32,
    },

    /// The result of a plan that has not been enqueued, or whose last enqueue failed.
    #[error("{kernel}: no result, since the plan has not been enqueued or its last enqueue failed")]
    NotEnqueued {
        /// The plan's kernel.
        kernel: &'static str,
    },

    /// An error of the caller's own code that this library called: an iterator of
    /// [`Device::reduce_iter`](crate::Device::reduce_iter), say. Made by [`Error::other`].
    #[error(transparent)]
    Other(OtherError),

    /// A file that cannot be opened or read.
    #[error("{}: {text}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's sentence, or ours where the file is not a regular one or became shorter.
        text: String,
    },

    /// A file that is not a `.npy` file of a plain array.
    #[error("{}: not a .npy file of a plain array: {what}", .path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },

    /// A `.npy` file whose elements are of a type that this library does not have.
    #[error("{} holds {descr:?}: {why}", .path.display())]
    UnreadableDType {
        /// The file.
        path: PathBuf,
        /// The type as the file names it.
        descr: String,
        /// Why it cannot be read.
        why: &'static str,
    },

    /// A `.npy` file whose elements are of another type.
    #[error("{} holds {holds}, not {wanted}; read it as {holds}", .path.display())]
    OtherDType {
        /// The file.
        path: PathBuf,
        /// The type of what is in it, as `f32`.
        holds: &'static str,
        /// The type asked for.
        wanted: &'static str,
    },

    /// A name that no element type has.
    #[error(
        "unknown element type {name:?}; use i8, i16, i32, i64, u8, u16, u32, u64, f16, \
         bf16, f32 or f64"
    )]
    NoSuchDType {
        /// The name.
        name: String,
    },

    /// A `.npy` file that ends before its last element.
    #[error(
        "{}: too short: {has} bytes, but the header and the elements of its shape need {}",
        .path.display(), bytes(*.needs)
    )]
    FileTooShort {
        /// The file.
        path: PathBuf,
        /// The bytes of header and elements; 2^64 - 1 where they are more.
        needs: u64,
        /// The bytes there are.
        has: u64,
    },

    /// A file of raw elements whose last element is incomplete.
    #[error(
        "{}: its length, {bytes} bytes, is not a multiple of {size}, the size of {element}",
        .path.display()
    )]
    NotWholeElements {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// The type asked for.
        element: &'static str,
        /// The bytes of an element.
        size: u64,
    },

    /// A file whose elements begin where they cannot be used in place.
    #[error(
        "{}: the elements start at byte {offset}, which is not a multiple of {multiple}; \
         read the file instead of mapping it",
        .path.display()
    )]
    MisalignedFile {
        /// The file.
        path: PathBuf,
        /// Where its elements start, in bytes.
        offset: u64,
        /// What that must be a multiple of.
        multiple: u64,
    },

    /// An address that cannot be that of an array on this device.
    #[error("{len} elements of {element} at {address:#x}: {why}")]
    NotDeviceMemory {
        /// The address.
        address: u64,
        /// The number of elements.
        len: usize,
        /// Their type.
        element: &'static str,
        /// What is wrong with it.
        why: String,
    },

    /// A driver call failed. A kernel's own fault also ends here, in the first call
    /// that waits for it; after a fault the device refuses everything
    /// ([`is_sticky`](Self::is_sticky)), and the text says so.
    #[error("{function}: {name} ({code}): {text}{}", after(*.code))]
    Cuda {
        /// The driver function that failed.
        function: &'static str,
        /// The driver's code.
        code: i32,
        /// The code's name.
        name: String,
        /// The driver's sentence on it.
        text: String,
    },

    /// The simulator found a mistake in a kernel, on a device that the feature `simulator` adds
    /// (`Device::simulated`): a race, a read of uninitialised memory, an access out of bounds, a wrong member
    /// mask, a deadlock, a panic. The device is unusable after this error; open another.
    #[error("{text}")]
    Finding {
        /// What was found: the kernel, the block and the threads, and the line of each access that it is about.
        text: String,
    },

    /// Something failed where no error could be returned, when a buffer or a plan was
    /// dropped; the next call on the same device says so.
    #[error("an earlier failure, while device memory was given back: {0}")]
    Deferred(Box<Error>),
}

impl Error {
    /// Any error as this one: as [`Error::Other`], or as it is if it is an [`Error`].
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(own) => *own,
            Err(error) => Self::Other(OtherError::new(error)),
        }
    }

    /// Whether the driver refuses this process all further work on the device, as after a fault of a
    /// kernel: every call answers the same, memory on the device is lost, and only another process can
    /// go on. (After an [`Error::Finding`] another simulated device can.)
    ///
    /// The codes of which the driver's documentation says so.
    pub fn is_sticky(&self) -> bool {
        match self {
            Self::Cuda { code, .. } => sticky(*code),
            Self::Finding { .. } => true,
            Self::Deferred(error) => error.is_sticky(),
            _ => false,
        }
    }

    pub(crate) fn is_out_of_memory(&self) -> bool {
        const OUT_OF_MEMORY: i32 = 2;
        matches!(
            self,
            Self::Cuda {
                code: OUT_OF_MEMORY,
                ..
            }
        )
    }
}

/// `CUDA_ERROR_ASSERT`, of a kernel that panicked and said where.
const ASSERT: i32 = 710;

fn sticky(code: i32) -> bool {
    const ILLEGAL_ADDRESS: i32 = 700;
    const LAUNCH_TIMEOUT: i32 = 702;
    const HARDWARE_STACK_ERROR: i32 = 714;
    const LAUNCH_FAILED: i32 = 719;
    matches!(
        code,
        ILLEGAL_ADDRESS | LAUNCH_TIMEOUT | ASSERT | HARDWARE_STACK_ERROR..=LAUNCH_FAILED
    )
}

fn after(code: i32) -> &'static str {
    match sticky(code) {
        true if code == ASSERT => {
            "; a kernel panicked, and standard error has its file, line, block, thread and message; the CUDA \
             context is unusable after this error: restart the process"
        }
        true => {
            "; the device does nothing more for this process: start it anew (run under \
             compute-sanitizer, the kernel's fault is named)"
        }
        false => "",
    }
}

/// 2^64 - 1 stands for all that is more.
fn bytes(needs: u64) -> String {
    match needs {
        u64::MAX => "2^64 or more".into(),
        needs => needs.to_string(),
    }
}

fn hidden(visible: &Option<String>) -> String {
    match visible {
        Some(value) => format!(" (CUDA_VISIBLE_DEVICES is {value:?})"),
        None => String::new(),
    }
}

/// Index and name are the same only for one device opened twice.
fn twice(buffer: &str, device: &str) -> &'static str {
    match buffer == device {
        true => ", opened separately: open it once and clone that `Device`",
        false => "",
    }
}

fn indented(log: &str) -> String {
    log.lines().map(|line| format!("\n    {line}")).collect()
}

#[cfg(test)]
mod tests;
