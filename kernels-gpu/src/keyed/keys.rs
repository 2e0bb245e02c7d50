//! Keys, and arrays of keys of any width.

use crate::element::Number;
use crate::mem::{Global, Vectors};
use core::marker::PhantomData;
use cuda_std::warp::{WarpMatchValue, WarpShuffleValue};

/// A key: an integer of 8, 16, 32 or 64 bits that selects a cell.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "not a key",
    note = "a key must be an integer: `u8`, `u16`, `u32`, `u64`, `i8`, `i16`, `i32` or `i64`"
)]
pub trait Key: Number {
    /// The number of keys that are not negative, or the greatest `u64` if there are more. Read as unsigned, a
    /// negative key is not below it.
    const MOST_CELLS: u64;

    /// The index of the key's cell. For a negative key it is out of range for every array.
    fn cell(self) -> usize;

    /// The key as a number, for messages.
    #[cfg(not(target_arch = "nvptx64"))]
    fn number(self) -> i128;
}

macro_rules! keys {
    ($($key:ident, $most_cells:expr;)*) => {
        $(impl Key for $key {
            const MOST_CELLS: u64 = $most_cells;

            #[inline(always)]
            fn cell(self) -> usize {
                // Extends the sign.
                self as usize
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn number(self) -> i128 {
                self.into()
            }
        })*
    };
}

keys! {
    u8, 1 << 8;
    u16, 1 << 16;
    u32, 1 << 32;
    u64, u64::MAX;
    i8, 1 << 7;
    i16, 1 << 15;
    i32, 1 << 31;
    i64, 1 << 63;
}

/// A key in the registers of a kernel: `u32` for keys of up to 32 bits, `u64` for keys of 64 bits.
pub trait WideKey: Key + WarpMatchValue + WarpShuffleValue + Ord + From<u8> + From<u16> {
    /// A hash of the key in 32 bits; the upper bits differ most between adjacent keys.
    fn hash(self) -> u32;
}

impl WideKey for u32 {
    #[inline(always)]
    fn hash(self) -> u32 {
        // 2^32 divided by the golden ratio: hashes of adjacent keys are far apart.
        self.wrapping_mul(0x9E37_79B1)
    }
}

impl WideKey for u64 {
    #[inline(always)]
    fn hash(self) -> u32 {
        ((self >> 32) as u32 ^ self as u32).hash()
    }
}

/// The keys of a launch, in an array of 8, 16 or 32-bit keys for `K = u32`, or of 64-bit keys for `K = u64`.
#[derive(Clone, Copy, Debug)]
pub struct Keys<K> {
    start: *mut u8,
    len: usize,
    bytes: u64,
    of: PhantomData<K>,
}

impl<K: WideKey> Keys<K> {
    /// The keys of `bytes` bytes each in this memory. Keys of 64 bits have 8 bytes, whatever `bytes` is.
    ///
    /// # Safety
    ///
    /// The [contract of a handle](crate::mem) for keys of this width, and the kernel does not write them.
    #[inline(always)]
    pub unsafe fn new(memory: &[u8], bytes: u64) -> Self {
        let bytes = match size_of::<K>() {
            8 => 8,
            _ => bytes,
        };
        Self {
            start: memory.as_ptr().cast_mut(),
            len: memory.len() >> bytes.trailing_zeros(),
            bytes,
            of: PhantomData,
        }
    }

    /// The number of keys.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "no kernel asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Loads key `index`. The width is the same for all threads, so none of them diverges.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: usize) -> K {
        match self.bytes {
            1 => self.of_width::<u8>().get(index).into(),
            2 => self.of_width::<u16>().get(index).into(),
            _ => self.of_width::<K>().get(index),
        }
    }

    /// Whether the array starts with a vector of four keys.
    #[inline(always)]
    pub fn starts_with_vector(self) -> bool {
        // The widest load has 16 bytes. A mask, because a remainder would be a division of 64 bits.
        let alignment = (4 * self.bytes).min(16) as usize;
        self.start.addr() & (alignment - 1) == 0
    }

    /// Loads the vector of four keys with this index, from an array that [starts with
    /// one](Self::starts_with_vector).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn vector(self, index: usize) -> [K; 4] {
        match self.bytes {
            1 => widened(self.vectors::<u8>().get(index)),
            2 => widened(self.vectors::<u16>().get(index)),
            _ => self.vectors::<K>().get(index),
        }
    }

    /// The array as keys of a width.
    #[inline(always)]
    fn of_width<W: Number>(self) -> Global<W> {
        // SAFETY: the contract of `new`; each caller has compared the width.
        unsafe { Global::new(self.start.cast(), self.len) }
    }

    #[inline(always)]
    fn vectors<W: Number>(self) -> Vectors<W, 4> {
        // SAFETY: the caller of `vector` guarantees the alignment.
        unsafe { self.of_width::<W>().vectors::<4>() }
    }
}

/// The same keys in registers. Not `map`, because LLVM would keep the array in local memory.
#[inline(always)]
fn widened<W, K: From<W>>(keys: [W; 4]) -> [K; 4] {
    let [a, b, c, d] = keys;
    [a.into(), b.into(), c.into(), d.into()]
}
