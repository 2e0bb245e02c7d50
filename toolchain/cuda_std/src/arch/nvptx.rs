//! The primitives in PTX.
//!
//! LLVM's intrinsics are used if rustc can call them, because LLVM knows which of them are convergent. The
//! rest is assembly. `cuda_builder` marks every `asm!` that is not `pure` as convergent, so no warp or
//! barrier instruction here is `pure`.

use core::arch::asm;
use core::ffi::{CStr, c_char, c_void};

use crate::ptr::AddressSpace;
use crate::warp::WarpShuffleMode;

pub(crate) mod atomic;
mod compare;
pub(crate) mod float;
pub(crate) mod float16;

/// Wraps intrinsics as safe functions: those that any thread may call at any time, and barriers. `thread`
/// documents which threads must reach a barrier.
macro_rules! intrinsics {
    ($($link:literal $name:ident($($argument:ident: $ty:ty),*) $(-> $output:ty)?;)*) => { $(
        #[inline(always)]
        pub(crate) fn $name($($argument: $ty),*) $(-> $output)? {
            unsafe extern "C" {
                #[link_name = $link]
                fn intrinsic($($argument: $ty),*) $(-> $output)?;
            }
            // SAFETY: reads a register or orders this thread, for any arguments. A barrier also requires that
            // the other threads reach it; as in Rust-CUDA, `sync_threads` is safe nevertheless, and documents
            // that.
            unsafe { intrinsic($($argument),*) }
        }
    )* };
}

intrinsics! {
    "llvm.trap" trap() -> !;
    "llvm.nvvm.read.ptx.sreg.tid.x" thread_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.tid.y" thread_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.tid.z" thread_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.x" block_dim_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.y" block_dim_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.z" block_dim_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.x" block_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.y" block_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.z" block_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.x" grid_dim_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.y" grid_dim_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.z" grid_dim_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.laneid" lane_id() -> u32;
    "llvm.nvvm.read.ptx.sreg.clock64" clock() -> u64;
    "llvm.nvvm.activemask" activemask() -> u32;
    "llvm.nvvm.nanosleep" nanosleep(nanos: u32);
    "llvm.nvvm.membar.cta" block_fence();
    "llvm.nvvm.membar.gl" device_fence();
    "llvm.nvvm.membar.sys" system_fence();
    "llvm.nvvm.barrier.cta.sync.aligned.all" barrier(id: u32);
    "llvm.nvvm.barrier.cta.red.popc.aligned.all" barrier_count(id: u32, predicate: bool) -> u32;
    "llvm.nvvm.barrier.cta.red.and.aligned.all" barrier_and(id: u32, predicate: bool) -> bool;
    "llvm.nvvm.barrier.cta.red.or.aligned.all" barrier_or(id: u32, predicate: bool) -> bool;
    "llvm.nvvm.isspacep.global" is_global(ptr: *const u8) -> bool;
    "llvm.nvvm.isspacep.shared" is_shared(ptr: *const u8) -> bool;
    "llvm.nvvm.isspacep.const" is_constant(ptr: *const u8) -> bool;
    "llvm.nvvm.isspacep.local" is_local(ptr: *const u8) -> bool;
}

/// Wraps intrinsics with a member mask.
macro_rules! warp_intrinsics {
    ($($link:literal $name:ident($($argument:ident: $ty:ty),*) $(-> $output:ty)?;)*) => { $(
        /// # Safety
        ///
        /// The members of the mask execute the same call, and the calling lane is one of them.
        #[inline(always)]
        pub(crate) unsafe fn $name($($argument: $ty),*) $(-> $output)? {
            unsafe extern "C" {
                #[link_name = $link]
                fn intrinsic($($argument: $ty),*) $(-> $output)?;
            }
            // SAFETY: the caller's contract is the intrinsic's only requirement.
            unsafe { intrinsic($($argument),*) }
        }
    )* };
}

warp_intrinsics! {
    "llvm.nvvm.bar.warp.sync" sync_warp(mask: u32);
    "llvm.nvvm.vote.all.sync" vote_all(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.any.sync" vote_any(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.ballot.sync" vote_ballot(mask: u32, predicate: bool) -> u32;
    "llvm.nvvm.match.any.sync.i32" match_any_32(mask: u32, value: u32) -> u32;
    "llvm.nvvm.match.any.sync.i64" match_any_64(mask: u32, value: u64) -> u32;
    "llvm.nvvm.redux.sync.add" redux_add(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.min" redux_min_i32(value: i32, mask: u32) -> i32;
    "llvm.nvvm.redux.sync.max" redux_max_i32(value: i32, mask: u32) -> i32;
    "llvm.nvvm.redux.sync.umin" redux_min_u32(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.umax" redux_max_u32(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.and" redux_and(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.or" redux_or(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.xor" redux_xor(value: u32, mask: u32) -> u32;
}

/// Wraps instructions with a second result, a predicate, which no intrinsic can return to Rust.
macro_rules! with_predicate {
    ($instruction:expr, $($operand:ident: $class:ident = $value:expr),*) => {{
        let result: u32;
        let predicate: u32;
        // SAFETY: the contract of the enclosing function is that of the instruction.
        unsafe {
            asm!(
                concat!(
                    "{{ .reg .pred %holds; ",
                    $instruction,
                    " selp.u32 {predicate}, 1, 0, %holds; }}"
                ),
                result = out(reg32) result,
                predicate = out(reg32) predicate,
                $($operand = in($class) $value,)*
                options(nomem, nostack, preserves_flags)
            );
        }
        (result, predicate != 0)
    }};
}

/// # Safety
///
/// The members of `mask` execute the same call, and the calling lane is one of them.
#[inline(always)]
pub(crate) unsafe fn shuffle(
    mode: WarpShuffleMode,
    mask: u32,
    value: u32,
    lane: u32,
    clamp: u32,
) -> (u32, bool) {
    macro_rules! shfl {
        ($mode:literal) => {
            with_predicate!(
                concat!(
                    "shfl.sync.", $mode,
                    ".b32 {result}|%holds, {value}, {lane}, {clamp}, {mask};"
                ),
                value: reg32 = value, lane: reg32 = lane, clamp: reg32 = clamp, mask: reg32 = mask
            )
        };
    }
    match mode {
        WarpShuffleMode::Up => shfl!("up"),
        WarpShuffleMode::Down => shfl!("down"),
        WarpShuffleMode::Idx => shfl!("idx"),
        WarpShuffleMode::Xor => shfl!("bfly"),
    }
}

/// # Safety
///
/// The members of `mask` execute the same call, and the calling lane is one of them.
#[inline(always)]
pub(crate) unsafe fn match_all_32(mask: u32, value: u32) -> (u32, bool) {
    with_predicate!("match.all.sync.b32 {result}|%holds, {value}, {mask};",
        value: reg32 = value, mask: reg32 = mask)
}

/// # Safety
///
/// The members of `mask` execute the same call, and the calling lane is one of them.
#[inline(always)]
pub(crate) unsafe fn match_all_64(mask: u32, value: u64) -> (u32, bool) {
    with_predicate!("match.all.sync.b64 {result}|%holds, {value}, {mask};",
        value: reg64 = value, mask: reg32 = mask)
}

/// The compute capability times 100, 900 for 9.0. It is a constant for LLVM, which removes branches for other
/// devices before it emits their instructions.
#[inline(always)]
pub(crate) fn cuda_arch() -> u32 {
    unsafe extern "C" {
        fn __nvvm_reflect(name: *const c_char) -> u32;
    }
    const NAME: *const c_char = c"__CUDA_ARCH".as_ptr();
    // SAFETY: LLVM's NVVMReflect pass replaces the call by a constant; the name is zero-terminated.
    unsafe { __nvvm_reflect(NAME) }
}

/// Whether the device has the `redux` instructions above; below 8.0 they must not be executed.
#[inline(always)]
pub(crate) fn has_redux() -> bool {
    cuda_arch() >= 800
}

macro_rules! registers {
    ($($name:ident = $register:literal;)*) => { $(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            let value: u32;
            // SAFETY: copies a special register.
            unsafe {
                asm!(
                    concat!("mov.u32 {}, ", $register, ";"),
                    out(reg32) value,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            value
        }
    )* };
}

registers! {
    dynamic_smem_size = "%dynamic_smem_size";
    total_smem_size = "%total_smem_size";
}

/// Arithmetic on addresses: `cvta` and `cvta.to`.
macro_rules! cvta {
    ($cvta:literal, $space:literal, $address:ident) => {{
        let converted: u64;
        // SAFETY: computes in registers.
        unsafe {
            asm!(
                concat!($cvta, ".", $space, ".u64 {}, {};"),
                out(reg64) converted,
                in(reg64) $address,
                options(pure, nomem, nostack, preserves_flags)
            )
        }
        converted
    }};
    ($cvta:literal, $space:ident, $address:ident) => {
        match $space {
            AddressSpace::Global => cvta!($cvta, "global", $address),
            AddressSpace::Shared => cvta!($cvta, "shared", $address),
            AddressSpace::Constant => cvta!($cvta, "const", $address),
            AddressSpace::Local => cvta!($cvta, "local", $address),
        }
    };
}

#[inline(always)]
pub(crate) fn to_space(generic: u64, space: AddressSpace) -> u64 {
    cvta!("cvta.to", space, generic)
}

#[inline(always)]
pub(crate) fn to_generic(address: u64, space: AddressSpace) -> u64 {
    cvta!("cvta", space, address)
}

#[inline(always)]
pub(crate) fn dynamic_shared_mem() -> *mut u8 {
    unsafe extern "C" {
        // `cuda_builder` recognises this name and moves the static to shared memory. In PTX, an array without
        // elements has an unknown length.
        static mut __cuda_dynamic_shared: [u8; 0];
    }
    (&raw mut __cuda_dynamic_shared).cast()
}

/// A static in shared memory exists once for each block.
#[inline(always)]
pub(crate) fn shared_array(declared: *mut u8, _bytes: usize, _alignment: usize) -> *mut u8 {
    declared
}

#[inline(always)]
pub(crate) fn breakpoint() {
    // SAFETY: stops in a debugger.
    unsafe { asm!("brkpt;", options(nomem, nostack)) }
}

#[inline(always)]
pub(crate) fn profiler_counter(counter: u32) {
    macro_rules! pmevent {
        // SAFETY: triggers a performance monitor event. The number is an immediate.
        ($number:literal) => {
            unsafe { asm!(concat!("pmevent ", $number, ";"), options(nomem, nostack)) }
        };
    }
    match counter {
        0 => pmevent!(0),
        1 => pmevent!(1),
        2 => pmevent!(2),
        3 => pmevent!(3),
        4 => pmevent!(4),
        5 => pmevent!(5),
        6 => pmevent!(6),
        7 => pmevent!(7),
        _ => trap(),
    }
}

/// # Safety
///
/// `format` is a C format. `values` has 64 bits for each conversion, in their order. The value of `%s` is the
/// address of a text. All texts are zero-terminated.
#[inline(always)]
pub(crate) unsafe fn print(format: *const c_char, values: *const c_void) {
    unsafe extern "C" {
        fn vprintf(format: *const c_char, values: *const c_void) -> i32;
    }
    // SAFETY: the caller's contract. The driver defines the function: PTX Writer's Guide to Interoperability,
    // system calls.
    unsafe { vprintf(format, values) };
}

/// Ends the launch with `CUDA_ERROR_ASSERT`; the driver prints location and message to standard error.
#[inline(always)]
pub(crate) fn fail(message: &CStr, file: &CStr, line: u32, function: &CStr) -> ! {
    unsafe extern "C" {
        fn __assertfail(
            message: *const c_char,
            file: *const c_char,
            line: u32,
            function: *const c_char,
            char_size: usize,
        );
    }
    // SAFETY: the texts are zero-terminated and have characters of one byte. The driver defines the function:
    // PTX Writer's Guide to Interoperability, system calls.
    unsafe {
        __assertfail(message.as_ptr(), file.as_ptr(), line, function.as_ptr(), 1);
    }
    // Unreachable: the driver's function does not return, but PTX cannot express that.
    trap()
}
