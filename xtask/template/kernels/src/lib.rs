//! What runs on the GPU, on the CPU and in the simulator: the same source for all of them.
//!
//! The example: a sensor's readings. Each is a temperature, and how long it was measured.

// The GPU has `core`, but not `std`.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use cuda_std::{kernel, thread};
use kernels_gpu::mem::Global;
use kernels_gpu::prelude::*;

/// An element of arrays. `repr(C)` because the GPU and the CPU must agree where each field is.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Reading {
    pub celsius: f32,
    pub seconds: f32,
}

/// An operator: for how long the temperature was above a limit. The limit travels with every call.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct TimeAbove {
    pub limit: f32,
}

impl Op<Reading> for TimeAbove {
    /// What threads add up: seconds, in more digits than a reading has.
    type Acc = f64;
    type Output = f64;

    /// What changes nothing when it is combined.
    fn identity(&self) -> f64 {
        0.0
    }

    /// What one element contributes.
    fn lift(&self, reading: Reading, _index: u64) -> f64 {
        if reading.celsius > self.limit {
            f64::from(reading.seconds)
        } else {
            0.0
        }
    }

    /// Two contributions in one. It must be associative: the GPU combines in the order of a tree.
    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    /// The caller's result.
    fn finish(&self, acc: f64) -> f64 {
        acc
    }
}

kernels! {
    /// The reductions that exist: one line for each operator, with its elements.
    pub static KERNELS:
    single_pass {
        TimeAbove: Reading;
    }
}

/// A reading by a sensor that shows `gain` times too little, and `offset` too little.
#[inline]
pub fn calibrated(reading: Reading, gain: f32, offset: f32) -> Reading {
    Reading {
        celsius: reading.celsius * gain + offset,
        ..reading
    }
}

/// A kernel from scratch: replaces every reading by the [`calibrated`] one.
///
/// `module` names the piece of PTX in which the program finds it.
///
/// # Safety
///
/// `readings` points at `len` readings that nobody else uses meanwhile. The blocks and the grid have one dimension.
#[kernel(module = calibration)]
pub unsafe fn calibrate(readings: *mut Reading, len: usize, gain: f32, offset: f32) {
    // SAFETY: the caller's promise. The simulator checks every access by the handle.
    let readings = unsafe { Global::new(readings, len) };
    // Each thread takes an element, then the one that lies a whole grid further on, until the end: any number of
    // threads is right, and neighbours load neighbours.
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d() as usize;
    while i < readings.len() {
        readings.set(i, calibrated(readings.get(i), gain, offset));
        i += threads;
    }
}
