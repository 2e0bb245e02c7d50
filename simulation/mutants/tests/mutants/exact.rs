//! Cases of exact sums.

use kernels_gpu::entry::Entry;
use kernels_sim::exact::{Exact, Floats};

/// The most effective first.
const FLOATS: [Floats; 13] = [
    Floats::Any,
    Floats::Near,
    Floats::Steps,
    Floats::Runs,
    Floats::Special,
    Floats::Zeroes,
    Floats::Small,
    Floats::Subnormal,
    Floats::TwoExponents,
    Floats::ThreeExponents,
    Floats::Cancelling,
    Floats::OneGreat,
    Floats::Greatest,
];

/// The number of times that random parameters of the data are drawn.
const ROUNDS: usize = 2;

/// Cases of all entries.
pub fn cases(entries: &[Entry]) -> Vec<Exact> {
    let mut cases = Vec::new();
    for round in 0..ROUNDS {
        for floats in FLOATS {
            for entry in entries {
                // A warp loads 64 bytes for each lane at a time.
                let group = 32 * 64 / entry.read_bytes.iter().sum::<usize>();
                let shapes = [
                    (64, 2, 5 * group + 7, [0, 0]),
                    (32, 1, 2 * group, [3, 3]),
                    (32, 1, 2 * group, [0, 1]),
                    (32, 1, 6 * group + 5, [0, 0]),
                ];
                let numbered = (shapes.len() * round..).zip(shapes);
                cases.extend(numbered.map(|(seed, (threads, blocks, n, starts))| Exact {
                    blocks,
                    starts,
                    floats,
                    seed: seed as u64,
                    ..Exact::new(*entry, threads, n + round)
                }));
            }
        }
    }
    // More items than the digits of a warp can hold.
    cases.extend(entries.iter().map(|entry| Exact {
        floats: Floats::Greatest,
        ..Exact::new(*entry, 32, 34_000)
    }));
    cases
}
