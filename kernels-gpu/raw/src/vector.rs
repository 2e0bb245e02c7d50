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
    let mask = bytes::<T, N>() - 1;
    let up = |address: usize| address.wrapping_add(mask) & !mask;
    (head, start.map_addr(up).cast(), (len - head) / N)
}

/// Whether every element belongs to one of them.
#[inline(always)]
pub(crate) fn is_all_vectors<T, const N: usize>(start: *const T, len: usize) -> bool {
    start.addr().is_multiple_of(bytes::<T, N>()) && len.is_multiple_of(N)
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

/// The same index, but the compiler does not know that it is.
#[inline(always)]
pub(crate) fn opaque(index: usize) -> usize {
    #[cfg(target_arch = "nvptx64")]
    {
        let same;
        // SAFETY: no instruction.
        unsafe {
            core::arch::asm!(
                "/* {0} */",
                inlateout(reg64) index => same,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        same
    }
    #[cfg(not(target_arch = "nvptx64"))]
    index
}
