//! The table that makes named entry points of generic functions.
//!
//! A kernel for element types is named `<kernel>_<element>`: `shuffle_down_i32`.
//! Backends look up kernels by these names: a module has them as entries, and on the host [`TABLE`] has the
//! functions.
//!
//! Every entry has the same parameters:
//!
//! ```text
//! input: *const u64, input_len: u64, output: *mut u64, output_len: u64,
//! scratch: *mut u64, scratch_len: u64, a: u64, b: u64, c: u64, d: u64
//! ```

#![cfg_attr(feature = "panics", allow(unused_imports))]

use crate::atomic::{
    Block, Device, Global, Increments, Scope, Shared, System, coherence, contend, reduce,
};
use crate::io::Io;
use crate::litmus::{Blocks, Halves, message_passing};
use crate::print;
use crate::{
    barrier, compare, convergence, float, float16, index, large, litmus, memory, shared, shuffle,
    trap, vote,
};
use cuda_std::float::{ApproxFloat, GpuFloat};
use cuda_std::kernel;
use cuda_std::{bf16, f16};

/// A kernel on the host. Parameters: input; output and scratch with their lengths in words; the four scalar
/// parameters.
pub type Function = unsafe fn(&[u64], *mut u64, usize, *mut u64, usize, u64, u64, u64, u64);

/// A kernel and its name.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The symbol in the modules.
    pub name: &'static str,
    /// The function that the module's entry is compiled from.
    #[cfg(not(target_arch = "nvptx64"))]
    pub function: Function,
}

macro_rules! entries {
    // One kernel per element, which its body calls `T`.
    ($table:ident: [$($element:ident)+] $kernels:tt) => {
        $(entries!(@functions $element $kernels);)+

        const $table: &[&[Entry]] = &[$(entries!(@rows $element $kernels)),+];
    };

    (@functions $element:ident { $($kernel:ident = $body:expr;)+ }) => { pastey::paste! {
        $(entries!(@function $element [<$kernel _ $element>] = $body);)+
    }};

    (@rows $element:ident { $($kernel:ident = $body:expr;)+ }) => { pastey::paste! {
        &[$(entries!(@row [<$kernel _ $element>])),+]
    }};

    // One kernel of this name alone.
    ($table:ident: { $($kernel:ident = $body:expr;)+ }) => {
        $(entries!(@function u64 $kernel = $body);)+

        const $table: &[&[Entry]] = &[&[$(entries!(@row $kernel)),+]];
    };

    (@function $element:ident $name:ident = $body:expr) => {
        #[kernel]
        #[expect(clippy::too_many_arguments, reason = "the parameters that all kernels share")]
        unsafe fn $name(
            input: &[u64],
            output: *mut u64,
            output_len: usize,
            scratch: *mut u64,
            scratch_len: usize,
            a: u64,
            b: u64,
            c: u64,
            d: u64,
        ) {
            #[allow(dead_code, reason = "kernels of one type do not name it")]
            type T = $element;
            // SAFETY: the caller of the entry guarantees the buffers, and the shape that the
            // body's documentation requires.
            unsafe {
                let io = Io::new(input, (output, output_len), (scratch, scratch_len), [a, b, c, d]);
                ($body)(io)
            }
        }
    };

    (@row $name:ident) => {
        Entry {
            name: stringify!($name),
            #[cfg(not(target_arch = "nvptx64"))]
            function: $name,
        }
    };
}

#[cfg(not(feature = "panics"))]
entries!(SHUFFLE: [i8 u8 i16 u16 i32 u32 f32 i64 u64 f64 f16 bf16 i128 u128] {
    shuffle_down = shuffle::lanes::<shuffle::Down, T>;
    shuffle_up = shuffle::lanes::<shuffle::Up, T>;
    shuffle_xor = shuffle::lanes::<shuffle::Xor, T>;
    shuffle_idx = shuffle::lanes::<shuffle::Idx, T>;
    shuffle_arms_down = shuffle::arms::<shuffle::Down, T>;
    shuffle_arms_up = shuffle::arms::<shuffle::Up, T>;
    shuffle_arms_xor = shuffle::arms::<shuffle::Xor, T>;
    shuffle_arms_idx = shuffle::arms::<shuffle::Idx, T>;
});

#[cfg(not(feature = "panics"))]
entries!(MATCH: [i32 u32 f32 i64 u64 f64] {
    match_any = vote::arms::<vote::MatchAny<T>>;
    match_all = vote::arms::<vote::MatchAll<T>>;
});

#[cfg(not(feature = "panics"))]
entries!(REDUCE: [i32 u32] {
    reduce_add = vote::arms::<vote::Reduce<vote::Add, T>>;
    reduce_min = vote::arms::<vote::Reduce<vote::Min, T>>;
    reduce_max = vote::arms::<vote::Reduce<vote::Max, T>>;
    reduce_and = vote::arms::<vote::Reduce<vote::And, T>>;
    reduce_or = vote::arms::<vote::Reduce<vote::Or, T>>;
    reduce_xor = vote::arms::<vote::Reduce<vote::Xor, T>>;
});

#[cfg(not(feature = "panics"))]
entries!(SHARED: [u8 u16 i32 u32 f32 i64 u64 f64 f16 bf16] {
    shared_dynamic = shared::dynamic::<T>;
    shared_fixed = shared::fixed::<T>;
    shared_array = shared::array::<T>;
});

#[cfg(not(feature = "panics"))]
entries!(ATOMIC: [i32 u32 f32 i64 u64 f64] {
    atomic_global_block = contend::<<Block as Scope<T>>::Atomic, Global>;
    atomic_global_device = contend::<<Device as Scope<T>>::Atomic, Global>;
    atomic_global_system = contend::<<System as Scope<T>>::Atomic, Global>;
    atomic_shared_block = contend::<<Block as Scope<T>>::Atomic, Shared>;
    atomic_shared_device = contend::<<Device as Scope<T>>::Atomic, Shared>;
    atomic_shared_system = contend::<<System as Scope<T>>::Atomic, Shared>;

    atomic_red_global_block = reduce::<<Block as Scope<T>>::Atomic, Global>;
    atomic_red_global_device = reduce::<<Device as Scope<T>>::Atomic, Global>;
    atomic_red_global_system = reduce::<<System as Scope<T>>::Atomic, Global>;
    atomic_red_shared_block = reduce::<<Block as Scope<T>>::Atomic, Shared>;
    atomic_red_shared_device = reduce::<<Device as Scope<T>>::Atomic, Shared>;
    atomic_red_shared_system = reduce::<<System as Scope<T>>::Atomic, Shared>;

    atomic_coherence_global_block = coherence::<<Block as Scope<T>>::Atomic, Global>;
    atomic_coherence_global_device = coherence::<<Device as Scope<T>>::Atomic, Global>;
    atomic_coherence_global_system = coherence::<<System as Scope<T>>::Atomic, Global>;
    atomic_coherence_shared_block = coherence::<<Block as Scope<T>>::Atomic, Shared>;
    atomic_coherence_shared_device = coherence::<<Device as Scope<T>>::Atomic, Shared>;
    atomic_coherence_shared_system = coherence::<<System as Scope<T>>::Atomic, Shared>;
});

#[cfg(not(feature = "panics"))]
entries!(INCREMENT: [u32] {
    atomic_inc_global_block = contend::<Increments<Block>, Global>;
    atomic_inc_global_device = contend::<Increments<Device>, Global>;
    atomic_inc_global_system = contend::<Increments<System>, Global>;
    atomic_inc_shared_block = contend::<Increments<Block>, Shared>;
    atomic_inc_shared_device = contend::<Increments<Device>, Shared>;
    atomic_inc_shared_system = contend::<Increments<System>, Shared>;
});

#[cfg(not(feature = "panics"))]
entries!(FLOAT: [f32 f64] {
    float_floor = |io| float::of_one::<T>(io, GpuFloat::floor);
    float_ceil = |io| float::of_one::<T>(io, GpuFloat::ceil);
    float_round = |io| float::of_one::<T>(io, GpuFloat::round);
    float_trunc = |io| float::of_one::<T>(io, GpuFloat::trunc);
    float_fract = |io| float::of_one::<T>(io, GpuFloat::fract);
    float_abs = |io| float::of_one::<T>(io, GpuFloat::abs);
    float_signum = |io| float::of_one::<T>(io, GpuFloat::signum);
    float_sqrt = |io| float::of_one::<T>(io, GpuFloat::sqrt);
    float_rsqrt = |io| float::of_one::<T>(io, GpuFloat::rsqrt);
    float_cbrt = |io| float::of_one::<T>(io, GpuFloat::cbrt);
    float_exp = |io| float::of_one::<T>(io, GpuFloat::exp);
    float_exp2 = |io| float::of_one::<T>(io, GpuFloat::exp2);
    float_exp_m1 = |io| float::of_one::<T>(io, GpuFloat::exp_m1);
    float_ln = |io| float::of_one::<T>(io, GpuFloat::ln);
    float_log2 = |io| float::of_one::<T>(io, GpuFloat::log2);
    float_log10 = |io| float::of_one::<T>(io, GpuFloat::log10);
    float_ln_1p = |io| float::of_one::<T>(io, GpuFloat::ln_1p);
    float_sin = |io| float::of_one::<T>(io, GpuFloat::sin);
    float_cos = |io| float::of_one::<T>(io, GpuFloat::cos);
    float_tan = |io| float::of_one::<T>(io, GpuFloat::tan);
    float_asin = |io| float::of_one::<T>(io, GpuFloat::asin);
    float_acos = |io| float::of_one::<T>(io, GpuFloat::acos);
    float_atan = |io| float::of_one::<T>(io, GpuFloat::atan);
    float_sinh = |io| float::of_one::<T>(io, GpuFloat::sinh);
    float_cosh = |io| float::of_one::<T>(io, GpuFloat::cosh);
    float_tanh = |io| float::of_one::<T>(io, GpuFloat::tanh);
    float_asinh = |io| float::of_one::<T>(io, GpuFloat::asinh);
    float_acosh = |io| float::of_one::<T>(io, GpuFloat::acosh);
    float_atanh = |io| float::of_one::<T>(io, GpuFloat::atanh);
    float_sin_of_both = |io| float::of_one::<T>(io, |x| GpuFloat::sin_cos(x).0);
    float_cos_of_both = |io| float::of_one::<T>(io, |x| GpuFloat::sin_cos(x).1);
    float_copysign = |io| float::of_two::<T>(io, GpuFloat::copysign);
    float_div_euclid = |io| float::of_two::<T>(io, GpuFloat::div_euclid);
    float_rem_euclid = |io| float::of_two::<T>(io, GpuFloat::rem_euclid);
    float_log = |io| float::of_two::<T>(io, GpuFloat::log);
    float_powf = |io| float::of_two::<T>(io, GpuFloat::powf);
    float_hypot = |io| float::of_two::<T>(io, GpuFloat::hypot);
    float_atan2 = |io| float::of_two::<T>(io, GpuFloat::atan2);
    float_powi = |io| float::of_two::<T>(io, |x, n| GpuFloat::powi(x, n as i32));
    float_mul_add = |io| float::of_three::<T>(io, GpuFloat::mul_add);
});

#[cfg(not(feature = "panics"))]
entries!(APPROX: [f32] {
    float_exp2_approx = |io| float::of_one::<T>(io, ApproxFloat::exp2_approx);
    float_exp_approx = |io| float::of_one::<T>(io, ApproxFloat::exp_approx);
    float_log2_approx = |io| float::of_one::<T>(io, ApproxFloat::log2_approx);
    float_ln_approx = |io| float::of_one::<T>(io, ApproxFloat::ln_approx);
    float_sin_approx = |io| float::of_one::<T>(io, ApproxFloat::sin_approx);
    float_cos_approx = |io| float::of_one::<T>(io, ApproxFloat::cos_approx);
    float_tanh_approx = |io| float::of_one::<T>(io, ApproxFloat::tanh_approx);
    float_sqrt_approx = |io| float::of_one::<T>(io, ApproxFloat::sqrt_approx);
    float_rsqrt_approx = |io| float::of_one::<T>(io, ApproxFloat::rsqrt_approx);
    float_recip_approx = |io| float::of_one::<T>(io, ApproxFloat::recip_approx);
    float_div_approx = |io| float::of_two::<T>(io, ApproxFloat::div_approx);
});

#[cfg(not(feature = "panics"))]
entries!(FLOAT16: [f16 bf16] {
    float16_widen = float16::widen::<T>;
    float16_narrow = float16::narrow::<T>;
});

#[cfg(not(feature = "panics"))]
entries!(SINGLE: {
    vote_all = vote::arms::<vote::All>;
    vote_any = vote::arms::<vote::Any>;
    vote_ballot = vote::arms::<vote::Ballot>;

    thread_indexes = index::indices;
    activemask = index::activemask;

    memory_spaces = memory::spaces;

    barrier_rotate = barrier::rotate;
    barrier_count = barrier::votes::<barrier::Count>;
    barrier_and = barrier::votes::<barrier::And>;
    barrier_or = barrier::votes::<barrier::Or>;
    barrier_sync_warp = barrier::sync_warp;

    shared_several = shared::several;
    shared_structs = shared::structs;
    shared_ping_pong = shared::ping_pong;
    shared_slices = shared::slices;

    compare_bytes = compare::compare;

    large_fill = large::fill;
    large_scatter = large::scatter;
    large_gather = large::gather;
    large_count = large::count;

    litmus_blocks_device_fence = message_passing::<litmus::DeviceFence, Blocks>;
    litmus_blocks_grid_fence = message_passing::<litmus::GridFence, Blocks>;
    litmus_blocks_system_fence = message_passing::<litmus::SystemFence, Blocks>;
    litmus_blocks_device_thread_fence = message_passing::<litmus::DeviceThreadFence, Blocks>;
    litmus_blocks_system_thread_fence = message_passing::<litmus::SystemThreadFence, Blocks>;
    litmus_halves_block_thread_fence = message_passing::<litmus::BlockThreadFence, Halves>;
    litmus_blocks_device_store = message_passing::<litmus::DeviceStore, Blocks>;
    litmus_blocks_system_store = message_passing::<litmus::SystemStore, Blocks>;
    litmus_blocks_add = message_passing::<litmus::Add, Blocks>;
    litmus_blocks_or = message_passing::<litmus::Or, Blocks>;
    litmus_blocks_swap = message_passing::<litmus::Swap, Blocks>;
    litmus_blocks_exchange = message_passing::<litmus::Exchange, Blocks>;
    litmus_blocks_seq_cst = message_passing::<litmus::SeqCst, Blocks>;
    litmus_halves_block_fence = message_passing::<litmus::BlockFence, Halves>;
    litmus_halves_block_store = message_passing::<litmus::BlockStore, Halves>;
    litmus_halves_device_fence = message_passing::<litmus::DeviceFence, Halves>;
    litmus_halves_device_store = message_passing::<litmus::DeviceStore, Halves>;
    litmus_store_buffering_orderings = litmus::store_buffering::<false>;
    litmus_store_buffering_fences = litmus::store_buffering::<true>;

    convergence_barriers = convergence::barriers;
    convergence_branches = convergence::branches;
    convergence_neighbours = convergence::neighbours;
    convergence_leaving = convergence::leaving;
    convergence_early_exit = convergence::early_exit;

    print_formats = print::formats;
    print_threads = print::threads;
});

entries!(PANICS: {
    trap_panics = trap::trap;
});

/// All kernels of the table.
#[cfg(not(feature = "panics"))]
pub const TABLE: &[&[&[Entry]]] = &[
    SHUFFLE, MATCH, REDUCE, SHARED, ATOMIC, INCREMENT, FLOAT, APPROX, FLOAT16, SINGLE, PANICS,
];

/// The kernels that panic.
#[cfg(feature = "panics")]
pub const TABLE: &[&[&[Entry]]] = &[PANICS];

/// The kernel with a name.
pub fn find(name: &str) -> Option<Entry> {
    entries().find(|entry| entry.name == name)
}

/// All kernels, one after another.
pub fn entries() -> impl Iterator<Item = Entry> {
    TABLE.iter().copied().flatten().copied().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let mut names: std::vec::Vec<_> = entries().map(|entry| entry.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(find("shuffle_down_bf16").is_some());
        assert!(find("shuffle_down_u7").is_none());
    }
}
