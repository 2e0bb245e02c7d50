//! Votes, matches and warp reductions, in whole warps and in parts of one.

use conformance_kernels::{arm, vote as kernel};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use super::partition::Partition;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::element::Element;
use crate::model::arithmetic::Operation;
use crate::model::warp;

/// Warps of a block.
const WARPS: usize = 8;

/// The types with a match instruction.
const MATCHED: [Element; 6] = [
    Element::I32,
    Element::U32,
    Element::F32,
    Element::I64,
    Element::U64,
    Element::F64,
];

/// The operations of `warp_reduce`.
const REDUCTIONS: [Operation; 6] = [
    Operation::Add,
    Operation::Min,
    Operation::Max,
    Operation::And,
    Operation::Or,
    Operation::Xor,
];

/// The result of a lane of `mask` if the warp's words are `values`.
type Decide = fn(Element, mask: u32, values: &[u64; 32], lane: usize) -> u64;

pub fn trials() -> Vec<Trial> {
    let votes: [(&str, Decide); 3] = [
        ("all", |_, mask, values, _| {
            warp::all(mask, &odd(values)).into()
        }),
        ("any", |_, mask, values, _| {
            warp::any(mask, &odd(values)).into()
        }),
        ("ballot", |_, mask, values, _| {
            warp::ballot(mask, &odd(values)).into()
        }),
    ];
    let matches: [(&str, Decide); 2] = [
        ("any", |element, mask, values, lane| {
            warp::match_any(mask, &narrow(element, values), lane).into()
        }),
        ("all", |element, mask, values, _| {
            match warp::match_all(mask, &narrow(element, values)) {
                Some(lanes) => kernel::MATCHED | u64::from(lanes),
                None => 0,
            }
        }),
    ];

    let mut trials = Vec::new();
    for (name, decide) in votes {
        trials.push(Trial::new(format!("vote/{name}"), move |rng| {
            let kernel = format!("vote_{name}");
            cases(kernel, Element::U64, rng, predicates, move |m, v, l| {
                decide(Element::U64, m, v, l)
            })
        }));
    }
    for (name, decide) in matches {
        for element in MATCHED {
            let element_name = element.name();
            trials.push(Trial::new(
                format!("match/{name}/{element_name}"),
                move |rng| {
                    let kernel = format!("match_{name}_{element_name}");
                    cases(kernel, element, rng, repeated, move |m, v, l| {
                        decide(element, m, v, l)
                    })
                },
            ));
        }
    }
    for operation in REDUCTIONS {
        for element in [Element::I32, Element::U32] {
            let (name, element_name) = (operation.name(), element.name());
            trials.push(Trial::new(
                format!("reduce/{name}/{element_name}"),
                move |rng| {
                    let kernel = format!("reduce_{name}_{element_name}");
                    cases(kernel, element, rng, any_bits, move |m, v, _| {
                        warp::reduce(element, operation, m, &narrow(element, v))
                    })
                },
            ));
        }
    }
    trials
}

fn odd(values: &[u64; 32]) -> [bool; 32] {
    values.map(|value| value & 1 == 1)
}

fn narrow(element: Element, values: &[u64; 32]) -> [u64; 32] {
    values.map(|value| value & element.mask())
}

/// Words of which none, all, one, all but one, or some are odd.
fn predicates(_: Element, rng: &mut StdRng) -> [u64; 32] {
    let odd: u32 = match rng.random_range(0..6) {
        0 => 0,
        1 => u32::MAX,
        2 => 1 << rng.random_range(0..32),
        3 => !(1 << rng.random_range(0..32)),
        _ => rng.random(),
    };
    std::array::from_fn(|lane| rng.random::<u64>() & !1 | u64::from(odd >> lane & 1))
}

/// Values with some equal: all, all but one, or a few different ones, which may differ in one bit.
fn repeated(element: Element, rng: &mut StdRng) -> [u64; 32] {
    let base = element.any_bits(rng);
    let bit = 1 << rng.random_range(0..element.bits());
    let choices = match rng.random_range(0..4) {
        0 => return [base; 32],
        1 => {
            let lone = rng.random_range(0..32);
            return std::array::from_fn(|lane| if lane == lone { base ^ bit } else { base });
        }
        2 => vec![base, base ^ bit],
        _ => (0..rng.random_range(3..9))
            .map(|_| element.any_bits(rng))
            .collect(),
    };
    std::array::from_fn(|_| choices[rng.random_range(0..choices.len())])
}

fn any_bits(element: Element, rng: &mut StdRng) -> [u64; 32] {
    std::array::from_fn(|_| element.any_bits(rng))
}

/// Four cases, each with a warp for every partition.
fn cases(
    kernel: String,
    element: Element,
    rng: &mut StdRng,
    values: fn(Element, &mut StdRng) -> [u64; 32],
    decide: impl Fn(u32, &[u64; 32], usize) -> u64,
) -> Vec<Case> {
    (0..4)
        .map(|round| case(round, &kernel, rng, |rng| values(element, rng), &decide))
        .collect()
}

fn case(
    round: usize,
    kernel: &str,
    rng: &mut StdRng,
    values: impl Fn(&mut StdRng) -> [u64; 32],
    decide: &impl Fn(u32, &[u64; 32], usize) -> u64,
) -> Case {
    let partitions = Partition::all(rng);
    let mut input = Vec::new();
    let mut words = Vec::new();
    let mut labels = Vec::new();
    for (number, partition) in partitions.iter().enumerate() {
        let values = values(rng);
        let flipped = values.map(|value| value ^ 1);
        for (lane, &value) in values.iter().enumerate() {
            let (mask, arm) = (partition.masks[lane], partition.arms[lane]);
            input.extend([value, mask.into(), arm]);
            words.push(Word::Is(match arm {
                arm::FIRST => decide(mask, &values, lane),
                arm::SECOND => decide(mask, &flipped, lane),
                _ => arm::busy(value),
            }));
            labels.push(format!(
                "warp {number} ({}) lane {lane} mask {mask:#010x} arm {arm} value {value:#x}",
                partition.name
            ));
        }
    }
    Case {
        name: format!("round {round}"),
        launches: vec![Launch::new(
            kernel,
            (partitions.len() / WARPS) as u32,
            32 * WARPS as u32,
        )],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| labels[i].clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn cases_fill_their_launches() {
        let mut rng = StdRng::seed_from_u64(8);
        let cases = cases(
            "vote_all".into(),
            Element::U64,
            &mut rng,
            predicates,
            |_, _, _| 0,
        );
        assert_eq!(cases.len(), 4);
        for case in cases {
            let threads = case.launches[0].threads() as usize;
            assert_eq!(case.input.len(), threads * kernel::INPUT);
            assert_eq!(case.output.len(), threads);
        }
    }

    #[test]
    fn repeated_values_match_somewhere() {
        let mut rng = StdRng::seed_from_u64(9);
        for _ in 0..50 {
            let values = repeated(Element::F64, &mut rng);
            let lanes = (0..32).map(|lane| warp::match_any(u32::MAX, &values, lane).count_ones());
            assert!(lanes.max().unwrap() > 1);
        }
    }
}
