//! Panics: a launch in which a thread panics must fail, one in which none does must not.

use conformance_kernels::trap as kernel;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

const THREADS: usize = 64;

/// A launch that must fail. It costs the device's context, so it needs a process of
/// its own.
pub struct Trap {
    /// `trap/...`
    pub name: &'static str,
    kind: u64,
}

impl Trap {
    /// The launch: one thread panics.
    pub fn case(&self) -> Case {
        let mut input = vec![0; THREADS];
        input[THREADS - 1] = u64::MAX;
        Case {
            name: self.name.into(),
            launches: vec![launch(self.kind)],
            output: vec![0; THREADS],
            input,
            scratch_bytes: 0,
            expectation: Expectation::property(|_| {
                Err("a thread panicked and the launch did not fail".into())
            }),
        }
    }
}

pub fn traps() -> Vec<Trap> {
    [
        ("trap/panic", kernel::PANIC),
        ("trap/index", kernel::INDEX),
        ("trap/unwrap", kernel::UNWRAP),
        ("trap/division", kernel::DIVISION),
        ("trap/assertion", kernel::ASSERTION),
    ]
    .map(|(name, kind)| Trap { name, kind })
    .into()
}

fn launch(kind: u64) -> Launch {
    Launch::new("trap_panics", 1, THREADS as u32).parameters([kind, 0, 0, 0])
}

/// The same kernel when no thread panics.
pub fn trials() -> Vec<Trial> {
    vec![Trial::new("trap/none", |rng: &mut StdRng| {
        (kernel::NONE..=kernel::ASSERTION)
            .map(|kind| {
                let input: Vec<u64> = (0..THREADS).map(|_| rng.random::<u64>() >> 1).collect();
                Case {
                    name: format!("kind {kind}"),
                    launches: vec![launch(kind)],
                    output: sentinels(rng, THREADS),
                    scratch_bytes: 0,
                    expectation: Expectation::words(
                        input.iter().copied().map(Word::Is).collect(),
                        |i| format!("thread {i}"),
                    ),
                    input,
                }
            })
            .collect()
    })]
}
