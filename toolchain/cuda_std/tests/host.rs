//! A crate of kernels, compiled for the host.

use cuda_std::atomic::mid;
use cuda_std::float16::Float16;
use cuda_std::prelude::*;
use std::mem::MaybeUninit;
use std::panic::catch_unwind;
use std::sync::atomic::Ordering::Relaxed;

#[kernel]
#[cuda_std::launch_bounds(max_threads = 1)]
unsafe fn double(x: &[u32], y: &mut [u32], factor: u32) {
    for (x, y) in x.iter().zip(y) {
        *y = factor * x;
    }
}

macro_rules! instance {
    ($name:ident, $slice:ty) => {
        #[cuda_std::launch_bounds(max_threads = 1, min_blocks = 1)]
        #[kernel]
        unsafe fn $name(x: $slice, y: *mut usize) {
            // SAFETY: the only caller passes a pointer to its own variable.
            unsafe { y.write(x.len()) };
        }
    };
}
instance!(len_u8, &[u8]);

#[test]
fn kernels_are_ordinary_functions() {
    let mut y = [0; 3];
    // SAFETY: on the host the kernel is its body, which is safe here.
    unsafe { double(&[1, 2, 3], &mut y, 2) };
    assert_eq!(y, [2, 4, 6]);

    let mut len = 0;
    // SAFETY: `len` outlives the call.
    unsafe { len_u8(b"four", &mut len) };
    assert_eq!(len, 4);
}

#[track_caller]
fn assert_panics_with(name: &str, call: impl FnOnce() + std::panic::UnwindSafe) {
    let message = *catch_unwind(call)
        .unwrap_err()
        .downcast::<String>()
        .unwrap();
    let rest = message.strip_prefix(&format!("`cuda_std::{name}` "));
    let expected = if cfg!(feature = "simulator") {
        "runs only on the GPU, or in a launch of `cuda_sim::Simulator`"
    } else {
        "needs a GPU, or cuda_std's feature `simulator` and a launch of `cuda_sim::Simulator`"
    };
    assert_eq!(rest, Some(expected), "{message}");
}

#[test]
fn what_needs_a_grid_panics_with_its_name() {
    assert_panics_with("thread::thread_idx_x", || _ = thread::thread_idx());
    assert_panics_with("thread::sync_threads", thread::sync_threads);
    assert_panics_with("thread::sync_threads_and", || {
        _ = thread::sync_threads_and(1)
    });
    assert_panics_with("warp::lane_id", || _ = warp::lane_id());
    assert_panics_with("mem::dynamic_smem_size", || {
        _ = cuda_std::mem::dynamic_smem_size()
    });
    assert_panics_with("shared::dynamic_shared_mem", || {
        _ = cuda_std::shared::dynamic_shared_mem::<f32>()
    });
    // SAFETY: the call panics outside a launch.
    unsafe {
        assert_panics_with("warp::warp_shuffle_up", || {
            _ = warp::warp_shuffle_up(!0, 1u64, 1, 32)
        });
        assert_panics_with("warp::warp_shuffle_xor", || {
            _ = warp::warp_shuffle_xor(!0, 1f32, 1, 32)
        });
        assert_panics_with("warp::warp_vote_ballot", || {
            _ = warp::warp_vote_ballot(!0, true)
        });
        assert_panics_with("warp::warp_match_all", || _ = warp::warp_match_all(!0, 1.5));
        assert_panics_with("warp::warp_reduce", || {
            _ = warp::warp_reduce(!0, 1, warp::WarpReductionOp::Add)
        });
    }
}

#[test]
fn a_shared_array_is_a_static() {
    fn array() -> *mut u32 {
        shared_array![u32; 4]
    }
    assert_eq!(array(), array());
    assert_ne!(array(), shared_array![u32; 4]);
    // SAFETY: four elements, accessed by this test only.
    unsafe {
        array().add(3).write(7);
        assert_eq!(array().add(3).read(), 7);
    }

    #[address_space(shared)]
    static mut TILE: [MaybeUninit<u8>; 2] = [const { MaybeUninit::uninit() }; 2];
    // SAFETY: accessed by this test only.
    unsafe {
        TILE[1].write(3);
        assert_eq!(TILE[1].assume_init(), 3);
    }
}

#[test]
fn atomics_on_raw_pointers() {
    let mut value = 5i64;
    let p = &raw mut value;
    // SAFETY: `p` points to `value`, which nothing else accesses.
    unsafe {
        assert_eq!(mid::atomic_fetch_sub_i64_block(p, Relaxed, 6), 5);
        assert_eq!(mid::atomic_fetch_min_i64_device(p, Relaxed, 2), -1);
        assert_eq!(mid::atomic_fetch_and_i64_system(p, Relaxed, 0xff), -1);
        assert_eq!(
            mid::atomic_compare_and_swap_i64_device(p, 255, 3, Relaxed),
            255
        );
        assert_eq!(
            mid::atomic_compare_and_swap_i64_device(p, 255, 4, Relaxed),
            3
        );
        assert_eq!(mid::atomic_load_64_device(p.cast(), Relaxed), 3);
        mid::atomic_store_64_block(p.cast(), Relaxed, 9);
        assert_eq!(mid::atomic_fetch_exch_i64_device(p, Relaxed, 0), 9);
    }
    assert_eq!(value, 0);
    let mut number = 0u32;
    let p = &raw mut number;
    // SAFETY: as above.
    let drawn = [(); 5].map(|()| unsafe { mid::atomic_fetch_inc_u32_device(p, Relaxed, 2) });
    assert_eq!(drawn, [0, 1, 2, 0, 1]);
    number = 9;
    // SAFETY: as above.
    let above = unsafe { mid::atomic_fetch_inc_u32_block(&raw mut number, Relaxed, 2) };
    assert_eq!((above, number), (9, 0));
}

#[test]
fn narrow_floats_round_to_even() {
    assert_eq!(f16::narrow(2049.0).widen(), 2048.0);
    assert_eq!(f16::narrow(2051.0).widen(), 2052.0);
    assert_eq!(f16::narrow(65520.0).widen(), f32::INFINITY);
    assert_eq!(bf16::narrow(257.0).widen(), 256.0);
    assert_eq!(bf16::narrow(259.0).widen(), 260.0);
    assert!(bf16::narrow(f32::NAN).widen().is_nan());
    for bits in 0..=u16::MAX {
        let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
        assert!(h.is_nan() || f16::narrow(h.widen()).to_bits() == bits);
        assert!(b.is_nan() || bf16::narrow(b.widen()).to_bits() == bits);
    }
}
