//! Tests the kernel on the simulated GPU: right bits, and no race.

use cuda_sim::{Buffer, Failure, Schedule, Simulator};
use heat_kernels::reference::{SIZES, plate, step};
use heat_kernels::{BLOCK, grid, heat_step};
use kernels_gpu::mem::Global;

const RATE: f32 = 0.2;

/// Runs `kernel` for a plate with every check, and returns the new plate.
fn simulate(
    (columns, rows): (usize, usize),
    schedule: Schedule,
    kernel: impl Fn(&Buffer<f32>, &Buffer<f32>),
) -> Result<Vec<f32>, Failure> {
    let old = Buffer::from(&plate(columns, rows));
    let new = Buffer::uninitialised(columns * rows);
    let [x, y] = grid(columns as u32, rows as u32);
    Simulator::new()
        .grid((x, y))
        .block((BLOCK[0], BLOCK[1]))
        .schedule(schedule)
        .kernel("heat_step")
        .check_all()
        .run(|| kernel(&old, &new))?;
    Ok(new.to_vec())
}

#[test]
fn the_kernel_has_the_bits_of_plain_loops() {
    for size in SIZES {
        let (columns, rows) = size;
        for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(7)] {
            let new = simulate(size, schedule, |old, new| {
                // SAFETY: both have `columns * rows` elements, and the grid covers the plate.
                unsafe {
                    let old = std::slice::from_raw_parts(old.as_ptr(), old.len());
                    heat_step(old, new.as_mut_ptr(), columns as u32, rows as u32, RATE);
                }
            });
            let right = step(&plate(columns, rows), columns, RATE);
            assert_eq!(new.unwrap(), right, "{columns} x {rows}, {schedule:?}");
        }
    }
}

#[test]
fn a_missing_barrier_is_found() {
    let (columns, rows) = (65, 17);
    let failure = simulate((columns, rows), Schedule::Forward, |old, new| {
        // SAFETY: as above; the simulator reports the missing barrier.
        let handle =
            |buffer: &Buffer<f32>| unsafe { Global::new(buffer.as_mut_ptr(), buffer.len()) };
        let (columns, rows) = (columns as u32, rows as u32);
        heat_kernels::step(handle(old), handle(new), columns, rows, RATE, || {});
    });
    let text = failure.unwrap_err().to_string();
    assert!(text.contains("race in shared memory"), "{text}");
    assert!(text.contains("heat/kernels/src/lib.rs"), "{text}");
}

#[test]
fn no_heat_is_lost() {
    let mut now = plate(40, 30);
    let sum = |plate: &[f32]| plate.iter().copied().map(f64::from).sum::<f64>();
    let before = sum(&now);
    for _ in 0..1000 {
        now = step(&now, 40, RATE);
    }
    let mean = before / now.len() as f64;
    assert!((sum(&now) / before - 1.0).abs() < 1e-5);
    assert!(now.iter().all(|x| (f64::from(*x) - mean).abs() < 5.0));
}
