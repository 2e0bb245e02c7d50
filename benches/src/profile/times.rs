//! The times of a launch.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use warpfold_results::report::profile_markdown;
use warpfold_results::schema::Profiled;
use warpfold_results::table;

use super::ncu::{STATES, state_metric};
use super::pages::Measured;

/// The times of one launch under ncu, which flushes the caches before it. Null: a metric that earlier
/// versions did not collect, or a ratio whose denominator is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub entry: String,
    pub n: usize,
    pub threads: u32,
    pub blocks: u32,
    pub registers: u32,
    pub ms: f64,
    /// Percent of the peak, like every `percent` field.
    pub compute_percent: f64,
    pub memory_percent: f64,
    pub dram_percent: f64,
    pub dram_read_bytes: u64,
    #[serde(default)]
    pub dram_written_bytes: Option<u64>,
    /// In shared memory.
    #[serde(default)]
    pub bank_conflicts: Option<u64>,
    /// Sectors of 32 bytes for each load of a warp from global memory.
    #[serde(default)]
    pub load_sectors_per_request: Option<f64>,
    #[serde(default)]
    pub store_sectors_per_request: Option<f64>,
    /// The occupancy that the launch's resources allow.
    #[serde(default)]
    pub warps_limit_percent: Option<f64>,
    /// Cycles in which a scheduler issued an instruction.
    pub issue_percent: f64,
    /// The achieved occupancy.
    pub warps_percent: f64,
    /// Utilisation of the data stage of the L1 cache and shared memory.
    pub data_pipe_percent: f64,
    pub instructions_per_warp: f64,
    /// Passes of shared-memory instructions through the data stage, including one for each instruction with
    /// all lanes predicated off.
    pub shared_passes_per_warp: f64,
    /// The lifetime of a warp.
    pub cycles_per_warp: f64,
    /// Cycles per warp in each state, by ncu's names.
    pub states: BTreeMap<String, f64>,
}

impl Times {
    pub fn of(n: usize, launch: &Measured) -> Result<Times> {
        let warps = launch.get("smsp__warps_launched.sum")?;
        let sectors = |operation: &str| {
            launch.ratio(&format!(
                "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{operation}.ratio"
            ))
        };
        let conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
        let state = |&state: &&str| Ok((state.to_owned(), launch.get(&state_metric(state))?));
        Ok(Times {
            entry: launch.kernel.clone(),
            n,
            threads: launch.threads,
            blocks: launch.blocks,
            registers: launch.count("launch__registers_per_thread")? as u32,
            ms: launch.get("gpu__time_duration.sum")? / 1e6,
            compute_percent: launch.get("sm__throughput.avg.pct_of_peak_sustained_elapsed")?,
            memory_percent: launch
                .get("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")?,
            dram_percent: launch.get("dram__throughput.avg.pct_of_peak_sustained_elapsed")?,
            dram_read_bytes: launch.count("dram__bytes_read.sum")?,
            dram_written_bytes: Some(launch.count("dram__bytes_write.sum")?),
            bank_conflicts: Some(launch.count(conflicts)?),
            load_sectors_per_request: sectors("ld"),
            store_sectors_per_request: sectors("st"),
            warps_limit_percent: Some(launch.get("sm__maximum_warps_per_active_cycle_pct")?),
            issue_percent: launch.get("smsp__issue_active.avg.pct_of_peak_sustained_active")?,
            warps_percent: launch.get("sm__warps_active.avg.pct_of_peak_sustained_active")?,
            data_pipe_percent: launch
                .get("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed")?,
            instructions_per_warp: launch.get("smsp__inst_executed.sum")? / warps,
            shared_passes_per_warp: launch.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")?
                / warps,
            cycles_per_warp: launch.get("smsp__average_warp_latency.ratio")?,
            states: STATES.iter().map(state).collect::<Result<_>>()?,
        })
    }

    /// The fields that a report has.
    pub fn profiled(&self) -> Profiled {
        Profiled {
            entry: self.entry.clone(),
            n: self.n as u64,
            threads: self.threads,
            blocks: self.blocks,
            duration_us: self.ms * 1e3,
            compute_percent: self.compute_percent,
            memory_percent: self.memory_percent,
            dram_read_bytes: self.dram_read_bytes,
            dram_written_bytes: self.dram_written_bytes,
            bank_conflicts: self.bank_conflicts,
            load_sectors_per_request: self.load_sectors_per_request,
            store_sectors_per_request: self.store_sectors_per_request,
            registers: self.registers,
            occupancy_percent: self.warps_percent,
            occupancy_limit_percent: self.warps_limit_percent,
        }
    }

    fn row(&self) -> Vec<String> {
        let tenths = |x: f64| format!("{x:.1}");
        let maybe = |x: Option<f64>| x.map_or(String::new(), tenths);
        let whole = |x: f64| format!("{x:.0}");
        let state = |name: &str| whole(self.states[name]);
        vec![
            self.entry.clone(),
            self.threads.to_string(),
            tenths(self.dram_percent),
            tenths(self.issue_percent),
            tenths(self.data_pipe_percent),
            maybe(self.warps_limit_percent),
            maybe(self.store_sectors_per_request),
            tenths(self.instructions_per_warp),
            tenths(self.shared_passes_per_warp),
            whole(self.cycles_per_warp),
            state("long_scoreboard"),
            state("barrier"),
            state("short_scoreboard"),
            state("wait"),
            state("math_pipe_throttle"),
            state("not_selected"),
            state("selected"),
        ]
    }
}

const COLUMNS: [&str; 17] = [
    "entry",
    "threads",
    "DRAM %",
    "issue %",
    "data pipe %",
    "occupancy limit %",
    "sectors/store",
    "instr/warp",
    "shared/warp",
    "cycles/warp",
    "global",
    "barrier",
    "shared",
    "wait",
    "pipe",
    "ready",
    "issues",
];

/// The launches as Markdown tables.
pub fn markdown(times: &[Times]) -> String {
    let profiled: Vec<_> = times.iter().map(Times::profiled).collect();
    let table = table::markdown(COLUMNS, times.iter().map(Times::row), 1..COLUMNS.len());
    format!(
        "{}\n### Where warps spend their time\n\n{DETAILS}\n\n{table}\n",
        profile_markdown(&profiled)
    )
}

const DETAILS: &str = "Occupancy limit: the occupancy that registers, shared memory and threads per block \
allow. instr/warp: warp instructions. shared/warp: passes of shared-memory instructions through the data \
pipe, including instructions with all lanes predicated off. cycles/warp: the lifetime of a warp. The columns \
after it are parts of the lifetime: the warp waits for global memory (global), for a barrier, for shared \
memory (shared), for the previous instruction (wait) or for a busy arithmetic pipe (pipe); it is ready, but \
another warp issues (ready); or it issues (issues).";

#[cfg(test)]
mod tests {
    use super::super::pages;
    use super::*;

    /// A record of an H200, with made-up values for the metrics that it lacks.
    fn page() -> String {
        let recorded = include_str!("testdata/times.csv");
        let with = |line: &str, more: [&str; 5]| {
            let more = more.map(|cell| format!(",\"{cell}\""));
            format!("{line}{}\n", more.concat())
        };
        let columns = [
            "dram__bytes_write.sum",
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
            "sm__maximum_warps_per_active_cycle_pct",
        ];
        let units = ["byte", "", "sector/request", "sector/request", "%"];
        let values = ["6,250,000", "351,562,500", "4", "nan", "100"];
        let lines = recorded.lines().zip([columns, units, values]);
        lines.map(|(line, more)| with(line, more)).collect()
    }

    fn times() -> Times {
        let launches = pages::launches(&page()).unwrap();
        Times::of(400_000_000, &launches[0]).unwrap()
    }

    #[test]
    fn the_cycles_in_all_states_are_a_warps_lifetime() {
        let times = times();
        assert_eq!(times.entry, "reduce_1_sum_i32");
        assert!((times.ms - 2.305_536).abs() < 1e-9);
        assert!((times.instructions_per_warp - 137.125).abs() < 1e-9);
        let states: f64 = times.states.values().sum();
        assert!(
            (states / times.cycles_per_warp - 1.0).abs() < 0.01,
            "{states}"
        );
    }

    #[test]
    fn the_first_table_has_the_main_figures() {
        let text = markdown(&[times()]);
        let lines: Vec<Vec<_>> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| {
                line.split('|')
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty())
                    .collect()
            })
            .collect();
        let heads = [
            "entry",
            "threads",
            "duration µs",
            "compute %",
            "memory %",
            "DRAM GB/s",
            "bank conflicts",
            "sectors/request",
            "registers",
            "occupancy %",
        ];
        // (1,600,145,664 + 6,250,000) bytes in 2305.536 us.
        let figures = [
            "reduce_1_sum_i32",
            "256",
            "2306",
            "71.2",
            "89.2",
            "696.8",
            "351,562,500",
            "4.00",
            "16",
            "87.1",
        ];
        assert_eq!(lines[0], heads);
        assert_eq!(lines[2], figures);
        assert!(
            text.contains("137.1") && text.contains("occupancy limit"),
            "{text}"
        );
    }

    #[test]
    fn missing_metrics_are_null() {
        let times = times();
        assert_eq!(times.store_sectors_per_request, None, "no stores");
        let json = serde_json::to_string(&times).unwrap();
        assert_eq!(serde_json::from_str::<Times>(&json).unwrap(), times);
        // As an earlier version wrote it, with fewer metrics.
        let mut old = serde_json::to_value(&times).unwrap();
        for name in [
            "dram_written_bytes",
            "bank_conflicts",
            "warps_limit_percent",
        ] {
            old.as_object_mut().unwrap().remove(name).unwrap();
        }
        let old: Times = serde_json::from_value(old).unwrap();
        assert_eq!(old.profiled().dram_gb_per_s(), None);
        let launches = pages::launches(include_str!("testdata/times.csv")).unwrap();
        let error = Times::of(400_000_000, &launches[0])
            .unwrap_err()
            .to_string();
        assert!(error.contains("dram__bytes_write.sum"), "{error}");
    }
}
