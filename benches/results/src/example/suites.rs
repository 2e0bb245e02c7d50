//! The rows of each suite.

use super::{Rows, row};
use crate::schema::{Backend, By, Cache, Row, Suite, Timing};

pub fn whole(rows: &mut Rows) {
    let conditions = [
        (Cache::Cold, Timing::Device, 1.5, 4500.0),
        (Cache::Warm, Timing::Launch, 5.5, 5200.0),
        (Cache::Warm, Timing::Stream, 4.5, 5200.0),
        (Cache::Warm, Timing::Call, 9.0, 5200.0),
    ];
    for (element, width) in [("i32", 4), ("f32", 4), ("f64", 8)] {
        for op in ["sum", "min"] {
            for exponent in [10, 14, 18, 22, 24, 26, 28] {
                rows.group += 1;
                let n = 1u64 << exponent;
                for (cache, timing, us, speed) in conditions {
                    let row = |variant: &str| Row {
                        op: Some(op.into()),
                        variant: Some(variant.into()),
                        cache,
                        timing,
                        ..row(Suite::Whole, element, n, n * width)
                    };
                    let ours = (By::Warpfold, "single_pass");
                    rows.add(ours, us, speed, row("default"));
                    rows.add(ours, us * 0.9, speed * 1.01, row("tuned"));
                    let cub = format!("DeviceReduce::{op}");
                    let cub = (By::Cub, cub.as_str());
                    rows.add(cub, us * 1.2, speed * 1.005, row("default"));
                    rows.add((By::Torch, op), us * 1.9, speed * 0.9, row("default"));
                    let ceiling = Row {
                        op: None,
                        variant: None,
                        ..row("")
                    };
                    if cache == Cache::Cold {
                        let read = (By::Ceiling, "read_ceiling");
                        rows.add(read, us * 0.8, speed * 1.03, ceiling.clone());
                    }
                    if timing != Timing::Call && n * width <= 16 << 20 {
                        let empty = (By::Ceiling, "empty_kernel");
                        rows.add(empty, us * 0.7, f64::INFINITY, ceiling);
                    }
                }
            }
        }
    }
}

pub fn ladder(rows: &mut Rows) {
    let rungs = [
        ("reduce_naive", 161.0),
        ("reduce_shared_memory", 935.0),
        ("reduce_0", 841.5),
        ("reduce_0_modulo", 418.7),
        ("reduce_1", 685.2),
        ("reduce_2", 881.2),
        ("reduce_3", 1617.2),
        ("reduce_4", 2091.4),
        ("reduce_4_redux", 2165.9),
        ("reduce_5", 1997.0),
        ("reduce_5_x1", 1179.6),
        ("reduce_5_x4", 3433.0),
        ("reduce_5_x8", 4533.1),
    ];
    let n = 400_000_000;
    for threads in [256, 512] {
        rows.group += 1;
        let row = |kernel: &str| Row {
            op: Some("sum".into()),
            threads: Some(threads),
            blocks: Some(1024),
            chunks: (kernel == "reduce_5").then_some(4),
            ..row(Suite::Ladder, "i32", n, n * 4)
        };
        for (kernel, speed) in rungs {
            rows.add((By::Warpfold, kernel), 0.0, speed, row(kernel));
            rows.add((By::Nvcc, kernel), 0.0, speed * 0.98, row(kernel));
        }
        let free = Row {
            threads: None,
            blocks: None,
            ..row("")
        };
        rows.add((By::Cub, "DeviceReduce::Sum"), 0.0, 4571.6, free.clone());
        let ceiling = Row { op: None, ..free };
        rows.add((By::Ceiling, "read_ceiling"), 0.0, 4649.2, ceiling);
    }
}

pub fn kepler(rows: &mut Rows) {
    for exponent in [16, 20, 24, 28] {
        rows.group += 1;
        let n = 1u64 << exponent;
        let row = || Row {
            op: Some("sum".into()),
            threads: Some(512),
            ..row(Suite::Kepler, "i32", n, n * 4)
        };
        for (algorithm, us) in [("stable", 4.0), ("warp_atomic", 2.6), ("block_atomic", 2.2)] {
            for (width, speed) in [("", 4000.0), ("_vec2", 4400.0), ("_vec4", 4500.0)] {
                let kernel = format!("{algorithm}{width}");
                rows.add((By::Warpfold, &kernel), us, speed, row());
                rows.add((By::Nvcc, &kernel), us, speed * 0.9, row());
            }
        }
        rows.add((By::Cub, "DeviceReduce::Sum"), 3.0, 4560.0, row());
        let ceiling = Row {
            op: None,
            threads: None,
            ..row()
        };
        rows.add((By::Ceiling, "read_ceiling"), 1.5, 4650.0, ceiling);
    }
}

pub fn copy(rows: &mut Rows) {
    for exponent in [12, 16, 20, 24, 28] {
        rows.group += 1;
        let n = 1u64 << exponent;
        let row = || row(Suite::Copy, "i32", n, n * 8);
        let widths = [("scalar", 3000.0), ("vec2", 3900.0), ("vec4", 3960.0)];
        for (width, speed) in widths {
            let row = || Row {
                variant: Some(width.into()),
                threads: Some(256),
                ..row()
            };
            rows.add((By::Warpfold, "copy"), 1.8, speed, row());
            rows.add((By::Nvcc, "copy"), 1.8, speed * 0.995, row());
        }
        rows.add((By::Driver, "cuMemcpy"), 1.7, 4230.0, row());
    }
}

pub fn keyed(rows: &mut Rows) {
    let algorithms = [
        ("keyed_atomic", [735.0, 1119.0, 1007.0]),
        ("keyed_match", [731.0, 1814.0, 1354.0]),
        ("keyed_runs", [730.0, 3300.0, 1350.0]),
        ("keyed_ballot_x3", [500.0, 2000.0, 1500.0]),
    ];
    for element in ["f32", "f64"] {
        for (index, keys) in ["random", "ordered", "shifted"].into_iter().enumerate() {
            rows.group += 1;
            let n = 10_000_000;
            let width = if element == "f64" { 12 } else { 8 };
            let row = || Row {
                op: Some("sum".into()),
                keys: Some(keys.into()),
                ..row(Suite::Keyed, element, n, n * width)
            };
            for (kernel, speeds) in algorithms {
                rows.add((By::Warpfold, kernel), 2.0, speeds[index], row());
                rows.add((By::Nvcc, kernel), 2.0, speeds[index] * 0.97, row());
            }
            let cub = (By::Cub, "DeviceReduce::ReduceByKey");
            rows.add(cub, 4.0, [1174.0, 1480.0, 1190.0][index], row());
        }
    }
}

pub fn cpu(rows: &mut Rows) {
    for exponent in [16, 20, 24] {
        rows.group += 1;
        let n = 1u64 << exponent;
        let row = || Row {
            op: Some("sum".into()),
            backend: Backend::Cpu,
            cache: Cache::Warm,
            timing: Timing::Call,
            ..row(Suite::Whole, "i32", n, n * 4)
        };
        rows.add((By::Warpfold, "reduce"), 2.0, 24.0, row());
        rows.add((By::Loop, "plain loop"), 0.5, 12.0, row());
    }
}

pub fn sim(rows: &mut Rows) {
    rows.group += 1;
    for (kernel, reads) in [("reduce_0", 4096), ("reduce_5_x4", 1024)] {
        let mut row = Row {
            op: Some("sum".into()),
            backend: Backend::Sim,
            timing: Timing::None,
            threads: Some(256),
            ..row(Suite::Ladder, "i32", 4096, 16_384)
        };
        row.counts.insert("global loads".into(), reads);
        row.counts.insert("barriers".into(), reads / 128);
        rows.add((By::Warpfold, kernel), 0.0, 1.0, row);
    }
}

pub fn operators(rows: &mut Rows) {
    let operators = [("best", "scored", 8), ("bounding_box", "point", 12)];
    for (op, element, width) in operators {
        for exponent in [16, 20, 24, 28] {
            rows.group += 1;
            let n = 1u64 << exponent;
            let row = |variant: Option<&str>| Row {
                op: Some(op.into()),
                variant: variant.map(str::to_owned),
                ..row(Suite::Operators, element, n, n * width)
            };
            rows.add((By::Warpfold, "single_pass"), 1.6, 4400.0, row(None));
            let cub = (By::Cub, "DeviceReduce::TransformReduce");
            rows.add(cub, 2.1, 4100.0, row(Some("default")));
            let ceiling = Row {
                op: None,
                ..row(None)
            };
            rows.add((By::Ceiling, "read_ceiling"), 1.3, 4640.0, ceiling);
        }
    }
}
