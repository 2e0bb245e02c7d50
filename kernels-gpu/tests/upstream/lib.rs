//! The names and signatures of Rust-CUDA's own `cuda_std` that kernels may use, without its code.
//!
//! `xtask/tests/upstream.rs` type-checks `kernels-gpu` against this crate instead of this repository's
//! `cuda_std`. Every name here exists on the main branch of <https://github.com/Rust-GPU/Rust-CUDA>, but not
//! every name of that branch is here. To use another name, check that it exists there and add it.

#![no_std]

pub use cuda_std_macros::{address_space, gpu_only, kernel};
pub use half;
pub use half::{bf16, f16};

/// Functions that are never called.
macro_rules! functions {
    ($($name:ident($($argument:ident: $ty:ty),*) $(-> $output:ty)?;)*) => { $(
        pub fn $name($(_: $ty),*) $(-> $output)? {
            panic!(stringify!($name))
        }
    )* };
}

/// Unsafe functions that are never called.
macro_rules! unsafe_functions {
    ($($name:ident$(<$t:ident: $bound:ident>)?($($argument:ident: $ty:ty),*) $(-> $output:ty)?;)*) => { $(
        pub unsafe fn $name$(<$t: $bound>)?($(_: $ty),*) $(-> $output)? {
            panic!(stringify!($name))
        }
    )* };
}

pub mod prelude {
    pub use crate::{f16, kernel, thread};
}

pub mod thread {
    functions! {
        thread_idx_x() -> u32;
        thread_idx_y() -> u32;
        thread_idx_z() -> u32;
        block_idx_x() -> u32;
        block_idx_y() -> u32;
        block_idx_z() -> u32;
        block_dim_x() -> u32;
        block_dim_y() -> u32;
        block_dim_z() -> u32;
        grid_dim_x() -> u32;
        grid_dim_y() -> u32;
        grid_dim_z() -> u32;
        index() -> u32;
        index_1d() -> u32;
        first() -> bool;
        warp_size() -> u32;
        sync_threads();
        sync_threads_count(predicate: u32) -> u32;
        sync_threads_and(predicate: u32) -> u32;
        sync_threads_or(predicate: u32) -> u32;
        grid_fence();
        device_fence();
        system_fence();
        nanosleep(nanos: u32);
    }
}

pub mod shared {
    pub fn dynamic_shared_mem<T>() -> *mut T {
        panic!("dynamic_shared_mem")
    }
}

pub mod mem {
    functions! {
        dynamic_smem_size() -> u32;
        total_smem_size() -> u32;
    }
}

pub mod misc {
    functions! {
        breakpoint();
        profiler_counter(counter: u32);
        clock() -> u64;
    }
}

pub mod atomic {
    pub mod mid {
        use core::sync::atomic::Ordering;
        use pastey::paste;

        functions! {
            device_thread_fence(ordering: Ordering);
            block_thread_fence(ordering: Ordering);
            system_thread_fence(ordering: Ordering);
        }

        macro_rules! scopes {
            ($($scope:ident)*) => { paste! { $(
                unsafe_functions! {
                    [<atomic_load_32_ $scope>](ptr: *mut u32, ordering: Ordering) -> u32;
                    [<atomic_load_64_ $scope>](ptr: *mut u64, ordering: Ordering) -> u64;
                    [<atomic_store_32_ $scope>](ptr: *mut u32, ordering: Ordering, val: u32);
                    [<atomic_store_64_ $scope>](ptr: *mut u64, ordering: Ordering, val: u64);
                }
                operations!($scope and u32 u64 i32 i64 f32 f64);
                operations!($scope or u32 u64 i32 i64 f32 f64);
                operations!($scope xor u32 u64 i32 i64 f32 f64);
                operations!($scope add u32 u64 i32 i64 f32 f64);
                operations!($scope sub u32 u64 i32 i64 f32 f64);
                operations!($scope min u32 u64 i32 i64);
                operations!($scope max u32 u64 i32 i64);
                operations!($scope exch u32 u64 i32 i64 f32 f64);
                compare_and_swaps!($scope u32 u64 i32 i64 f32 f64);
            )* } };
        }

        macro_rules! operations {
            ($scope:ident $op:ident $($ty:ident)*) => { paste! {
                unsafe_functions! { $(
                    [<atomic_fetch_ $op _ $ty _ $scope>](
                        ptr: *mut $ty, ordering: Ordering, val: $ty
                    ) -> $ty;
                )* }
            } };
        }

        macro_rules! compare_and_swaps {
            ($scope:ident $($ty:ident)*) => { paste! {
                unsafe_functions! { $(
                    [<atomic_compare_and_swap_ $ty _ $scope>](
                        ptr: *mut $ty, current: $ty, new: $ty, ordering: Ordering
                    ) -> $ty;
                )* }
            } };
        }

        scopes!(block device system);
    }
}

pub mod warp {
    use crate::{bf16, f16};

    functions! {
        lane_id() -> u32;
        activemask() -> u32;
    }

    unsafe_functions! {
        sync_warp(mask: u32);
        warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T;
        warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32;
        warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32>;
        warp_vote_all(mask: u32, predicate: bool) -> bool;
        warp_vote_any(mask: u32, predicate: bool) -> bool;
        warp_vote_ballot(mask: u32, predicate: bool) -> u32;
        warp_shuffle_down<T: WarpShuffleValue>(
            mask: u32, value: T, delta: u32, width: u32
        ) -> (T, bool);
        warp_shuffle_up<T: WarpShuffleValue>(
            mask: u32, value: T, delta: u32, width: u32
        ) -> (T, bool);
        warp_shuffle_idx<T: WarpShuffleValue>(
            mask: u32, value: T, idx: u32, width: u32
        ) -> (T, bool);
        warp_shuffle_xor<T: WarpShuffleValue>(
            mask: u32, value: T, lane_mask: u32, width: u32
        ) -> (T, bool);
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WarpReductionOp {
        Add,
        Min,
        Max,
        And,
        Or,
        Xor,
    }

    #[derive(Clone, Copy)]
    pub enum WarpShuffleMode {
        Up,
        Down,
        Idx,
        Xor,
    }

    pub trait WarpReduceValue: Sized {
        unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
    }

    pub trait WarpMatchValue: Sized {
        unsafe fn match_any(mask: u32, value: Self) -> u32;
        unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
    }

    pub trait WarpShuffleValue: Sized {
        unsafe fn shuffle(
            mode: WarpShuffleMode,
            mask: u32,
            value: Self,
            b: u32,
            width: u32,
        ) -> (Self, bool);
    }

    macro_rules! values {
        ($trait:ident for $($ty:ident)*: $functions:tt) => { $(
            impl $trait for $ty { values!(@ $functions); }
        )* };
        (@ { $(fn $name:ident($($argument:ident: $ty:ty),*) -> $output:ty;)* }) => { $(
            unsafe fn $name($(_: $ty),*) -> $output {
                panic!(stringify!($name))
            }
        )* };
    }

    values!(WarpReduceValue for i32 u32: {
        fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
    });
    values!(WarpMatchValue for i32 i64 u32 u64 f32 f64: {
        fn match_any(mask: u32, value: Self) -> u32;
        fn match_all(mask: u32, value: Self) -> Option<u32>;
    });
    values!(WarpShuffleValue for i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 f16 bf16: {
        fn shuffle(
            mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32
        ) -> (Self, bool);
    });
}
