//! Thread indices, barriers and fences.
//!
//! A kernel runs as a *grid* of *blocks* of *threads*, each with up to three dimensions. Indices start at
//! zero; x varies fastest. Threads of a block can wait for each other and share memory. Blocks run in any
//! order, so they must not wait for each other.
//!
//! # Conventions
//!
//! - **Participation.** Every thread of the block that has not exited must reach a barrier (`sync_threads*`).
//!   If some threads branch around it, the behaviour is undefined in PTX, and at best a hang. These functions
//!   are safe nevertheless, as in Rust-CUDA.
//! - **Fences** do not wait. They order the calling thread's own accesses.
//! - **On the host** the functions work in a launch of `cuda_sim`; elsewhere each one panics with its name.
//!
//! PTX ISA: special registers `%tid`, `%ntid`, `%ctaid`, `%nctaid`; `bar`/`barrier`, `membar`,
//! `nanosleep`.

use crate::arch;
use crate::glam::{UVec2, UVec3};

/// Reads a register whose range the hardware limits, so that LLVM can prove that sums do not wrap.
macro_rules! bounded {
    ($name:ident in $range:expr) => {{
        let value = arch::$name();
        // SAFETY: these are the limits of all compute capabilities up to 12.x; a launch with larger sizes
        // fails.
        unsafe { core::hint::assert_unchecked($range.contains(&value)) };
        value
    }};
}

/// The thread's x index in its block: `%tid.x`, below 1024.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_idx_x() -> u32 {
    bounded!(thread_idx_x in (0..1024))
}

/// The thread's y index in its block: `%tid.y`, below 1024.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_idx_y() -> u32 {
    bounded!(thread_idx_y in (0..1024))
}

/// The thread's z index in its block: `%tid.z`, below 64.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_idx_z() -> u32 {
    bounded!(thread_idx_z in (0..64))
}

/// The block's x index in the grid: `%ctaid.x`, below 2^31 - 1.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_idx_x() -> u32 {
    bounded!(block_idx_x in (0..0x7fff_ffff))
}

/// The block's y index in the grid: `%ctaid.y`, below 65535.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_idx_y() -> u32 {
    bounded!(block_idx_y in (0..0xffff))
}

/// The block's z index in the grid: `%ctaid.z`, below 65535.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_idx_z() -> u32 {
    bounded!(block_idx_z in (0..0xffff))
}

/// Threads per block along x: `%ntid.x`, 1 to 1024.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_dim_x() -> u32 {
    bounded!(block_dim_x in (1..=1024))
}

/// Threads per block along y: `%ntid.y`, 1 to 1024.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_dim_y() -> u32 {
    bounded!(block_dim_y in (1..=1024))
}

/// Threads per block along z: `%ntid.z`, 1 to 64.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_dim_z() -> u32 {
    bounded!(block_dim_z in (1..=64))
}

/// Blocks of the grid along x: `%nctaid.x`, 1 to 2^31 - 1.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim_x() -> u32 {
    bounded!(grid_dim_x in (1..=0x7fff_ffff))
}

/// Blocks of the grid along y: `%nctaid.y`, 1 to 65535.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim_y() -> u32 {
    bounded!(grid_dim_y in (1..=0xffff))
}

/// Blocks of the grid along z: `%nctaid.z`, 1 to 65535.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim_z() -> u32 {
    bounded!(grid_dim_z in (1..=0xffff))
}

/// The thread's index in its block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_idx() -> UVec3 {
    UVec3::new(thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// The block's index in the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_idx() -> UVec3 {
    UVec3::new(block_idx_x(), block_idx_y(), block_idx_z())
}

/// Threads per block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_dim() -> UVec3 {
    UVec3::new(block_dim_x(), block_dim_y(), block_dim_z())
}

/// Blocks of the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim() -> UVec3 {
    UVec3::new(grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// The thread's linear index in the grid. Blocks are numbered first, then the threads in each block, x before
/// y before z.
///
/// Unique if the grid has at most 2^32 threads; otherwise it overflows. For larger grids, compute it in `u64`
/// from the components.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index() -> u32 {
    let (grid, block, dim, thread) = (grid_dim(), block_idx(), block_dim(), thread_idx());
    let block_index = (block.z * grid.y + block.y) * grid.x + block.x;
    let thread_index = (thread.z * dim.y + thread.y) * dim.x + thread.x;
    block_index * dim.element_product() + thread_index
}

/// The thread's index in a one-dimensional grid. Overflows beyond 2^32 threads, like [`index`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The thread's x and y index in the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The thread's x, y and z index in the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y } = index_2d();
    UVec3::new(x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// Whether all indices of this thread are zero; true for exactly one thread of the grid, which is not
/// necessarily the first to run.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Threads per warp: 32 on all GPUs so far, and a constant here.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_size() -> u32 {
    32
}

/// Waits for all threads of the block: `barrier.cta.sync.aligned` (`bar.sync 0`). Their earlier stores to
/// shared and global memory are then visible to all of them.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads() {
    arch::barrier(0)
}

/// Does [`sync_threads`], and returns in how many threads `predicate` is not zero:
/// `barrier.cta.red.popc.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    arch::barrier_count(0, predicate != 0)
}

/// Does [`sync_threads`], and returns 1 if `predicate` is not zero in all threads, else 0:
/// `barrier.cta.red.and.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    arch::barrier_and(0, predicate != 0) as u32
}

/// Does [`sync_threads`], and returns 1 if `predicate` is not zero in any thread, else 0:
/// `barrier.cta.red.or.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    arch::barrier_or(0, predicate != 0) as u32
}

/// Orders this thread's accesses before and after the call for the threads of its block: `membar.cta`, CUDA's
/// `__threadfence_block`. An addition to Rust-CUDA.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_fence() {
    arch::block_fence()
}

/// Orders this thread's accesses before and after the call for all threads of the grid: `membar.gl`. The same
/// as [`device_fence`], because PTX has no scope between block and device.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_fence() {
    arch::device_fence()
}

/// Orders this thread's accesses before and after the call for all threads of the device: `membar.gl`, CUDA's
/// `__threadfence`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn device_fence() {
    arch::device_fence()
}

/// Orders this thread's accesses before and after the call for all devices and the host: `membar.sys`, CUDA's
/// `__threadfence_system`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn system_fence() {
    arch::system_fence()
}

/// Suspends the thread for 0 to `2 * nanos` nanoseconds, at most 1 ms: `nanosleep.u32`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn nanosleep(nanos: u32) {
    arch::nanosleep(nanos)
}
