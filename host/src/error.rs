//! The error type of all calls.

mod methods;
mod other;
#[cfg(test)]
mod tests;
mod texts;

use crate::determinism::Determinism;
pub use other::{GroupsError, OtherError, RanksError, StartError};
use std::path::PathBuf;
use texts::{advice, after, bytes, hidden, indented, most, twice};

/// Any error of this library, with the values that explain it.
///
/// Sizes are in bytes, except where the field's name says elements. Codes, names and texts come from the driver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver on this machine, or only the stub library of a CUDA toolkit.
    #[error(
        "there is no CUDA driver: {tried} cannot be used ({reason}); \
         install NVIDIA's driver (`nvidia-smi` then lists the devices) or use Device::cpu()"
    )]
    NoDriver {
        /// The library that the loader looked for.
        tried: &'static str,
        /// The loader's message, or the driver's message for a stub.
        reason: String,
    },

    /// The driver finds no device.
    #[error(
        "the CUDA driver finds no device{}; `nvidia-smi` lists the devices of this machine",
        hidden(.visible)
    )]
    NoDevice {
        /// The value of `CUDA_VISIBLE_DEVICES`, which hides devices, if it is set.
        visible: Option<String>,
    },

    /// There is no device with this index.
    #[error("there is no device {index}: the CUDA driver finds {count} device(s), counted from 0")]
    DeviceIndex {
        /// The requested index.
        index: u32,
        /// The number of devices.
        count: u32,
    },

    /// The device is older than the oldest kernels in this program.
    #[error(
        "{device} has compute capability {}.{}; the kernels require {oldest} or later",
        .capability.0, .capability.1
    )]
    NoKernelForDevice {
        /// The device's name.
        device: String,
        /// Its compute capability, major and minor.
        capability: (u32, u32),
        /// The oldest architecture with embedded kernels, such as `sm_75`.
        oldest: &'static str,
    },

    /// The driver rejects the kernels, usually because it is older than they are.
    ///
    /// Example: 222, `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`, which a newer driver fixes. Only for codes that
    /// concern the module or its compiler; all others are [`Error::Cuda`].
    #[error("the driver rejects the {arch} module: {name} ({code}): {text}{}", indented(.log))]
    ModuleRejected {
        /// The module's architecture, such as `sm_80`.
        arch: String,
        /// The driver's code.
        code: i32,
        /// The code's name.
        name: String,
        /// The driver's message.
        text: String,
        /// The log of the driver's compiler; often empty.
        log: String,
    },

    /// A PTX module was requested on a simulated device, which cannot run PTX.
    #[error(
        "module `{module}`: a simulated device runs only operators, not other kernels; run your own kernels \
         with `cuda_sim::Simulator`"
    )]
    OnlyFamilies {
        /// The module's name.
        module: String,
    },

    /// The program has no PTX module with this name.
    #[error("there is no module `{module}` in the embedded PTX; its modules are: {}", .modules.join(", "))]
    NoSuchModule {
        /// The requested name.
        module: String,
        /// The names of the embedded modules.
        modules: Vec<&'static str>,
    },

    /// A number of threads per block that the kernel does not support.
    #[error("{kernel}: {threads} threads per block; must be a power of two from 32 to {limit}")]
    BlockSize {
        /// The kernel.
        kernel: &'static str,
        /// The requested number of threads per block.
        threads: u32,
        /// The maximum for this kernel on this device.
        limit: u32,
    },

    /// A number of chunks for which there is no kernel.
    #[error("{kernel}: {chunks} chunks; must be {allowed}")]
    Chunks {
        /// The kernel.
        kernel: &'static str,
        /// The requested number of chunks.
        chunks: u32,
        /// The valid numbers.
        allowed: &'static str,
    },

    /// A number of elements per load for which there is no kernel.
    #[error("{kernel}: {vector} elements per load; must be 1, 2 or 4")]
    Vector {
        /// The kernel.
        kernel: &'static str,
        /// The requested number of elements.
        vector: u32,
    },

    /// A call that cannot keep the promise of its device's [level](crate::Determinism).
    #[error("{entry}: cannot keep the promise of {level}: {reason}")]
    Determinism {
        /// The entry point that the call would launch.
        entry: &'static str,
        /// The level.
        level: Determinism,
        /// Why not.
        reason: &'static str,
    },

    /// The kernels of a crate are not registered with the device.
    #[error(
        "{entry}: the kernels of `{package}` are not registered with the device; pass the static from \
         `warpfold::embedded!` to `Device::with(&..)`, and use the device that it returns"
    )]
    NotRegistered {
        /// The required entry point.
        entry: &'static str,
        /// The package that contains it.
        package: &'static str,
    },

    /// The program lacks a PTX module, because its PTX was made from other kernels than its tables.
    #[error(
        "{entry}: the program has no PTX module `{module}`; build it again, and check that the build \
         script embeds the same crate of kernels"
    )]
    NotEmbedded {
        /// The required entry point.
        entry: &'static str,
        /// The module.
        module: &'static str,
    },

    /// There is no entry point for this kernel, operator and element type.
    #[error("there is no kernel {kernel} for the {op} of {element}")]
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
        "there is no kernel {kernel} for the {op} of {element} with keys of type {key} and {arrays} array(s) of values"
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
        /// The number of arrays of values.
        arrays: usize,
    },

    /// An element whose key has no cell, in a [strict](crate::Cells::strict) reduction by key.
    #[error(
        "element {index} has the key {key}, but there are {cells} cells, for the keys from 0 on; {rejected} \
         element(s) have no cell; use more cells, or a reduction that is not strict"
    )]
    KeyWithoutCell {
        /// The index of the first such element.
        index: u64,
        /// Its key.
        key: i128,
        /// The number of cells of each array.
        cells: usize,
        /// The number of such elements since the cells were made or cleared.
        rejected: u64,
    },

    /// The number of values is not the number of keys times the number of arrays.
    #[error(
        "{keys} keys and {values} values in {arrays} array(s); each array must have one value per key"
    )]
    KeysAndValues {
        /// The number of keys.
        keys: usize,
        /// The number of values.
        values: usize,
        /// The number of arrays of values.
        arrays: usize,
    },

    /// An array of triples with an incomplete last triple.
    #[error("{kernel}: {len} elements; must be a multiple of 3")]
    Triples {
        /// The kernel.
        kernel: &'static str,
        /// The number of elements.
        len: usize,
    },

    /// More blocks than a grid can have.
    #[error("{kernel}: {blocks} blocks of {threads} threads; a grid has at most {limit} blocks")]
    GridTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The number of blocks that the input requires.
        blocks: u64,
        /// The threads per block.
        threads: u32,
        /// The maximum number of blocks of a grid.
        limit: u32,
    },

    /// Too little device memory.
    #[error("out of device memory: {wanted} bytes requested, {free} of {total} bytes are free")]
    OutOfMemory {
        /// The requested bytes.
        wanted: u64,
        /// The free bytes just after the failure.
        free: u64,
        /// The bytes of the whole memory.
        total: u64,
    },

    /// Too little host memory, for a download or for an array on the CPU device.
    #[error("out of host memory: {wanted} bytes requested")]
    OutOfHostMemory {
        /// The requested bytes.
        wanted: u64,
    },

    /// A range that is not inside its buffer.
    #[error("elements {start}..{end} are out of range: the buffer has {len} elements")]
    ViewRange {
        /// The first requested element.
        start: usize,
        /// One past the last.
        end: usize,
        /// The number of elements of the buffer.
        len: usize,
    },

    /// An input address from which this kernel cannot load.
    #[error("{kernel}: the input starts at {address:#x}, which is not a multiple of {multiple}")]
    Misaligned {
        /// The kernel.
        kernel: &'static str,
        /// The input's address.
        address: u64,
        /// The required alignment.
        multiple: u64,
    },

    /// A buffer of another device. Opening a device twice gives two; clones of a [`Device`](crate::Device) are one.
    #[error("the buffer is on {buffer}, but the reduction is on {device}{}", twice(.buffer, .device))]
    OtherDevice {
        /// The device of the buffer.
        buffer: String,
        /// The device of the call.
        device: String,
    },

    /// The scratch of another stream.
    #[error(
        "the scratch belongs to another stream; make one for each stream with `Device::scratch`"
    )]
    OtherStream,

    /// A call that only a GPU supports.
    #[error("{what}: not available on the CPU; this call needs a CUDA device")]
    NeedsGpu {
        /// The requested object.
        what: &'static str,
    },

    /// A call that only the CPU supports.
    #[error("{what}: a GPU reads only device memory; upload the data first (`Device::upload`)")]
    NeedsCpu {
        /// The requested object.
        what: &'static str,
    },

    /// Arrays of different lengths.
    #[error(
        "arrays of {a} and {b} elements cannot be reduced together; they must have the same length"
    )]
    Lengths {
        /// The elements of the first.
        a: usize,
        /// The elements of the second.
        b: usize,
    },

    /// An offset of a segment that is negative, smaller than the one before, or beyond the items.
    #[error("offset {index} is {value}{}; offsets must not decrease, and must be from 0 to {}", after(.before), most(.len))]
    Offset {
        /// The index of the offset.
        index: usize,
        /// The offset.
        value: i128,
        /// The offset before it, if there is one.
        before: Option<i128>,
        /// The number of items, unless the error is found later.
        len: Option<usize>,
    },

    /// More items than the type of an offset can number.
    #[error(
        "{items} items have offsets of up to {items}, but {offset} has numbers of up to {most}; use u64"
    )]
    OffsetType {
        /// The number of items.
        items: usize,
        /// The type of the offsets, such as `i32`.
        offset: &'static str,
        /// The greatest number of the type.
        most: u64,
    },

    /// No offsets of segments, not even one.
    #[error("no offsets; a segmented reduction needs one more than there are segments")]
    NoOffsets,

    /// Items that are no whole rows.
    #[error(
        "{items} items cannot be cut into rows of {len}; the length of a row must divide their number"
    )]
    Rows {
        /// The number of items.
        items: usize,
        /// The requested length of a row.
        len: usize,
    },

    /// Too many items or groups.
    #[error(transparent)]
    Groups(#[from] GroupsError),

    /// Ranks that work together: see [`many`](mod@crate::many).
    #[error(transparent)]
    Ranks(#[from] RanksError),

    /// An array of too many dimensions.
    #[error("an array of {dims} dimensions; at most {limit} are supported")]
    TooManyDims {
        /// The number of dimensions of the shape.
        dims: usize,
        /// The most dimensions.
        limit: usize,
    },

    /// An axis that the array does not have.
    #[error("axis {axis} is out of range: the array has {dims} dimensions, counted from 0")]
    AxisRange {
        /// The requested axis.
        axis: usize,
        /// The number of dimensions of the shape.
        dims: usize,
    },

    /// The same axis twice.
    #[error("axis {axis} is given twice; an array is reduced along each axis only once")]
    AxisTwice {
        /// The axis.
        axis: usize,
    },

    /// A shape that has more or fewer items than the array.
    #[error("shape {shape:?} has {product} items, but the array has {len}; both must be equal")]
    ShapeLen {
        /// The lengths of the dimensions.
        shape: Vec<usize>,
        /// Their product.
        product: usize,
        /// The number of items of the array.
        len: usize,
    },

    /// Strides that are more or fewer than the dimensions.
    #[error("{strides} strides for an array of {dims} dimensions; each dimension needs one")]
    StridesLen {
        /// The number of strides.
        strides: usize,
        /// The number of dimensions of the shape.
        dims: usize,
    },

    /// A strided array that is not inside its buffer.
    #[error(
        "shape {shape:?} with strides {strides:?} from item {start} on reaches item {item}, but the array has {len} items"
    )]
    StridedRange {
        /// The lengths of the dimensions.
        shape: Vec<usize>,
        /// The requested strides.
        strides: Vec<isize>,
        /// The item at index 0 of all dimensions.
        start: usize,
        /// The lowest item, if it is negative; otherwise the highest.
        item: i128,
        /// The number of items of the array.
        len: usize,
    },

    /// A shape with more items than can be counted.
    #[error("shape {shape:?} has more items than a 64-bit number can count")]
    ShapeOverflow {
        /// The lengths of the dimensions.
        shape: Vec<usize>,
    },

    /// A chunk length of 0.
    #[error("chunks of {len} elements; must be at least 1")]
    ChunkLength {
        /// The requested length of a chunk.
        len: usize,
    },

    /// The result of a plan that has not been enqueued, whose last enqueue failed, or of a kernel that was captured in a graph.
    #[error(
        "{kernel}: no result, because its last enqueue failed, a graph has captured it, or there was none; enqueue it first"
    )]
    NotEnqueued {
        /// The kernel.
        kernel: &'static str,
    },

    /// An error of the caller's code that this library has called. [`Error::other`] makes one.
    #[error(transparent)]
    Other(OtherError),

    /// A file that cannot be opened or read.
    #[error("{}: {text}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's message, or this library's for a file that is not regular or has become shorter.
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

    /// A `.npy` file with an element type that this library does not support.
    #[error("{} holds {descr:?}: {why}", .path.display())]
    UnreadableDType {
        /// The file.
        path: PathBuf,
        /// The type as the file names it.
        descr: String,
        /// Why it cannot be read.
        why: &'static str,
    },

    /// A `.npy` file with another element type than the requested one.
    #[error("{} holds {holds}, not {wanted}; read it as {holds}", .path.display())]
    OtherDType {
        /// The file.
        path: PathBuf,
        /// The element type of the file, such as `f32`.
        holds: &'static str,
        /// The requested element type.
        wanted: &'static str,
    },

    /// The name of an unknown element type.
    #[error(
        "unknown element type {name:?}; use i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64"
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
        /// The bytes of header and elements; 2^64 - 1 stands for any larger number.
        needs: u64,
        /// The bytes of the file.
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
        /// The length of the file in bytes.
        bytes: u64,
        /// The requested element type.
        element: &'static str,
        /// The bytes of an element.
        size: u64,
    },

    /// A file that cannot be mapped, because its elements are not aligned.
    #[error(
        "{}: the elements start at byte {offset}, which is not a multiple of {multiple}; \
         read the file instead of mapping it",
        .path.display()
    )]
    MisalignedFile {
        /// The file.
        path: PathBuf,
        /// The byte offset of the first element.
        offset: u64,
        /// The required alignment.
        multiple: u64,
    },

    /// An address at which this device cannot have the array.
    #[error("{len} elements of {element} at {address:#x}: {why}")]
    NotDeviceMemory {
        /// The address.
        address: u64,
        /// The number of elements.
        len: usize,
        /// Their type.
        element: &'static str,
        /// The reason.
        why: String,
    },

    /// A driver call failed, or a kernel had a fault.
    ///
    /// After a fault the device refuses all further work ([`is_sticky`](Self::is_sticky)); restart the process.
    #[error("{function}: {name} ({code}): {text}{}", advice(*.code))]
    Cuda {
        /// The driver function that returned the error.
        function: &'static str,
        /// The driver's code.
        code: i32,
        /// The code's name.
        name: String,
        /// The driver's message.
        text: String,
    },

    /// The simulator found a bug in a kernel: a race, a read of uninitialised memory, an access out of
    /// bounds, a wrong member mask, a deadlock or a panic.
    ///
    /// Only on a simulated device (feature `simulator`), which is unusable afterwards; open another.
    #[error("{text}")]
    Finding {
        /// The finding: the kernel, the block, the threads, and the source line of each access.
        text: String,
    },

    /// A failure while a buffer or a plan was dropped; the next call on the same device returns it.
    #[error("an earlier failure, while device memory was freed: {0}")]
    Deferred(Box<Error>),
}
