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
    let grid = grid_stride();
    // SAFETY: the launch is this function's own.
    unsafe {
        if !copy_words::<T, u64>(grid, from, len, to) {
            copy_narrow(grid, from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
pub(crate) unsafe fn copy_vec4<T: Copy>(from: *const T, len: usize, to: *mut T) {
    let grid = grid_stride();
    // SAFETY: the launch is this function's own.
    unsafe {
        if !copy_words::<T, B128>(grid, from, len, to) {
            copy_vec2(from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
unsafe fn copy_narrow<T: Copy>(grid: Grid, from: *const T, len: usize, to: *mut T) {
    // SAFETY: the launch is this function's own.
    unsafe {
        let done = size_of::<T>() < 4 && copy_words::<T, u32>(grid, from, len, to)
            || size_of::<T>() < 2 && copy_words::<T, u16>(grid, from, len, to);
        if !done {
            copy_scalar(from, len, to);
        }
    }
}

/// # Safety
///
/// As [`copy_scalar`].
#[inline(always)]
unsafe fn copy_words<T: Copy, W: Word>(grid: Grid, from: *const T, len: usize, to: *mut T) -> bool {
    let begins = |address: usize| address.is_multiple_of(size_of::<W>());
    // SAFETY: the launch is this function's own; behind these heads a word begins, or the array ends.
    unsafe {
        if begins(from.addr()) && begins(to.addr()) {
            copy_behind::<T, W>(0, grid, from, len, to);
        } else if begins(from.addr() ^ to.addr()) {
            let head = from.addr().wrapping_neg() % size_of::<W>() / size_of::<T>();
            copy_behind::<T, W>(head.min(len), grid, from, len, to);
        } else {
            return false;
        }
    }
    true
}

/// # Safety
///
/// As [`copy_scalar`]; in both arrays a word begins behind the head, or they end there.
#[inline(always)]
unsafe fn copy_behind<T: Copy, W: Word>(
    head: usize,
    (thread, stride): Grid,
    from: *const T,
    len: usize,
    to: *mut T,
) {
    let word = size_of::<W>() / size_of::<T>();
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
type Grid = (usize, usize);

#[inline(always)]
fn grid_stride() -> Grid {
    let threads = block_dim_x() as usize;
    (
        block_idx_x() as usize * threads + thread_idx_x() as usize,
        grid_dim_x() as usize * threads,
    )
}
