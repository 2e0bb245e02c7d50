//! Atomics under contention: type x scope x address space, every operation.

use conformance_kernels::atomic::{self as kernel, operation as code, ordering};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::element::Element;
use crate::model::arithmetic::{Operation, apply};
use crate::model::chain::{self, Step};

const ELEMENTS: [Element; 6] = [
    Element::I32,
    Element::U32,
    Element::F32,
    Element::I64,
    Element::U64,
    Element::F64,
];

const THREADS: usize = 256;

/// What the kernels know as `fetch_*` and `swap`.
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

/// Which atomics, and where.
#[derive(Clone, Copy)]
struct Subject {
    space: Space,
    scope: &'static str,
    element: Element,
}

/// What is done with them.
#[derive(Clone, Copy)]
enum Action {
    /// A `fetch_*` or `swap`, with the kernel's code.
    Fetch(u64, Operation),
    /// `compare_exchange` until it succeeds.
    Update,
    /// One `compare_exchange`, which may fail.
    Circle,
}

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
            }
        }
    }
    trials
}

fn all(subject: Subject, rng: &mut StdRng) -> Vec<Case> {
    let fetches = OPERATIONS.map(|(code, operation)| Action::Fetch(code, operation));
    let actions = || fetches.into_iter().chain([Action::Update, Action::Circle]);
    let mut cases = vec![tickets(subject, rng)];
    for action in actions() {
        // A loop that all threads fight over takes the square of their number.
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
            Shape {
                blocks,
                addresses: 1,
                rounds: 1,
            },
            rng,
        ));
        cases.push(contend(
            subject,
            action,
            relaxed,
            Shape {
                blocks: 16,
                addresses: 13,
                rounds: 2,
            },
            rng,
        ));
        for ordering in ORDERINGS {
            cases.push(contend(
                subject,
                action,
                ordering,
                Shape {
                    blocks: 4,
                    addresses: 3,
                    rounds: 1,
                },
                rng,
            ));
        }
    }
    for (code, operation) in OPERATIONS {
        if operation != Operation::Exchange {
            cases.push(reduce(subject, code, operation, rng));
        }
    }
    cases.push(coherence(subject, rng));
    cases
}

/// Blocks of the launch; addresses which a block uses, of its own or with all others;
/// operations of a thread.
#[derive(Clone, Copy)]
struct Shape {
    blocks: usize,
    addresses: usize,
    rounds: usize,
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

    /// Whether a block has addresses that no other one uses: in shared memory, and where
    /// the scope allows no other.
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

    /// An address for a thread: its number among those of its space, and among all.
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

    /// The output before the launch: first values in the low part of each address, and
    /// sentinels everywhere else.
    fn output(self, first: &[u64], results: usize, rng: &mut StdRng) -> Vec<u64> {
        let mut output = sentinels(rng, first.len() + results);
        for (word, value) in output.iter_mut().zip(first) {
            *word = *word & !self.element.mask() | value;
        }
        output
    }
}

impl Action {
    fn code(self) -> u64 {
        match self {
            Self::Fetch(code, _) => code,
            Self::Update => code::UPDATE,
            Self::Circle => code::CIRCLE,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fetch(_, operation) => operation.name(),
            Self::Update => "compare_exchange loop",
            Self::Circle => "compare_exchange",
        }
    }

    /// A first value or an operand.
    fn value(self, element: Element, rng: &mut StdRng) -> u64 {
        match self {
            Self::Fetch(_, Operation::Add | Operation::Sub | Operation::Min | Operation::Max) => {
                element.number(rng)
            }
            Self::Circle => rng.random_range(0..4),
            _ => element.any_bits(rng),
        }
    }

    /// The step that an operation must have been, from its old value and success.
    fn step(self, element: Element, operand: u64, old: u64, success: u64) -> Result<Step, String> {
        let left = match (self, success) {
            (Self::Fetch(_, operation), kernel::SUCCESS) => apply(element, operation, old, operand),
            (Self::Update, kernel::SUCCESS) => kernel::mix(old, operand) & element.mask(),
            (Self::Circle, kernel::SUCCESS) if old == operand => kernel::next_on_circle(old),
            (Self::Circle, kernel::FAILURE) if old != operand => old,
            _ => {
                return Err(format!(
                    "operand {operand:#x}, old value {old:#x}: success reported as {success:#x}"
                ));
            }
        };
        Ok(Step { found: old, left })
    }
}

/// Old values must form one chain at each address, and nothing beside it may change.
fn contend(
    subject: Subject,
    action: Action,
    (ordering_name, ordering): (&str, u64),
    shape: Shape,
    rng: &mut StdRng,
) -> Case {
    let element = subject.element;
    let (launch, addresses) = subject.launch("atomic", [action.code(), ordering], shape);
    let first: Vec<u64> = (0..addresses).map(|_| action.value(element, rng)).collect();
    let turns = shape.blocks * THREADS * shape.rounds;
    let mut input = Vec::new();
    let mut places = Vec::new();
    for turn in 0..turns {
        let operand = action.value(element, rng);
        let (address, place) = subject.address(turn, shape, rng);
        input.extend([operand, address as u64]);
        places.push((operand, place));
    }
    let output = subject.output(&first, turns * kernel::OUTPUT, rng);
    let before = output.clone();
    Case {
        name: format!(
            "{} {ordering_name}, {} addresses",
            action.name(),
            shape.addresses
        ),
        launches: vec![launch],
        input,
        output,
        scratch_bytes: 0,
        expectation: Expectation::property(move |got| {
            let mut steps = vec![Vec::new(); addresses];
            for (turn, &(operand, place)) in places.iter().enumerate() {
                let result = addresses + turn * kernel::OUTPUT;
                let step = action
                    .step(element, operand, got[result], got[result + 1])
                    .map_err(|text| format!("turn {turn} at address {place}: {text}"))?;
                steps[place].push(step);
            }
            for (address, steps) in steps.iter().enumerate() {
                let mask = element.mask();
                if (got[address] ^ before[address]) & !mask != 0 {
                    return Err(format!(
                        "address {address}: the word was {:#x} and is {:#x}, beyond the {} of it",
                        before[address],
                        got[address],
                        element.name()
                    ));
                }
                chain::check(before[address] & mask, got[address] & mask, steps)
                    .map_err(|text| format!("address {address}: {text}"))?;
            }
            Ok(())
        }),
    }
}

/// `fetch_add` of one: each number is given out exactly once.
fn tickets(subject: Subject, rng: &mut StdRng) -> Case {
    let element = subject.element;
    let number = move |i: usize| match element {
        Element::F32 => u64::from((i as f32).to_bits()),
        Element::F64 => (i as f64).to_bits(),
        _ => i as u64,
    };
    let shape = Shape {
        blocks: 64,
        addresses: 1,
        rounds: 1,
    };
    let (launch, addresses) = subject.launch("atomic", [code::ADD, ordering::RELAXED], shape);
    let turns = shape.blocks * THREADS;
    let input = (0..turns)
        .flat_map(|turn| [number(1), subject.address(turn, shape, rng).0 as u64])
        .collect();
    Case {
        name: "tickets".into(),
        launches: vec![launch],
        input,
        output: subject.output(&vec![0; addresses], turns * kernel::OUTPUT, rng),
        scratch_bytes: 0,
        expectation: Expectation::property(move |got| {
            // The threads of an address follow one another.
            let each = turns / addresses;
            for (address, results) in got[addresses..].chunks(each * kernel::OUTPUT).enumerate() {
                let mut given: Vec<u64> = results.iter().step_by(kernel::OUTPUT).copied().collect();
                given.sort_unstable();
                if let Some(i) = (0..each).find(|&i| given[i] != number(i)) {
                    return Err(format!(
                        "address {address}: ticket {i} of {each} is {:#x} in place of {:#x}",
                        given[i],
                        number(i)
                    ));
                }
            }
            Ok(())
        }),
    }
}

/// Without old values: all that counts is what is there at the end.
fn reduce(subject: Subject, code: u64, operation: Operation, rng: &mut StdRng) -> Case {
    let element = subject.element;
    let shape = Shape {
        blocks: 64,
        addresses: 2,
        rounds: 2,
    };
    let (launch, addresses) = subject.launch("atomic_red", [code, 0], shape);
    // Sums of floats that are exact in any order: small whole numbers.
    let sums = matches!(operation, Operation::Add | Operation::Sub);
    let orders = matches!(operation, Operation::Min | Operation::Max);
    let value = |rng: &mut StdRng| match element {
        Element::F32 if sums => u64::from((rng.random_range(-99..=99) as f32).to_bits()),
        Element::F64 if sums => f64::from(rng.random_range(-99..=99)).to_bits(),
        _ if orders => element.number(rng),
        _ => element.any_bits(rng),
    };
    let first: Vec<u64> = (0..addresses).map(|_| value(rng)).collect();
    let mut last = first.clone();
    let mut input = Vec::new();
    for turn in 0..shape.blocks * THREADS * shape.rounds {
        let operand = value(rng);
        let (address, place) = subject.address(turn, shape, rng);
        input.extend([operand, address as u64]);
        last[place] = apply(element, operation, last[place], operand);
    }
    let output = subject.output(&first, 0, rng);
    let words = output
        .iter()
        .zip(last)
        .map(|(before, last)| Word::Is(before & !element.mask() | last))
        .collect();
    Case {
        name: format!("{} without result", operation.name()),
        launches: vec![launch],
        input,
        output,
        scratch_bytes: 0,
        expectation: Expectation::words(words, |i| format!("address {i}")),
    }
}

/// One thread stores increasing values, the others must see them in that order and whole.
fn coherence(subject: Subject, rng: &mut StdRng) -> Case {
    const VALUES: u64 = 1000;
    const LOADS: usize = 300;
    let element = subject.element;
    // Increasing in the order of the type, with changes in both halves of a word.
    let (base, stride) = match element {
        Element::I32 => (0x8000_0000, 0x0010_0001),
        Element::F32 => (0x3F80_0000, 0x0001_0001),
        Element::I64 => (1 << 63, 0x0010_0000_0010_0001),
        Element::F64 => (0x3FF0_0000_0000_0000, 0x0000_0100_0000_0101),
        Element::U64 => (0, 0x0010_0000_0010_0001),
        _ => (0, 0x0010_0001),
    };
    let value = |i| base + i * stride;
    // In global memory the writer must be in the scope of all others.
    let one_block = subject.space == Space::Global && subject.scope == "block";
    let blocks = if one_block { 1 } else { 8 };
    let shape = Shape {
        blocks,
        addresses: 1,
        rounds: LOADS,
    };
    let (launch, addresses) = subject.launch("atomic_coherence", [0, VALUES], shape);
    let threads = blocks * THREADS;
    let output = subject.output(&vec![value(0); addresses], threads * kernel::OUTPUT, rng);
    let mut words: Vec<Word> = output[..addresses]
        .iter()
        .map(|before| Word::Is(before & !element.mask() | value(VALUES - 1)))
        .collect();
    for thread in 0..threads {
        let writer = if subject.space == Space::Shared {
            thread % THREADS
        } else {
            thread
        } == 0;
        let loads = if writer { 0 } else { LOADS as u64 };
        words.extend([Word::Is(0), Word::Is(loads)]);
    }
    Case {
        name: "stores in order".into(),
        launches: vec![launch],
        input: (0..VALUES).map(value).collect(),
        output,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| match i.checked_sub(addresses) {
            None => format!("address {i}"),
            Some(i) => format!(
                "thread {} {}",
                i / kernel::OUTPUT,
                ["loads out of order", "loads"][i % kernel::OUTPUT]
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
