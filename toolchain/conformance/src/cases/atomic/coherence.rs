//! Loads and stores.

use conformance_kernels::atomic as kernel;
use rand::rngs::StdRng;

use super::{Shape, Space, Subject, THREADS};
use crate::case::{Case, Expectation, Word};
use crate::element::Element;

/// One thread stores increasing values; the others must see whole values in that order.
pub fn coherence(subject: Subject, rng: &mut StdRng) -> Case {
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
    // In global memory, the writer must be in the scope of all others.
    let one_block = subject.space == Space::Global && subject.scope == "block";
    let blocks = if one_block { 1 } else { 8 };
    let shape = Shape::new(blocks, 1, LOADS);
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
                ["loads with a wrong value", "loads"][i % kernel::OUTPUT]
            ),
        }),
    }
}
