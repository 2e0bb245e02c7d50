//! From a type that is known at run time to the compiler's.

/// An expression in which `T` is the type of elements that a [`DType`](warpfold::file::DType) stands for.
macro_rules! with_type {
    ($dtype:expr, |$T:ident| $body:expr) => {
        $crate::dispatch::with_type!(@ $dtype, $T, $body,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 warpfold::f16, Bf16 warpfold::bf16, F32 f32, F64 f64)
    };
    (@ $dtype:expr, $T:ident, $body:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $(warpfold::file::DType::$name => {
                type $T = $type;
                $body
            })*
        }
    };
}

pub(crate) use with_type;
