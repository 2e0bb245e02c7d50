//! Static and dynamic shared memory.

use conformance_kernels::shared as kernel;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// Element types of the tiles and their sizes in bytes.
const TYPES: [(&str, u32); 10] = [
    ("u8", 1),
    ("u16", 2),
    ("i32", 4),
    ("u32", 4),
    ("f32", 4),
    ("i64", 8),
    ("u64", 8),
    ("f64", 8),
    ("f16", 2),
    ("bf16", 2),
];

const BLOCKS: usize = 5;

const THREADS: [u32; 4] = [1, 33, 128, 256];

/// Creates a case for a number of threads.
type Make = fn(u32, &mut StdRng) -> Case;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for form in ["dynamic", "fixed", "array"] {
        for (name, size) in TYPES {
            trials.push(Trial::new(format!("shared/{form}/{name}"), move |rng| {
                let kernel = format!("shared_{form}_{name}");
                let dynamic = if form == "dynamic" { size } else { 0 };
                THREADS
                    .map(|threads| turn_around(&kernel, size, dynamic * threads, threads, rng))
                    .into()
            }));
        }
    }
    let single: [(&str, Make); 4] = [
        ("several", several),
        ("structs", structs),
        ("ping_pong", ping_pong),
        ("slices", slices),
    ];
    for (name, case) in single {
        trials.push(Trial::new(format!("shared/{name}"), move |rng| {
            THREADS.map(|threads| case(threads, rng)).into()
        }));
    }
    trials
}

/// A case whose output depends only on the block: `expect` maps the input words of a block to its output
/// words.
fn by_block(
    launch: Launch,
    words_a_thread: usize,
    rng: &mut StdRng,
    make: impl Fn(&mut StdRng) -> u64,
    expect: impl Fn(&[u64]) -> Vec<u64>,
) -> Case {
    let threads = launch.block[0] as usize;
    let input: Vec<u64> = (0..BLOCKS * threads * words_a_thread)
        .map(|_| make(rng))
        .collect();
    let words: Vec<Word> = input
        .chunks(threads * words_a_thread)
        .flat_map(expect)
        .map(Word::Is)
        .collect();
    let block_words = words.len() / BLOCKS;
    Case {
        name: format!("{threads} threads"),
        launches: vec![launch],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| {
            format!("block {} word {}", i / block_words, i % block_words)
        }),
    }
}

fn launch(kernel: &str, threads: u32, shared_bytes: u32) -> Launch {
    Launch::new(kernel, BLOCKS as u32, threads).shared_bytes(shared_bytes)
}

fn turn_around(kernel: &str, size: u32, shared_bytes: u32, threads: u32, rng: &mut StdRng) -> Case {
    let mask = u64::MAX >> (64 - 8 * size);
    by_block(
        launch(kernel, threads, shared_bytes),
        1,
        rng,
        |rng| rng.random::<u64>() & mask,
        |block| block.iter().rev().copied().collect(),
    )
}

fn several(threads: u32, rng: &mut StdRng) -> Case {
    by_block(
        launch("shared_several", threads, 8 * threads),
        1,
        rng,
        |rng| rng.random(),
        |block| {
            block
                .iter()
                .rev()
                .flat_map(|word| [*word, word ^ 1, word ^ 2, word ^ 3, 0])
                .collect()
        },
    )
}

fn structs(threads: u32, rng: &mut StdRng) -> Case {
    const WORDS: usize = kernel::BODY_WORDS;
    // The second word contains a 32-bit and an 8-bit field, the third a 32-bit one.
    let narrow = |i: usize, word: u64| match i % WORDS {
        0 => word,
        1 => word & 0xFF_FFFF_FFFF,
        _ => word & 0xFFFF_FFFF,
    };
    let mut case = by_block(
        launch("shared_structs", threads, 0),
        WORDS,
        rng,
        |rng| rng.random(),
        |block| {
            let count = block.len() / WORDS;
            let word = |thread: usize, i: usize| narrow(i, block[thread * WORDS + i]);
            (0..count)
                .flat_map(|thread| {
                    let (next, other) = ((thread + 1) % count, count - 1 - thread);
                    let id = word(next, 1) & 0xFFFF_FFFF;
                    let kind = word(other, 1) & 0xFF_0000_0000;
                    [word(other, 0), id | kind, word(next, 2)]
                })
                .collect()
        },
    );
    for (i, word) in case.input.iter_mut().enumerate() {
        *word = narrow(i, *word);
    }
    case
}

fn ping_pong(threads: u32, rng: &mut StdRng) -> Case {
    by_block(
        launch("shared_ping_pong", threads, 16 * threads),
        1,
        rng,
        |rng| rng.random(),
        |block| {
            (0..kernel::PASSES).fold(block.to_vec(), |words, _| {
                (0..words.len())
                    .map(|i| words[i].wrapping_add(words[(i + 1) % words.len()]))
                    .collect()
            })
        },
    )
}

fn slices(threads: u32, rng: &mut StdRng) -> Case {
    by_block(
        launch("shared_slices", threads, 8 * threads),
        1,
        rng,
        |rng| rng.random(),
        |block| {
            let mut sum = 0_u64;
            for (i, word) in block.iter().enumerate() {
                sum = sum.rotate_left(1) ^ word.wrapping_add(i as u64);
            }
            vec![sum, block[block.len() - 1]]
        },
    )
}
