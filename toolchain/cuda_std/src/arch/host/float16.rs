//! Conversions of the 16-bit floats, by bits; where they narrow, `half` in software.

/// Without a branch, so that loops over it become vector instructions; and without arithmetic on
/// subnormal values of `f32`, which some processors take a hundred cycles for.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    const EXPONENT: u32 = 0x1F << 23;
    const BIAS: u32 = (127 - 15) << 23;
    const LEAST_NORMAL: f32 = f32::from_bits((127 - 14) << 23);
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    let exponent = magnitude & EXPONENT;
    // Infinite and NaN: all ones stay all ones.
    let top = if exponent == EXPONENT { BIAS } else { 0 };
    let normal = magnitude + BIAS + top;
    // Subnormal: the mantissa is what comes on top of the least normal value.
    let subnormal = f32::from_bits(magnitude + BIAS + (1 << 23)) - LEAST_NORMAL;
    let magnitude = if exponent == 0 {
        subnormal.to_bits()
    } else {
        normal
    };
    f32::from_bits(magnitude | sign)
}

pub(crate) fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    half::bf16::from_f32(value).to_bits()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_half_is_the_same_single() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits).to_f32();
            let got = super::f16_to_f32(bits);
            let same = got.to_bits() == expected.to_bits();
            assert!(same || (got.is_nan() && expected.is_nan()), "{bits:#06x}");
        }
    }
}
