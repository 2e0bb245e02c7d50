//! The ladder's integers on the CPU, for machines without a CUDA device.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use warpfold::Device;

use crate::data::Integers;
use crate::options::LadderOptions;
use crate::report::{self, By, Peers, Report, Row, Started};
use crate::say;
use crate::timing::{Run, Timed, rounds};

/// Rounds on a CPU, whatever `--repeats` says: a round takes a second where a GPU takes a blink.
const REPEATS: usize = 5;
const WARMUP: usize = 1;

/// Reduces the integers by a plain loop and through warpfold's CPU device.
pub fn measure(cpu: &Device, options: &LadderOptions, started: Started) -> Result<Report> {
    // The integers are held twice, here and in the device's buffer; together they take no more
    // than a quarter of what is free.
    let fits = started.machine.free_memory_bytes / 4 / (2 * size_of::<i32>() as u64);
    let n = options.n.min(usize::try_from(fits)?.max(1));
    let integers = Integers::draw(n, options.seed())?;

    let no_cuda = cpu
        .fallback_reason()
        .map_or_else(String::new, ToString::to_string);
    let device = report::Device::Cpu {
        no_cuda,
        asked_n: options.n,
    };
    let peers = options
        .peers
        .then(|| Peers::Absent("they need a CUDA device".into()));
    let mut report = Report::new(started, device, peers, &integers, (WARMUP, REPEATS));
    report.rows = vec![
        Row::new("one loop, one core", By::Host),
        Row::new("warpfold, all cores", By::Warpfold),
    ];
    say(&format!("{}\n", report.header()))?;

    let buffer = cpu.upload(&integers.values)?;
    let serial = Timed::new("one loop", || {
        timed(|| Ok(serial_sum(black_box(&integers.values))))
    });
    let warpfold = Timed::new("warpfold", || timed(|| Ok(cpu.sum(black_box(&buffer))?)));
    let samples = rounds(&mut [serial, warpfold], integers.sum, WARMUP, REPEATS)?;
    report.fill(samples);
    Ok(report)
}

fn serial_sum(integers: &[i32]) -> i32 {
    integers.iter().fold(0, |sum, &x| sum.wrapping_add(x))
}

fn timed(work: impl FnOnce() -> Result<i32>) -> Result<Run> {
    let start = Instant::now();
    let answer = work()?;
    Ok(Run {
        ms: start.elapsed().as_secs_f64() * 1e3,
        answer,
    })
}
