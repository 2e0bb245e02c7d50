//! `cargo xtask doctor`: lists what builds and tests need, what is missing, and how to get it.

mod project;

use crate::{browser, driver, mpi, process, tools, workspace};
use anyhow::Result;
use comfy_table::{Table, presets};
use cuda_builder::toolchain::{self, DeviceToolchain, ToolchainError};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Show what builds and tests need and what is missing; exit code 1 if a build would fail
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a project with kernels outside this repository, to check instead
    project: Option<PathBuf>,
}

impl Args {
    /// Prints the table.
    pub fn run(self) -> Result<ExitCode> {
        let rows = match &self.project {
            Some(folder) => project::examine(folder),
            None => examine(),
        };
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header(["what", "", "found", "what to do"]);
        for row in &rows {
            let mark = match (row.fix.is_empty(), row.fatal) {
                (true, _) => "ok",
                (false, true) => "MISSING",
                (false, false) => "none",
            };
            table.add_row([&*row.what, mark, &row.found, &row.fix]);
        }
        process::print(&format!("{table}\n"))?;
        let broken = rows.iter().any(|row| row.fatal && !row.fix.is_empty());
        process::report(if broken {
            "doctor: a build would fail here"
        } else {
            "doctor: ready to build"
        });
        Ok(if broken {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// A line of the table.
struct Row {
    what: String,
    found: String,
    /// What to do; empty if nothing is missing.
    fix: String,
    /// Whether a build fails without it.
    fatal: bool,
}

impl Row {
    fn found(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            found: found.into(),
            fix: String::new(),
            fatal: false,
        }
    }

    fn missing(what: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            found: why.into(),
            fix: fix.into(),
            fatal: false,
        }
    }

    fn fatal(self) -> Self {
        Self {
            fatal: true,
            ..self
        }
    }
}

fn examine() -> Vec<Row> {
    let mut rows = vec![host_rustc()];
    rows.extend(device_compiler(toolchain::find(), "cargo xtask setup"));
    rows.extend(ptx_tools());
    rows.push(browser());
    rows.push(launcher());
    rows.extend(driver_and_devices());
    rows
}

fn host_rustc() -> Row {
    const RUSTC: &str = "rustc";
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| RUSTC.into());
    match process::stdout_of(Command::new(program).arg("--version")) {
        Ok(version) => {
            let pinned = workspace::pinned_version().map_or("?".into(), |v| v.to_string());
            Row::found(RUSTC, format!("{} (pinned: {pinned})", version.trim()))
        }
        Err(error) => Row::missing(
            RUSTC,
            format!("{error:#}"),
            "install rustup, which reads rust-toolchain.toml",
        )
        .fatal(),
    }
}

fn device_compiler(found: Result<DeviceToolchain, ToolchainError>, fix: &str) -> Vec<Row> {
    match found {
        Ok(found) => vec![
            Row::found(
                "device compiler",
                format!(
                    "rustc {}, {}\n{}",
                    found.version,
                    found.origin,
                    found.rustc.display()
                ),
            ),
            Row::found("core's source", found.core_src.display().to_string()),
            Row::found(
                "libLLVM",
                format!("{}, {}", found.llvm_version, found.libllvm.display()),
            ),
        ],
        Err(error) => {
            let tried = error.tried.trim_end();
            vec![Row::missing("device compiler", tried, fix).fatal()]
        }
    }
}

fn ptx_tools() -> Vec<Row> {
    let found = tools::find();
    let row = |what: &str| match &found {
        Some(tools) => Row::found(
            what,
            format!(
                "{}, {} ({})",
                version_of(&tools.folder().join(what)),
                tools.folder().join(what).display(),
                tools.origin
            ),
        ),
        None => Row::missing(
            what,
            "needed for `cargo xtask sass` and the tests of SASS, not for builds",
            "cargo xtask setup",
        ),
    };
    tools::TOOLS.iter().map(|&(what, _)| row(what)).collect()
}

/// The version after `release ` in the output of `--version`.
fn version_of(tool: &std::path::Path) -> String {
    let banner = process::stdout_of(Command::new(tool).arg("--version")).unwrap_or_default();
    let version = banner.lines().find_map(|line| {
        let (_, after) = line.split_once("release ")?;
        after.split(',').next()
    });
    version.unwrap_or("unknown version").into()
}

fn launcher() -> Row {
    const MPI: &str = "MPI";
    match mpi::find() {
        Ok(found) => Row::found(MPI, found.to_string()),
        Err(_) => Row::missing(
            MPI,
            "needed for the tests of several processes, not for builds",
            "cargo xtask setup --mpi",
        ),
    }
}

fn browser() -> Row {
    const BROWSER: &str = "browser";
    match browser::find() {
        Ok(found) => Row::found(BROWSER, found.to_string()),
        Err(_) => Row::missing(
            BROWSER,
            "needed for the tests of the bench's report, not for builds",
            "cargo xtask setup --browser",
        ),
    }
}

fn driver_and_devices() -> Vec<Row> {
    const DRIVER: &str = "driver";
    match driver::query() {
        Err(why) => vec![Row::missing(
            DRIVER,
            format!("{why}; the library computes on the CPU"),
            "install NVIDIA's driver if the machine has a GPU",
        )],
        Ok(driver) => {
            let (major, minor) = driver.cuda;
            let mut rows = vec![Row::found(DRIVER, format!("for CUDA {major}.{minor}"))];
            for device in driver.devices {
                let (major, minor) = device.compute_capability;
                let gigabytes = device.memory as f64 / 1e9;
                rows.push(Row::found(
                    "device",
                    format!("{}, {major}.{minor}, {gigabytes:.0} GB", device.name),
                ));
            }
            rows
        }
    }
}
