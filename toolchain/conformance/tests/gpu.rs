//! Runs every trial with every module that the device executes.
//!
//! Environment: `CONFORMANCE_SEED` repeats the data of a run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::process::{Command, ExitCode};
use std::rc::Rc;

use conformance::cases::{self, Print, Trap};
use conformance::cuda::{self, Cuda};
use conformance::module::{MODULES, Module, PANICS};
use conformance::{Backend, BackendError, Outcome};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Selects the trap of a child process: `<module> <name>`.
const TRAP: &str = "CONFORMANCE_TRAP";

/// The name of [`PANICS`] in it.
const MESSAGES: &str = "messages";

/// Selects the output of a child process: `<module> <name>`, with the seed in [`SEED`].
const PRINT: &str = "CONFORMANCE_PRINT";

const SEED: &str = "CONFORMANCE_SEED";

fn main() -> ExitCode {
    if let Ok(trap) = env::var(TRAP) {
        return run_trap(&trap);
    }
    if let Ok(print) = env::var(PRINT) {
        return print_here(&print);
    }
    let seed = match seed() {
        Ok(seed) => seed,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    let mut arguments = Arguments::from_args();
    // Trials run one at a time, because a context belongs to its thread.
    arguments.test_threads.get_or_insert(1);
    let capability = if arguments.list {
        None
    } else {
        match cuda::describe() {
            Ok(device) => {
                let (major, minor) = device.capability;
                println!("{}, compute capability {major}.{minor}", device.name);
                println!("seed {seed:#x} ({SEED}={seed} repeats the data)");
                Some(device.capability)
            }
            Err(error @ BackendError::NoDevice { .. }) => {
                println!("{error}");
                None
            }
            Err(error) => {
                eprintln!("the device cannot be used: {error}");
                return ExitCode::FAILURE;
            }
        }
    };
    let mut trials: Vec<Trial> = MODULES
        .iter()
        .flat_map(|module| {
            let printed = printed(module, seed, capability);
            executed(module, seed, capability)
                .into_iter()
                .chain(printed)
        })
        .collect();
    // The effect of a panic does not depend on the architecture, and each one costs a process.
    let newest = MODULES
        .iter()
        .rfind(|module| refusal(module, capability).is_none())
        .or(MODULES.last());
    trials.extend(
        newest
            .into_iter()
            .flat_map(|module| trapped(module, capability)),
    );
    trials.extend(explained(capability));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn seed() -> Result<u64, String> {
    match env::var(SEED) {
        Ok(text) => text
            .parse()
            .map_err(|error| format!("{SEED}={text} is not a number: {error}")),
        Err(_) => Ok(rand::random()),
    }
}

/// The compute capability of the device, if there is one.
type Capability = Option<(u32, u32)>;

/// The reason why the device cannot execute a module.
fn refusal(module: &Module, device: Capability) -> Option<String> {
    match device {
        Some(capability) if capability >= module.capability => None,
        Some((major, minor)) => Some(format!(
            "the device has compute capability {major}.{minor}; {} requires {}.{}",
            module.name, module.capability.0, module.capability.1
        )),
        // The first line has the details.
        None => Some("no CUDA device".into()),
    }
}

/// A test with the module's name, which runs unless there is a reason not to.
fn test(
    module: &Module,
    name: &str,
    refusal: Option<String>,
    run: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(format!("{}/{name}", module.name), move || match refusal {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => run(),
    })
}

/// All trials with a module.
fn executed(module: &'static Module, seed: u64, device: Capability) -> Vec<Trial> {
    let refusal = refusal(module, device);
    cases::trials(1 << 20)
        .into_iter()
        .map(|trial| {
            let name = trial.name.clone();
            test(module, &name, refusal.clone(), move || {
                run(module, &trial, seed)
            })
        })
        .collect()
}

/// All traps with a module.
fn trapped(module: &'static Module, device: Capability) -> Vec<Trial> {
    let refusal = refusal(module, device);
    cases::traps()
        .into_iter()
        .map(|trap| {
            test(module, trap.name, refusal.clone(), move || {
                run_trap_in_child(module, &trap)
            })
        })
        .collect()
}

/// All traps with the module that has panic messages.
fn explained(device: Capability) -> Vec<Trial> {
    let refusal = refusal(&PANICS, device);
    cases::traps()
        .into_iter()
        .map(|trap| {
            let (name, refusal) = (format!("{MESSAGES}/{}", trap.name), refusal.clone());
            Trial::ignorable_test(name, move || match refusal {
                Some(reason) => Ok(Completion::ignored_with(reason)),
                None => explain_in_child(&trap),
            })
        })
        .collect()
}

/// All printing cases with a module.
fn printed(module: &'static Module, seed: u64, device: Capability) -> Vec<Trial> {
    let refusal = refusal(module, device);
    cases::prints(seed)
        .into_iter()
        .map(|print| {
            test(module, print.name, refusal.clone(), move || {
                print_in_child(module, &print, seed)
            })
        })
        .collect()
}

/// The backend of a module, loaded at its first use.
fn backend(module: &'static Module) -> Result<Rc<Cuda>, BackendError> {
    thread_local! {
        static LOADED: RefCell<HashMap<&'static str, Rc<Cuda>>> = RefCell::default();
    }
    LOADED.with_borrow_mut(|loaded| {
        if let Some(cuda) = loaded.get(module.name) {
            return Ok(Rc::clone(cuda));
        }
        let cuda = Rc::new(Cuda::load(module)?);
        loaded.insert(module.name, Rc::clone(&cuda));
        Ok(cuda)
    })
}

fn run(module: &'static Module, trial: &cases::Trial, seed: u64) -> Result<Completion, Failed> {
    let backend = backend(module)?;
    for case in trial.cases(seed) {
        match case.run(&*backend) {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::Skipped(reason)) => return Ok(Completion::ignored_with(reason)),
            Err(text) => return Err(format!("{text}\n{SEED}={seed} repeats the data").into()),
        }
    }
    Ok(Completion::Completed)
}

/// Runs a trap in a child process, whose context is lost.
fn run_trap_in_child(module: &Module, trap: &Trap) -> Result<Completion, Failed> {
    let child = Command::new(env::current_exe()?)
        .env(TRAP, format!("{} {}", module.name, trap.name))
        .output()?;
    if child.status.success() {
        return Ok(Completion::Completed);
    }
    Err(format!(
        "{}{}",
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr)
    )
    .into())
}

/// Runs a trap in a child process, and reads what the driver prints.
fn explain_in_child(trap: &Trap) -> Result<Completion, Failed> {
    const ASSERT: &str = "AssertError";
    let child = Command::new(env::current_exe()?)
        .env(TRAP, format!("{MESSAGES} {}", trap.name))
        .output()?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr),
    );
    let expected = trap.printed();
    let is_printed = stderr.lines().any(|line| line.ends_with(&expected));
    // The child repeats the driver's code.
    match child.status.success() && is_printed && stdout.contains(ASSERT) {
        true => Ok(Completion::Completed),
        false => {
            let expected = format!("expected {expected:?} on stderr and {ASSERT} on stdout");
            Err(format!("{expected}\nstdout: {stdout}\nstderr: {stderr}").into())
        }
    }
}

/// Prints in a child process, because the driver writes to the process's standard output.
fn print_in_child(module: &Module, print: &Print, seed: u64) -> Result<Completion, Failed> {
    let child = Command::new(env::current_exe()?)
        .env(PRINT, format!("{} {}", module.name, print.name))
        .env(SEED, seed.to_string())
        .output()?;
    let stderr = String::from_utf8_lossy(&child.stderr);
    let printed = String::from_utf8(child.stdout)?;
    let checked = match child.status.success() {
        true => print.check(&printed),
        false => Err(format!("the child process failed; it printed {printed:?}")),
    };
    checked.map_err(|text| format!("{text}\n{stderr}{SEED}={seed} repeats the data"))?;
    Ok(Completion::Completed)
}

/// The child's part of [`print_in_child`]: nothing else may write to standard output.
fn print_here(print: &str) -> ExitCode {
    let found = print.split_once(' ').and_then(|(module, name)| {
        let module = MODULES.iter().find(|candidate| candidate.name == module)?;
        let mut prints = cases::prints(seed().ok()?).into_iter();
        let print = prints.find(|candidate| candidate.name == name)?;
        Some((module, print))
    });
    let Some((module, print)) = found else {
        eprintln!("{PRINT}={print} is not a printing case");
        return ExitCode::from(2);
    };
    let ran = Cuda::load(module).map_err(|error| error.to_string());
    match ran.and_then(|cuda| print.case.run(&cuda)) {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Skipped(text)) | Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// The child's part: succeeds if the launch fails while it runs.
fn run_trap(trap: &str) -> ExitCode {
    let found = trap.split_once(' ').and_then(|(module, name)| {
        let module = match module {
            MESSAGES => &PANICS,
            _ => MODULES.iter().find(|candidate| candidate.name == module)?,
        };
        let trap = cases::traps()
            .into_iter()
            .find(|candidate| candidate.name == name)?;
        Some((module, trap))
    });
    let Some((module, trap)) = found else {
        eprintln!("{TRAP}={trap} is not a trap");
        return ExitCode::from(2);
    };
    let case = trap.case();
    let ran = Cuda::load(module).and_then(|cuda| {
        cuda.run(
            &case.launches,
            &case.input,
            &mut case.output.clone(),
            case.scratch_bytes,
        )
    });
    match ran {
        Err(BackendError::Launch {
            step: cuda::RUN,
            cause,
            ..
        }) => {
            println!("{cause}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("expected the launch to fail while it runs, got: {error}");
            ExitCode::FAILURE
        }
        Ok(()) => {
            eprintln!("a thread panicked and the launch did not fail");
            ExitCode::FAILURE
        }
    }
}
