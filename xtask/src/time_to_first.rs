//! `cargo xtask time-to-first`: measures how long the README's two commands take for a new user.

use crate::{process, workspace};
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// Time the README's two commands in a fresh clone with empty caches, without downloads
#[derive(clap::Args)]
pub struct Args {
    /// Number of clones, timed one after the other
    #[arg(long, value_name = "K", default_value = "3")]
    runs: u32,
    /// Leave out the second command
    #[arg(long)]
    first_only: bool,
    /// Folder for the clones, which are deleted afterwards [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Write all runs to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The README's commands, in their order.
const COMMANDS: [&str; 2] = ["ladder", "test"];

/// One command of one run.
#[derive(Clone, Debug, Serialize)]
struct Timed {
    command: &'static str,
    /// Elapsed time.
    seconds: f64,
    /// CPU time of all processes that the command has started, in user and kernel mode.
    cpu_seconds: f64,
    /// Crates, build scripts and test programs that cargo has compiled or run.
    units: usize,
    /// Bytes of the clone's target folder and of the device build's cache after the command.
    bytes: u64,
}

/// The contents of the file.
#[derive(Serialize)]
struct Record {
    commit: String,
    cores: usize,
    rustc: String,
    /// A list for each clone.
    runs: Vec<Vec<Timed>>,
}

impl Args {
    /// Times both commands, prints a table, and writes the record.
    pub fn run(self) -> Result<ExitCode> {
        let root = workspace::root();
        let git =
            |args: &[&str]| process::stdout_of(Command::new("git").current_dir(&root).args(args));
        let changed = git(&["status", "--porcelain"])?;
        ensure!(
            changed.is_empty(),
            "a clone has only committed files; commit these first:\n{changed}"
        );
        ensure!(self.runs > 0, "--runs 0: must be at least 1");
        let mut record = Record {
            commit: git(&["rev-parse", "HEAD"])?.trim().to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            rustc: process::stdout_of(Command::new("rustc").current_dir(&root).arg("--version"))?
                .trim()
                .to_owned(),
            runs: Vec::new(),
        };
        let commands = &COMMANDS[..if self.first_only { 1 } else { 2 }];
        for run in 1..=self.runs {
            let scratch = match &self.scratch {
                Some(folder) => TempDir::new_in(folder),
                None => TempDir::new(),
            };
            let clone = Clone::new(scratch.context("cannot create a temporary folder")?)?;
            let mut timed = Vec::new();
            for &command in commands {
                process::report(&format!(
                    "run {run} of {}: cargo xtask {command}",
                    self.runs
                ));
                timed.push(clone.time(command)?);
            }
            record.runs.push(timed);
        }
        process::print(&table(&record))?;
        if let Some(file) = &self.json {
            let json = serde_json::to_string_pretty(&record)? + "\n";
            fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A fresh clone with its own caches.
struct Clone {
    scratch: TempDir,
}

impl Clone {
    /// Clones the repository and downloads what the commands need.
    fn new(scratch: TempDir) -> Result<Self> {
        let clone = Self { scratch };
        let mut git = Command::new("git");
        git.args(["clone", "--quiet"]).arg(workspace::root());
        process::output_of(git.arg(clone.tree()))?;
        process::output_of(clone.cargo().args(["fetch", "--locked"]))?;
        // This program fetches the device's tools, so that nothing of the clone is built.
        let xtask = std::env::current_exe().context("cannot find the path of this program")?;
        let mut fetch = Command::new(xtask);
        fetch.arg("setup").env(CACHE, clone.cache());
        process::output_of(&mut fetch)?;
        Ok(clone)
    }

    fn tree(&self) -> PathBuf {
        self.scratch.path().join("warpfold")
    }

    fn cache(&self) -> PathBuf {
        self.scratch.path().join("cache")
    }

    /// cargo in the clone, without the settings of this process's builds.
    fn cargo(&self) -> Command {
        let mut cargo = process::cargo();
        cargo.current_dir(self.tree()).env(CACHE, self.cache());
        for variable in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET_DIR",
            "CARGO_INCREMENTAL",
        ] {
            cargo.env_remove(variable);
        }
        cargo
    }

    fn time(&self, command: &'static str) -> Result<Timed> {
        let (start, cpu) = (Instant::now(), children_seconds()?);
        let mut cargo = self.cargo();
        cargo.args(["xtask", command]).stdin(Stdio::null());
        if !process::succeeds(&mut cargo)? {
            bail!("`cargo xtask {command}` failed in the clone");
        }
        let target = self.tree().join("target");
        Ok(Timed {
            command,
            seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: children_seconds()? - cpu,
            units: units(&target)?,
            bytes: bytes(&target)? + bytes(&self.cache())?,
        })
    }
}

/// The environment variable with the folder of the device build's cache.
const CACHE: &str = "CUDA_BUILDER_CACHE";

/// Seconds of CPU time of all children that have been waited for.
fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("this command needs Linux")?;
    child_ticks(&stat)
        // In this file, a tick is always a hundredth of a second.
        .map(|ticks| ticks as f64 / 100.0)
        .with_context(|| format!("cannot parse /proc/self/stat: {stat}"))
}

/// The sum of fields 16 and 17, `cutime` and `cstime`. Field 2, a name in parentheses, may contain spaces.
fn child_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// The number of cargo's fingerprints in all profiles.
fn units(target: &Path) -> Result<usize> {
    let mut units = 0;
    for profile in children(target)? {
        let fingerprints = profile.join(".fingerprint");
        if fingerprints.is_dir() {
            units += children(&fingerprints)?.len();
        }
    }
    Ok(units)
}

/// The disk space of all files in a folder. Links are not followed.
fn bytes(folder: &Path) -> Result<u64> {
    if !folder.exists() {
        return Ok(0);
    }
    let mut sum = 0;
    for path in children(folder)? {
        let metadata = fs::symlink_metadata(&path).with_context(|| path.display().to_string())?;
        sum += match metadata.is_dir() {
            true => bytes(&path)?,
            false => allocated(&metadata),
        };
    }
    Ok(sum)
}

/// A file's disk space, divided by its number of hard links, of which cargo makes several.
fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks() * 512 / metadata.nlink().max(1)
}

fn children(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    let children: std::io::Result<_> = read();
    children.with_context(|| format!("cannot read {}", folder.display()))
}

/// A line for each command: minimum and maximum of the runs.
fn table(record: &Record) -> String {
    let mut text = format!(
        "commit {}, {} cores, {}, {} runs\n\n\
         | command | time | CPU time | units compiled so far | disk so far |\n|---|---|---|---|---|\n",
        record.commit,
        record.cores,
        record.rustc,
        record.runs.len()
    );
    for i in 0..record.runs.first().map_or(0, Vec::len) {
        let range = |figure: fn(&Timed) -> f64| {
            let all = record.runs.iter().map(|run| figure(&run[i]));
            all.fold((f64::MAX, 0.0_f64), |(least, most), one| {
                (least.min(one), most.max(one))
            })
        };
        let first = &record.runs[0][i];
        let (time, cpu, disk) = (
            range(|timed| timed.seconds),
            range(|timed| timed.cpu_seconds),
            range(|timed| timed.bytes as f64),
        );
        text += &format!(
            "| `cargo xtask {}` | {} to {} | {} to {} | {} | {:.2} GB |\n",
            first.command,
            minutes(time.0),
            minutes(time.1),
            minutes(cpu.0),
            minutes(cpu.1),
            first.units,
            disk.1 / 1e9
        );
    }
    text
}

fn minutes(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_childrens_time_is_read_after_a_name_with_spaces() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 130 24 0 0";
        assert_eq!(child_ticks(stat), Some(154));
        assert_eq!(child_ticks("7 (a"), None);
        assert!(children_seconds().unwrap() >= 0.0);
    }

    #[test]
    fn a_linked_file_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, vec![1; 1 << 16]).unwrap();
        let alone = bytes(folder.path()).unwrap();
        fs::create_dir(folder.path().join("deps")).unwrap();
        fs::hard_link(&file, folder.path().join("deps/b")).unwrap();
        assert!(alone >= 1 << 16);
        assert_eq!(bytes(folder.path()).unwrap(), alone);
    }

    #[test]
    fn the_table_has_minimum_and_maximum() {
        let timed = |seconds| Timed {
            command: "ladder",
            seconds,
            cpu_seconds: 2.0 * seconds,
            units: 170,
            bytes: 1_500_000_000,
        };
        let record = Record {
            commit: "0123".into(),
            cores: 2,
            rustc: "rustc 1.95.0".into(),
            runs: vec![vec![timed(61.2)], vec![timed(59.8)]],
        };
        let row = "| `cargo xtask ladder` | 1 min 00 s to 1 min 01 s | 2 min 00 s to 2 min 02 s \
                   | 170 | 1.50 GB |";
        assert!(table(&record).contains(row), "{}", table(&record));
    }
}
