//! Random lists of items, in random order and split at random.

use crate::cases;
use crate::format::Format;
use crate::step::{Step, both};
use crate::values::{self, Values};
use kernels_gpu::exact::Accumulator;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

crate::for_each_float!(random_lists long_lists);

/// The same kind of call for a list, or all kinds.
fn step<T: Format>(call: u32, mut value: impl FnMut() -> T) -> Step<T> {
    match call {
        0 => Step::Add(value()),
        1 => Step::AddAbs(value()),
        2 => Step::AddSquare(value()),
        _ => Step::AddProduct(value(), value()),
    }
}

/// Up to 64 items, of which most may cancel.
fn list<T: Format>(rng: &mut StdRng) -> Vec<Step<T>> {
    let values = Values::random::<T>(rng);
    let call = rng.random_range(0..5);
    let has_specials = rng.random_bool(0.1);
    let longest = 1 << rng.random_range(0..6);
    let length = rng.random_range(0..=longest);
    let mut steps: Vec<_> = (0..length)
        .map(|_| {
            let call = if call == 4 {
                rng.random_range(0..4)
            } else {
                call
            };
            step(call, || match has_specials && rng.random_bool(0.2) {
                true => values::special(rng),
                false => values.value(rng),
            })
        })
        .collect();
    if rng.random_bool(0.4) {
        let negated: Vec<_> = steps.iter().map(|step| step.negated()).collect();
        steps.extend(negated);
        let kept = steps.len() - rng.random_range(0..=steps.len().min(2));
        steps.truncate(kept);
    }
    steps.shuffle(rng);
    steps
}

/// The steps in a random order, in up to five parts, some of them empty, merged in a random order.
fn merged<T: Format>(steps: &[Step<T>], rng: &mut StdRng) -> Accumulator {
    let mut steps = steps.to_vec();
    steps.shuffle(rng);
    let mut parts = vec![Accumulator::new(); rng.random_range(1..=5)];
    for step in steps {
        let part = rng.random_range(0..parts.len());
        step.apply(&mut parts[part]);
    }
    while parts.len() > 1 {
        let part = parts.swap_remove(rng.random_range(0..parts.len()));
        let into = rng.random_range(0..parts.len());
        parts[into].merge(&part);
    }
    parts.remove(0)
}

fn random_lists<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let steps = list::<T>(rng);
        let (mut sum, mut oracle) = both(&steps);
        assert_eq!(merged(&steps, rng), sum, "{steps:?}");
        assert_eq!(
            Accumulator::from_bytes(&sum.to_bytes()),
            Ok(sum.clone()),
            "{steps:?}"
        );
        if !steps.is_empty() && rng.random() {
            // As if there were more items that are zeros.
            let more = values::count(rng) - 1;
            sum.count_items(more.saturating_sub(oracle.count));
            oracle.count = oracle.count.max(more);
        }
        oracle.assert_results(&sum, &steps);
    }
}

fn long_lists<T: Format>() {
    let rng = &mut StdRng::seed_from_u64(0);
    let limit = if cases() > 10_000 { 1 << 20 } else { 1 << 14 };
    for values in [
        Values::All,
        Values::Window(20),
        Values::Subnormal,
        Values::Extreme,
    ] {
        let length = rng.random_range(limit / 2..=limit);
        let mut x: Vec<T> = (0..length).map(|_| values.value(rng)).collect();
        if rng.random() {
            let negated = x.iter().map(|x| T::signed(x.magnitude(), !x.is_negative()));
            x = negated.chain(x[5..].iter().copied()).collect();
        }
        let steps: Vec<_> = x.iter().map(|x| Step::Add(*x)).collect();
        let (sum, oracle) = both(&steps);
        oracle.assert_results(&sum, &length);
        assert_eq!(merged(&steps, rng), sum);
        let mut at_once = Accumulator::new();
        at_once.add_all(&x);
        assert_eq!(at_once, sum);
    }
}
