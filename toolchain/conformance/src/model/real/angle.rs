//! Angles of any size.

use super::{Double, FRAC_PI_2, Real};

/// The bits of 2 / π after the binary point.
const TWO_OVER_PI: [u64; 22] = [
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
    0x6599855F14A06840,
];

/// The number of quarter turns in an angle modulo 4, and the remainder, at most half a quarter turn.
fn quarters(angle: f64) -> (u64, Double) {
    const LIMBS: usize = 5;
    let (magnitude, negative) = (angle.abs(), angle < 0.0);
    if magnitude < 0.78 {
        return (0, angle.into());
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1075;
    let mantissa = magnitude.to_bits() & ((1 << 52) - 1) | 1 << 52;
    // Skips the bits of 2 / π whose product with the mantissa is a multiple of full turns.
    let first = (exponent - 1).max(1);
    let window = |limb: usize| {
        let bit = first as usize - 1 + 64 * limb;
        let (at, shift) = (bit / 64, bit % 64);
        match shift {
            0 => TWO_OVER_PI[at],
            _ => TWO_OVER_PI[at] << shift | TWO_OVER_PI[at + 1] >> (64 - shift),
        }
    };
    // The product, lowest limb first.
    let mut limbs = [0_u64; LIMBS + 1];
    let mut carry = 0;
    for (limb, product) in limbs.iter_mut().take(LIMBS).enumerate() {
        carry += u128::from(mantissa) * u128::from(window(LIMBS - 1 - limb));
        *product = carry as u64;
        carry >>= 64;
    }
    limbs[LIMBS] = carry as u64;
    // From this bit on, the bits are whole quarters.
    let point = 64 * LIMBS as i32 - (exponent - first + 1);
    let (at, shift) = (point as usize / 64, point as usize % 64);
    let mut quarters = limbs[at] >> shift;
    if shift > 0 && at < LIMBS {
        quarters |= limbs[at + 1] << (64 - shift);
    }
    let below_point = |limbs: &mut [u64; LIMBS + 1]| {
        limbs[at] &= (1 << shift) - 1;
        limbs[at + 1..].fill(0);
    };
    below_point(&mut limbs);
    // From half a quarter on, uses the next quarter and the distance to it, while all digits are available.
    let half = point as usize - 1;
    let is_more = limbs[half / 64] >> (half % 64) & 1 == 1;
    if is_more {
        quarters += 1;
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(carry.into());
        }
        below_point(&mut limbs);
    }
    let mut rest = Double::from(0.0);
    for (limb, bits) in limbs.iter().enumerate().rev() {
        for (half, bits) in [(32, bits >> 32), (0, bits & 0xFFFF_FFFF)] {
            let weight = 64 * limb as i32 + half - point;
            rest = rest + (bits as f64 * 2.0_f64.powi(weight)).into();
        }
    }
    if is_more {
        rest = -rest;
    }
    let rest = rest * FRAC_PI_2;
    match negative {
        true => (quarters.wrapping_neg() & 3, -rest),
        false => (quarters & 3, rest),
    }
}

/// Sine and cosine of any angle.
pub fn sin_cos(angle: f64) -> (Double, Double) {
    let (quarters, rest) = quarters(angle);
    let (sin, cos) = rest.sin_cos_small();
    match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The tangent of any angle.
pub fn tan(angle: f64) -> Real {
    let (sin, cos) = sin_cos(angle);
    (sin / cos).into()
}
