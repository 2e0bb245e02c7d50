//! Floats with their bits, and errors in units in the last place.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A float of either type; in JSON its bits, as hexadecimal digits, and the number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Value {
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
}

/// A value in JSON.
#[derive(Serialize, Deserialize)]
struct Written {
    /// 8 digits of an `f32` or 16 of an `f64`.
    bits: String,
    /// The shortest decimal number with these bits. For readers only.
    decimal: String,
}

/// The error of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// The distance from the nearest value to the exact sum, in units in the last place of that value.
    /// Infinite if the sum is not finite.
    pub ulps: f64,
    /// What is right.
    pub digits: Digits,
}

/// How much of a sum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// At least the leading binary digit.
    Some,
    /// Only the sign: the error is at least half of the exact sum.
    None,
    /// Not even the sign.
    WrongSign,
}

impl Value {
    /// The same number.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::F32(x) => x.into(),
            Value::F64(x) => x,
        }
    }

    /// The distance from the value's magnitude to the next larger value.
    fn ulp(self) -> f64 {
        match self {
            Value::F32(x) => f64::from(x.abs().next_up()) - f64::from(x.abs()),
            Value::F64(x) => x.abs().next_up() - x.abs(),
        }
    }

    /// The error of this sum; `exact` is the nearest value to the exact sum, and finite.
    pub fn error(self, exact: Value) -> Error {
        let (sum, right) = (self.to_f64(), exact.to_f64());
        let distance = (sum - right).abs();
        if !distance.is_finite() {
            let ulps = f64::INFINITY;
            let digits = Digits::WrongSign;
            return Error { ulps, digits };
        }
        Error {
            ulps: distance / exact.ulp(),
            digits: match distance {
                0.0 => Digits::Some,
                _ if sum * right.signum() < 0.0 => Digits::WrongSign,
                _ if distance >= 0.5 * right.abs() => Digits::None,
                _ => Digits::Some,
            },
        }
    }
}

/// `0`, `12`, `1.5e9`, and from 2^53 on the power of ten: `1e17`. Then `!` if no digit is right, `!!` if not even
/// the sign is.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const PRECISE: f64 = (1_u64 << 53) as f64;
        match self.ulps {
            few if few < 1e4 => write!(f, "{}", (few * 10.0).round() / 10.0)?,
            many if many < PRECISE => write!(f, "{many:.1e}")?,
            many if many.is_finite() => write!(f, "1e{}", many.log10().round())?,
            _ => f.write_str("not finite")?,
        }
        f.write_str(match self.digits {
            Digits::Some => "",
            Digits::None => " !",
            Digits::WrongSign => " !!",
        })
    }
}

impl From<Value> for Written {
    fn from(value: Value) -> Self {
        let (bits, decimal) = match value {
            Value::F32(x) => (format!("0x{:08x}", x.to_bits()), format!("{x:e}")),
            Value::F64(x) => (format!("0x{:016x}", x.to_bits()), format!("{x:e}")),
        };
        Self { bits, decimal }
    }
}

impl TryFrom<Written> for Value {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        Self::of_bits(&written.bits)
    }
}

impl Value {
    /// The value with these bits: `0x` and 8 or 16 hexadecimal digits.
    pub fn of_bits(bits: &str) -> Result<Self, String> {
        let digits = bits.strip_prefix("0x").unwrap_or_default();
        let value = match digits.len() {
            8 => u32::from_str_radix(digits, 16).map(|bits| Value::F32(f32::from_bits(bits))),
            16 => u64::from_str_radix(digits, 16).map(|bits| Value::F64(f64::from_bits(bits))),
            _ => return Err(Self::refused(bits)),
        };
        value.map_err(|_| Self::refused(bits))
    }

    fn refused(bits: &str) -> String {
        format!("the bits {bits:?}; must be 0x and 8 or 16 hexadecimal digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sum: f64, exact: f64) -> Error {
        Value::F64(sum).error(Value::F64(exact))
    }

    #[test]
    fn ulps_are_those_of_the_exact_sum() {
        let ulp = f64::EPSILON;
        for (sum, exact, ulps) in [
            (1.5, 1.5, 0.0),
            (1.0 + 3.0 * ulp, 1.0, 3.0),
            // Below a power of two the values are twice as dense.
            (1.0_f64.next_down(), 1.0, 0.5),
            (1.0, 1.0_f64.next_down(), 1.0),
            (-4.0 - 8.0 * ulp, -4.0, 2.0),
            (f64::from_bits(7), f64::from_bits(2), 5.0),
            (0.0, 1.0, (1_u64 << 52) as f64),
            (f64::MAX, f64::from_bits(1), f64::INFINITY),
        ] {
            assert_eq!(error(sum, exact).ulps, ulps, "{sum:e} {exact:e}");
        }
        let error = Value::F32(16_777_220.0).error(Value::F32(16_777_216.0));
        assert_eq!(error.ulps, 2.0, "an ulp of f32");
        assert_eq!(super::tests::error(f64::NAN, 1.0).ulps, f64::INFINITY);
    }

    #[test]
    fn what_is_right_is_shown() {
        for (sum, exact, text) in [
            (2.0, 2.0, "0"),
            (-0.0, 0.0, "0"),
            (1.0_f64.next_down(), 1.0, "0.5"),
            (1.0 + 1e-10, 1.0, "4.5e5"),
            (1.25, 1.0, "1.1e15"),
            (1.75, 1.0, "3.4e15 !"),
            (0.0, 1.0, "4.5e15 !"),
            (1e10, 1.0, "1e26 !"),
            (-1e-3, 1.0, "4.5e15 !!"),
            (f64::NAN, 1.0, "not finite !!"),
        ] {
            assert_eq!(error(sum, exact).to_string(), text, "{sum:e} {exact:e}");
        }
    }

    #[test]
    fn values_keep_their_bits() {
        for value in [Value::F32(-0.1), Value::F64(1e300), Value::F32(-0.0)] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
        let json = serde_json::to_string(&Value::F32(1.5)).unwrap();
        assert_eq!(json, r#"{"bits":"0x3fc00000","decimal":"1.5e0"}"#);
        for bad in ["3fc00000", "0x3fc0000", "0x3fc0000g", ""] {
            assert!(Value::of_bits(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
