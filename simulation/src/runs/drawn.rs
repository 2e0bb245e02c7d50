//! Random keys with runs, and the check of the runs that a kernel finds.

use cuda_sim::Simulator;
use kernels_gpu::element::Element;
use kernels_gpu::entry::Entry;
use kernels_gpu::runs::{keys_of_tile, most_of_short};
use rand::RngExt;
use rand::rngs::StdRng;

use super::{Runs, Wrong, find};
use crate::kernels::{Long, Point};
use crate::launch::bytes_of;

/// The kinds of runs.
pub const KINDS: u64 = 12;

/// A key of random cases.
pub trait Drawn: Element {
    /// One of few keys that differ in some bits only.
    fn drawn(random: &mut StdRng) -> Self;
}

macro_rules! drawn {
    ($($key:ident),*) => { $(
        impl Drawn for $key {
            fn drawn(random: &mut StdRng) -> Self {
                let bit = random.random_range(0..$key::BITS);
                [0, 1 << bit][random.random_range(0..2)]
            }
        }
    )* };
}

drawn!(u32, i32, u64, i64);

impl Drawn for Point {
    fn drawn(random: &mut StdRng) -> Self {
        // -0.0 equals 0.0.
        let x = [0.0, 0.0, 0.0, 0.0, -0.0, 1.0];
        Self {
            x: std::array::from_fn(|_| x[random.random_range(0..x.len())]),
        }
    }
}

impl Drawn for Long {
    fn drawn(random: &mut StdRng) -> Self {
        Self {
            words: std::array::from_fn(|_| random.random_range(0..2)),
        }
    }
}

/// The keys of a case in memory, and where they start.
pub fn keys<K: Drawn>(random: &mut StdRng, kind: u64) -> (Vec<K>, usize) {
    let tile = keys_of_tile::<K>();
    let most = 2 * tile + tile / 2;
    let around = |random: &mut StdRng| tile - 2 + random.random_range(0..5);
    let n = match kind {
        0 => random.random_range(1..70),
        1 => around(random),
        2 => tile + around(random),
        _ => random.random_range(1..=most),
    };
    let len = |random: &mut StdRng| match kind {
        3 | 8 => 1,
        4 => most,
        5 | 11 => random.random_range(1..4),
        6 => around(random),
        7 => 32 * random.random_range(1..20) + random.random_range(0..2),
        // Most lanes of a warp have a start, but all starts of its part have room in shared memory.
        10 => random.random_range(3..7),
        _ => 2f64.powf(random.random_range(0.0..12.0)) as usize,
    };
    let start = random.random_range(0..5);
    // Where a long run of kind 11 is, the only one: one or two whole groups have no start.
    let long = (kind == 11).then(|| start + random.random_range(0..n));
    let mut keys = vec![];
    while keys.len() < start + n {
        // Adjacent runs may have the same key, and so be one. Those of three kinds keep the length that was drawn.
        let (mut key, mut len) = (K::drawn(random), len(random));
        if long.is_some_and(|long| (keys.len()..keys.len() + len).contains(&long)) {
            len = most_of_short::<K>() + random.random_range(1..32);
        }
        while matches!(kind, 8 | 10 | 11) && keys.last() == Some(&key) {
            key = K::drawn(random);
        }
        let len = len.min(start + n - keys.len());
        keys.extend(vec![key; len]);
    }
    (keys, start)
}

/// The runs by a plain loop.
pub(super) fn wanted<K: Element>(keys: &[K]) -> Runs<K> {
    let mut runs = Runs {
        keys: vec![],
        offsets: vec![],
    };
    for (i, key) in keys.iter().enumerate() {
        if i == 0 || *key != keys[i - 1] {
            runs.keys.push(*key);
            runs.offsets.push(i as u64);
        }
    }
    runs.offsets.push(keys.len() as u64);
    runs
}

/// Whether the entry finds the runs of the keys from `start` on; `wide` asks for offsets of 64 bits.
///
/// # Errors
///
/// What is wrong.
pub fn check<K: Element>(
    entry: &Entry,
    keys: &[K],
    start: usize,
    wide: bool,
    simulator: Simulator,
) -> Result<(), Wrong> {
    let wanted = wanted(&keys[start..]);
    let got = find(entry, keys, start, wide, simulator)?;
    if got.offsets != wanted.offsets {
        return Err(Wrong::Results(format!(
            "starts {:?} instead of {:?}",
            got.offsets, wanted.offsets
        )));
    }
    // Keys that are equal may have different bits, and only the first of a run is right.
    if bytes_of(&got.keys) != bytes_of(&wanted.keys) {
        return Err(Wrong::Results(format!(
            "keys {:?} instead of {:?}",
            got.keys, wanted.keys
        )));
    }
    Ok(())
}
