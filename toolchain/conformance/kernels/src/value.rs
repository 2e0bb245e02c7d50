//! Conversion of elements to and from words.

use cuda_std::{bf16, f16};

/// A type whose values are stored in the low bits of a word.
pub trait Value: Copy {
    /// The value in the low bits of `word`.
    fn from_word(word: u64) -> Self;

    /// The value's bits, zero above.
    fn to_word(self) -> u64;
}

macro_rules! value {
    ($($type:ty: $bits:ty, $from:expr, $to:expr;)*) => {
        $(impl Value for $type {
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                $from(word as $bits)
            }

            #[inline(always)]
            fn to_word(self) -> u64 {
                let bits: $bits = $to(self);
                bits as u64
            }
        })*
    };
}

value! {
    i8: u8, |bits| bits as i8, |value| value as u8;
    u8: u8, |bits| bits, |value| value;
    i16: u16, |bits| bits as i16, |value| value as u16;
    u16: u16, |bits| bits, |value| value;
    u32: u32, |bits| bits, |value| value;
    u64: u64, |bits| bits, |value| value;
    i32: u32, |bits| bits as i32, |value| value as u32;
    i64: u64, |bits| bits as i64, |value| value as u64;
    f32: u32, f32::from_bits, f32::to_bits;
    f64: u64, f64::from_bits, f64::to_bits;
    f16: u16, f16::from_bits, f16::to_bits;
    bf16: u16, bf16::from_bits, bf16::to_bits;
}

/// The low half contains the word and the high half its complement. If that no longer holds, the value was
/// corrupted.
impl Value for u128 {
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        u128::from(!word) << 64 | u128::from(word)
    }

    #[inline(always)]
    fn to_word(self) -> u64 {
        let (low, high) = (self as u64, (self >> 64) as u64);
        low ^ high ^ !low
    }
}

/// As the `u128` of the same bits.
impl Value for i128 {
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        u128::from_word(word) as i128
    }

    #[inline(always)]
    fn to_word(self) -> u64 {
        (self as u128).to_word()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Value>(bits: u32) {
        let mask = u64::MAX >> (64 - bits);
        for word in [
            0,
            1,
            0x7C01,
            0x8000,
            0x7F80_0001,
            0xFFF0_0000_0000_0001,
            u64::MAX,
        ] {
            assert_eq!(T::from_word(word).to_word(), word & mask);
        }
    }

    #[test]
    fn bits_survive() {
        there_and_back::<u8>(8);
        there_and_back::<u16>(16);
        there_and_back::<f16>(16);
        there_and_back::<bf16>(16);
        there_and_back::<u32>(32);
        there_and_back::<i32>(32);
        there_and_back::<f32>(32);
        there_and_back::<u64>(64);
        there_and_back::<i64>(64);
        there_and_back::<f64>(64);
        there_and_back::<i8>(8);
        there_and_back::<i16>(16);
        there_and_back::<u128>(64);
        there_and_back::<i128>(64);
    }
}
