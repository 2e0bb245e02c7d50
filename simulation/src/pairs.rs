//! Which operators there are of which elements.

/// `row!(Sum i8);` for every operator and element, whose names are in scope at the caller's.
#[macro_export]
macro_rules! for_all_pairs {
    ($row:ident) => {
        $crate::for_all_pairs!($row: Sum, SumWide, Product, Min, Max, ArgMin, ArgMax of [
            i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64
        ]);
        $crate::for_all_pairs!($row: And, Or, Xor of [i8 i16 i32 i64 u8 u16 u32 u64]);
        $crate::for_all_pairs!($row: NanMin, NanMax of [f16 bf16 f32 f64]);
        $crate::for_all_pairs!($row: ArgMin, ArgMax of [
            indexed_i32 indexed_u32 indexed_i64 indexed_u64 indexed_f32 indexed_f64
        ]);
    };
    ($row:ident: $($op:ident),* of $elements:tt) => {
        $($crate::for_all_pairs!(@$row $op of $elements);)*
    };
    (@$row:ident $op:ident of [$($element:ident)*]) => {
        $($row!($op $element);)*
    };
}
