//! Kinds of keys.

use cuda_sim::Plain;
use kernels_gpu::keyed::Key;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// A key type for tests.
pub trait KeySubject: Key + Plain {
    /// The key with this number, truncated to the type.
    fn new(number: i64) -> Self;
    /// The greatest key.
    const GREATEST: Self;
}

macro_rules! key_subjects {
    ($($key:ident),*) => {
        $(impl KeySubject for $key {
            const GREATEST: Self = Self::MAX;
            fn new(number: i64) -> Self { number as Self }
        })*
    };
}

key_subjects!(u8, u16, u32, u64, i8, i16, i32, i64);

/// The distribution of keys over cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// One cell gets all elements.
    Equal,
    /// Every element has its own cell, in any order.
    Distinct,
    /// Runs of ten elements with the same cell.
    Ordered,
    /// One of fifty cells.
    Random,
    /// One of three cells.
    Few,
    /// One of three elements has no cell; the others form short runs.
    Outside,
}

impl Keys {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::Distinct,
        Self::Ordered,
        Self::Random,
        Self::Few,
        Self::Outside,
    ];

    /// `n` keys, the same for the same seed, and the number of cells.
    pub fn draw<K: KeySubject>(self, n: usize, seed: u64) -> (Vec<K>, usize) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut any_of = |cells: usize| {
            let keys = (0..n).map(|_| K::new(rng.random_range(0..cells as i64)));
            (keys.collect(), cells)
        };
        match self {
            Self::Equal => (vec![K::new(4); n], 7),
            Self::Distinct => {
                let mut keys: Vec<K> = (0..n as i64).map(K::new).collect();
                keys.shuffle(rng);
                (keys, n)
            }
            Self::Ordered => {
                let keys = (0..n as i64).map(|i| K::new(i / 10));
                (keys.collect(), n / 10 + 1)
            }
            Self::Random => any_of(50),
            Self::Few => any_of(3),
            Self::Outside => {
                const CELLS: i64 = 13;
                // Just outside, far outside, and an index that is inside if truncated to 32 bits.
                let outside = [
                    K::new(CELLS),
                    K::new(CELLS + 1),
                    K::new(-1),
                    K::GREATEST,
                    match size_of::<K>() {
                        8 => K::new((1 << 32) + 2),
                        1 => K::new(100),
                        _ => K::new(1000),
                    },
                ];
                let mut keys = Vec::with_capacity(n);
                while keys.len() < n {
                    let key = match rng.random_range(0..3) {
                        0 => outside[rng.random_range(0..outside.len())],
                        _ => K::new(rng.random_range(0..CELLS)),
                    };
                    for _ in 0..rng.random_range(1..5) {
                        keys.push(key);
                    }
                }
                keys.truncate(n);
                (keys, CELLS as usize)
            }
        }
    }
}
