//! Bitwise and, or, and exclusive or, for integers.

use cuda_std::atomic::mid;

/// `a & b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct And;

/// `a | b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Or;

/// `a ^ b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xor;

operator_of_numbers!(And: T, |acc| T::wrap(acc));
operator_of_numbers!(Or: T, |acc| T::wrap(acc));
operator_of_numbers!(Xor: T, |acc| T::wrap(acc));

combine! { And:
    i32, !0, |a, b| a & b;
    u32, !0, |a, b| a & b;
    i64, !0, |a, b| a & b;
    u64, !0, |a, b| a & b;
}

combine! { Or:
    i32, 0, |a, b| a | b;
    u32, 0, |a, b| a | b;
    i64, 0, |a, b| a | b;
    u64, 0, |a, b| a | b;
}

combine! { Xor:
    i32, 0, |a, b| a ^ b;
    u32, 0, |a, b| a ^ b;
    i64, 0, |a, b| a ^ b;
    u64, 0, |a, b| a ^ b;
}

atomic_instruction!(And is and: i32 u32 i64 u64);
atomic_instruction!(Or is or: i32 u32 i64 u64);
atomic_instruction!(Xor is xor: i32 u32 i64 u64);
warp_instruction!(And is And);
warp_instruction!(Or is Or);
warp_instruction!(Xor is Xor);
