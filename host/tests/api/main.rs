//! Every call of the library on every device, held against NumPy's answers.
//!
//! The answers are in `tests/data/numpy/answers.jsonl`, which `make.py` there makes and describes.
//! Where we mean something else than NumPy, [`differences`] says so, and nothing else does.

mod algorithms;
mod answers;
mod calls;
mod compare;
mod differences;
mod keyed;
mod moving;
mod number;
mod statistics;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use warpfold::{Device, Error};

/// A device's name in the trials, and the device or why there is none.
type Named = (&'static str, Result<Device, Absent>);

/// Why a device cannot be tested: it is not there, or it is and does not work.
enum Absent {
    Ignored(String),
    Broken(Error),
}

/// The devices that all trials run on.
fn devices() -> Vec<Named> {
    let cuda = Device::first().map_err(|error| match error {
        Error::NoDriver { .. } | Error::NoDevice { .. } => Absent::Ignored("no CUDA device".into()),
        broken => Absent::Broken(broken),
    });
    vec![("cpu", Ok(Device::cpu())), ("cuda", cuda)]
}

/// What a test does on a device.
type Run = dyn Fn(&Device) -> Result<(), Failed> + Send + Sync;

/// A test of any device.
struct Test {
    name: String,
    run: Arc<Run>,
}

impl Test {
    fn new(
        name: impl Into<String>,
        run: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            run: Arc::new(run),
        }
    }

    fn on(&self, device_name: &str, device: Result<Device, Completion>) -> Trial {
        let run = Arc::clone(&self.run);
        let name = format!("{device_name}/{}", self.name);
        Trial::ignorable_test(name, move || match device {
            Ok(device) => run(&device).map(|()| Completion::Completed),
            Err(ignored) => Ok(ignored),
        })
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests: Vec<Test> = [
        calls::tests(),
        statistics::tests(),
        algorithms::tests(),
        keyed::tests(),
        moving::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut trials = compare::trials();
    for (name, device) in devices() {
        match device {
            Ok(device) => trials.extend(tests.iter().map(|test| test.on(name, Ok(device.clone())))),
            Err(Absent::Ignored(why)) => {
                let ignored = || Err(Completion::ignored_with(&why));
                trials.extend(tests.iter().map(|test| test.on(name, ignored())));
            }
            Err(Absent::Broken(error)) => {
                trials.push(Trial::test(name, move || Err(error.into())));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
