//! Made-up results of every suite, backend and peer, for tests and as a preview; nothing is measured.

use crate::machine::{Cuda, Machine};
use crate::schema::{
    Backend, By, Clocks, Method, Peer, Profiled, Results, Row, SCHEMA, Suite, Timing, Wrong,
};
use crate::statistics;

mod suites;

const SPREAD_LIMIT: f64 = 0.02;

/// The results, the same at each call.
pub fn results() -> Results {
    let mut rows = Rows::default();
    suites::whole(&mut rows);
    suites::ladder(&mut rows);
    suites::kepler(&mut rows);
    suites::copy(&mut rows);
    suites::keyed(&mut rows);
    suites::cpu(&mut rows);
    suites::sim(&mut rows);
    suites::operators(&mut rows);
    let mut rows = rows.rows;
    spoil(&mut rows);
    Results {
        schema: SCHEMA.into(),
        date: "2026-11-22T09:30:00Z".into(),
        version: "0.1.0".into(),
        commit: "0123456789abcdef0123456789abcdef01234567".into(),
        compiler: "rustc 1.95.0 (made up)".into(),
        command_line: "warpfold-bench all --peers --out out".into(),
        complete: true,
        machine: machine(),
        device: Some(device()),
        peers: peers(),
        method: Method {
            seed: 7,
            input: None,
            warmup_rounds: (5, 50),
            rounds: (20, 200),
            flush_bytes: 256 << 20,
            spread_limit: SPREAD_LIMIT,
            budget_s: Some(600.0),
            took_s: 431.5,
        },
        clocks: vec![clocks(0.0, 1980, &[]), clocks(200.0, 1935, &["power cap"])],
        notes: vec!["These numbers are made up: no device was measured.".into()],
        rows,
        profiled: profiled(),
    }
}

/// Kernels with and without bank conflicts, and one without loads.
fn profiled() -> Vec<Profiled> {
    let of = |entry: &str, duration_us: f64, conflicts, sectors| Profiled {
        entry: entry.into(),
        n: 400_000_000,
        threads: 256,
        blocks: 1_562_500,
        duration_us,
        compute_percent: 71.2,
        memory_percent: 89.2,
        dram_read_bytes: 1_600_145_664,
        dram_written_bytes: Some(6_250_000),
        bank_conflicts: Some(conflicts),
        load_sectors_per_request: sectors,
        store_sectors_per_request: Some(1.0),
        registers: 16,
        occupancy_percent: 87.1,
        occupancy_limit_percent: Some(100.0),
    };
    vec![
        of("reduce_1_sum_i32", 2305.536, 171_875_000, Some(4.0)),
        of("reduce_2_sum_i32", 1790.1, 0, Some(4.0)),
        of("block_atomic_vec4_sum_i32", 351.2, 0, Some(16.0)),
        of("without_loads", 360.5, 0, None),
    ]
}

/// Makes one row unstable, and one wrong.
fn spoil(rows: &mut [Row]) {
    let is_ours = |row: &Row| row.by == By::Warpfold && row.backend == Backend::Cuda;
    let ours: Vec<_> = (0..rows.len()).filter(|&i| is_ours(&rows[i])).collect();
    let (unstable, wrong) = (&ours[ours.len() / 3], &ours[ours.len() / 2]);
    let row = &mut rows[*unstable];
    for (i, sample) in row.samples_us.iter_mut().enumerate() {
        *sample *= [1.0, 1.3][i % 2];
    }
    row.time = statistics::time(&row.samples_us, SPREAD_LIMIT);
    let row = &mut rows[*wrong];
    row.time = None;
    row.wrong = Some(Wrong {
        runs: 1,
        of: 25,
        got: "41".into(),
        expected: "42".into(),
    });
}

fn machine() -> Machine {
    Machine {
        os: "Linux (an example)".into(),
        cpu: "A processor".into(),
        logical_cpus: 16,
        memory_bytes: 128 << 30,
        free_memory_bytes: 120 << 30,
    }
}

fn device() -> Cuda {
    Cuda {
        name: "A GPU (made up)".into(),
        index: 0,
        compute_capability: (9, 0),
        multiprocessors: 132,
        memory_bytes: 140 << 30,
        l2_bytes: 50 << 20,
        clock_khz: 1_980_000,
        memory_clock_khz: 3_201_000,
        memory_bus_bits: 6144,
        driver: "13.0".into(),
        ptx_arch: "sm_90".into(),
        stream: "non-blocking".into(),
    }
}

fn peers() -> Vec<Peer> {
    let present = |by, version: &str| Peer {
        by,
        version: Some(version.into()),
        absent: None,
    };
    vec![
        present(By::Nvcc, "nvcc release 13.0, V13.0.88, -O3"),
        present(By::Cub, "CUB 3.0.1, nvcc release 13.0, V13.0.88 -O3"),
        present(By::Torch, "PyTorch 2.9.1+cu130"),
        present(By::Driver, "CUDA 13.0"),
        present(By::Loop, "a plain loop"),
        Peer {
            by: By::Cupy,
            version: None,
            absent: Some("python3 has no module named cupy".into()),
        },
    ]
}

fn clocks(at_s: f64, sm_mhz: u32, throttled: &[&str]) -> Clocks {
    Clocks {
        at_s,
        sm_mhz,
        memory_mhz: 3201,
        temperature_c: Some(55),
        power_w: Some(412.5),
        throttled: throttled.iter().map(|&reason| reason.into()).collect(),
    }
}

#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    group: usize,
}

impl Rows {
    /// Adds a row to the latest group. The samples are close to the time of a launch plus that of the bytes.
    fn add(&mut self, (by, kernel): (By, &str), launch_us: f64, gb_per_s: f64, row: Row) {
        let time_us = launch_us + row.bytes as f64 / gb_per_s / 1e3;
        // Within half a per cent of the time, and different in each row.
        let seed = self.rows.len();
        let samples_us: Vec<_> = (0..20)
            .map(|i| time_us * (1.0 + ((seed * 7 + i * 13) % 17) as f64 * 3e-4))
            .collect();
        let timed = row.timing != Timing::None;
        let samples_us = if timed { samples_us } else { Vec::new() };
        self.rows.push(Row {
            group: self.group,
            by,
            kernel: kernel.into(),
            time: statistics::time(&samples_us, SPREAD_LIMIT),
            samples_us,
            ..row
        });
    }
}

/// A row whose kernel and times [`Rows::add`] sets.
fn row(suite: Suite, element: &str, n: u64, bytes: u64) -> Row {
    Row {
        n,
        bytes,
        ..Row::new(suite, "", element, 0)
    }
}
