//! The values that the laws are tried on.

use kernels_gpu::element::{Element, Indexed, bf16, f16};
use proptest::prelude::*;

/// Values compared by their bits, every NaN as one: which NaN is not promised.
pub trait Bits: Element {
    fn bits(self) -> (u64, u64);
}

/// A strategy of any values, among which the notable ones are frequent.
pub trait Values: Bits {
    fn values() -> BoxedStrategy<Self>;
}

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Bits for $t {
            fn bits(self) -> (u64, u64) {
                (self as u64, 0)
            }
        }

        impl Values for $t {
            fn values() -> BoxedStrategy<$t> {
                let notable = [0, 1, 2, $t::MAX, $t::MAX - 1, $t::MIN, $t::MIN + 1, $t::MAX / 2 + 1];
                prop_oneof![any::<$t>(), proptest::sample::select(notable.to_vec())].boxed()
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ident $bits:ident;)*) => { $(
        impl Bits for $t {
            fn bits(self) -> (u64, u64) {
                let bits = if self.is_nan() { $t::NAN.to_bits() } else { self.to_bits() };
                (bits.into(), 0)
            }
        }

        impl Values for $t {
            fn values() -> BoxedStrategy<$t> {
                let one = $t::MIN_POSITIVE / $t::MIN_POSITIVE;
                let notable = [one, $t::MAX, $t::MIN_POSITIVE, $t::INFINITY, $t::NAN, one - one];
                let smallest = $t::from_bits(1);
                let both = notable.into_iter().chain([smallest]).flat_map(|x| [x, -x]);
                prop_oneof![
                    any::<$bits>().prop_map($t::from_bits),
                    any::<i8>().prop_map($t::from),
                    proptest::sample::select(both.collect::<Vec<_>>()),
                ]
                .boxed()
            }
        }
    )* };
}

floats! {
    f16 u16;
    bf16 u16;
    f32 u32;
    f64 u64;
}

impl<V: Bits> Bits for Indexed<V>
where
    Indexed<V>: Element,
{
    fn bits(self) -> (u64, u64) {
        (self.value().bits().0, self.index())
    }
}
