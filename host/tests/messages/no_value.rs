// `Hottest` cannot be a kernel's parameter
// `#[derive(Value)]`
use kernels_gpu::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Reading {
    celsius: f32,
}

#[derive(Clone, Copy, Debug)]
struct Hottest;

impl Op<Reading> for Hottest {
    type Acc = f32;
    type Output = f32;

    fn identity(&self) -> f32 {
        f32::NEG_INFINITY
    }

    fn lift(&self, reading: Reading, _: u64) -> f32 {
        reading.celsius
    }

    fn combine(&self, a: f32, b: f32) -> f32 {
        a.max(b)
    }

    fn finish(&self, acc: f32) -> f32 {
        acc
    }
}

kernels! {
    static KERNELS:
    single_pass { Hottest: Reading; }
}

fn main() {}
