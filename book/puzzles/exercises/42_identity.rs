//! # 42 The wrong identity (repair)
//!
//! `Largest` is right for positive values. Threads without items contribute the identity, and it wins against negative values.
//! Repair it.

use kernels_gpu::prelude::*;

#[derive(Clone, Copy, Debug, Value)]
pub struct Largest;

impl Op<i32> for Largest {
    type Acc = i32;
    type Output = i32;

    fn identity(&self) -> i32 {
        0
    }

    fn lift(&self, x: i32, _index: u64) -> i32 {
        x
    }

    fn combine(&self, a: i32, b: i32) -> i32 {
        a.max(b)
    }

    fn finish(&self, acc: i32) -> i32 {
        acc
    }
}

pub fn identity() -> impl Op<i32, Output = i32> {
    Largest
}
