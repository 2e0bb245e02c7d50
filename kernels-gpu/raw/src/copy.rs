//! Copies: `kernels_gpu::copy`, without its accesses of 32 bytes, which no module has that the
//! library embeds.

use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// # Safety
///
/// `len` elements at `from` and at `to`; the launch is as the original asks.
#[inline(always)]
pub(crate) unsafe fn copy_scalar<T: Copy>(from: *const T, len: usize, to: *mut T) {
    let (thread, stride) = grid_stride();
    let mut i = thread;
    while i < len {
        // SAFETY: `i` is in bounds.
        unsafe { *to.add(i) = *from.add(i) };
        i += stride;
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
pub(crate) unsafe fn copy_vec2<T: Copy>(from: *const T, len: usize, to: *mut T) {
    // SAFETY: the launch is this function's own.
    unsafe {
        if lie_alike::<T, u64>(from, to) {
            copy_words::<T, u64>(from, len, to);
        } else {
            copy_narrow(from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
pub(crate) unsafe fn copy_vec4<T: Copy>(from: *const T, len: usize, to: *mut T) {
    // SAFETY: the launch is this function's own.
    unsafe {
        if lie_alike::<T, B128>(from, to) {
            copy_words::<T, B128>(from, len, to);
        } else {
            copy_vec2(from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
unsafe fn copy_narrow<T: Copy>(from: *const T, len: usize, to: *mut T) {
    // SAFETY: the launch is this function's own.
    unsafe {
        if size_of::<T>() < 4 && lie_alike::<T, u32>(from, to) {
            copy_words::<T, u32>(from, len, to);
        } else if size_of::<T>() < 2 && lie_alike::<T, u16>(from, to) {
            copy_words::<T, u16>(from, len, to);
        } else {
            copy_scalar(from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`]; the arrays lie alike in words of `W`.
#[inline(always)]
unsafe fn copy_words<T: Copy, W: Word>(from: *const T, len: usize, to: *mut T) {
    let (thread, stride) = grid_stride();
    let word = size_of::<W>() / size_of::<T>();
    let head = (from.addr().wrapping_neg() % size_of::<W>() / size_of::<T>()).min(len);
    let words = (len - head) / word;
    let tail = head + words * word;

    let source = from.wrapping_add(head).cast::<W>();
    let target = to.wrapping_add(head).cast::<W>();
    let mut w = thread;
    while w < words {
        // SAFETY: `w` is in bounds, and behind the head both arrays have whole words.
        unsafe { *target.add(w) = W::load(source.add(w)) };
        w += stride;
    }

    // SAFETY: what lies before the words and behind them is in bounds.
    unsafe {
        if thread < head {
            *to.add(thread) = *from.add(thread);
        }
        if tail + thread < len {
            *to.add(tail + thread) = *from.add(tail + thread);
        }
    }
}

/// Whether the two arrays lie alike in words of `W`.
#[inline(always)]
fn lie_alike<T, W>(from: *const T, to: *mut T) -> bool {
    (from.addr() ^ to.addr()).is_multiple_of(size_of::<W>())
}

/// What one instruction loads and one stores.
trait Word: Copy {
    /// # Safety
    ///
    /// `place` is valid for reads, aligned and initialised.
    unsafe fn load(place: *const Self) -> Self;
}

macro_rules! words {
    ($($word:ident),*) => {
        $(impl Word for $word {
            #[inline(always)]
            unsafe fn load(place: *const Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe { *place }
            }
        })*
    };
}

words!(u16, u32, u64);

/// Sixteen bytes.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct B128([u64; 2]);

impl Word for B128 {
    #[inline(always)]
    unsafe fn load(place: *const Self) -> Self {
        // By its halves, as the original.
        // SAFETY: the caller's promise.
        unsafe { Self([(*place).0[0], (*place).0[1]]) }
    }
}

/// The thread's number in the grid, and how many there are.
#[inline(always)]
fn grid_stride() -> (usize, usize) {
    let threads = block_dim_x() as usize;
    (
        block_idx_x() as usize * threads + thread_idx_x() as usize,
        grid_dim_x() as usize * threads,
    )
}
