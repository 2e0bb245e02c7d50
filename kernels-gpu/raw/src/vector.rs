//! Neighbours that travel together: `kernels_gpu::mem::Vectors`.

/// The whole vectors of `N` in an array that may start at any element: how many elements stand
/// before the first, its address, and how many vectors there are.
#[inline(always)]
pub(crate) fn vectors_at<T, const N: usize>(
    start: *const T,
    len: usize,
) -> (usize, *const [T; N], usize) {
    let step = bytes::<T, N>() / size_of::<T>();
    let behind = (start.addr() / size_of::<T>()) % step;
    let head = ((step - behind) % step).min(len);
    (head, start.wrapping_add(head).cast(), (len - head) / N)
}

/// What a vector's address is a multiple of, in bytes.
const fn bytes<T, const N: usize>() -> usize {
    let bytes = size_of::<[T; N]>();
    if bytes <= 16 { bytes } else { 16 }
}

#[derive(Clone, Copy)]
#[repr(C, align(4))]
struct At4<T>(T);

#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct At8<T>(T);

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct At16<T>(T);

/// # Safety
///
/// `from` is valid for reads and a multiple of [`bytes`].
#[inline(always)]
pub(crate) unsafe fn load<T: Copy, const N: usize>(from: *const [T; N]) -> [T; N] {
    // SAFETY: the caller's contract.
    unsafe {
        match bytes::<T, N>() {
            4 => (*from.cast::<At4<[T; N]>>()).0,
            8 => (*from.cast::<At8<[T; N]>>()).0,
            _ => (*from.cast::<At16<[T; N]>>()).0,
        }
    }
}

/// A line that the compiler moves no access to memory across.
#[inline(always)]
pub(crate) fn hold_accesses() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
}
