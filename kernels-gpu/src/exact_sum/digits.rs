//! A warp's exact sum as digits in shared memory.

use core::marker::PhantomData;

use crate::exact::Flags;
use crate::items::Items;
use crate::mem::{Global, Shared};
use crate::op::{Or, Sum, unrolled};
use crate::warp::{FULL_MASK, WARP_SIZE};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::sync_warp;

use super::Terms;

/// The bits of a digit.
const BITS: u32 = 16;

/// The most digits of an integer of 64 bits.
const DIGITS: usize = 5;

/// The place of every digit: digit `k` has the weight `2^(LOWEST + 16 k)`.
pub struct Layout<I, O>(PhantomData<(I, O)>);

impl<I: Items, O: Terms<I>> Layout<I, O> {
    /// The exponent of the lowest bit. A narrow float is below the lowest bit of its type when it is an `f64`, whose
    /// significand has up to 52 zeros at the end.
    pub const LOWEST: i32 = if O::BITS < f64::MANTISSA_DIGITS {
        O::LOWEST - 52
    } else {
        O::LOWEST
    };

    /// All that is added is below 2 to the power of this: terms, and sums of terms as `f64`.
    const HIGHEST: i32 = {
        let of_sums = O::HIGHEST + 64;
        if of_sums > 1024 && O::HIGHEST <= 1024 {
            1024
        } else {
            of_sums
        }
    };

    /// The number of digits.
    pub const DIGITS: u32 = ((Self::HIGHEST - Self::LOWEST) as u32).div_ceil(BITS);

    /// The number of cells: a cell for each digit, and one for the flags.
    pub const CELLS: u32 = Self::DIGITS + 1;
}

/// The digits of a warp, with signs, and its flags. Lanes add by atomics.
pub struct Digits<I, O> {
    cells: Shared<i32>,
    first: u32,
    layout: PhantomData<(I, O)>,
}

impl<I: Items, O: Terms<I>> Digits<I, O> {
    /// The number of terms that may be added before a digit overflows.
    pub const MOST_ADDED: u32 = 1 << (i32::BITS - 1 - BITS);

    const FLAGS: u32 = Layout::<I, O>::DIGITS;

    /// The digits of this warp of the block.
    #[inline(always)]
    pub fn of_warp(cells: Shared<i32>, warp: u32) -> Self {
        Self {
            cells,
            first: warp * Layout::<I, O>::CELLS,
            layout: PhantomData,
        }
    }

    /// Calls `each` with the cells of this lane.
    #[inline(always)]
    fn each(&self, mut each: impl FnMut(u32)) {
        let mut cell = thread_idx_x() % WARP_SIZE;
        while cell < Layout::<I, O>::CELLS {
            each(cell);
            cell += WARP_SIZE;
        }
    }

    /// Sets this lane's cells to 0.
    #[inline(always)]
    pub fn clear(&self) {
        self.each(|cell| self.cells.set(self.first + cell, 0));
    }

    /// Adds a finite float.
    #[inline(always)]
    pub fn add(&self, value: f64) {
        let (significand, exponent) = parts(value);
        self.add_integer(value.is_sign_negative(), significand, exponent);
    }

    /// Adds the product of two floats; returns its flags. Only the flags know a product that is not finite.
    #[inline(always)]
    pub fn add_product(&self, a: f64, b: f64) -> Flags {
        if !O::IS_LONG {
            if (a * b).is_finite() {
                self.add(a * b);
            }
            return Flags::of(a * b);
        }
        if a == 0.0 || b == 0.0 || !a.is_finite() || !b.is_finite() {
            return Flags::of(a * b);
        }
        let ((of_a, a_exponent), (of_b, b_exponent)) = (parts(a), parts(b));
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let product = u128::from(of_a) * u128::from(of_b);
        let exponent = a_exponent + b_exponent;
        self.add_integer(negative, product as u64, exponent);
        self.add_integer(negative, (product >> 64) as u64, exponent + 64);
        Flags::NOT_NEGATIVE_ZERO
    }

    /// Adds `integer * 2^exponent`.
    #[inline(always)]
    fn add_integer(&self, negative: bool, integer: u64, exponent: i32) {
        let bit = (exponent - Layout::<I, O>::LOWEST) as u32;
        let (first, shift) = (self.first + bit / BITS, bit % BITS);
        // Up to 79 bits.
        let (low, high) = (integer << shift, integer >> 1 >> (63 - shift));
        let words = [low as u32, (low >> 32) as u32, high as u32];
        let sign = if negative { -1 } else { 1 };
        unrolled!(|digit < DIGITS| {
            let value = (words[digit / 2] >> (BITS * (digit as u32 % 2))) % (1 << BITS);
            if value != 0 {
                let cell = first + digit as u32;
                self.cells.combine_atomic::<i32, Sum>(Sum, cell, sign * value as i32);
            }
        });
    }

    /// Adds flags.
    #[inline(always)]
    pub fn add_flags(&self, flags: Flags) {
        if flags != Flags::NONE {
            let (cell, bits) = (self.first + Self::FLAGS, flags.bits() as i32);
            self.cells.combine_atomic::<i32, Or>(Or, cell, bits);
        }
    }

    /// Adds the warp's digits to the cells in global memory, and sets them to 0.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    pub unsafe fn flush(&self, cells: Global<u64>) {
        // SAFETY: the caller guarantees that all lanes arrive.
        unsafe { sync_warp(FULL_MASK) };
        self.each(|cell| {
            if cell != Self::FLAGS {
                add(cells, cell, self.cells.get(self.first + cell).into());
                self.cells.set(self.first + cell, 0);
            }
        });
        // SAFETY: as above.
        unsafe { sync_warp(FULL_MASK) };
    }

    /// Adds one cell of all warps of the block to the cell in global memory.
    #[inline(always)]
    pub fn add_to(scratch: Shared<i32>, warps: u32, cell: u32, cells: Global<u64>) {
        let (mut sum, mut flags) = (0, 0);
        let mut warp = 0;
        while warp < warps {
            let value = scratch.get(warp * Layout::<I, O>::CELLS + cell);
            sum += i64::from(value);
            flags |= value as u64;
            warp += 1;
        }
        if cell != Self::FLAGS {
            add(cells, cell, sum);
        } else if flags != 0 {
            cells.combine_atomic::<u64, Or>(Or, cell as usize, flags);
        }
    }
}

/// Adds to a digit in global memory: in two's complement, so that it may be negative.
#[inline(always)]
fn add(cells: Global<u64>, cell: u32, value: i64) {
    if value != 0 {
        cells.combine_atomic::<u64, Sum>(Sum, cell as usize, value as u64);
    }
}

/// The significand of a finite float as an integer, and the exponent of its lowest bit.
#[inline(always)]
fn parts(value: f64) -> (u64, i32) {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> FRACTION) as i32 & 0x7ff, bits % (1 << FRACTION));
    match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << FRACTION, field - 1075),
    }
}
