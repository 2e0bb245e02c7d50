//! The scalar types, as bit patterns in the low bits of a word.

use half::{bf16, f16};
use rand::{RngExt, rngs::StdRng};

/// A scalar type that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 32-bit float.
    F32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// 64-bit float.
    F64,
    /// 16-bit float, 5 exponent bits.
    F16,
    /// 16-bit float, 8 exponent bits.
    Bf16,
    /// 128-bit signed integer; one word determines both halves.
    I128,
    /// 128-bit unsigned integer; one word determines both halves.
    U128,
}

impl Element {
    /// All types that a lane can pass to another.
    pub const ALL: [Self; 14] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::F32,
        Self::I64,
        Self::U64,
        Self::F64,
        Self::F16,
        Self::Bf16,
        Self::I128,
        Self::U128,
    ];

    /// The name in kernels and trials.
    pub fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I128 => "i128",
            Self::U128 => "u128",
        }
    }

    /// The bits of a word that contain a value.
    pub fn bits(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 | Self::I128 | Self::U128 => 64,
        }
    }

    /// Whether it is a floating point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::Bf16)
    }

    /// Those bits.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// A random bit pattern of the type, including NaNs and infinities; one in four is a boundary value.
    pub fn any_bits(self, rng: &mut StdRng) -> u64 {
        let sign = 1_u64 << (self.bits() - 1);
        match rng.random_range(0..24_u32) {
            0 => 0,
            1 => self.mask(),
            2 => sign,
            3 => sign - 1,
            4 => 1,
            // All exponent bits of a float set: a signalling NaN, which some moves would change.
            5 => match self {
                Self::F32 => 0x7F80_0001,
                Self::F64 => 0x7FF0_0000_0000_0001,
                Self::F16 => 0x7C01,
                Self::Bf16 => 0x7F81,
                _ => sign + 1,
            },
            _ => rng.random::<u64>() & self.mask(),
        }
    }

    /// A value for arithmetic: any bit pattern of an integer. For floats a finite value away from zero, so
    /// that sums are normal in every order.
    pub fn number(self, rng: &mut StdRng) -> u64 {
        if !self.is_float() {
            return self.any_bits(rng);
        }
        let magnitude = rng.random_range(1.0_f64..1024.0);
        let value = if rng.random() { magnitude } else { -magnitude };
        match self {
            Self::F32 => u64::from((value as f32).to_bits()),
            Self::F64 => value.to_bits(),
            Self::F16 => u64::from(f16::from_f64(value).to_bits()),
            _ => u64::from(bf16::from_f64(value).to_bits()),
        }
    }

    /// Whether the bits are a NaN of the type.
    pub fn is_nan(self, bits: u64) -> bool {
        match self {
            Self::F32 => f32::from_bits(bits as u32).is_nan(),
            Self::F64 => f64::from_bits(bits).is_nan(),
            Self::F16 => f16::from_bits(bits as u16).is_nan(),
            Self::Bf16 => bf16::from_bits(bits as u16).is_nan(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn patterns_fit_their_type() {
        let mut rng = StdRng::seed_from_u64(1);
        for element in Element::ALL {
            for _ in 0..200 {
                assert_eq!(element.any_bits(&mut rng) & !element.mask(), 0);
                assert_eq!(element.number(&mut rng) & !element.mask(), 0);
            }
        }
    }

    #[test]
    fn edge_patterns_include_signalling_nans() {
        assert!(Element::F32.is_nan(0x7F80_0001));
        assert!(Element::F64.is_nan(0x7FF0_0000_0000_0001));
        assert!(Element::F16.is_nan(0x7C01));
        assert!(Element::Bf16.is_nan(0x7F81));
        assert!(!Element::U32.is_nan(0x7F80_0001));
    }

    #[test]
    fn numbers_are_finite_and_not_zero() {
        let mut rng = StdRng::seed_from_u64(2);
        for _ in 0..200 {
            let x = f32::from_bits(Element::F32.number(&mut rng) as u32);
            assert!(x.is_finite() && x.abs() >= 1.0, "{x}");
        }
    }
}
