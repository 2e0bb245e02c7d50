//! The trials: kernels, data and expected results.

use rand::{SeedableRng, rngs::StdRng};

use crate::case::Case;

mod atomic;
mod barrier;
mod compare;
mod convergence;
mod decide;
mod float;
mod float16;
mod index;
mod large;
mod litmus;
mod partition;
mod print;
mod shared;
mod shuffle;
mod trap;

pub use print::{Print, prints};
pub use trap::Trap;

/// Creates the cases of a trial from random data.
type Build = Box<dyn Fn(&mut StdRng) -> Vec<Case> + Send>;

/// One entry of the list of tests: a feature for a type.
pub struct Trial {
    /// `feature/variation/type`.
    pub name: String,
    build: Build,
}

impl Trial {
    fn new(
        name: impl Into<String>,
        build: impl Fn(&mut StdRng) -> Vec<Case> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            build: Box::new(build),
        }
    }

    /// The cases for a seed. They depend only on the seed and the trial's name, so that a failure can be
    /// repeated alone.
    pub fn cases(&self, seed: u64) -> Vec<Case> {
        (self.build)(&mut generator(seed, &self.name))
    }
}

/// Random data that depend on the seed and a name.
fn generator(seed: u64, name: &str) -> StdRng {
    let own = name.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    StdRng::seed_from_u64(own)
}

/// All trials in the order of the list; functions of floats have at least this many arguments.
pub fn trials(arguments: usize) -> Vec<Trial> {
    [
        index::trials(),
        shuffle::trials(),
        decide::trials(),
        barrier::trials(),
        shared::trials(),
        litmus::trials(),
        atomic::trials(),
        float::trials(arguments),
        float16::trials(),
        convergence::trials(),
        compare::trials(),
        large::trials(),
        trap::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All launches that must fail; each requires its own process.
pub fn traps() -> Vec<Trap> {
    trap::traps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Expectation;
    use conformance_kernels::entry;
    use std::collections::BTreeSet;

    /// The limits of threads and shared memory of a block on every device.
    const THREADS: u64 = 1024;
    const SHARED: u32 = 48 << 10;

    /// Creating all cases of atomics and all arguments of functions takes seconds; one type is enough here.
    fn is_quick(name: &str) -> bool {
        let many = ["atomic", "float/", "float_"];
        !many.iter().any(|slow| name.starts_with(slow)) || name.ends_with("f64")
    }

    #[test]
    fn cases_fit_their_kernels() {
        let mut kernels = BTreeSet::new();
        let alone: Vec<Case> = traps()
            .iter()
            .map(Trap::case)
            .chain(prints(1).into_iter().map(|print| print.case))
            .collect();
        for trial in trials(1 << 10).iter().filter(|trial| is_quick(&trial.name)) {
            let cases = trial.cases(1);
            assert!(!cases.is_empty(), "{}", trial.name);
            for case in cases.iter().chain(&alone) {
                for launch in &case.launches {
                    assert!(entry::find(&launch.kernel).is_some(), "{}", launch.kernel);
                    kernels.insert(launch.kernel.clone());
                    let block: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
                    assert!((1..=THREADS).contains(&block), "{}", case.name);
                    assert!(launch.shared_bytes <= SHARED, "{}", case.name);
                }
                if let Expectation::Words { words, .. } = &case.expectation {
                    assert_eq!(
                        words.len(),
                        case.output.len(),
                        "{} {}",
                        trial.name,
                        case.name
                    );
                }
            }
        }
        let table: BTreeSet<String> = entry::entries()
            .map(|entry| entry.name.to_string())
            .filter(|name| is_quick(name))
            .collect();
        let unused: Vec<_> = table.difference(&kernels).collect();
        assert!(
            unused.is_empty(),
            "kernels that no case launches: {unused:?}"
        );
    }

    #[test]
    fn names_differ() {
        let mut names = BTreeSet::new();
        for trial in trials(1 << 10) {
            assert!(
                names.insert(trial.name.clone()),
                "{} occurs twice",
                trial.name
            );
        }
    }

    #[test]
    fn a_seed_repeats_the_data() {
        let all = trials(1 << 10);
        let trial = all
            .iter()
            .find(|trial| trial.name == "shuffle/down/f32")
            .unwrap();
        let inputs = |seed| -> Vec<Vec<u64>> {
            trial
                .cases(seed)
                .into_iter()
                .map(|case| case.input)
                .collect()
        };
        assert_eq!(inputs(5), inputs(5));
        assert_ne!(inputs(5), inputs(6));
    }
}
