//! The operators of `kernels-sim`, for a copy's own traits.

use super::element::Element;
use super::items::Items;
use super::op::{Op, Value};
use kernels_sim::kernels::Coefficient;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Horner {
    x: u32,
}

unsafe impl Value for Horner {}

/// An accumulator is a value and a power of `x`.
impl<I: Coefficient + Items> Op<I> for Horner {
    type Acc = [u32; 2];
    type Output = u32;
    const COMMUTATIVE: bool = false;

    fn identity(&self) -> [u32; 2] {
        [0, 1]
    }

    fn lift(&self, item: I, index: u64) -> [u32; 2] {
        [item.coefficient().wrapping_add(index as u32), self.x]
    }

    fn combine(&self, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        [
            a[0].wrapping_mul(b[1]).wrapping_add(b[0]),
            a[1].wrapping_mul(b[1]),
        ]
    }

    fn finish(&self, part: [u32; 2]) -> u32 {
        part[0]
    }
}

#[derive(Clone, Copy)]
pub struct Volume;

unsafe impl Value for Volume {}

impl Op<(f32, f64, i8)> for Volume {
    type Acc = f64;
    type Output = f64;

    fn identity(&self) -> f64 {
        -0.0
    }

    fn lift(&self, (x, y, z): (f32, f64, i8), _: u64) -> f64 {
        f64::from(x) * y * f64::from(z)
    }

    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

#[derive(Clone, Copy)]
pub struct Parity;

unsafe impl Value for Parity {}

impl<T, const N: usize> Op<[T; N]> for Parity
where
    T: Element + From<u8> + std::ops::BitXor<Output = T>,
{
    type Acc = [T; N];
    type Output = [T; N];

    fn identity(&self) -> [T; N] {
        [T::from(0); N]
    }

    fn lift(&self, array: [T; N], _: u64) -> [T; N] {
        array
    }

    fn combine(&self, a: [T; N], b: [T; N]) -> [T; N] {
        std::array::from_fn(|i| a[i] ^ b[i])
    }

    fn finish(&self, array: [T; N]) -> [T; N] {
        array
    }
}
