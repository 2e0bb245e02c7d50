//! `Device::simulated`: results of correct operators, and findings for wrong ones.

#[path = "common/embedded.rs"]
mod embedded;

use std::thread;

use embedded::embedded;
use kernels_gpu::mem::Shared;
use kernels_gpu::prelude::*;
use kernels_gpu::shared_array;
use warpfold::{Device, Error, Sum};

/// A sum whose `lift` has a side effect.
macro_rules! sums {
    ($($name:ident: $side_effect:expr;)*) => { $(
        /// A sum with a side effect.
        #[derive(Clone, Copy, Debug, Value)]
        pub struct $name;

        impl Op<u32> for $name {
            type Acc = u32;
            type Output = u32;

            fn identity(&self) -> u32 {
                0
            }

            fn lift(&self, x: u32, index: u64) -> u32 {
                let side_effect: fn(u32, u64) -> u32 = $side_effect;
                x.wrapping_add(side_effect(x, index))
            }

            fn combine(&self, a: u32, b: u32) -> u32 {
                a.wrapping_add(b)
            }

            fn finish(&self, acc: u32) -> u32 {
                acc
            }
        }
    )* };
}

sums! {
    Right: |_, _| 0;
    // All threads of a block store to one word.
    Races: |x, _| {
        // SAFETY: the array belongs to a block; the race is intended.
        let word = unsafe { Shared::new(shared_array![u32; 1]) };
        word.set(0, x);
        0
    };
    // The array is uninitialised.
    ReadsBeforeAnyStore: |_, _| {
        // SAFETY: the array belongs to a block; the uninitialised read is intended.
        let word = unsafe { Shared::new(shared_array![u32; 1]) };
        word.get(0)
    };
    // One thread waits at a barrier, at which the other threads never arrive.
    WaitsAlone: |_, index| {
        if index == 0 {
            cuda_std::thread::sync_threads();
        }
        0
    };
    Panics: |x, _| [1, 2, 3][x as usize];
}

kernels! {
    /// The kernels of this test.
    static KERNELS:
    single_pass { Right: u32; Races: u32; ReadsBeforeAnyStore: u32; WaitsAlone: u32; Panics: u32; }
}

fn device() -> Device {
    Device::simulated()
        .unwrap()
        .with(embedded(&KERNELS))
        .unwrap()
}

/// The finding for a reduction of 1000 elements by an operator.
fn finding<O: kernels_gpu::entry::SinglePass<u32, Output = u32>>(op: O) -> String {
    let device = device();
    let x = device.upload(&[2; 1000]).unwrap();
    let found = device.reduce(&x, op).run();
    let Err(Error::Finding { text }) = found else {
        panic!("{found:?}");
    };
    // Every later call on the device fails.
    assert!(device.sum(&x).unwrap_err().is_sticky());
    text
}

/// The number of this file's lines in the text.
fn lines(text: &str) -> usize {
    text.matches("tests/simulated.rs:").count()
}

#[test]
fn a_correct_operator_has_the_correct_result() {
    let device = device();
    for n in [0, 1, 31, 32, 33, 1000, 5000] {
        let x: Vec<u32> = (0..n).collect();
        let buffer = device.upload(&x).unwrap();
        assert_eq!(device.reduce(&buffer, Right).run(), Ok(x.iter().sum()));
        assert_eq!(device.reduce(&buffer, Sum).run(), Ok(x.iter().sum()));
    }
}

#[test]
fn a_race_has_both_lines() {
    let text = finding(Races);
    assert!(text.contains("race"), "{text}");
    assert!(lines(&text) >= 2, "{text}");
}

#[test]
fn uninitialised_memory_is_found() {
    let text = finding(ReadsBeforeAnyStore);
    assert!(text.contains("never written"), "{text}");
    assert!(lines(&text) >= 1, "{text}");
}

#[test]
fn a_deadlock_is_found() {
    let text = finding(WaitsAlone);
    assert!(lines(&text) >= 1, "{text}");
}

#[test]
fn a_panic_has_its_location() {
    let device = device();
    let x = device.upload(&[0, 1, 3]).unwrap();
    let found = device.reduce(&x, Panics).run();
    let Err(Error::Finding { text }) = found else {
        panic!("{found:?}");
    };
    assert!(lines(&text) >= 1, "{text}");
    assert!(text.contains("index is 3"), "{text}");
}

#[test]
fn devices_are_independent() {
    let (one, other) = (device(), device());
    let x = one.upload(&[1u32, 2, 3]).unwrap();
    assert!(matches!(other.sum(&x), Err(Error::OtherDevice { .. })));
    // An error on one device does not affect the other, in this thread or in others.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                finding(Races);
            });
            scope.spawn(|| assert_eq!(one.sum(&x), Ok(6)));
        }
    });
    assert_eq!(one.sum(&x), Ok(6));
    let y = other.upload(&[1.5f32]).unwrap();
    assert_eq!(other.sum(&y), Ok(1.5));
}

/// The result of opening a GPU is the same as without a simulated device.
#[test]
fn a_simulated_device_does_not_affect_the_gpu() {
    let simulated = device();
    match Device::first() {
        Ok(gpu) => {
            let info = gpu.info().expect("a GPU has one");
            assert_ne!(info.name, simulated.info().unwrap().name);
        }
        Err(error) => assert!(
            matches!(error, Error::NoDriver { .. } | Error::NoDevice { .. }),
            "{error}"
        ),
    }
    let x = simulated.upload(&[1u32, 2, 3]).unwrap();
    assert_eq!(simulated.sum(&x), Ok(6));
}

/// The simulator's driver has no function for kernels outside the families.
#[test]
fn modules_require_a_gpu() {
    let found = device().module(embedded(&KERNELS), "calibration").map(drop);
    assert!(
        matches!(found, Err(Error::OnlyFamilies { .. })),
        "{found:?}"
    );
    let found = Device::cpu()
        .module(embedded(&KERNELS), "calibration")
        .map(drop);
    assert!(matches!(found, Err(Error::NeedsGpu { .. })), "{found:?}");
}
