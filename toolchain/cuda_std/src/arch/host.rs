//! The primitives without a GPU: atomics and conversions work, everything that needs a grid around
//! it panics with the name of what was called.

use crate::ptr::AddressSpace;
use crate::warp::WarpShuffleMode;

pub(crate) mod atomic;
pub(crate) mod float16;

macro_rules! gpu_only {
    ($(fn $name:ident($($argument:ty),*) $(-> $output:ty)? = $public:literal;)*) => { $(
        #[cold]
        #[track_caller]
        pub(crate) fn $name($(_: $argument),*) $(-> $output)? {
            absent($public)
        }
    )* };
    ($(unsafe fn $name:ident($($argument:ty),*) $(-> $output:ty)? = $public:literal;)*) => { $(
        /// # Safety
        ///
        /// None on the host; the device has some.
        #[cold]
        #[track_caller]
        pub(crate) unsafe fn $name($(_: $argument),*) $(-> $output)? {
            absent($public)
        }
    )* };
}

#[cold]
#[track_caller]
fn absent(name: &str) -> ! {
    panic!("`cuda_std::{name}` runs on the GPU only")
}

gpu_only! {
    fn thread_idx_x() -> u32 = "thread::thread_idx_x";
    fn thread_idx_y() -> u32 = "thread::thread_idx_y";
    fn thread_idx_z() -> u32 = "thread::thread_idx_z";
    fn block_dim_x() -> u32 = "thread::block_dim_x";
    fn block_dim_y() -> u32 = "thread::block_dim_y";
    fn block_dim_z() -> u32 = "thread::block_dim_z";
    fn block_idx_x() -> u32 = "thread::block_idx_x";
    fn block_idx_y() -> u32 = "thread::block_idx_y";
    fn block_idx_z() -> u32 = "thread::block_idx_z";
    fn grid_dim_x() -> u32 = "thread::grid_dim_x";
    fn grid_dim_y() -> u32 = "thread::grid_dim_y";
    fn grid_dim_z() -> u32 = "thread::grid_dim_z";
    fn barrier(u32) = "thread::sync_threads";
    fn barrier_count(u32, bool) -> u32 = "thread::sync_threads_count";
    fn barrier_and(u32, bool) -> bool = "thread::sync_threads_and";
    fn barrier_or(u32, bool) -> bool = "thread::sync_threads_or";
    fn block_fence() = "thread::block_fence";
    fn device_fence() = "thread::device_fence";
    fn system_fence() = "thread::system_fence";
    fn nanosleep(u32) = "thread::nanosleep";
    fn lane_id() -> u32 = "warp::lane_id";
    fn activemask() -> u32 = "warp::activemask";
    fn cuda_arch() -> u32 = "cfg::cuda_arch";
    fn has_redux() -> bool = "warp::warp_reduce";
    fn clock() -> u64 = "misc::clock";
    fn breakpoint() = "misc::breakpoint";
    fn profiler_counter(u32) = "misc::profiler_counter";
    fn dynamic_shared_mem() -> *mut u8 = "shared::dynamic_shared_mem";
    fn dynamic_smem_size() -> u32 = "mem::dynamic_smem_size";
    fn total_smem_size() -> u32 = "mem::total_smem_size";
    fn is_global(*const u8) -> bool = "ptr::is_in_address_space";
    fn is_shared(*const u8) -> bool = "ptr::is_in_address_space";
    fn is_constant(*const u8) -> bool = "ptr::is_in_address_space";
    fn is_local(*const u8) -> bool = "ptr::is_in_address_space";
    fn to_space(u64, AddressSpace) -> u64 = "ptr::convert_generic_to_specific_address_space";
    fn to_generic(u64, AddressSpace) -> u64 = "ptr::convert_specific_address_space_to_generic";
}

gpu_only! {
    unsafe fn sync_warp(u32) = "warp::sync_warp";
    unsafe fn vote_all(u32, bool) -> bool = "warp::warp_vote_all";
    unsafe fn vote_any(u32, bool) -> bool = "warp::warp_vote_any";
    unsafe fn vote_ballot(u32, bool) -> u32 = "warp::warp_vote_ballot";
    unsafe fn match_any_32(u32, u32) -> u32 = "warp::warp_match_any";
    unsafe fn match_any_64(u32, u64) -> u32 = "warp::warp_match_any";
    unsafe fn match_all_32(u32, u32) -> (u32, bool) = "warp::warp_match_all";
    unsafe fn match_all_64(u32, u64) -> (u32, bool) = "warp::warp_match_all";
    unsafe fn redux_add(u32, u32) -> u32 = "warp::warp_reduce";
    unsafe fn redux_min_i32(i32, u32) -> i32 = "warp::warp_reduce";
    unsafe fn redux_max_i32(i32, u32) -> i32 = "warp::warp_reduce";
    unsafe fn redux_min_u32(u32, u32) -> u32 = "warp::warp_reduce";
    unsafe fn redux_max_u32(u32, u32) -> u32 = "warp::warp_reduce";
    unsafe fn redux_and(u32, u32) -> u32 = "warp::warp_reduce";
    unsafe fn redux_or(u32, u32) -> u32 = "warp::warp_reduce";
    unsafe fn redux_xor(u32, u32) -> u32 = "warp::warp_reduce";
}

/// # Safety
///
/// None on the host; the device has some.
#[cold]
#[track_caller]
pub(crate) unsafe fn shuffle(
    mode: WarpShuffleMode,
    _mask: u32,
    _value: u32,
    _lane: u32,
    _clamp: u32,
) -> (u32, bool) {
    absent(match mode {
        WarpShuffleMode::Up => "warp::warp_shuffle_up",
        WarpShuffleMode::Down => "warp::warp_shuffle_down",
        WarpShuffleMode::Idx => "warp::warp_shuffle_idx",
        WarpShuffleMode::Xor => "warp::warp_shuffle_xor",
    })
}
