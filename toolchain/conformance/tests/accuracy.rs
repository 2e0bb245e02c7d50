//! Checks every function of `cuda_std::float` on the host against reference values.
//!
//! Environment: `CONFORMANCE_SEED` repeats the arguments of a run; `CONFORMANCE_ARGUMENTS` is the number of
//! arguments for each function. `--nocapture` prints the largest errors.

use std::env;
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use conformance::float::{Float, Function, approximations};
use rand::{SeedableRng, rngs::StdRng};

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
}

fn arguments() -> usize {
    variable("CONFORMANCE_ARGUMENTS").map_or(1 << 20, |count| count as usize)
}

fn seed() -> u64 {
    let seed = variable("CONFORMANCE_SEED").unwrap_or_else(rand::random);
    println!("CONFORMANCE_SEED={seed} repeats the arguments");
    seed
}

/// The largest error of a function, and its argument.
fn worst<T: Float + Debug>(function: &Function<T>, seed: u64) -> (f64, [T; 3]) {
    let mut rng = StdRng::seed_from_u64(seed);
    let sample = function.sample(arguments(), &mut rng);
    let errors = sample
        .into_iter()
        .map(|x| (function.error(x, (function.call)(x)), x));
    errors
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .expect("there are arguments")
}

/// Checks all functions against their bounds, on all cores.
fn check<T: Float + Debug>() {
    let seed = seed();
    let functions = T::functions();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(function) = functions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (error, x) = worst(function, seed);
                    let text = format!(
                        "{} of {}: {error:.4} ulps at {:?}; the limit is {}",
                        function.name,
                        T::ELEMENT.name(),
                        &x[..function.arguments],
                        function.bound
                    );
                    println!("{text}");
                    if error > function.bound {
                        failures.lock().expect("no thread panics").push(text);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_of_f32_keep_their_bounds() {
    check::<f32>();
}

#[test]
fn functions_of_f64_keep_their_bounds() {
    check::<f64>();
}

#[test]
fn approximations_keep_their_bounds() {
    let mut rng = StdRng::seed_from_u64(seed());
    for function in approximations() {
        for x in function.sample(arguments(), &mut rng) {
            let result = (function.call)(x);
            assert!(
                function.accepts(x, result),
                "{} of {x:?} is {result:?}",
                function.name
            );
        }
    }
}
