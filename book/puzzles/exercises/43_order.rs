//! # 43 An operator that needs the order (repair)
//!
//! `Last` is the last value that is not 0. `combine(a, b)` is not `combine(b, a)`: the items of `a` come before those of `b`. A
//! reduction may swap them unless the operator says that it may not. Repair the operator: `COMMUTATIVE` is a constant of `Op`,
//! `true` by default.

use kernels_gpu::prelude::*;

#[derive(Clone, Copy, Debug, Value)]
pub struct Last;

impl Op<i32> for Last {
    type Acc = i32;
    type Output = i32;

    fn identity(&self) -> i32 {
        0
    }

    fn lift(&self, x: i32, _index: u64) -> i32 {
        x
    }

    fn combine(&self, a: i32, b: i32) -> i32 {
        if b == 0 { a } else { b }
    }

    fn finish(&self, acc: i32) -> i32 {
        acc
    }
}

pub fn order() -> impl Op<i32, Output = i32> {
    Last
}
