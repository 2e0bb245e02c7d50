//! Comparison of accumulators: exact and close.

use crate::element::{Element, NumberMut};
use std::boxed::Box;
use std::vec::Vec;

/// How accumulators are compared.
pub(super) struct Comparison<A> {
    pub(super) close: Close<A>,
    pub(super) zeros_equal: bool,
}

/// How accumulators of the same items in two orders are compared.
pub(super) enum Close<A> {
    Exactly,
    /// Floats may differ by this part of the items' magnitudes.
    Relative(f64),
    By(Box<dyn Fn(A, A) -> bool>),
}

/// The value of a number within an element. Every float is represented as an `f64`.
#[derive(Clone, Copy)]
enum Scalar {
    Integer(i128),
    Float(f64),
}

impl From<NumberMut<'_>> for Scalar {
    fn from(number: NumberMut<'_>) -> Self {
        match number {
            NumberMut::I8(x) => Self::Integer((*x).into()),
            NumberMut::I16(x) => Self::Integer((*x).into()),
            NumberMut::I32(x) => Self::Integer((*x).into()),
            NumberMut::I64(x) => Self::Integer((*x).into()),
            NumberMut::U8(x) => Self::Integer((*x).into()),
            NumberMut::U16(x) => Self::Integer((*x).into()),
            NumberMut::U32(x) => Self::Integer((*x).into()),
            NumberMut::U64(x) => Self::Integer((*x).into()),
            NumberMut::F16(x) => Self::Float((*x).into()),
            NumberMut::Bf16(x) => Self::Float((*x).into()),
            NumberMut::F32(x) => Self::Float((*x).into()),
            NumberMut::F64(x) => Self::Float(*x),
        }
    }
}

fn scalars<T: Element>(mut value: T) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    value.numbers(&mut |number| scalars.push(number.into()));
    scalars
}

fn bytes<T: Element>(value: &T) -> &[u8] {
    // SAFETY: a plain value has no padding, so every byte of it is initialised.
    let (_, bytes, _) = unsafe { core::slice::from_ref(value).align_to() };
    bytes
}

impl<A: Element> Comparison<A> {
    pub(super) fn has_floats(value: A) -> bool {
        let mut scalars = scalars(value).into_iter();
        scalars.any(|scalar| matches!(scalar, Scalar::Float(_)))
    }

    /// Whether both are equal bit by bit, with all NaNs equal.
    pub(super) fn equal(&self, a: A, b: A) -> bool {
        let alike = |a, b| {
            scalars(a)
                .into_iter()
                .zip(scalars(b))
                .all(|(a, b)| self.equal_scalars(a, b))
        };
        // Most are equal, and comparing bytes is much faster.
        bytes(&a) == bytes(&b) || alike(a, b)
    }

    fn equal_scalars(&self, a: Scalar, b: Scalar) -> bool {
        match (a, b) {
            (Scalar::Integer(a), Scalar::Integer(b)) => a == b,
            (Scalar::Float(a), Scalar::Float(b)) => {
                a.to_bits() == b.to_bits()
                    || (a.is_nan() && b.is_nan())
                    || (self.zeros_equal && a == b)
            }
            _ => false,
        }
    }

    /// Whether both can be the accumulator of these lifted items.
    pub(super) fn close<L: Iterator<Item = A>>(
        &self,
        a: A,
        b: A,
        lifted: impl FnOnce() -> L,
    ) -> bool {
        if self.equal(a, b) {
            return true;
        }
        match &self.close {
            Close::Exactly => false,
            Close::By(close) => close(a, b),
            Close::Relative(tolerance) => {
                let (a, b) = (scalars(a), scalars(b));
                let mut sizes = std::vec![0.0; a.len()];
                for scalars in lifted().map(scalars) {
                    for (size, scalar) in sizes.iter_mut().zip(scalars) {
                        match scalar {
                            Scalar::Float(x) if x.is_finite() => *size += x.abs(),
                            _ => {}
                        }
                    }
                }
                let each = a.into_iter().zip(b).zip(sizes);
                each.into_iter().all(|((a, b), size)| match (a, b) {
                    _ if self.equal_scalars(a, b) => true,
                    (Scalar::Float(a), Scalar::Float(b)) => {
                        let size = size.max(a.abs()).max(b.abs());
                        a.is_finite() && b.is_finite() && (a - b).abs() <= tolerance * size
                    }
                    _ => false,
                })
            }
        }
    }
}
