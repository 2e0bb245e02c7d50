//! Shuffles: all modes, widths, operands and types, in whole warps and in parts of one.

use conformance_kernels::{arm, shuffle as kernel};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use super::partition::Partition;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::element::Element;
use crate::model::shuffle::{Mode, source};

const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Warps of a block.
const WARPS: usize = 8;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for mode in Mode::ALL {
        for element in Element::ALL {
            let (mode_name, element_name) = (mode.name(), element.name());
            trials.push(Trial::new(
                format!("shuffle/{mode_name}/{element_name}"),
                move |rng| WIDTHS.map(|width| lanes(mode, element, width, rng)).into(),
            ));
            trials.push(Trial::new(
                format!("shuffle_arms/{mode_name}/{element_name}"),
                move |rng| WIDTHS.map(|width| arms(mode, element, width, rng)).into(),
            ));
        }
    }
    trials
}

/// The operands of the lanes of one warp.
struct Warp {
    values: [u64; 32],
    operands: [u32; 32],
}

/// A warp for each special operand, and as many with random operands.
fn warps(element: Element, width: u32, rng: &mut StdRng) -> Vec<Warp> {
    let named = [0, 1, width - 1, width, width + 1, 31, 32, u32::MAX];
    let mut operands: Vec<[u32; 32]> = named.iter().map(|&operand| [operand; 32]).collect();
    for _ in &named {
        operands.push(std::array::from_fn(|_| rng.random_range(0..40)));
    }
    operands
        .into_iter()
        .map(|operands| Warp {
            values: std::array::from_fn(|_| element.any_bits(rng)),
            operands,
        })
        .collect()
}

fn lanes(mode: Mode, element: Element, width: u32, rng: &mut StdRng) -> Case {
    let warps = warps(element, width, rng);
    let mut input = Vec::new();
    let mut words = Vec::new();
    let mut labels = Vec::new();
    for (number, warp) in warps.iter().enumerate() {
        for lane in 0..32 {
            let operand = warp.operands[lane];
            input.extend([warp.values[lane], operand.into(), width.into()]);
            let source = source(mode, lane as u32, operand, width);
            words.push(Word::Is(warp.values[source.lane as usize]));
            words.push(Word::Is(source.in_range.into()));
            labels.push(format!(
                "warp {number} lane {lane} operand {operand} width {width}"
            ));
        }
    }
    let name = format!("shuffle_{}_{}", mode.name(), element.name());
    Case {
        name: format!("width {width}"),
        launches: vec![Launch::new(
            name,
            (warps.len() / WARPS) as u32,
            32 * WARPS as u32,
        )],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| locate(&labels, i)),
    }
}

fn locate(labels: &[String], word: usize) -> String {
    let part = ["value", "predicate"][word % kernel::OUTPUT];
    format!("{} {part}", labels[word / kernel::OUTPUT])
}

/// A lane's value and predicate; `None` if the ISA does not define them.
type Got = (Option<u64>, Option<bool>);

/// One shuffle within `mask`; a value from outside is undefined.
fn shuffle_in(
    mode: Mode,
    mask: u32,
    values: &[Option<u64>; 32],
    operand: u32,
    width: u32,
    lane: usize,
) -> Got {
    let source = source(mode, lane as u32, operand, width);
    if mask >> source.lane & 1 == 0 {
        return (None, None);
    }
    (values[source.lane as usize], Some(source.in_range))
}

fn arms(mode: Mode, element: Element, width: u32, rng: &mut StdRng) -> Case {
    let partitions = Partition::all(rng);
    let mut input = Vec::new();
    let mut words = Vec::new();
    let mut labels = Vec::new();
    for (number, partition) in partitions.iter().enumerate() {
        let values: [u64; 32] = std::array::from_fn(|_| element.any_bits(rng));
        // Operands that mostly stay within the warp's small parts.
        let operand: u32 = [1, 2, rng.random_range(0..32)][number % 3];
        let operands: [u32; 32] = std::array::from_fn(|lane| {
            let own = mode == Mode::Idx && number % 2 == 1;
            if own {
                partition.masks[lane].trailing_zeros()
            } else {
                operand
            }
        });
        let once: [Got; 32] = std::array::from_fn(|lane| {
            let known = values.map(Some);
            shuffle_in(
                mode,
                partition.masks[lane],
                &known,
                operands[lane],
                width,
                lane,
            )
        });
        let once_values = once.map(|(value, _)| value);
        for lane in 0..32 {
            let (mask, operand) = (partition.masks[lane], operands[lane]);
            let (arm, value) = (partition.arms[lane], values[lane]);
            input.extend([value, operand.into(), width.into(), mask.into(), arm]);
            let got = match arm {
                arm::FIRST => once[lane],
                _ => shuffle_in(mode, mask, &once_values, operand, width, lane),
            };
            if arm == arm::IDLE {
                words.push(Word::Is(arm::busy(value)));
                words.push(Word::Is(kernel::IDLE_PREDICATE));
            } else {
                words.push(got.0.map_or(Word::Any, Word::Is));
                words.push(got.1.map_or(Word::Any, |p| Word::Is(p.into())));
            }
            labels.push(format!(
                "warp {number} ({}) lane {lane} mask {mask:#010x} arm {arm} operand {operand} width {width}",
                partition.name
            ));
        }
    }
    let name = format!("shuffle_arms_{}_{}", mode.name(), element.name());
    Case {
        name: format!("width {width}"),
        launches: vec![Launch::new(
            name,
            (partitions.len() / WARPS) as u32,
            32 * WARPS as u32,
        )],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| locate(&labels, i)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn expected(case: &Case) -> &[Word] {
        match &case.expectation {
            Expectation::Words { words, .. } => words,
            Expectation::Property(_) => panic!("{} has no words", case.name),
        }
    }

    #[test]
    fn whole_warps_have_no_undefined_word() {
        let mut rng = StdRng::seed_from_u64(5);
        for mode in Mode::ALL {
            let case = lanes(mode, Element::F16, 8, &mut rng);
            assert_eq!(
                case.launches[0].threads() as usize * kernel::OUTPUT,
                case.output.len()
            );
            assert_eq!(
                case.launches[0].threads() as usize * kernel::LANES_INPUT,
                case.input.len()
            );
            assert!(
                expected(&case)
                    .iter()
                    .all(|word| matches!(word, Word::Is(_)))
            );
        }
    }

    #[test]
    fn most_words_of_partial_masks_are_defined() {
        let mut rng = StdRng::seed_from_u64(6);
        for mode in Mode::ALL {
            let case = arms(mode, Element::U64, 32, &mut rng);
            assert_eq!(
                case.launches[0].threads() as usize * kernel::ARMS_INPUT,
                case.input.len()
            );
            let words = expected(&case);
            let defined = words
                .iter()
                .filter(|word| matches!(word, Word::Is(_)))
                .count();
            assert!(
                defined * 2 > words.len(),
                "{mode:?}: {defined} of {}",
                words.len()
            );
        }
    }
}
