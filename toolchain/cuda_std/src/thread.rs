//! Where a thread stands in the grid, and how it waits for the other threads of its block.
//!
//! A kernel runs as a *grid* of *blocks* of *threads*, both in up to three dimensions. Indexes
//! count from zero; x varies fastest. Threads of one block can wait for each other and have shared
//! memory in common; blocks run in any order and cannot wait for each other.
//!
//! # Conventions
//!
//! - **Who must arrive.** At a barrier (`sync_threads*`): every thread of the block that has not
//!   exited. A barrier that some threads branch around is undefined behaviour in PTX, and at best a
//!   hang; these functions are safe all the same, as in Rust-CUDA.
//! - **Fences** wait for nobody. They order the calling thread's own accesses.
//! - **On the host** all of it works in the threads that `cuda_sim` simulates; elsewhere every
//!   function here panics with its name.
//!
//! PTX ISA: special registers `%tid`, `%ntid`, `%ctaid`, `%nctaid`; `bar`/`barrier`, `membar`,
//! `nanosleep`.

use crate::arch;
use crate::glam::{UVec2, UVec3};

/// Reads a register whose range the hardware limits; LLVM then proves that sums do not wrap.
macro_rules! bounded {
    ($name:ident in $range:expr) => {{
        let value = arch::$name();
        // SAFETY: the limits of every compute capability up to 12.x; a launch beyond them fails.
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

/// The thread's index in the whole grid, whatever its dimensions: block by block, and in each block
/// x before y before z.
///
/// Unique while the grid has at most 2^32 threads; it overflows beyond. Where a grid can be larger,
/// compute in `u64` from the parts.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index() -> u32 {
    let (grid, block, dim, thread) = (grid_dim(), block_idx(), block_dim(), thread_idx());
    let block_index = (block.z * grid.y + block.y) * grid.x + block.x;
    let thread_index = (thread.z * dim.y + thread.y) * dim.x + thread.x;
    block_index * dim.element_product() + thread_index
}

/// The thread's index in a grid of one dimension. Overflows beyond 2^32 threads, as [`index`] does.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The thread's x and y among all threads of the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The thread's x, y and z among all threads of the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y } = index_2d();
    UVec3::new(x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// Whether this is the thread with all indexes zero; true for exactly one thread of the grid. It
/// need not be the first to run.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Threads per warp: 32 on every GPU so far, and a constant here.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_size() -> u32 {
    32
}

/// Waits for all threads of the block. What they wrote to shared and global memory before is
/// visible to all of them after. `barrier.cta.sync.aligned` (`bar.sync 0`).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads() {
    arch::barrier(0)
}

/// [`sync_threads`], and tells every thread in how many of them `predicate` was not zero.
/// `barrier.cta.red.popc.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    arch::barrier_count(0, predicate != 0)
}

/// [`sync_threads`], and tells every thread whether `predicate` was not zero in all of them: 1 or
/// 0. `barrier.cta.red.and.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    arch::barrier_and(0, predicate != 0) as u32
}

/// [`sync_threads`], and tells every thread whether `predicate` was not zero in any of them: 1 or
/// 0. `barrier.cta.red.or.aligned`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    arch::barrier_or(0, predicate != 0) as u32
}

/// Orders this thread's accesses before the call and after it, as the threads of its block see
/// them. `membar.cta`, CUDA's `__threadfence_block`. An addition to Rust-CUDA.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_fence() {
    arch::block_fence()
}

/// Orders this thread's accesses before the call and after it, as all threads of the grid see them.
/// `membar.gl`: the same as [`device_fence`], since nothing lies between block and device.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_fence() {
    arch::device_fence()
}

/// Orders this thread's accesses before the call and after it, as all threads of the device see
/// them. `membar.gl`, CUDA's `__threadfence`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn device_fence() {
    arch::device_fence()
}

/// Orders this thread's accesses before the call and after it, as all devices and the host see
/// them. `membar.sys`, CUDA's `__threadfence_system`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn system_fence() {
    arch::system_fence()
}

/// Suspends the thread for somewhere between 0 and `2 * nanos` nanoseconds, at most 1 ms.
/// `nanosleep.u32`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn nanosleep(nanos: u32) {
    arch::nanosleep(nanos)
}
