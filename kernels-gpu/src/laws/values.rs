//! All values of an element, as a strategy.

use crate::element::{Element, NumberMut, bf16, f16};
use proptest::arbitrary::any as any_of;
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, Strategy};
use std::vec::Vec;

/// Generates all values of a number, or of an element made of numbers; special values are frequent.
///
/// | number | special values |
/// |---|---|
/// | integer | 0, 1, 2, the two largest and the two smallest, half of the range |
/// | float | the zeros, ±1, other small integers, the largest, the smallest normal, the smallest subnormal, the infinities, NaN |
///
/// ```
/// use kernels_gpu::element::Indexed;
/// use kernels_gpu::{laws, op::{ArgMax, Xor}};
///
/// laws::check(&Xor, laws::any::<u64>());
/// laws::check(&ArgMax, laws::any::<Indexed<f32>>());
/// ```
pub fn any<T: Element>() -> impl Strategy<Value = T> {
    // SAFETY: every bit pattern is a valid `T` (`Plain`).
    let zero = unsafe { core::mem::zeroed::<T>() };
    let mut numbers = Vec::new();
    let mut value = zero;
    value.numbers(&mut |number| numbers.push(bits_of(number)));
    numbers.prop_map(move |numbers| {
        let mut value = zero;
        let mut bits = numbers.into_iter();
        value.numbers(&mut |number| set(number, bits.next().unwrap_or(0)));
        value
    })
}

macro_rules! numbers {
    (
        integers $($integer:ident($i:ident))*;
        floats $($float:ident($f:ident of $bits:ident))*
    ) => {
        /// The bits of all values of this number's type.
        fn bits_of(number: NumberMut<'_>) -> BoxedStrategy<u64> {
            match number {
                $(
                    NumberMut::$integer(_) => {
                        let notable = [
                            0, 1, 2, $i::MAX, $i::MAX - 1, $i::MIN, $i::MIN + 1, $i::MAX / 2 + 1,
                        ];
                        let all = prop_oneof![any_of::<$i>(), select(notable.to_vec())];
                        all.prop_map(|x| x as u64).boxed()
                    }
                )*
                $(
                    NumberMut::$float(_) => {
                        let one = $f::from(1i8);
                        let smallest = $f::from_bits(1);
                        let notable = [
                            one - one, one, $f::MAX, $f::MIN_POSITIVE, smallest, $f::INFINITY, $f::NAN,
                        ];
                        let both: Vec<_> = notable.into_iter().flat_map(|x| [x, -x]).collect();
                        let all = prop_oneof![
                            any_of::<i8>().prop_map($f::from),
                            select(both),
                            any_of::<$bits>().prop_map($f::from_bits),
                        ];
                        all.prop_map(|x| x.to_bits().into()).boxed()
                    }
                )*
            }
        }

        /// Sets the number to the value with these bits.
        fn set(number: NumberMut<'_>, bits: u64) {
            match number {
                $(NumberMut::$integer(x) => *x = bits as $i,)*
                $(NumberMut::$float(x) => *x = $f::from_bits(bits as $bits),)*
            }
        }
    };
}

numbers! {
    integers I8(i8) I16(i16) I32(i32) I64(i64) U8(u8) U16(u16) U32(u32) U64(u64);
    floats F16(f16 of u16) Bf16(bf16 of u16) F32(f32 of u32) F64(f64 of u64)
}
