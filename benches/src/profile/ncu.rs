//! Nsight Compute on this machine.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::tool;

/// Counted in the instructions, which ncu patches: exact, and the same in every run.
const PER_INSTRUCTION: &[&str] = &[
    "inst_executed",
    "thread_inst_executed_true",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global",
];

/// Counted by hardware counters, as a check of [`PER_INSTRUCTION`]. The data pipe's include other traffic.
const COUNTED: &[&str] = &[
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "smsp__inst_executed_op_shared_atom_pred_on_any.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
];

/// Times and utilisation.
const TIMED: &[&str] = &[
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "sm__maximum_warps_per_active_cycle_pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__inst_executed.sum",
    "smsp__warps_launched.sum",
    "launch__registers_per_thread",
    "smsp__average_warp_latency.ratio",
];

/// The cost of an instruction: executions, samples with a warp at it, and those in which it was issued.
const LOCATED: &[&str] = &[EXECUTED, SAMPLES, SELECTED];
pub const EXECUTED: &str = "inst_executed";
pub const SAMPLES: &str = "smsp__pcsamp_sample_count";
pub const SELECTED: &str = "smsp__pcsamp_warps_issue_stalled_selected";

/// The states in which a warp spends its cycles, by ncu's names.
pub const STATES: &[&str] = &[
    "selected",
    "not_selected",
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
];

/// The metric of one of the [`STATES`], in cycles per warp.
pub fn state_metric(state: &str) -> String {
    format!("smsp__average_warp_latency_issue_stalled_{state}.ratio")
}

/// The metrics that a run of ncu collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metrics {
    Counts,
    Times,
    Lines,
}

impl Metrics {
    fn names(self) -> Vec<String> {
        let owned = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        match self {
            Metrics::Counts => [owned(PER_INSTRUCTION), owned(COUNTED)].concat(),
            Metrics::Times => {
                let states = STATES.iter().map(|state| state_metric(state)).collect();
                [owned(TIMED), states].concat()
            }
            Metrics::Lines => owned(LOCATED),
        }
    }
}

/// An installed Nsight Compute.
pub struct Ncu {
    program: PathBuf,
    /// As ncu prints it: `2025.3.1.0 (build 36398880) (public-release)`.
    pub version: String,
}

impl Ncu {
    pub fn find() -> Result<Ncu> {
        let toolkit = env::var_os("CUDA_PATH").map(|root| PathBuf::from(root).join("bin"));
        let folders = toolkit.into_iter().chain(["/usr/local/cuda/bin".into()]);
        let program = tool::find("ncu", folders).context(
            "Nsight Compute (ncu) was not found on PATH, in CUDA_PATH/bin, or in /usr/local/cuda/bin",
        )?;
        let text = tool::run(Command::new(&program).arg("--version"))?;
        let version = text.lines().find_map(|line| line.strip_prefix("Version "));
        let version = version.unwrap_or(text.trim()).to_owned();
        Ok(Ncu { program, version })
    }

    /// Runs `command`, a program with its arguments, profiles the first launch of each of these kernels, and
    /// writes the file `report`. Does not lock the clocks.
    pub fn profile(
        &self,
        metrics: Metrics,
        kernels: &[String],
        report: &Path,
        command: &[OsString],
    ) -> Result<()> {
        let mut ncu = self.command();
        ncu.args(["--clock-control", "none", "--kernel-id"])
            .arg(format!("::regex:^({})$:1", kernels.join("|")))
            .args(["--disable-extra-suffixes", "--force-overwrite"])
            .arg("--metrics")
            .arg(metrics.names().join(","));
        if metrics == Metrics::Lines {
            ncu.args(["--import-source", "yes"]);
        }
        tool::run(ncu.arg("--export").arg(report).args(command)).map_err(refused)?;
        Ok(())
    }

    /// The metrics of each launch, as CSV.
    pub fn launches(&self, report: &Path) -> Result<String> {
        self.page(report, &["raw"])
    }

    /// The metrics of each instruction, as CSV.
    pub fn instructions(&self, report: &Path) -> Result<String> {
        self.page(report, &["source", "--print-source", "sass"])
    }

    /// The metrics of each instruction, grouped by source line, as CSV.
    pub fn lines(&self, report: &Path) -> Result<String> {
        self.page(report, &["source", "--print-source", "cuda,sass"])
    }

    fn page(&self, report: &Path, page: &[&str]) -> Result<String> {
        let mut ncu = self.command();
        ncu.arg("--import").arg(report).arg("--page").args(page);
        tool::run(ncu.args(["--csv", "--print-units", "base"]))
    }

    /// A command of ncu that prints numbers in the same format on every machine.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LC_ALL", "C");
        command
    }
}

/// Puts ncu's error messages in front.
fn refused(error: anyhow::Error) -> anyhow::Error {
    let text = format!("{error:#}");
    let lines = text.lines();
    let reasons: Vec<_> = lines
        .filter_map(|line| line.strip_prefix("==ERROR== "))
        .collect();
    let reason = match reasons.as_slice() {
        [] => String::new(),
        reasons => format!(": {}", reasons.join(" ")),
    };
    error.context(format!(
        "Nsight Compute could not profile{reason} (it needs permission to read the GPU's counters: \
         see NVIDIA's page on ERR_NVGPUCTRPERM)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn ncus_error_message_comes_first() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ncu");
        let script =
            "#!/bin/sh\necho '==PROF== Connected'\necho '==ERROR== ERR_NVGPUCTRPERM' >&2\nexit 1\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let ncu = Ncu {
            program,
            version: String::new(),
        };
        let report = folder.path().join("report");
        let error = ncu.profile(Metrics::Lines, &["k".into()], &report, &["true".into()]);
        let error = error.unwrap_err();
        let start = "Nsight Compute could not profile: ERR_NVGPUCTRPERM (";
        assert!(error.to_string().starts_with(start), "{error}");
        assert!(
            format!("{error:#}").contains("::regex:^(k)$:1"),
            "{error:#}"
        );
    }
}
