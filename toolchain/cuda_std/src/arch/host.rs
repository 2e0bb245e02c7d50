//! The primitives on the host: those of a simulated thread in a launch of `cuda_sim`.
//!
//! Outside a launch, and without the feature `simulator`, atomics and conversions work. Everything that needs
//! a grid panics with the name of the called function.

#[cfg(feature = "simulator")]
use cuda_sim::device;
use device::{Barrier, Collective, Redux, Scope, Shuffle};
#[cfg(not(feature = "simulator"))]
use no_simulator as device;

use core::ffi::{CStr, c_char, c_void};

use crate::ptr::AddressSpace;
use crate::warp::WarpShuffleMode;

pub(crate) mod atomic;
pub(crate) mod float;
pub(crate) mod float16;
#[cfg(any(test, not(feature = "simulator")))]
#[allow(dead_code)]
// unused operands; with the feature it is compiled only for its tests
mod no_simulator;
mod printf;

macro_rules! indexes {
    ($($name:ident = $source:ident[$axis:literal], $public:literal;)*) => { $(
        #[inline(always)]
        #[track_caller]
        pub(crate) fn $name() -> u32 {
            device::$source($public)[$axis]
        }
    )* };
}

indexes! {
    thread_idx_x = thread_idx[0], "cuda_std::thread::thread_idx_x";
    thread_idx_y = thread_idx[1], "cuda_std::thread::thread_idx_y";
    thread_idx_z = thread_idx[2], "cuda_std::thread::thread_idx_z";
    block_dim_x = block_dim[0], "cuda_std::thread::block_dim_x";
    block_dim_y = block_dim[1], "cuda_std::thread::block_dim_y";
    block_dim_z = block_dim[2], "cuda_std::thread::block_dim_z";
    block_idx_x = block_idx[0], "cuda_std::thread::block_idx_x";
    block_idx_y = block_idx[1], "cuda_std::thread::block_idx_y";
    block_idx_z = block_idx[2], "cuda_std::thread::block_idx_z";
    grid_dim_x = grid_dim[0], "cuda_std::thread::grid_dim_x";
    grid_dim_y = grid_dim[1], "cuda_std::thread::grid_dim_y";
    grid_dim_z = grid_dim[2], "cuda_std::thread::grid_dim_z";
}

#[inline(always)]
#[track_caller]
pub(crate) fn lane_id() -> u32 {
    device::lane_id("cuda_std::warp::lane_id")
}

macro_rules! barriers {
    ($($name:ident($($predicate:ident)?) -> $output:ty = $kind:ident, $public:literal,
       |$result:ident| $value:expr;)*) => { $(
        #[inline(always)]
        #[track_caller]
        pub(crate) fn $name(_id: u32 $(, $predicate: bool)?) -> $output {
            let predicate = false $(| $predicate)?;
            let $result = device::barrier($public, Barrier::$kind, predicate);
            $value
        }
    )* };
}

barriers! {
    barrier() -> () = Sync, "cuda_std::thread::sync_threads", |_result| ();
    barrier_count(predicate) -> u32 = Count, "cuda_std::thread::sync_threads_count", |count| count;
    barrier_and(predicate) -> bool = And, "cuda_std::thread::sync_threads_and", |all| all != 0;
    barrier_or(predicate) -> bool = Or, "cuda_std::thread::sync_threads_or", |any| any != 0;
}

#[track_caller]
pub(crate) fn block_fence() {
    device::fence("cuda_std::thread::block_fence", Scope::Block);
}

#[track_caller]
pub(crate) fn device_fence() {
    device::fence("cuda_std::thread::device_fence", Scope::Device);
}

#[track_caller]
pub(crate) fn system_fence() {
    device::fence("cuda_std::thread::system_fence", Scope::System);
}

#[track_caller]
pub(crate) fn nanosleep(_nanos: u32) {
    device::sleep("cuda_std::thread::nanosleep");
}

#[track_caller]
pub(crate) fn cuda_arch() -> u32 {
    device::arch("cuda_std::cfg::cuda_arch")
}

#[track_caller]
pub(crate) fn has_redux() -> bool {
    device::arch("cuda_std::warp::warp_reduce") >= 800
}

#[track_caller]
pub(crate) fn clock() -> u64 {
    device::clock("cuda_std::misc::clock")
}

/// Does nothing: the simulator has no debugger.
#[track_caller]
pub(crate) fn breakpoint() {
    device::lane_id("cuda_std::misc::breakpoint");
}

/// Does nothing: the simulator has no profiler.
#[track_caller]
pub(crate) fn profiler_counter(_counter: u32) {
    device::lane_id("cuda_std::misc::profiler_counter");
}

#[inline(always)]
#[track_caller]
pub(crate) fn dynamic_shared_mem() -> *mut u8 {
    device::dynamic_shared("cuda_std::shared::dynamic_shared_mem")
}

#[inline(always)]
#[track_caller]
pub(crate) fn shared_array(declared: *mut u8, bytes: usize, alignment: usize) -> *mut u8 {
    device::shared_array(declared, bytes, alignment)
}

#[track_caller]
pub(crate) fn dynamic_smem_size() -> u32 {
    device::shared_sizes("cuda_std::mem::dynamic_smem_size").0 as u32
}

/// Rounded up as on current devices.
#[track_caller]
pub(crate) fn total_smem_size() -> u32 {
    const UNIT: usize = 128;
    device::shared_sizes("cuda_std::mem::total_smem_size")
        .1
        .next_multiple_of(UNIT) as u32
}

const IS_IN: &str = "cuda_std::ptr::is_in_address_space";

#[track_caller]
pub(crate) fn is_global(ptr: *const u8) -> bool {
    !is_shared(ptr) && !is_local(ptr)
}

#[track_caller]
pub(crate) fn is_shared(ptr: *const u8) -> bool {
    device::is_shared(IS_IN, ptr.addr())
}

/// Always false: the host has no such memory.
#[track_caller]
pub(crate) fn is_constant(_ptr: *const u8) -> bool {
    device::lane_id(IS_IN);
    false
}

#[track_caller]
pub(crate) fn is_local(ptr: *const u8) -> bool {
    device::is_local(IS_IN, ptr.addr())
}

/// Shared memory has its own addresses, as on the device; other memory has the host's.
#[track_caller]
pub(crate) fn to_space(address: u64, space: AddressSpace) -> u64 {
    let start = device::shared_start("cuda_std::ptr::convert_generic_to_specific_address_space");
    match space {
        AddressSpace::Shared => address - start as u64,
        _ => address,
    }
}

#[track_caller]
pub(crate) fn to_generic(address: u64, space: AddressSpace) -> u64 {
    let start = device::shared_start("cuda_std::ptr::convert_specific_address_space_to_generic");
    match space {
        AddressSpace::Shared => address + start as u64,
        _ => address,
    }
}

macro_rules! collectives {
    ($($name:ident($($value:ident: $ty:ty, $bits:expr)?) -> $output:ty = $collective:expr, $public:literal,
       |$result:ident, $mask:ident| $given:expr;)*) => { $(
        /// # Safety
        ///
        /// None on the host, where the member mask is checked; the contract exists for the device.
        #[inline(always)]
        #[track_caller]
        pub(crate) unsafe fn $name($mask: u32 $(, $value: $ty)?) -> $output {
            let value = 0 $(| $bits)?;
            let $result = device::collective($public, $collective, $mask, value);
            $given
        }
    )* };
}

collectives! {
    sync_warp() -> () = Collective::SyncWarp, "cuda_std::warp::sync_warp", |_result, mask| ();
    vote_all(holds: bool, u64::from(holds)) -> bool = Collective::VoteAll, "cuda_std::warp::warp_vote_all",
        |all, mask| all != 0;
    vote_any(holds: bool, u64::from(holds)) -> bool = Collective::VoteAny, "cuda_std::warp::warp_vote_any",
        |any, mask| any != 0;
    vote_ballot(holds: bool, u64::from(holds)) -> u32 = Collective::Ballot, "cuda_std::warp::warp_vote_ballot",
        |lanes, mask| lanes as u32;
    match_any_32(value: u32, u64::from(value)) -> u32 = Collective::MatchAny(32),
        "cuda_std::warp::warp_match_any", |lanes, mask| lanes as u32;
    match_any_64(value: u64, value) -> u32 = Collective::MatchAny(64),
        "cuda_std::warp::warp_match_any", |lanes, mask| lanes as u32;
    match_all_32(value: u32, u64::from(value)) -> (u32, bool) = Collective::MatchAll(32),
        "cuda_std::warp::warp_match_all", |all, mask| (if all != 0 { mask } else { 0 }, all != 0);
    match_all_64(value: u64, value) -> (u32, bool) = Collective::MatchAll(64),
        "cuda_std::warp::warp_match_all", |all, mask| (if all != 0 { mask } else { 0 }, all != 0);
}

#[inline(always)]
#[track_caller]
pub(crate) fn activemask() -> u32 {
    device::collective("cuda_std::warp::activemask", Collective::ActiveMask, 0, 0) as u32
}

macro_rules! reductions {
    ($($name:ident($ty:ty) = $op:ident;)*) => { $(
        /// # Safety
        ///
        /// None on the host, where the member mask is checked; the contract exists for the device.
        #[inline(always)]
        #[track_caller]
        pub(crate) unsafe fn $name(value: $ty, mask: u32) -> $ty {
            let bits = u64::from(value as u32);
            device::collective("cuda_std::warp::warp_reduce", Collective::Redux(Redux::$op), mask, bits) as $ty
        }
    )* };
}

reductions! {
    redux_add(u32) = Add;
    redux_min_i32(i32) = MinI32;
    redux_max_i32(i32) = MaxI32;
    redux_min_u32(u32) = MinU32;
    redux_max_u32(u32) = MaxU32;
    redux_and(u32) = And;
    redux_or(u32) = Or;
    redux_xor(u32) = Xor;
}

/// # Safety
///
/// None on the host, where the member mask is checked; the contract exists for the device.
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn shuffle(
    mode: WarpShuffleMode,
    mask: u32,
    value: u32,
    lane: u32,
    clamp: u32,
) -> (u32, bool) {
    let (mode, name) = match mode {
        WarpShuffleMode::Up => (Shuffle::Up, "cuda_std::warp::warp_shuffle_up"),
        WarpShuffleMode::Down => (Shuffle::Down, "cuda_std::warp::warp_shuffle_down"),
        WarpShuffleMode::Idx => (Shuffle::Idx, "cuda_std::warp::warp_shuffle_idx"),
        WarpShuffleMode::Xor => (Shuffle::Xor, "cuda_std::warp::warp_shuffle_xor"),
    };
    device::shuffle(name, mode, mask, value, lane, clamp)
}

/// # Safety
///
/// `format` is a C format from `io::format`. `values` has 64 bits for each conversion, in their order. The
/// value of `%s` is the exposed address of a text. All texts are zero-terminated.
pub(crate) unsafe fn print(format: *const c_char, values: *const c_void) {
    // SAFETY: the caller's contract.
    let text = unsafe { printf::text(CStr::from_ptr(format), values.cast()) };
    device::print(&text);
}
