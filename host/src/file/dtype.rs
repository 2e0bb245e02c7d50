//! Element types of files.

use std::any::TypeId;
use std::fmt;
use std::str::FromStr;

use kernels_gpu::element::{bf16, f16};

use crate::element::Element;
use crate::error::Error;

/// An element type as a value, for types that are known only at run time.
///
/// ```
/// use warpfold::file::DType;
///
/// let dtype: DType = "f32".parse()?;
/// assert_eq!((dtype, dtype.size()), (DType::F32, 4));
/// assert_eq!(DType::of::<f32>(), Some(dtype));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// [`f16`](struct@crate::f16)
    F16,
    /// [`bf16`](crate::bf16)
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

/// Evaluates an expression in which `T` is the type of a [`DType`].
///
/// ```
/// use warpfold::file::DType;
///
/// let size = |dtype: DType| warpfold::with_type!(dtype, |T| size_of::<T>());
/// assert_eq!(size(DType::F64), 8);
/// assert!(DType::ALL.iter().all(|dtype| size(*dtype) == dtype.size()));
/// ```
#[macro_export]
macro_rules! with_type {
    ($dtype:expr, |$T:ident| $body:expr) => {
        $crate::with_type!(@ $dtype, $T, $body,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 $crate::f16, Bf16 $crate::bf16, F32 f32, F64 f64)
    };
    (@ $dtype:expr, $T:ident, $body:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $($crate::file::DType::$name => {
                type $T = $type;
                $body
            })*
        }
    };
}

impl DType {
    /// Whether the elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// All types.
    pub const ALL: [Self; 12] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    /// The type of `T`; `None` if it is not a number.
    pub fn of<T: Element>() -> Option<Self> {
        macro_rules! by_type {
            ($($number:ty: $dtype:ident),*) => {
                match TypeId::of::<T>() {
                    $(id if id == TypeId::of::<$number>() => Some(Self::$dtype),)*
                    _ => None,
                }
            };
        }
        by_type!(
            i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64,
            f16: F16, bf16: Bf16, f32: F32, f64: F64
        )
    }

    /// The type's name in Rust, such as `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Parses a type's [`name`](Self::name).
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDType`].
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::named(name).ok_or_else(|| Error::NoSuchDType { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Indexed, bf16, f16};

    #[test]
    fn every_number_has_a_dtype() {
        fn check<T: Element>(dtype: DType) {
            assert_eq!(DType::of::<T>(), Some(dtype));
            assert_eq!(dtype.size(), size_of::<T>());
            assert_eq!(dtype.to_string().parse(), Ok(dtype));
        }
        check::<i8>(DType::I8);
        check::<i16>(DType::I16);
        check::<i32>(DType::I32);
        check::<i64>(DType::I64);
        check::<u8>(DType::U8);
        check::<u16>(DType::U16);
        check::<u32>(DType::U32);
        check::<u64>(DType::U64);
        check::<f16>(DType::F16);
        check::<bf16>(DType::Bf16);
        check::<f32>(DType::F32);
        check::<f64>(DType::F64);
        assert_eq!(DType::of::<Indexed<f32>>(), None);
    }

    #[test]
    fn unknown_names_are_rejected() {
        for name in ["", "F32", "f8", "float32", " f32", "indexed_f32"] {
            let error = name.parse::<DType>().unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("{name:?}")), "{text}");
            assert!(text.contains("f16, bf16, f32 or f64"), "{text}");
        }
    }
}
