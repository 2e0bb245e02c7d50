//! Conversions of the bits of 16-bit floats, by `half`'s software implementation.

pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

pub(crate) fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    half::bf16::from_f32(value).to_bits()
}
