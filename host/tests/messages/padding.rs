// an element must not have padding: `Reading` has 12 bytes, its fields have 9; 3 unused after `sensor`
// add a field after `sensor`: `padding: [u8; 3]`
// aborting due to 1 previous error
use kernels_gpu::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Reading {
    celsius: f32,
    sensor: u8,
    seconds: f32,
}

fn main() {}
