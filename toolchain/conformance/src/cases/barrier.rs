//! `sync_threads`, its reductions, and `sync_warp`.

use conformance_kernels::barrier::{self as kernel, step};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use super::partition::Partition;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::model::warp::lanes;

/// Block sizes: one thread, partial warps, whole warps, and one thread more.
const THREADS: [u32; 9] = [1, 2, 31, 32, 33, 64, 255, 256, 1024];

const BLOCKS: u32 = 3;

/// The steps that values move around a block.
const PLACES: u64 = 37;

/// The result of a vote if the predicate holds in some of the threads.
type Answer = fn(usize, usize) -> u64;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::new("barrier/sync_threads", |rng| {
            THREADS.map(|threads| rotate(threads, rng)).into()
        }),
        Trial::new("barrier/sync_warp", |rng| {
            (0..3).map(|_| sync_warp(rng)).collect()
        }),
    ];
    let votes: [(&str, Answer); 3] = [
        ("count", |holds, _| holds as u64),
        ("and", |holds, threads| u64::from(holds == threads)),
        ("or", |holds, _| u64::from(holds > 0)),
    ];
    for (name, answer) in votes {
        trials.push(Trial::new(
            format!("barrier/sync_threads_{name}"),
            move |rng| {
                THREADS
                    .map(|threads| vote(name, answer, threads, rng))
                    .into()
            },
        ));
    }
    trials
}

fn per_thread(threads: usize, words_a_thread: usize) -> impl Fn(usize) -> String {
    move |i| {
        let thread = i / words_a_thread;
        format!(
            "block {} thread {} word {}",
            thread / threads,
            thread % threads,
            i % words_a_thread
        )
    }
}

/// The words of one block after each thread has read its neighbour's.
fn rotated(words: &[u64]) -> Vec<u64> {
    (0..words.len())
        .map(|thread| step(words[(thread + 1) % words.len()], thread))
        .collect()
}

fn rotate(threads: u32, rng: &mut StdRng) -> Case {
    let input: Vec<u64> = (0..BLOCKS * threads).map(|_| rng.random()).collect();
    let words = input
        .chunks(threads as usize)
        .flat_map(|block| (0..PLACES).fold(block.to_vec(), |words, _| rotated(&words)))
        .map(Word::Is)
        .collect();
    Case {
        name: format!("{threads} threads"),
        launches: vec![
            Launch::new("barrier_rotate", BLOCKS, threads)
                .shared_bytes(8 * threads)
                .parameters([PLACES, 0, 0, 0]),
        ],
        output: sentinels(rng, input.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, per_thread(threads as usize, 1)),
    }
}

fn vote(name: &str, answer: Answer, threads: u32, rng: &mut StdRng) -> Case {
    let size = threads as usize;
    let mut input = Vec::new();
    let mut words = vec![Word::Any; BLOCKS as usize * size * kernel::VOTES * 2];
    for block in 0..BLOCKS as usize {
        // Votes where all, no, all but one, one, or some predicates hold.
        let lone = rng.random_range(0..size);
        let ballots: Vec<u64> = (0..size)
            .map(|thread| {
                let fixed = 0b01 | u64::from(thread != lone) << 2 | u64::from(thread == lone) << 3;
                rng.random::<u64>() & !0b1111 | fixed
            })
            .collect();
        let mut values = ballots.clone();
        for vote in 0..kernel::VOTES {
            let holds = ballots
                .iter()
                .filter(|&ballot| ballot >> vote & 1 == 1)
                .count();
            values = rotated(&values);
            for (thread, &value) in values.iter().enumerate() {
                let place = ((block * size + thread) * kernel::VOTES + vote) * 2;
                words[place] = Word::Is(answer(holds, size));
                words[place + 1] = Word::Is(value);
            }
        }
        input.extend(ballots);
    }
    Case {
        name: format!("{threads} threads"),
        launches: vec![
            Launch::new(format!("barrier_{name}"), BLOCKS, threads).shared_bytes(16 * threads),
        ],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, per_thread(size, 2 * kernel::VOTES)),
    }
}

fn sync_warp(rng: &mut StdRng) -> Case {
    let partitions = Partition::all(rng);
    let threads = 32 * partitions.len();
    let mut input = Vec::new();
    let mut words = Vec::new();
    for (warp, partition) in partitions.iter().enumerate() {
        let mut values: Vec<u64> = (0..32).map(|_| rng.random()).collect();
        let sources: Vec<usize> = (0..32)
            .map(|lane| {
                let members: Vec<usize> = lanes(partition.masks[lane]).collect();
                let place = members.iter().position(|&member| member == lane);
                members[(place.expect("a lane is in its mask") + 1) % members.len()]
            })
            .collect();
        for lane in 0..32 {
            let source = (32 * warp + sources[lane]) as u64;
            input.extend([values[lane], partition.masks[lane].into(), source]);
        }
        for _ in 0..PLACES {
            values = (0..32)
                .map(|lane| step(values[sources[lane]], 32 * warp + lane))
                .collect();
        }
        words.extend(values.into_iter().map(Word::Is));
    }
    Case {
        name: "every partition".into(),
        launches: vec![
            Launch::new("barrier_sync_warp", 1, threads as u32)
                .shared_bytes(8 * threads as u32)
                .parameters([PLACES, 0, 0, 0]),
        ],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| {
            format!(
                "warp {} ({}) lane {}",
                i / 32,
                partitions[i / 32].name,
                i % 32
            )
        }),
    }
}
