//! Printed numbers.

use std::fmt;

use serde::{Serialize, Serializer};
use warpfold::{bf16, f16};

/// A number. 16-bit floats are converted to `f32`, which is exact.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
}

macro_rules! values {
    ($($type:ident is $variant:ident;)*) => { $(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )* };
}

values! {
    i8 is Signed;
    i16 is Signed;
    i32 is Signed;
    i64 is Signed;
    u8 is Unsigned;
    u16 is Unsigned;
    u32 is Unsigned;
    u64 is Unsigned;
    f16 is Single;
    bf16 is Single;
    f32 is Single;
    f64 is Double;
}

impl Value {
    /// The type as a number, and the bits: for messages between ranks.
    pub fn to_bits(self) -> (u8, u64) {
        match self {
            Self::Signed(value) => (0, value as u64),
            Self::Unsigned(value) => (1, value),
            Self::Single(value) => (2, value.to_bits().into()),
            Self::Double(value) => (3, value.to_bits()),
        }
    }

    /// The value with this [type and these bits](Self::to_bits).
    pub fn from_bits(kind: u8, bits: u64) -> Self {
        match kind {
            0 => Self::Signed(bits as i64),
            1 => Self::Unsigned(bits),
            2 => Self::Single(f32::from_bits(bits as u32)),
            _ => Self::Double(f64::from_bits(bits)),
        }
    }

    /// The value of an integer, such as a key.
    pub fn integer(self) -> Option<i128> {
        match self {
            Self::Signed(value) => Some(value.into()),
            Self::Unsigned(value) => Some(value.into()),
            Self::Single(_) | Self::Double(_) => None,
        }
    }
}

/// Floats have a point or an exponent, and the fewest digits that read back to the same bits.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
        }
    }
}

/// JSON has no NaN and no infinities, so these are strings.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Signed(value) => serializer.serialize_i64(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Single(value) if value.is_finite() => serializer.serialize_f32(*value),
            Self::Double(value) if value.is_finite() => serializer.serialize_f64(*value),
            Self::Single(_) | Self::Double(_) => serializer.collect_str(self),
        }
    }
}
