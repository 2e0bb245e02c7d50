//! Runs the kernel thread by thread on the CPU; finds wrong indices, races and reads of uninitialised memory.

use cuda_sim::{Buffer, Simulator};
use my_project_kernels::{Reading, calibrate, calibrated};

#[test]
fn calibrate_is_right_for_every_length() {
    for len in [0, 1, 31, 32, 33, 127, 128, 129, 1000] {
        let before: Vec<Reading> = (0..len)
            .map(|i| Reading {
                celsius: i as f32 / 8.0,
                seconds: 1.0,
            })
            .collect();
        let readings = Buffer::from(&before[..]);
        Simulator::new()
            .kernel("calibrate")
            .grid(3)
            .block(64)
            .check_all()
            // SAFETY: the buffer has `len` readings.
            .run(|| unsafe { calibrate(readings.as_mut_ptr(), len, 1.5, -2.0) })
            .unwrap_or_else(|findings| panic!("{findings}"));
        let right: Vec<Reading> = before.iter().map(|x| calibrated(*x, 1.5, -2.0)).collect();
        assert_eq!(readings.to_vec(), right);
    }
}
