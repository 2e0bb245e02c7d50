//! `cargo xtask test`: runs the tests that take minutes, with `--all` also the long sweeps.

use crate::{arches, browser, mpi, process, setup, workspace};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;

/// Run the tests that take minutes, or all with --all; list what was skipped
#[derive(clap::Args)]
pub struct Args {
    /// Also run the long sweeps: every seeded bug, every launch under the simulator, 2^20 arguments of each
    /// float function, PTX and machine code for every architecture, other workspaces, and the report in a
    /// browser
    #[arg(long)]
    all: bool,
    /// Fail if ptxas is missing and cannot be downloaded, instead of skipping the laws of SASS
    #[arg(long)]
    require_ptx_tools: bool,
    /// Fail if no browser is found and none can be downloaded, instead of skipping the tests that open the
    /// bench's report
    #[arg(long, requires = "all")]
    require_browser: bool,
    /// Fail if no Open MPI is found and none can be downloaded, instead of skipping the tests that start several
    /// processes; without --all they are skipped otherwise
    #[arg(long)]
    require_mpi: bool,
}

impl Args {
    /// Runs every test, even after a failure.
    pub fn run(self) -> Result<ExitCode> {
        Ok(if test(&self)? {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Runs the tests, also the laws of PTX and SASS (`tests/laws.rs`); true if none fails.
pub fn test(args: &Args) -> Result<bool> {
    setup::for_builds()?;
    match setup::for_sass() {
        Ok(_) => {}
        Err(error) if args.require_ptx_tools => {
            return Err(error.context("the laws of SASS cannot be tested"));
        }
        Err(error) => process::report(&format!("test: the laws of SASS are skipped: {error:#}")),
    }
    let browser = match args.all.then(setup::for_browser) {
        None => None,
        Some(Ok(browser)) => Some(browser),
        Some(Err(error)) if args.require_browser => {
            return Err(error.context("the bench's report cannot be opened"));
        }
        Some(Err(error)) => {
            process::report(&format!(
                "test: the bench's report is not opened: {error:#}"
            ));
            None
        }
    };
    let launcher = match (args.all || args.require_mpi).then(setup::for_mpi) {
        None => None,
        Some(Ok(launcher)) => Some(launcher),
        Some(Err(error)) if args.require_mpi => {
            return Err(error.context("several processes cannot be started"));
        }
        Some(Err(error)) => {
            process::report(&format!(
                "test: no processes are started as ranks: {error:#}"
            ));
            None
        }
    };
    let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
    let mut cargo = process::cargo();
    cargo
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(match args.all {
            true => workspace::ALL_TESTS,
            false => workspace::ALL_FEATURES,
        })
        .stdout(writer.try_clone().context("cannot create a pipe")?)
        .stderr(writer);
    if std::env::var_os(INCREMENTAL).is_none() {
        cargo.env(INCREMENTAL, "0");
    }
    if args.all {
        cargo.env(SWEEPS, "all");
    } else {
        cargo.args(["--exclude", "kernels-mutants", "--exclude", "warpfold-fuzz"]);
        if std::env::var_os(arches::VARIABLE).is_none() {
            let arches = arches::of_devices();
            cargo.env(
                arches::VARIABLE,
                arches.as_deref().unwrap_or(WITHOUT_A_DEVICE),
            );
        }
    }
    if let Some(browser) = browser {
        cargo.env(browser::VARIABLE, browser.program);
    }
    if let Some(launcher) = launcher {
        cargo.env(mpi::VARIABLE, launcher.program);
    }
    let mut child = cargo.spawn().context("cannot start cargo")?;
    // Closes our write ends of the pipe; otherwise reading never ends.
    drop(cargo);
    let mut tally = Tally::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.context("cannot read what the tests print")?;
        let line = String::from_utf8_lossy(&line);
        let _ = writeln!(std::io::stdout().lock(), "{line}");
        tally.read(&line);
    }
    let status = child.wait()?;
    process::print(&tally.report())?;
    if !args.all {
        process::print(LEFT_OUT)?;
    }
    if !status.success() && tally.failed == 0 {
        process::report(
            "test: no test failed, but cargo did: a build failed or a test program crashed",
        );
    }
    Ok(status.success() && tally.failed == 0)
}

/// The environment variable that selects whole sweeps.
const SWEEPS: &str = "WARPFOLD_TESTS";

/// The environment variable of incremental compilation, which takes 2 GB for all tests and slows the first build.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";

/// The architecture of the tested PTX on a machine without a device.
const WITHOUT_A_DEVICE: &str = "sm_80";

/// The list of tests that do not run by default.
const LEFT_OUT: &str = "not run: seeded bugs, fuzzing's corpus, other workspaces, the bench as a program, three quarters \
                        of the simulated launches, PTX for other devices, the report in a browser; `cargo xtask test --all` runs them\n";

/// Totals of the output of libtest and compatible runners.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    target: String,
    /// Number and reasons of skipped tests, by target.
    skips: BTreeMap<String, (u64, Vec<String>)>,
    /// The targets' lines that begin with `summary: `.
    summaries: Vec<String>,
}

impl Tally {
    fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(target) = line.strip_prefix("Running ") {
            // `Running tests/gpu.rs (target/debug/deps/gpu-0123456789abcdef)`
            let program = target.rsplit('/').next().unwrap_or(target);
            let program = program.trim_end_matches(')');
            let name = program.rsplit_once('-').map_or(program, |(name, _)| name);
            let source = target.split(" (").next().unwrap_or(target);
            self.target = format!("{name} ({source})");
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            self.target = format!("{package} (doc tests)");
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += counted(counts, "passed");
            self.failed += counted(counts, "failed");
            let skipped = counted(counts, "ignored");
            self.skipped += skipped;
            if skipped > 0 {
                self.skips.entry(self.target.clone()).or_default().0 += skipped;
            }
        } else if let Some(summary) = line.strip_prefix("summary: ") {
            self.summaries.push(summary.to_owned());
        } else if let Some(reason) = skip_reason(line) {
            let reasons = &mut self.skips.entry(self.target.clone()).or_default().1;
            if !reasons.iter().any(|known| known == reason) {
                reasons.push(reason.to_owned());
            }
        }
    }

    fn report(&self) -> String {
        let mut text = String::from("\n");
        for (target, (count, reasons)) in &self.skips {
            let reasons = match reasons.as_slice() {
                [] => "no reason given".to_owned(),
                reasons => reasons.join("; "),
            };
            text += &format!("skipped {count} in {target}: {reasons}\n");
        }
        for summary in &self.summaries {
            text += &format!("{summary}\n");
        }
        let Self {
            passed,
            failed,
            skipped,
            ..
        } = self;
        text + &format!("{passed} passed, {failed} failed, {skipped} skipped\n")
    }
}

/// The reason in `test NAME ... ignored (REASON)`, or libtest's `ignored, REASON`.
fn skip_reason(line: &str) -> Option<&str> {
    let (_, reason) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    let reason = reason.trim_start_matches([',', ' ']);
    let bare = reason.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
    Some(bare.unwrap_or(reason)).filter(|reason| !reason.is_empty())
}

/// The number before `word` in `ok. 5 passed; 0 failed; 2 ignored; ...`.
fn counted(counts: &str, word: &str) -> u64 {
    counts
        .split(['.', ';'])
        .filter_map(|part| part.trim().strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
   Compiling warpfold v0.1.0
     Running unittests src/lib.rs (target/debug/deps/warpfold-6b1d)
running 3 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s
     Running tests/gpu.rs (target/debug/deps/gpu-77aa)
test reduce_0_sum_i32      ... ignored (no CUDA device)
test reduce_1_sum_i32      ... ignored (no CUDA device)
test result: ok. 1 passed; 0 failed; 12 ignored; 0 measured; 0 filtered out; finished in 0.01s
     Running tests/suite.rs (target/debug/deps/suite-0a1b)
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 30.01s
summary: simulator: 148 of 148 entries
   Doc-tests warpfold
test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.5s
";

    #[test]
    fn reasons_of_both_runners_are_read() {
        let mimic = "test sm_90/shfl ... ignored (no CUDA device: NoDevice)";
        assert_eq!(skip_reason(mimic), Some("no CUDA device: NoDevice"));
        assert_eq!(skip_reason("test a ... ignored, slow"), Some("slow"));
        assert_eq!(skip_reason("test a ... ignored"), None);
        assert_eq!(skip_reason("test ignored_values ... ok"), None);
    }

    #[test]
    fn counts_are_added_and_skips_have_reasons() {
        let mut tally = Tally::default();
        OUTPUT.lines().for_each(|line| tally.read(line));
        let expected = "\nskipped 12 in gpu (tests/gpu.rs): no CUDA device\n\
                        simulator: 148 of 148 entries\n\
                        8 passed, 1 failed, 12 skipped\n";
        assert_eq!(tally.report(), expected);
    }
}
