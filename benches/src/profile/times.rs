//! Where the time of a launch goes.

use std::collections::BTreeMap;

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};

use super::ncu::{STATES, state_metric};
use super::pages::Measured;
use crate::table::thousands;

/// One launch under ncu, which empties the caches before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub entry: String,
    pub n: usize,
    pub threads: u32,
    pub blocks: u32,
    pub registers: u32,
    pub ms: f64,
    /// Of the highest there is, as every `percent` here.
    pub compute_percent: f64,
    pub memory_percent: f64,
    pub dram_percent: f64,
    pub dram_read_bytes: u64,
    /// Cycles in which a scheduler issued.
    pub issue_percent: f64,
    /// Warps that are there, of those that there is room for.
    pub warps_percent: f64,
    /// The data stage of the L1 cache and shared memory.
    pub data_pipe_percent: f64,
    pub instructions_per_warp: f64,
    /// Passes of shared-memory instructions through the data stage; one also for an instruction
    /// whose lanes are all switched off.
    pub shared_passes_per_warp: f64,
    /// How long a warp lives.
    pub cycles_per_warp: f64,
    /// In which state it spends them, by ncu's names.
    pub states: BTreeMap<String, f64>,
}

impl Times {
    pub fn of(n: usize, launch: &Measured) -> Result<Times> {
        let warps = launch.get("smsp__warps_launched.sum")?;
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

    fn row(&self) -> Vec<String> {
        let tenths = |x: f64| format!("{x:.1}");
        let whole = |x: f64| format!("{x:.0}");
        let state = |name: &str| whole(self.states[name]);
        vec![
            self.entry.clone(),
            self.threads.to_string(),
            self.registers.to_string(),
            format!("{:.3}", self.ms),
            tenths(self.dram_percent),
            tenths(self.issue_percent),
            tenths(self.data_pipe_percent),
            tenths(self.warps_percent),
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

const COLUMNS: [&str; 18] = [
    "entry",
    "threads",
    "registers",
    "ms",
    "DRAM %",
    "issue %",
    "data pipe %",
    "warps %",
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

/// The launches as a table for people.
pub fn markdown(times: &[Times]) -> String {
    let Some(first) = times.first() else {
        return String::new();
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(COLUMNS);
    table.add_rows(times.iter().map(Times::row));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "First pass over {} elements, caches emptied before. instr/warp: warp instructions. \
         shared/warp: passes of shared-memory instructions through the data pipe, those with all \
         lanes switched off included. cycles/warp: the life of a warp; of it, cycles in which it \
         waits for global memory, for a barrier, for shared memory, for the instruction before \
         (wait), for a busy arithmetic pipe, in which it is ready and another warp issues, and in \
         which it issues.\n\n{table}\n",
        thousands(first.n as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::super::pages;
    use super::*;

    #[test]
    fn the_states_of_a_warp_make_its_life() {
        let launches = pages::launches(include_str!("testdata/times.csv")).unwrap();
        let times = Times::of(400_000_000, &launches[0]).unwrap();
        assert_eq!(times.entry, "reduce_1_sum_i32");
        assert!((times.ms - 2.305_536).abs() < 1e-9);
        assert!((times.instructions_per_warp - 137.125).abs() < 1e-9);
        let states: f64 = times.states.values().sum();
        assert!(
            (states / times.cycles_per_warp - 1.0).abs() < 0.01,
            "{states}"
        );
        let table = markdown(&[times]);
        assert!(
            table.contains("reduce_1_sum_i32") && table.contains("137.1"),
            "{table}"
        );
    }
}
