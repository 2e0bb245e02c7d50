//! All pairs of operators of one array and elements; each operator accumulates in the type that it reduces.

/// Expands to `row!(Sum i8);` for every operator and element type, whose names must be in scope.
#[macro_export]
macro_rules! for_all_pairs {
    ($row:ident) => {
        $crate::for_all_pairs!($row: Sum, SumWide, Product, Min, Max, ArgMin, ArgMax of [
            i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64
        ]);
        $crate::for_all_pairs!($row: And, Or, Xor of [i8, i16, i32, i64, u8, u16, u32, u64]);
        $crate::for_all_pairs!($row: NanSum, NanMin, NanMax, NanArgMin, NanArgMax of [f16, bf16, f32, f64]);
        $crate::for_all_pairs!($row: ArgMin, ArgMax of [
            Indexed<i32>, Indexed<u32>, Indexed<i64>, Indexed<u64>, Indexed<f32>, Indexed<f64>
        ]);
    };
    ($row:ident: $($op:ident),* of $elements:tt) => {
        $($crate::for_all_pairs!(@$row $op of $elements);)*
    };
    (@$row:ident $op:ident of [$($element:ty),*]) => {
        $($row!($op $element);)*
    };
}
