//! The code that runs on the GPU, on the CPU and in the simulator.
//!
//! The example is a sensor's readings: temperatures, each with the time for which it was measured.

// The GPU has `core`, but not `std`.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use cuda_std::{kernel, thread};
use kernels_gpu::mem::Global;
use kernels_gpu::prelude::*;

/// An element of arrays. `repr(C)`, so that the fields have the same offsets on the GPU and on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Reading {
    pub celsius: f32,
    pub seconds: f32,
}

/// An operator: the time for which the temperature was above a limit. The limit is a field.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
pub struct TimeAbove {
    pub limit: f32,
}

impl Op<Reading> for TimeAbove {
    /// The accumulator: seconds, with more digits than a reading has.
    type Acc = f64;
    type Output = f64;

    /// The identity: combining it with a value does not change the value.
    fn identity(&self) -> f64 {
        0.0
    }

    /// Converts an element into an accumulator.
    fn lift(&self, reading: Reading, _index: u64) -> f64 {
        if reading.celsius > self.limit {
            f64::from(reading.seconds)
        } else {
            0.0
        }
    }

    /// Combines two accumulators. This must be associative, because the GPU combines in the order of a tree.
    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    /// Converts the accumulator of all elements into the result.
    fn finish(&self, acc: f64) -> f64 {
        acc
    }
}

kernels! {
    /// The kernels: one line for each operator, with its elements.
    pub static KERNELS:
    single_pass {
        TimeAbove: Reading;
    }
}

/// Calibrates a reading: multiplies the temperature by `gain` and adds `offset`.
#[inline]
pub fn calibrated(reading: Reading, gain: f32, offset: f32) -> Reading {
    Reading {
        celsius: reading.celsius * gain + offset,
        ..reading
    }
}

/// A kernel of your own: replaces every reading by the [`calibrated`] one.
///
/// `module` is the name of the PTX module with which the program loads it.
///
/// # Safety
///
/// `readings` points to `len` readings that no other code uses at the same time. The blocks and the grid have
/// one dimension.
#[kernel(module = calibration)]
pub unsafe fn calibrate(readings: *mut Reading, len: usize, gain: f32, offset: f32) {
    // SAFETY: the caller's contract. The simulator checks every access through the handle.
    let readings = unsafe { Global::new(readings, len) };
    // A grid-stride loop: a thread's next element is `threads` further. The loop works for any number of
    // threads, and adjacent threads load adjacent elements.
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d() as usize;
    while i < readings.len() {
        readings.set(i, calibrated(readings.get(i), gain, offset));
        i += threads;
    }
}
