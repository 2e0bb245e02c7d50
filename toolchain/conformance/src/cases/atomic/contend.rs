//! Operations whose old values are recorded.

use conformance_kernels::atomic::{self as kernel, operation as code, ordering};
use rand::{RngExt, rngs::StdRng};

use super::{Shape, Subject, THREADS};
use crate::case::{Case, Expectation};
use crate::element::Element;
use crate::model::arithmetic::{Operation, apply};
use crate::model::chain::{self, Step};

/// The operation of a case.
#[derive(Clone, Copy)]
pub enum Action {
    /// A `fetch_*` or `swap`, with the kernel's code.
    Fetch(u64, Operation),
    /// `compare_exchange` until it succeeds.
    Update,
    /// One `compare_exchange`, which may fail.
    Circle,
    /// `atomic_fetch_inc_u32_*`, with wrap-around at the operand.
    Increment,
}

impl Action {
    fn kernel(self) -> &'static str {
        match self {
            Self::Increment => "atomic_inc",
            _ => "atomic",
        }
    }

    fn code(self) -> u64 {
        match self {
            Self::Fetch(code, _) => code,
            Self::Update => code::UPDATE,
            Self::Circle => code::CIRCLE,
            // Its kernels have only this operation.
            Self::Increment => 0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fetch(_, operation) => operation.name(),
            Self::Update => "compare_exchange loop",
            Self::Circle => "compare_exchange",
            Self::Increment => "inc",
        }
    }

    /// An initial value or an operand.
    fn value(self, element: Element, rng: &mut StdRng) -> u64 {
        match self {
            Self::Fetch(_, Operation::Add | Operation::Sub | Operation::Min | Operation::Max) => {
                element.number(rng)
            }
            Self::Circle => rng.random_range(0..4),
            // Near 0, where it wraps often, or above all values.
            Self::Increment => match rng.random_range(0..8) {
                0 => element.mask() - rng.random_range(0..4),
                small => small,
            },
            _ => element.any_bits(rng),
        }
    }

    /// The value before and after an operation, from its old value and success.
    pub fn step(
        self,
        element: Element,
        operand: u64,
        old: u64,
        success: u64,
    ) -> Result<Step, String> {
        let left = match (self, success) {
            (Self::Fetch(_, operation), kernel::SUCCESS) => apply(element, operation, old, operand),
            (Self::Update, kernel::SUCCESS) => kernel::mix(old, operand) & element.mask(),
            (Self::Circle, kernel::SUCCESS) if old == operand => kernel::next_on_circle(old),
            (Self::Circle, kernel::FAILURE) if old != operand => old,
            (Self::Increment, kernel::SUCCESS) if old < operand => old + 1,
            (Self::Increment, kernel::SUCCESS) => 0,
            _ => {
                return Err(format!(
                    "operand {operand:#x}, old value {old:#x}: success reported as {success:#x}"
                ));
            }
        };
        Ok(Step { found: old, left })
    }
}

/// The old values must form one chain at each address, and nothing else may change.
pub fn contend(
    subject: Subject,
    action: Action,
    (ordering_name, ordering): (&str, u64),
    shape: Shape,
    rng: &mut StdRng,
) -> Case {
    let element = subject.element;
    let (launch, addresses) = subject.launch(action.kernel(), [action.code(), ordering], shape);
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

/// `fetch_add` of one, or increments with wrap-around: the returned values are unique and in order.
pub fn counter_values(subject: Subject, wrap: bool, rng: &mut StdRng) -> Case {
    let element = subject.element;
    let number = move |i: usize| match element {
        Element::F32 => u64::from((i as f32).to_bits()),
        Element::F64 => (i as f64).to_bits(),
        _ => i as u64,
    };
    let shape = Shape::new(64, 1, 1);
    let action = match wrap {
        true => Action::Increment,
        false => Action::Fetch(code::ADD, Operation::Add),
    };
    let parameters = [action.code(), ordering::RELAXED];
    let (launch, addresses) = subject.launch(action.kernel(), parameters, shape);
    let turns = shape.blocks * THREADS;
    // The operations on an address are in thread order.
    let each = turns / addresses;
    let (operand, last) = match wrap {
        true => (number(each - 1), number(0)),
        false => (number(1), number(each)),
    };
    let input = (0..turns)
        .flat_map(|turn| [operand, subject.address(turn, shape, rng).0 as u64])
        .collect();
    Case {
        name: format!("counter_values by {}", action.name()),
        launches: vec![launch],
        input,
        output: subject.output(&vec![0; addresses], turns * kernel::OUTPUT, rng),
        scratch_bytes: 0,
        expectation: Expectation::property(move |got| {
            for (address, results) in got[addresses..].chunks(each * kernel::OUTPUT).enumerate() {
                let mut given: Vec<u64> = results.iter().step_by(kernel::OUTPUT).copied().collect();
                given.sort_unstable();
                if let Some(i) = (0..each).find(|&i| given[i] != number(i)) {
                    return Err(format!(
                        "address {address}: old value {i} of {each} is {:#x}; expected {:#x}",
                        given[i],
                        number(i)
                    ));
                }
                let left = got[address] & element.mask();
                if left != last {
                    return Err(format!(
                        "address {address}: the final value is {left:#x}; expected {last:#x}"
                    ));
                }
            }
            Ok(())
        }),
    }
}
