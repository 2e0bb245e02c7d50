//! The words of an exact sum: a fixed-point number.

use super::leading::Leading;
use super::{LOWEST, WORDS};

/// A multiple of 2^[`LOWEST`], in two's complement. The first word is the lowest.
#[derive(Clone, PartialEq, Eq)]
pub struct Fixed(pub [u64; WORDS]);

impl Fixed {
    /// Adds `value` times 2^`exponent`, whose bits must be in range: 2^[`LOWEST`] is the lowest.
    ///
    /// The carry changes further words only as far as it goes.
    #[inline]
    pub fn add(&mut self, value: i128, exponent: i32) {
        let offset = (exponent - LOWEST) as usize;
        let (first, shift) = (offset / 64, offset % 64);
        let low = (value as u128) << shift;
        let high = (value >> 64) >> (64 - shift);
        let parts = [low as u64, (low >> 64) as u64, high as u64];
        let mut words = self.0[first..].iter_mut();
        let mut carry = false;
        // In this order: `zip` takes a word only after it has a part.
        for (part, word) in parts.into_iter().zip(words.by_ref()) {
            (*word, carry) = word.carrying_add(part, carry);
        }
        // All higher words of a negative value are -1. With a carry this is nothing to add.
        if (value < 0) == carry {
            return;
        }
        for word in words {
            let overflows;
            (*word, overflows) = match carry {
                true => word.overflowing_add(1),
                false => word.overflowing_sub(1),
            };
            if !overflows {
                return;
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (word, other) in self.0.iter_mut().zip(other.0) {
            (*word, carry) = word.carrying_add(other, carry);
        }
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        (self.0[WORDS - 1] as i64) < 0
    }

    /// The leading bits of the magnitude; `None` if it is zero.
    pub fn leading(&self) -> Option<Leading> {
        let mut words = self.0;
        if self.is_negative() {
            let mut carry = true;
            for word in &mut words {
                (*word, carry) = (!*word).carrying_add(0, carry);
            }
        }
        let top = words.iter().rposition(|word| *word != 0)?;
        let word = |below| top.checked_sub(below).map_or(0, |index| words[index]);
        let shift = word(0).leading_zeros();
        let high = u128::from(word(0)) << 64 | u128::from(word(1));
        let low = u128::from(word(2)) << shift;
        let rest = &words[..top.saturating_sub(2)];
        Some(Leading {
            bits: high << shift | low >> 64,
            exponent: LOWEST + 64 * (top as i32 - 1) - shift as i32,
            has_more: low as u64 != 0 || rest.iter().any(|word| *word != 0),
        })
    }
}
