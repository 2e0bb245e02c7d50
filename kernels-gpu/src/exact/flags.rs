//! What an exact sum has to know beside its words.

use core::ops::{BitOr, BitOrAssign};

/// A set of facts about the items of an exact sum, which its words cannot express.
///
/// The flags of a union of items are the flags of its parts, or-ed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flags(u32);

impl Flags {
    /// The flags of no items.
    pub const NONE: Self = Self(0);

    /// Some item is NaN.
    pub const NAN: Self = Self(1);

    /// Some item is positive infinity.
    pub const INFINITY: Self = Self(2);

    /// Some item is negative infinity.
    pub const NEGATIVE_INFINITY: Self = Self(4);

    /// Some item is not -0.0. NaN and infinities set this flag too.
    pub const NOT_NEGATIVE_ZERO: Self = Self(8);

    const ALL: u32 = 15;

    /// The flags of one item.
    #[inline(always)]
    pub const fn of(item: f64) -> Self {
        const INFINITY: u64 = f64::INFINITY.to_bits();
        let special = match item.to_bits() {
            0x8000_0000_0000_0000 => return Self::NONE,
            bits if bits & INFINITY != INFINITY => Self::NONE,
            INFINITY => Self::INFINITY,
            bits if bits == f64::NEG_INFINITY.to_bits() => Self::NEGATIVE_INFINITY,
            _ => Self::NAN,
        };
        Self(special.0 | Self::NOT_NEGATIVE_ZERO.0)
    }

    /// The flags as bits.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The flags of these bits; `None` if another bit is set.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits & !Self::ALL == 0 {
            Some(Self(bits))
        } else {
            None
        }
    }

    /// Whether all flags of `other` are set.
    #[inline(always)]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
