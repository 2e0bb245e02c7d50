//! What can be added to a sum.

use crate::format::Format;
use crate::oracle::Oracle;
use kernels_gpu::exact::{Accumulator, Flags};

/// One call.
#[derive(Clone, Copy, Debug)]
pub enum Step<T> {
    Add(T),
    AddAbs(T),
    AddSquare(T),
    AddProduct(T, T),
    /// An integer times a power of two, which is not zero and is counted as an item.
    AddInteger(i128, i32),
}

impl<T: Format> Step<T> {
    pub fn apply(self, to: &mut Accumulator) {
        match self {
            Self::Add(x) => to.add(x),
            Self::AddAbs(x) => to.add_abs(x),
            Self::AddSquare(x) => to.add_square(x),
            Self::AddProduct(a, b) => to.add_product(a, b),
            Self::AddInteger(value, exponent) => {
                to.add_integer(value, exponent);
                to.count_items(1);
                to.add_flags(Flags::NOT_NEGATIVE_ZERO);
            }
        }
    }

    pub fn apply_to_oracle(self, to: &mut Oracle) {
        match self {
            Self::Add(x) => to.add(x),
            Self::AddAbs(x) => to.add(T::signed(x.magnitude(), false)),
            Self::AddSquare(x) => to.add_product(x, x),
            Self::AddProduct(a, b) => to.add_product(a, b),
            Self::AddInteger(value, exponent) => to.add_integer(value, exponent),
        }
    }

    /// The step that takes this one back, as far as the kind of call allows it.
    pub fn negated(self) -> Self {
        let negated = |x: T| T::signed(x.magnitude(), !x.is_negative());
        match self {
            Self::Add(x) => Self::Add(negated(x)),
            Self::AddAbs(x) => Self::Add(T::signed(x.magnitude(), true)),
            Self::AddSquare(x) => Self::AddProduct(x, negated(x)),
            Self::AddProduct(a, b) => Self::AddProduct(negated(a), b),
            Self::AddInteger(value, exponent) => Self::AddInteger(-value, exponent),
        }
    }
}

/// The sum of all steps, and what it should be.
pub fn both<T: Format>(steps: &[Step<T>]) -> (Accumulator, Oracle) {
    let (mut sum, mut oracle) = (Accumulator::new(), Oracle::new());
    for step in steps {
        step.apply(&mut sum);
        step.apply_to_oracle(&mut oracle);
    }
    (sum, oracle)
}
