//! Barriers and shuffles under conditions, which a compiler must not move.

use conformance_kernels::convergence::next_lane;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

const BLOCKS: usize = 4;
const THREADS: usize = 128;
const WARPS: usize = BLOCKS * THREADS / 32;

/// The number of iterations of the loop with changing neighbours.
const PASSES: usize = 11;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::new("convergence/barriers", |rng| vec![barriers(rng)]),
        Trial::new("convergence/branches", |rng| vec![branches(rng)]),
        Trial::new("convergence/neighbours", |rng| vec![neighbours(rng)]),
        Trial::new("convergence/leaving", |rng| vec![leaving(rng)]),
        Trial::new("convergence/early_exit", |rng| {
            [1, 2, 16, 31, 32]
                .map(|staying| early_exit(staying, rng))
                .into()
        }),
    ]
}

fn launch(kernel: &str) -> Launch {
    Launch::new(kernel, BLOCKS as u32, THREADS as u32)
}

fn case(name: String, launch: Launch, input: Vec<u64>, words: Vec<Word>, rng: &mut StdRng) -> Case {
    Case {
        name,
        launches: vec![launch],
        output: sentinels(rng, words.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, |i| {
            format!(
                "block {} warp {} lane {}",
                i / THREADS,
                i % THREADS / 32,
                i % 32
            )
        }),
    }
}

/// Random words, with mixed lowest bits in some warps and equal ones in others.
fn words_with_odd_ones(rng: &mut StdRng) -> Vec<u64> {
    (0..WARPS)
        .flat_map(|warp| {
            let odds: u32 = match warp % 4 {
                0 => 0,
                1 => u32::MAX,
                _ => rng.random(),
            };
            let words: [u64; 32] = rng.random();
            (0..32).map(move |lane| words[lane] & !1 | u64::from(odds >> lane & 1))
        })
        .collect()
}

fn barriers(rng: &mut StdRng) -> Case {
    let input = words_with_odd_ones(rng);
    let mut words = Vec::new();
    for block in input.chunks(THREADS) {
        let odd = |thread: usize| block[thread] & 1 == 1;
        let first: Vec<u64> = (0..THREADS)
            .map(|t| {
                if odd(t) {
                    block[t].wrapping_mul(3)
                } else {
                    block[t]
                }
            })
            .collect();
        let second: Vec<u64> = (0..THREADS)
            .map(|t| {
                let got = first[(t + 1) % THREADS];
                if odd(t) {
                    (got ^ first[t]).wrapping_add(1)
                } else {
                    got.rotate_left(9)
                }
            })
            .collect();
        words.extend((0..THREADS).map(|t| Word::Is(second[(t + 1) % THREADS])));
    }
    let launch = launch("convergence_barriers").shared_bytes(8 * THREADS as u32);
    case("mixed conditions".into(), launch, input, words, rng)
}

fn branches(rng: &mut StdRng) -> Case {
    let input = words_with_odd_ones(rng);
    let mut words = Vec::new();
    for warp in input.chunks(32) {
        let odds = (0..32).fold(0_u32, |bits, lane| bits | ((warp[lane] & 1) as u32) << lane);
        for (lane, word) in warp.iter().enumerate() {
            let got = if word & 1 == 1 {
                let source = next_lane(odds, lane as u32) as usize;
                (warp[source] as u32).wrapping_mul(5)
            } else {
                let source = next_lane(!odds, lane as u32) as usize;
                warp[source] as u32 ^ 0xFFFF
            };
            words.push(Word::Is(got.into()));
        }
    }
    case(
        "mixed conditions".into(),
        launch("convergence_branches"),
        input,
        words,
        rng,
    )
}

fn neighbours(rng: &mut StdRng) -> Case {
    let mut input = Vec::new();
    let mut words = Vec::new();
    for _ in 0..WARPS {
        let mut values: [u32; 32] = rng.random();
        let sources: [[u32; PASSES]; 32] =
            std::array::from_fn(|_| std::array::from_fn(|_| rng.random_range(0..32)));
        for lane in 0..32 {
            input.push(values[lane].into());
            input.extend(sources[lane].map(u64::from));
        }
        for pass in 0..PASSES {
            values = std::array::from_fn(|lane| {
                let got = values[sources[lane][pass] as usize];
                if lane >> (pass % 5) & 1 == 1 {
                    got.wrapping_mul(3).wrapping_add(1)
                } else {
                    got
                }
            });
        }
        words.extend(values.map(|value| Word::Is(value.into())));
    }
    let launch = launch("convergence_neighbours").parameters([PASSES as u64, 0, 0, 0]);
    case(format!("{PASSES} passes"), launch, input, words, rng)
}

fn leaving(rng: &mut StdRng) -> Case {
    let mut input = Vec::new();
    let mut words = Vec::new();
    for warp in 0..WARPS {
        let mut values: [u32; 32] = rng.random();
        let rounds: [u64; 32] = std::array::from_fn(|lane| match warp {
            0 => 0,
            1 => 6,
            2 => lane as u64,
            _ => rng.random_range(0..9),
        });
        for lane in 0..32 {
            input.extend([values[lane].into(), rounds[lane]]);
        }
        let longest = rounds.into_iter().max().unwrap_or(0);
        for round in 0..longest {
            let inside = (0..32).fold(0, |bits, lane| {
                bits | u32::from(rounds[lane] > round) << lane
            });
            values = std::array::from_fn(|lane| {
                if rounds[lane] <= round {
                    return values[lane];
                }
                let got = values[next_lane(inside, lane as u32) as usize];
                values[lane].wrapping_mul(31).wrapping_add(got)
            });
        }
        words.extend(values.map(|value| Word::Is(value.into())));
    }
    case(
        "mixed rounds".into(),
        launch("convergence_leaving"),
        input,
        words,
        rng,
    )
}

fn early_exit(staying: u32, rng: &mut StdRng) -> Case {
    let input: Vec<u64> = (0..BLOCKS * THREADS).map(|_| rng.random()).collect();
    let mask = u32::MAX >> (32 - staying);
    let mut words = Vec::new();
    for warp in input.chunks(32) {
        for (lane, word) in warp.iter().enumerate() {
            words.push(Word::Is(if lane as u32 >= staying {
                !word
            } else {
                u64::from(warp[next_lane(mask, lane as u32) as usize] as u32)
            }));
        }
    }
    let launch = launch("convergence_early_exit").parameters([staying.into(), 0, 0, 0]);
    case(format!("{staying} lanes stay"), launch, input, words, rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_lane_of_a_mask() {
        assert_eq!(next_lane(0b1010, 1), 3);
        assert_eq!(next_lane(0b1010, 3), 1);
        assert_eq!(next_lane(0b1010, 0), 1);
        assert_eq!(next_lane(1 << 31, 31), 31);
        assert_eq!(next_lane(u32::MAX, 31), 0);
    }
}
