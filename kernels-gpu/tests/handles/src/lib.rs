//! Every kind of memory access of kernels, in two versions: by the handles of `kernels_gpu::mem`, and by raw
//! pointers.
//!
//! A law of `xtask` compares the instructions of the two: a handle must not cost a single access more. These
//! kernels are never launched.

#![no_std]

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::thread::{sync_threads, thread_idx_x};
use cuda_std::{kernel, shared_array};
use kernels_gpu::device::increment_global;
use kernels_gpu::mem::{B128, Global, Partials, Shared};
use kernels_gpu::op::Sum;

/// 16 bytes that one instruction loads.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Aligned<T>(T);

/// Pairs of entries, `NAME_by_handle` and `NAME_by_pointer`, over an input, an output and an index.
macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident($x:ident: $from:ty, $y:ident: $to:ty, $i:ident)
        handle $handle:block
        pointer $pointer:block
    )*) => { $(
        pairs!(@entry $(#[$doc])* $name by_handle ($x: $from, $y: $to, $i) $handle);
        pairs!(@entry $(#[$doc])* $name by_pointer ($x: $from, $y: $to, $i) $pointer);
    )* };

    (@entry $(#[$doc:meta])* $name:ident $by:ident
        ($x:ident: $from:ty, $y:ident: $to:ty, $i:ident) $body:block
    ) => { pastey::paste! {
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Never launched.
        #[kernel]
        pub unsafe fn [<$name _ $by>]($x: *mut $from, $y: *mut $to, $i: usize) {
            // SAFETY: the kernel is never launched; a caller would guarantee its arguments.
            unsafe { $body }
        }
    }};
}

pairs! {
    /// `Global::get` and `set`.
    global_element(x: f32, y: f32, i)
    handle {
        Global::new(y, i + 1).set(i, Global::new(x, i + 1).get(i));
    }
    pointer {
        *y.add(i) = *x.add(i);
    }

    /// `Global::get` and `set` of a structure that needs several instructions.
    global_structure(x: [f32; 3], y: [f32; 3], i)
    handle {
        Global::new(y, i + 1).set(i, Global::new(x, i + 1).get(i));
    }
    pointer {
        *y.add(i) = *x.add(i);
    }

    /// `Vectors::get` of four elements of 32 bits.
    vectors_of_words(x: f32, y: f32, i)
    handle {
        let [a, b, c, d] = Global::new(x, usize::MAX).vectors::<4>().get(i);
        *y = (a + b) + (c + d);
    }
    pointer {
        let Aligned([a, b, c, d]) = *x.cast::<Aligned<[f32; 4]>>().add(i);
        *y = (a + b) + (c + d);
    }

    /// `Vectors::get` of two elements of 64 bits.
    vectors_of_long_words(x: f64, y: f64, i)
    handle {
        let [a, b] = Global::new(x, usize::MAX).vectors::<2>().get(i);
        *y = a + b;
    }
    pointer {
        let Aligned([a, b]) = *x.cast::<Aligned<[f64; 2]>>().add(i);
        *y = a + b;
    }

    /// `Vectors::get` of sixteen bytes.
    vectors_of_bytes(x: u8, y: u32, i)
    handle {
        let bytes = Global::new(x, usize::MAX).vectors::<16>().get(i);
        *y = bytes.into_iter().map(u32::from).sum();
    }
    pointer {
        let Aligned(bytes) = *x.cast::<Aligned<[u8; 16]>>().add(i);
        *y = bytes.into_iter().map(u32::from).sum();
    }

    /// `Vectors::get` of four structures of 12 bytes: three loads.
    vectors_of_structures(x: [f32; 3], y: f32, i)
    handle {
        let points = Global::new(x, usize::MAX).vectors::<4>().get(i);
        *y = points.into_iter().map(|[x, y, z]| x + y + z).sum();
    }
    pointer {
        let Aligned(points) = *x.cast::<Aligned<[[f32; 3]; 4]>>().add(i);
        *y = points.into_iter().map(|[x, y, z]| x + y + z).sum();
    }

    /// `Words::get` and `set`, as in a copy.
    words(x: u32, y: u32, i)
    handle {
        let from = Global::new(x, usize::MAX).words::<B128>(0, i + 1);
        Global::new(y, usize::MAX).words::<B128>(0, i + 1).set(i, from.get(i));
    }
    pointer {
        let Aligned([low, high]) = *x.cast::<Aligned<[u64; 2]>>().add(i);
        *y.cast::<Aligned<[u64; 2]>>().add(i) = Aligned([low, high]);
    }

    /// `Global::combine_atomic`.
    global_atomic(x: f32, y: f32, i)
    handle {
        Global::new(y, i + 1).combine_atomic::<f32, _>(Sum, i, *x);
    }
    pointer {
        mid::atomic_fetch_add_f32_device(y.add(i), Relaxed, *x);
    }

    /// `Global::fetch_increment`.
    global_increment(x: u32, y: u32, i)
    handle {
        *y = Global::new(x, i + 1).fetch_increment(i, 7);
    }
    pointer {
        *y = increment_global(x.add(i), 6);
    }

    /// `Shared::get` and `set` of dynamic shared memory.
    shared_dynamic(x: f32, y: f32, i)
    handle {
        let shared = Shared::<f32>::dynamic();
        shared.set(thread_idx_x(), *x);
        sync_threads();
        *y = shared.get(i as u32);
    }
    pointer {
        let shared = dynamic_shared_mem::<f32>();
        *shared.add(thread_idx_x() as usize) = *x;
        sync_threads();
        *y = *shared.add(i as u32 as usize);
    }

    /// `Shared::get` and `set` of an array that the kernel declares.
    shared_array(x: f64, y: f64, i)
    handle {
        let shared = Shared::new(shared_array![f64; 256]);
        shared.set(thread_idx_x(), *x);
        sync_threads();
        *y = shared.get(i as u32);
    }
    pointer {
        let shared = shared_array![f64; 256];
        *shared.add(thread_idx_x() as usize) = *x;
        sync_threads();
        *y = *shared.add(i as u32 as usize);
    }

    /// `Shared::combine_atomic`.
    shared_atomic(x: i32, y: i32, i)
    handle {
        let shared = Shared::<i32>::dynamic();
        shared.combine_atomic::<i32, _>(Sum, i as u32, *x);
        sync_threads();
        *y = shared.get(0);
    }
    pointer {
        let shared = dynamic_shared_mem::<i32>();
        mid::atomic_fetch_add_i32_block(shared.add(i as u32 as usize), Relaxed, *x);
        sync_threads();
        *y = *shared;
    }

    /// `Partials::store`.
    partial_stored(x: f64, y: u64, i)
    handle {
        Partials::<f64>::new(y, i + 1).store(i, *x);
    }
    pointer {
        let bits = (*x).to_bits();
        for (word, half) in [bits & 0xffff_ffff, bits >> 32].into_iter().enumerate() {
            mid::atomic_store_64_device(y.add(2 * i + word), Relaxed, 1 << 32 | half);
        }
    }

    /// `Partials::poll` and `load_and_reset`.
    partial_loaded(x: u64, y: f64, i)
    handle {
        let partials = Partials::<f64>::new(x, i + 1);
        let polled = partials.poll(i);
        if polled.is_ready() {
            *y = partials.load_and_reset(i, polled);
        }
    }
    pointer {
        let low = mid::atomic_load_64_device(x.add(2 * i), Relaxed);
        let high = mid::atomic_load_64_device(x.add(2 * i + 1), Relaxed);
        if low & high & 1 << 32 != 0 {
            for word in 0..2 {
                mid::atomic_store_64_device(x.add(2 * i + word), Relaxed, 0);
            }
            *y = f64::from_bits(high << 32 | low & 0xffff_ffff);
        }
    }
}
