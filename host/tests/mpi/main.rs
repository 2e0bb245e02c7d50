//! Ranks that are processes of a real MPI: this program starts itself by `mpirun`.
//!
//! `WARPFOLD_MPIRUN` or `mpirun` in `PATH`; `cargo xtask test --all` puts Open MPI into the cache. Without it the tests are
//! ignored, and say so.

mod programs;

use std::env;
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// The variable that tells a rank what to do.
const PROGRAM: &str = "WARPFOLD_TEST_PROGRAM";

/// Within which all processes must have ended.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    if let Ok(program) = env::var(PROGRAM) {
        return programs::run(&program);
    }
    let mut tests = vec![];
    for size in [1, 2, 3, 5, 8] {
        tests.push(test(
            format!("{size} ranks have the bits of one"),
            move || {
                let output = start(size, "bits", &[])?;
                succeeded(&output)?;
                has(&output, "all bits are right", size)
            },
        ));
    }
    tests.push(test("messages".into(), || {
        let output = start(3, "messages", &[])?;
        succeeded(&output)
    }));
    tests.push(test(
        "a rank that fails is an error of all, which go on".into(),
        || {
            let output = start(3, "fails", &[])?;
            succeeded(&output)
        },
    ));
    tests.push(test("a rank that does not arrive is named".into(), || {
        let output = start(3, "stalls", &[("WARPFOLD_TIME_LIMIT", "1")])?;
        has(&output, "nothing from rank 1 of 3 within 1s", 1)
    }));
    for when in ["killed before", "killed in", "killed after"] {
        tests.push(test(
            format!("a rank that is {when} a gather ends the job"),
            move || {
                let output = start(3, when, &[])?;
                match output.status.success() || !text(&output).contains("rank 1") {
                    true => Err(format!("no error of rank 1: {}", text(&output)).into()),
                    false => Ok(()),
                }
            },
        ));
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// A test, which is ignored without a launcher.
fn test(name: String, run: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, || match mpirun() {
        Some(_) => run().map(|()| Completion::Completed),
        None => Ok(Completion::ignored_with(
            "no mpirun in WARPFOLD_MPIRUN or PATH; `cargo xtask setup --mpi` downloads one",
        )),
    })
}

/// The launcher, if there is one.
fn mpirun() -> Option<String> {
    let runs = |program: &String| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|version| version.status.success())
    };
    let chosen = env::var("WARPFOLD_MPIRUN")
        .ok()
        .filter(|chosen| !chosen.is_empty());
    chosen.or(Some("mpirun".into())).filter(runs)
}

/// Runs a program on so many ranks, which must end within the limit.
fn start(size: usize, program: &str, variables: &[(&str, &str)]) -> Result<Output, Failed> {
    let begin = Instant::now();
    let mut command = Command::new(mpirun().ok_or("there was a launcher")?);
    command
        .args(["--oversubscribe", "-n", &size.to_string()])
        .arg(env::current_exe()?)
        .env(PROGRAM, program)
        // CI may run as root, and has no network between hosts.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("RAYON_NUM_THREADS", "1")
        .envs(variables.iter().copied());
    let output = command.output()?;
    match begin.elapsed() < LIMIT {
        true => Ok(output),
        false => Err(format!("{:?}: {}", begin.elapsed(), text(&output)).into()),
    }
}

fn text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts.map(|part| String::from_utf8_lossy(part)).concat()
}

fn succeeded(output: &Output) -> Result<(), Failed> {
    match output.status.success() {
        true => Ok(()),
        false => Err(text(output).into()),
    }
}

/// An error unless a text is printed so many times.
fn has(output: &Output, wanted: &str, times: usize) -> Result<(), Failed> {
    match text(output).matches(wanted).count() >= times {
        true => Ok(()),
        false => Err(format!("no {wanted:?} in: {}", text(output)).into()),
    }
}
