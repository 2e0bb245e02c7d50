//! Operations whose old values are dropped.

use rand::{RngExt, rngs::StdRng};

use super::{Shape, Subject, THREADS};
use crate::case::{Case, Expectation, Word};
use crate::element::Element;
use crate::model::arithmetic::{Operation, apply};

/// Without old values, only the final value counts.
pub fn reduce(subject: Subject, code: u64, operation: Operation, rng: &mut StdRng) -> Case {
    let element = subject.element;
    let shape = Shape::new(64, 2, 2);
    let (launch, addresses) = subject.launch("atomic_red", [code, 0], shape);
    // Floats with sums that are exact in any order: small integers.
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
