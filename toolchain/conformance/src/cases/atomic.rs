//! Atomics under contention: all operations for each type, scope and address space.

use conformance_kernels::atomic::{operation as code, ordering};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Launch, sentinels};
use crate::element::Element;
use crate::model::arithmetic::Operation;

mod coherence;
mod contend;
mod reduce;

use coherence::coherence;
use contend::{Action, contend, counter_values};
use reduce::reduce;

const ELEMENTS: [Element; 6] = [
    Element::I32,
    Element::U32,
    Element::F32,
    Element::I64,
    Element::U64,
    Element::F64,
];

const THREADS: usize = 256;

const ORDERINGS: [(&str, u64); 4] = [
    ("acquire", ordering::ACQUIRE),
    ("release", ordering::RELEASE),
    ("acq_rel", ordering::ACQ_REL),
    ("seq_cst", ordering::SEQ_CST),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Global,
    Shared,
}

/// The type of the atomics, and their memory.
#[derive(Clone, Copy)]
struct Subject {
    space: Space,
    scope: &'static str,
    element: Element,
}

/// Operations that the kernels call `fetch_*` and `swap`.
const OPERATIONS: [(u64, Operation); 8] = [
    (code::ADD, Operation::Add),
    (code::SUB, Operation::Sub),
    (code::MIN, Operation::Min),
    (code::MAX, Operation::Max),
    (code::AND, Operation::And),
    (code::OR, Operation::Or),
    (code::XOR, Operation::Xor),
    (code::SWAP, Operation::Exchange),
];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for space in [Space::Global, Space::Shared] {
        for scope in ["block", "device", "system"] {
            for element in ELEMENTS {
                let subject = Subject {
                    space,
                    scope,
                    element,
                };
                trials.push(Trial::new(subject.name("atomic", '/'), move |rng| {
                    all(subject, rng)
                }));
                // In a separate trial: compute-sanitizer's racecheck treats atomic loads and stores of shared
                // memory as plain ones, and reports them as a race.
                trials.push(Trial::new(subject.name("coherence", '/'), move |rng| {
                    vec![coherence(subject, rng)]
                }));
            }
        }
    }
    trials
}

fn all(subject: Subject, rng: &mut StdRng) -> Vec<Case> {
    let fetches = OPERATIONS.map(|(code, operation)| Action::Fetch(code, operation));
    let mut actions = fetches.to_vec();
    actions.extend([Action::Update, Action::Circle]);
    let mut cases = vec![counter_values(subject, false, rng)];
    if subject.element == Element::U32 {
        actions.push(Action::Increment);
        cases.push(counter_values(subject, true, rng));
    }
    for action in actions {
        // The cost of a contended loop grows with the square of the number of threads.
        let blocks = if matches!(action, Action::Update) {
            8
        } else {
            64
        };
        let relaxed = ("relaxed", ordering::RELAXED);
        cases.push(contend(
            subject,
            action,
            relaxed,
            Shape::new(blocks, 1, 1),
            rng,
        ));
        cases.push(contend(
            subject,
            action,
            relaxed,
            Shape::new(16, 13, 2),
            rng,
        ));
        for ordering in ORDERINGS {
            cases.push(contend(subject, action, ordering, Shape::new(4, 3, 1), rng));
        }
    }
    for (code, operation) in OPERATIONS {
        if operation != Operation::Exchange {
            cases.push(reduce(subject, code, operation, rng));
        }
    }
    cases
}

/// Blocks of the launch; addresses of each block or of the grid; operations of each thread.
#[derive(Clone, Copy)]
struct Shape {
    blocks: usize,
    addresses: usize,
    rounds: usize,
}

impl Shape {
    fn new(blocks: usize, addresses: usize, rounds: usize) -> Self {
        Self {
            blocks,
            addresses,
            rounds,
        }
    }
}

impl Subject {
    fn name(self, first: &str, separator: char) -> String {
        let space = if self.space == Space::Global {
            "global"
        } else {
            "shared"
        };
        [first, space, self.scope, self.element.name()].join(&separator.to_string())
    }

    /// Whether each block has its own addresses: in shared memory, and for block scope.
    fn per_block(self) -> bool {
        self.space == Space::Shared || self.scope == "block"
    }

    /// The launch of `kernel` in a shape, and all its addresses.
    fn launch(self, kernel: &str, parameters: [u64; 2], shape: Shape) -> (Launch, usize) {
        let copies = if self.per_block() { shape.blocks } else { 1 };
        let all = shape.addresses * copies;
        let named = if self.space == Space::Shared {
            shape.addresses
        } else {
            all
        };
        let [first, second] = parameters;
        let mut launch = Launch::new(self.name(kernel, '_'), shape.blocks as u32, THREADS as u32)
            .parameters([first, second, named as u64, shape.rounds as u64]);
        if self.space == Space::Shared {
            launch = launch.shared_bytes(8 * shape.addresses as u32);
        }
        (launch, all)
    }

    /// The address of a thread: its index within its space, and within all.
    fn address(self, turn: usize, shape: Shape, rng: &mut StdRng) -> (usize, usize) {
        let block = turn / THREADS % shape.blocks;
        let chosen = rng.random_range(0..shape.addresses);
        match (self.space, self.per_block()) {
            (Space::Shared, _) => (chosen, block * shape.addresses + chosen),
            (Space::Global, true) => {
                let own = block * shape.addresses + chosen;
                (own, own)
            }
            (Space::Global, false) => (chosen, chosen),
        }
    }

    /// The output before the launch: initial values in the low bits of each address, and sentinels in all
    /// other bits.
    fn output(self, first: &[u64], results: usize, rng: &mut StdRng) -> Vec<u64> {
        let mut output = sentinels(rng, first.len() + results);
        for (word, value) in output.iter_mut().zip(first) {
            *word = *word & !self.element.mask() | value;
        }
        output
    }
}

#[cfg(test)]
mod tests;
