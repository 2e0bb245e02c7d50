//! The tests of all calls, for any device.

mod algorithms;
mod answers;
mod axes;
mod batches;
mod bounds;
mod calls;
mod compare;
mod counts;
mod differences;
mod empty;
mod exact;
mod groups;
mod items;
mod keyed;
mod levels;
mod moving;
mod number;
pub mod order;
#[allow(dead_code, reason = "not for GPUs: there may be no Python")]
pub mod parts_by_numpy;
mod runs;
mod segments;
mod statistics;
mod threads;

use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use warpfold::Device;

/// The body of a test.
type Run = dyn Fn(&Device) -> Result<(), Failed> + Send + Sync;

/// A test for any device.
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

    fn on(&self, device_name: &str, device: Result<Device, &'static str>) -> Trial {
        let run = Arc::clone(&self.run);
        let name = format!("{device_name}/{}", self.name);
        Trial::ignorable_test(name, move || match device {
            Ok(device) => run(&device).map(|()| Completion::Completed),
            Err(why) => Ok(Completion::ignored_with(why)),
        })
    }
}

/// Every test on a device, or the reason why it is ignored.
pub fn on(device_name: &str, device: Result<Device, &'static str>) -> Vec<Trial> {
    let tests = [
        calls::tests(),
        statistics::tests(),
        algorithms::tests(),
        keyed::tests(),
        counts::tests(),
        items::tests(),
        bounds::tests(),
        moving::tests(),
        empty::tests(),
        exact::tests(),
        groups::tests(),
        runs::tests(),
        segments::tests(),
        axes::tests(),
        batches::tests(),
        levels::tests(),
        threads::tests(),
        order::tests(),
    ];
    let tests = tests.iter().flatten();
    tests
        .map(|test| test.on(device_name, device.clone()))
        .collect()
}

/// Tests of the comparisons.
pub fn of_comparisons() -> Vec<Trial> {
    compare::trials()
}
