//! A buffer whose byte indices do not fit into 32 bits.

use conformance_kernels::large::pattern;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// The size of the buffer in bytes: a little more than 2^32.
const BYTES: u64 = (1 << 32) + (1 << 20);

/// The number of bytes that are set separately.
const CHOSEN: usize = 256;

pub fn trials() -> Vec<Trial> {
    vec![Trial::new("large/past_2_to_the_32", |rng| vec![case(rng)])]
}

/// Indices at both ends and around 2^31 and 2^32. Each random index has a counterpart 2^32 below or above.
fn indices(rng: &mut StdRng) -> Vec<u64> {
    let edges = [
        0,
        1,
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        BYTES - 1,
    ];
    let mut indices = edges.to_vec();
    while indices.len() < CHOSEN {
        let low = rng.random_range(2..(1_u64 << 20) - 1);
        for index in [low, low + (1 << 32)] {
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
    }
    indices.truncate(CHOSEN);
    indices
}

/// A grid-stride loop fills the buffer, and the bytes are counted. Then the selected bytes are changed, read
/// back, and all bytes are counted again.
fn case(rng: &mut StdRng) -> Case {
    let indices = indices(rng);
    let mut input = Vec::new();
    let mut words = Vec::new();
    for &index in &indices {
        let byte = pattern(index) ^ rng.random_range(1..=u8::MAX);
        input.extend([index, byte.into()]);
        words.push(Word::Is(byte.into()));
    }
    let counted = [BYTES, BYTES, BYTES - CHOSEN as u64, BYTES];
    words.extend(counted.map(Word::Is));

    let mut output = sentinels(rng, words.len());
    output[CHOSEN..].fill(0);
    let chosen = |kernel: &str| Launch::new(kernel, 1, CHOSEN as u32);
    let grid_stride = |kernel: &str| Launch::new(kernel, 1056, 256);
    let count = |place: usize| grid_stride("large_count").parameters([place as u64, 0, 0, 0]);
    Case {
        name: format!("{BYTES} bytes"),
        launches: vec![
            grid_stride("large_fill"),
            count(CHOSEN),
            chosen("large_scatter"),
            chosen("large_gather"),
            count(CHOSEN + 2),
        ],
        input,
        output,
        scratch_bytes: BYTES,
        expectation: Expectation::words(words, move |i| match indices.get(i) {
            Some(index) => format!("byte {index}"),
            None => [
                "bytes as filled",
                "bytes counted",
                "bytes left as filled",
                "bytes counted again",
            ][i - CHOSEN]
                .into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn counterparts_get_different_bytes() {
        for low in 0..1000 {
            assert_ne!(pattern(low), pattern(low + (1 << 32)), "index {low}");
        }
    }

    #[test]
    fn chosen_indexes_differ() {
        let mut indices = indices(&mut StdRng::seed_from_u64(4));
        assert!(indices.iter().all(|&index| index < BYTES));
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), CHOSEN);
    }
}
