//! The entry points of the feature `teaching`: the ladder, the Kepler families, triples, copies and the read
//! ceiling.

use super::copy::copies;
#[cfg(not(target_arch = "nvptx64"))]
use crate::copy::{VEC2_BYTES, VEC4_BYTES};
use crate::kernels;
use crate::op::*;

kernels! {
    /// The ladder, the Kepler families, triples and the read ceiling.
    pub static KERNELS:
    ladder_redux as ladder {
        Sum: i32, u32;
        Min: i32;
        Max: i32;
    }
    ladder as ladder {
        Sum: i64, u64, f32, f64;
        Min: f32;
        Max: f32;
    }
    ceiling as ladder { Sum: i32, i64, f32, f64; }
    triple as triple { Sum: i32, f32, f64; }
}

copies!(COPY_ROWS in copy: [u8 b8, u16 b16, u32 b32, u64 b64] x {
    copy_scalar [size_of::<T>()];
    copy_vec2 [VEC2_BYTES];
    copy_vec4 [VEC4_BYTES];
});

/// The copies.
#[cfg(not(target_arch = "nvptx64"))]
pub static COPIES: super::Kernels = super::Kernels {
    name: "copies",
    entries: &COPY_ENTRIES,
};

#[cfg(not(target_arch = "nvptx64"))]
static COPY_ENTRIES: [super::Entry; super::count(COPY_ROWS)] = super::numbered(COPY_ROWS, &COPIES);
