// `Reading` cannot be reduced
// if `Reading` is a structure of yours, mark it `#[derive(Clone, Copy, Debug, PartialEq, Element)]`
// PartialEq, Element)]` and `#[repr(C)]`
// `Reading` cannot be an element of an array on a device
use kernels_gpu::mem::Global;
use kernels_gpu::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Reading {
    celsius: f32,
}

#[derive(Clone, Copy, Debug, Value)]
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

// There must be no further error for these accesses.
unsafe fn first(readings: *mut Reading, len: usize) -> Reading {
    let readings = unsafe { Global::new(readings, len) };
    readings.set(readings.len() - 1, readings.get(0));
    readings.get(0)
}

fn main() {}
