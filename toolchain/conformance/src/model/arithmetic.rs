//! The binary operations of reductions and atomics, on the bits of an element.

use crate::element::Element;

/// How an atomic or a warp reduction combines the old and the new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Wrapping on integers, round to nearest even on floats.
    Add,
    /// [`Operation::Add`] with the operand negated.
    Sub,
    /// The minimum, in the order of the type.
    Min,
    /// The maximum, in the order of the type.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand, regardless of the old value.
    Exchange,
}

impl Operation {
    /// The name in kernels and trials.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Exchange => "exchange",
        }
    }
}

macro_rules! integer {
    ($type:ty, $operation:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($a as $type, $b as $type);
        match $operation {
            Operation::Add => a.wrapping_add(b),
            Operation::Sub => a.wrapping_sub(b),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
            Operation::Exchange => b,
        }
    }};
}

macro_rules! float {
    ($type:ty, $bits:ty, $operation:expr, $a:expr, $b:expr) => {{
        let (a, b) = (
            <$type>::from_bits($a as $bits),
            <$type>::from_bits($b as $bits),
        );
        match $operation {
            Operation::Add => (a + b).to_bits(),
            Operation::Sub => (a - b).to_bits(),
            Operation::Min => if b < a { b } else { a }.to_bits(),
            Operation::Max => if b > a { b } else { a }.to_bits(),
            Operation::And => a.to_bits() & b.to_bits(),
            Operation::Or => a.to_bits() | b.to_bits(),
            Operation::Xor => a.to_bits() ^ b.to_bits(),
            Operation::Exchange => b.to_bits(),
        }
    }};
}

/// `a` combined with `b`; both and the result are bits of `element`, with zeros above.
///
/// Floats must not be NaN, and `Min` and `Max` must not get zeros of both signs: the ISA does not define
/// these results.
///
/// # Panics
/// For types of other sizes than 32 and 64 bits, which have no such instruction.
pub fn apply(element: Element, operation: Operation, a: u64, b: u64) -> u64 {
    match element {
        Element::I32 => integer!(i32, operation, a, b) as u32 as u64,
        Element::U32 => integer!(u32, operation, a, b) as u64,
        Element::I64 => integer!(i64, operation, a, b) as u64,
        Element::U64 => integer!(u64, operation, a, b),
        Element::F32 => float!(f32, u32, operation, a, b) as u64,
        Element::F64 => float!(f64, u64, operation, a, b),
        _ => panic!("no {operation:?} of {}", element.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_in_their_own_width() {
        let minus_one = u64::from(u32::MAX);
        assert_eq!(apply(Element::U32, Operation::Add, minus_one, 1), 0);
        assert_eq!(apply(Element::I32, Operation::Sub, 0, 1), minus_one);
        assert_eq!(apply(Element::U64, Operation::Add, u64::MAX, 2), 1);
    }

    #[test]
    fn order_depends_on_the_sign() {
        let minus_one = u64::from(u32::MAX);
        assert_eq!(apply(Element::I32, Operation::Min, minus_one, 1), minus_one);
        assert_eq!(apply(Element::U32, Operation::Min, minus_one, 1), 1);
        assert_eq!(apply(Element::I64, Operation::Max, u64::MAX, 1), 1);
    }

    #[test]
    fn floats_are_bits() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(
            apply(Element::F32, Operation::Add, bits(1.5), bits(-4.0)),
            bits(-2.5)
        );
        assert_eq!(
            apply(Element::F32, Operation::Min, bits(1.5), bits(-4.0)),
            bits(-4.0)
        );
        assert_eq!(
            apply(Element::F64, Operation::Exchange, 3, 0.5_f64.to_bits()),
            0.5_f64.to_bits()
        );
    }
}
