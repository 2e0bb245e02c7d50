//! Properties of a device.

/// The properties of a GPU, as its driver reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The driver's index, as passed to [`Device::nth`](crate::Device::nth).
    pub index: u32,
    /// The device's name, such as `NVIDIA H200`.
    pub name: String,
    /// Major and minor, such as `(9, 0)`.
    pub compute_capability: (u32, u32),
    /// The architecture of the loaded modules, such as `sm_80`.
    pub module_arch: &'static str,
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// The maximum number of threads per block.
    pub max_threads_per_block: u32,
    /// The maximum number of blocks in a grid's first dimension.
    pub max_blocks: u32,
    /// The maximum shared memory of a block, in bytes.
    pub shared_bytes_per_block: u32,
    /// Global memory, in bytes.
    pub total_memory: u64,
    /// The size of the level-2 cache, in bytes.
    pub l2_bytes: u64,
    /// The peak clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
    /// The peak clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// The width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    /// The latest CUDA version that the driver supports, such as `(13, 0)`.
    pub driver_version: (u32, u32),
}
