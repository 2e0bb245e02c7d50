//! Fences and orderings between two threads.

use conformance_kernels::litmus as kernel;
use rand::rngs::StdRng;

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// The number of fresh addresses for each pair of threads.
const TURNS: usize = 200;

/// The number of blocks: few enough that all are resident on any device, because pairs of blocks wait for
/// each other.
const BLOCKS: u32 = 96;

const BETWEEN_BLOCKS: [&str; 12] = [
    "device_fence",
    "grid_fence",
    "system_fence",
    "device_thread_fence",
    "system_thread_fence",
    "device_store",
    "system_store",
    "add",
    "or",
    "swap",
    "exchange",
    "seq_cst",
];

const INSIDE_BLOCKS: [&str; 5] = [
    "block_fence",
    "block_thread_fence",
    "block_store",
    "device_fence",
    "device_store",
];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for signal in BETWEEN_BLOCKS {
        trials.push(Trial::new(
            format!("litmus/message_passing/blocks/{signal}"),
            move |rng| vec![message_passing(&format!("litmus_blocks_{signal}"), 32, rng)],
        ));
    }
    for signal in INSIDE_BLOCKS {
        trials.push(Trial::new(
            format!("litmus/message_passing/warps/{signal}"),
            move |rng| vec![message_passing(&format!("litmus_halves_{signal}"), 64, rng)],
        ));
    }
    for form in ["orderings", "fences"] {
        trials.push(Trial::new(
            format!("litmus/store_buffering/{form}"),
            move |rng| vec![store_buffering(form, rng)],
        ));
    }
    trials
}

fn message_passing(kernel: &str, threads: u32, rng: &mut StdRng) -> Case {
    let all = (BLOCKS * threads) as usize;
    let pairs = all / 2;
    let words = [Word::Is(0), Word::Is(TURNS as u64)].repeat(all);
    Case {
        name: format!("{pairs} pairs"),
        launches: vec![Launch::new(kernel, BLOCKS, threads).parameters([TURNS as u64, 0, 0, 0])],
        input: vec![],
        output: sentinels(rng, words.len()),
        scratch_bytes: (pairs * TURNS * (kernel::SCRATCH + 1) * 8) as u64,
        expectation: Expectation::words(words, move |i| {
            let thread = i / kernel::OUTPUT;
            format!(
                "block {} thread {} {}",
                thread / threads as usize,
                thread % threads as usize,
                ["wrong messages", "messages"][i % kernel::OUTPUT]
            )
        }),
    }
}

fn store_buffering(form: &str, rng: &mut StdRng) -> Case {
    const THREADS: u32 = 32;
    let pairs = (BLOCKS * THREADS) as usize / 2;
    let launch = Launch::new(format!("litmus_store_buffering_{form}"), BLOCKS, THREADS);
    Case {
        name: format!("{pairs} pairs"),
        launches: vec![launch.parameters([TURNS as u64, 0, 0, 0])],
        input: vec![],
        output: sentinels(rng, pairs * TURNS * 2),
        scratch_bytes: (pairs * TURNS * 2 * 8) as u64,
        expectation: Expectation::property(|got| {
            let turns = got.chunks(2);
            if let Some(place) = turns
                .clone()
                .position(|sides| sides.iter().any(|&word| word > 1))
            {
                return Err(format!(
                    "turn {place} was not written: {:#x?}",
                    &got[2 * place..][..2]
                ));
            }
            match turns.clone().filter(|sides| *sides == [1, 1]).count() {
                0 => Ok(()),
                both => Err(format!(
                    "in {both} of {} turns both sides saw the other's flag down",
                    turns.len()
                )),
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, BackendError};
    use rand::SeedableRng;

    struct Writes(Vec<u64>);

    impl Backend for Writes {
        fn run(
            &self,
            _launches: &[Launch],
            _input: &[u64],
            output: &mut [u64],
            _scratch_bytes: u64,
        ) -> Result<(), BackendError> {
            output[..self.0.len()].copy_from_slice(&self.0);
            Ok(())
        }
    }

    #[test]
    fn both_flags_down_is_refused() {
        let case = store_buffering("fences", &mut StdRng::seed_from_u64(1));
        let mut sides = [1, 0].repeat(case.output.len() / 2);
        assert!(case.run(&Writes(sides.clone())).is_ok());
        sides[100..102].fill(1);
        let error = case.run(&Writes(sides.clone())).unwrap_err();
        assert!(error.contains("in 1 of"), "{error}");
        sides.truncate(200);
        let error = case.run(&Writes(sides)).unwrap_err();
        assert!(error.contains("turn 100 was not written"), "{error}");
    }
}
