//! Slices and arrays of bytes, compared.

use conformance_kernels::compare::{ARRAY, EQUAL, EQUAL_ARRAYS, GREATER, LESS, RECORD};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// The number of threads, each with a pair of slices.
const THREADS: usize = 256;

/// The longest slice, in bytes.
const LONGEST: usize = 70;

/// The bytes for slices, after the records.
const BYTES: usize = 4096;

pub fn trials() -> Vec<Trial> {
    vec![Trial::new("compare/bytes", |rng| {
        (0..4).map(|_| case(rng)).collect()
    })]
}

/// The expected bits of a pair of slices, compared byte by byte.
fn bits(a: &[u8], b: &[u8], arrays: (&[u8], &[u8])) -> u64 {
    let differs = |a: &[u8], b: &[u8]| (0..a.len()).find(|&i| a[i] != b[i]);
    let order = match differs(a, b) {
        None => EQUAL,
        Some(i) if a[i] < b[i] => LESS,
        Some(_) => GREATER,
    };
    match differs(arrays.0, arrays.1) {
        None => order | EQUAL_ARRAYS,
        Some(_) => order,
    }
}

/// Random positions and lengths. Half of the second slices are copies of the first, and some of these differ
/// in one byte, often the last one.
fn case(rng: &mut StdRng) -> Case {
    let room = LONGEST.max(ARRAY);
    let mut bytes: Vec<u8> = (0..BYTES).map(|_| rng.random_range(0..3)).collect();
    let first = THREADS * RECORD * 8;
    let mut pairs = Vec::new();
    for thread in 0..THREADS {
        let len = rng.random_range(0..=LONGEST);
        let a = rng.random_range(0..BYTES / 2 - room);
        let b = rng.random_range(BYTES / 2..BYTES - room);
        if thread % 2 == 0 {
            bytes.copy_within(a..a + room, b);
            let place = match thread % 3 {
                0 => len.checked_sub(1),
                1 => (len > 0).then(|| rng.random_range(0..len)),
                _ => None,
            };
            if let Some(place) = place {
                bytes[b + place] = rng.random();
            }
        }
        pairs.push((a, b, len));
    }
    let part = |start: usize, len: usize| &bytes[start..start + len];
    let words: Vec<Word> = pairs
        .iter()
        .map(|&(a, b, len)| {
            let arrays = (part(a, ARRAY), part(b, ARRAY));
            Word::Is(bits(part(a, len), part(b, len), arrays))
        })
        .collect();
    let records = pairs
        .iter()
        .flat_map(|&(a, b, len)| [first + a, first + b, len].map(|word| word as u64));
    let (data, _) = bytes.as_chunks::<8>();
    Case {
        name: format!("{THREADS} pairs"),
        launches: vec![Launch::new("compare_bytes", 2, THREADS as u32 / 2)],
        input: records
            .chain(data.iter().map(|word| u64::from_le_bytes(*word)))
            .collect(),
        output: sentinels(rng, words.len()),
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| {
            let (a, b, len) = pairs[i];
            format!("{len} bytes at {a} and at {b}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Later pairs overwrite earlier ones, but each outcome must remain often enough.
    #[test]
    fn every_outcome_occurs() {
        let mut seen = [0; 16];
        for seed in 0..4 {
            let Expectation::Words { words, .. } =
                case(&mut StdRng::seed_from_u64(seed)).expectation
            else {
                panic!("words");
            };
            for word in words {
                let Word::Is(bits) = word else {
                    panic!("a value");
                };
                seen[bits as usize] += 1;
            }
        }
        for outcome in [
            EQUAL,
            LESS,
            GREATER,
            EQUAL | EQUAL_ARRAYS,
            LESS | EQUAL_ARRAYS,
        ] {
            assert!(seen[outcome as usize] > 3, "{outcome}: {seen:?}");
        }
    }
}
