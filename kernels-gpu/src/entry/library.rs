//! The entry points of the library's calls: the list of its operators and items.

use crate::element::{Indexed, bf16, f16};
use crate::kernels;
use crate::op::*;

kernels! {
    /// The entry points of `Device`'s calls: whole-array reductions, and reductions by key.
    pub static KERNELS:
    // Separate modules for the most common types, because the driver compiles a whole module at once.
    single_pass as single_pass {
        Sum: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Min: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Max: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
    }
    single_pass as single_pass_others {
        SumWide: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Product: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        NanMin: f16, bf16, f32, f64;
        NanMax: f16, bf16, f32, f64;
        NanSum: f16, bf16, f32, f64;
        NanArgMin: f16, bf16, f32, f64;
        NanArgMax: f16, bf16, f32, f64;
        MinMax: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        And: i8, i16, i32, i64, u8, u16, u32, u64;
        Or: i8, i16, i32, i64, u8, u16, u32, u64;
        Xor: i8, i16, i32, i64, u8, u16, u32, u64;
        ArgMin: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        ArgMax: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        SumAbs: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        SumSquares: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        MeanVariance: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        NanMeanVariance: f16, bf16, f32, f64;
        Count<IsNan>: f16, bf16, f32, f64;
    }
    // The extrema of extrema, for example those of chunks.
    single_pass as single_pass_indexed {
        ArgMin: Indexed<i32>, Indexed<u32>, Indexed<i64>, Indexed<u64>, Indexed<f32>, Indexed<f64>;
        ArgMax: Indexed<i32>, Indexed<u32>, Indexed<i64>, Indexed<u64>, Indexed<f32>, Indexed<f64>;
    }
    single_pass as single_pass_others {
        Dot:
            (i8, i8), (i16, i16), (i32, i32), (i64, i64), (u8, u8), (u16, u16), (u32, u32), (u64, u64),
            (f16, f16), (bf16, bf16), (f32, f32), (f64, f64);
        WeightedMean: (f16, f16), (bf16, bf16), (f32, f32), (f64, f64);
        Count<Equal<i8>>: i8;
        Count<Equal<i16>>: i16;
        Count<Equal<i32>>: i32;
        Count<Equal<i64>>: i64;
        Count<Equal<u8>>: u8;
        Count<Equal<u16>>: u16;
        Count<Equal<u32>>: u32;
        Count<Equal<u64>>: u64;
        Count<Equal<f16>>: f16;
        Count<Equal<bf16>>: bf16;
        Count<Equal<f32>>: f32;
        Count<Equal<f64>>: f64;
        Count<Less<i8>>: i8;
        Count<Less<i16>>: i16;
        Count<Less<i32>>: i32;
        Count<Less<i64>>: i64;
        Count<Less<u8>>: u8;
        Count<Less<u16>>: u16;
        Count<Less<u32>>: u32;
        Count<Less<u64>>: u64;
        Count<Less<f16>>: f16;
        Count<Less<bf16>>: bf16;
        Count<Less<f32>>: f32;
        Count<Less<f64>>: f64;
        Count<Greater<i8>>: i8;
        Count<Greater<i16>>: i16;
        Count<Greater<i32>>: i32;
        Count<Greater<i64>>: i64;
        Count<Greater<u8>>: u8;
        Count<Greater<u16>>: u16;
        Count<Greater<u32>>: u32;
        Count<Greater<u64>>: u64;
        Count<Greater<f16>>: f16;
        Count<Greater<bf16>>: bf16;
        Count<Greater<f32>>: f32;
        Count<Greater<f64>>: f64;
        Count<InRange<i8>>: i8;
        Count<InRange<i16>>: i16;
        Count<InRange<i32>>: i32;
        Count<InRange<i64>>: i64;
        Count<InRange<u8>>: u8;
        Count<InRange<u16>>: u16;
        Count<InRange<u32>>: u32;
        Count<InRange<u64>>: u64;
        Count<InRange<f16>>: f16;
        Count<InRange<bf16>>: bf16;
        Count<InRange<f32>>: f32;
        Count<InRange<f64>>: f64;
    }
    exact as exact {
        Sum: f16, bf16, f32, f64;
        SumAbs: f16, bf16, f32, f64;
        SumSquares: f16, bf16, f32, f64;
        Dot: (f16, f16), (bf16, bf16), (f32, f32), (f64, f64);
    }
    segments as segments {
        Sum: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Min: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Max: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
    }
    segments as segments_others {
        SumWide: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Product: i32, i64, f32, f64;
        ArgMin: i32, i64, u32, u64, f16, bf16, f32, f64;
        ArgMax: i32, i64, u32, u64, f16, bf16, f32, f64;
        SumSquares: f16, bf16, f32, f64;
        MeanVariance: f16, bf16, f32, f64;
    }
    runs as runs {
        PartialEq: u32, u64;
    }
    axes as axes {
        Sum: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Min: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Max: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
    }
    axes as axes_others {
        SumWide: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Product: i32, i64, f32, f64;
        ArgMin: i32, i64, u32, u64, f16, bf16, f32, f64;
        ArgMax: i32, i64, u32, u64, f16, bf16, f32, f64;
        SumSquares: f16, bf16, f32, f64;
        MeanVariance: f16, bf16, f32, f64;
    }
    keyed_all as keyed {
        Sum: f32 by u32, f64 by u32, i32 by u32, f64 by u64;
    }
    keyed as keyed {
        Sum: i64 by u32, u64 by u32, f32 by u64, i32 by u64, i64 by u64, u64 by u64;
        Min: f32 by u32, f64 by u32, i32 by u32, i64 by u32, u64 by u32;
        Min: f32 by u64, f64 by u64, i32 by u64, i64 by u64, u64 by u64;
        Max: f32 by u32, f64 by u32, i32 by u32, i64 by u32, u64 by u32;
        Max: f32 by u64, f64 by u64, i32 by u64, i64 by u64, u64 by u64;
    }
    groups as group_combine {
        Sum: i32 by u32, i64 by u32, u64 by u32, f32 by u32, f64 by u32;
        Sum: i32 by u64, i64 by u64, u64 by u64, f32 by u64, f64 by u64;
        Min: i32 by u32, i64 by u32, u64 by u32, f32 by u32, f64 by u32;
        Min: i32 by u64, i64 by u64, u64 by u64, f32 by u64, f64 by u64;
        Max: i32 by u32, i64 by u32, u64 by u32, f32 by u32, f64 by u32;
        Max: i32 by u64, i64 by u64, u64 by u64, f32 by u64, f64 by u64;
    }
    groups_in_parts as group_collect {
        Sum: i32 by u32, f32 by u32;
        Min: i32 by u32, f32 by u32;
        Max: i32 by u32, f32 by u32;
    }
}
