//! Random keys and values of groups.

use kernels_gpu::element::Element;
use kernels_gpu::groups::GroupKey;
use kernels_gpu::groups::insert::TILE;
use rand::RngExt;
use rand::rngs::StdRng;

/// A key of random cases.
pub trait Drawn: GroupKey + Ord {
    /// One of all keys.
    fn any(random: &mut StdRng) -> Self;

    /// The key with this number.
    fn numbered(number: u64) -> Self;
}

macro_rules! drawn {
    ($($key:ident),*) => { $(
        impl Drawn for $key {
            fn any(random: &mut StdRng) -> Self {
                random.random()
            }

            fn numbered(number: u64) -> Self {
                // Some keys differ in their highest bits only.
                (number as Self).rotate_right((number % 3) as u32 * 8)
            }
        }
    )* };
}

drawn!(u32, u64);

/// The kinds of keys.
pub const KINDS: u64 = 7;

/// The keys of a case.
pub fn keys<K: Drawn>(random: &mut StdRng, kind: u64) -> Vec<K> {
    let n = match random.random_range(0..4) {
        0 => random.random_range(1..70),
        1 => TILE - 2 + random.random_range(0..5),
        _ => random.random_range(1..50 * TILE),
    };
    let groups = 2f64.powf(random.random_range(1.0..12.0)) as u64;
    let one = [K::any(random), K::EMPTY, K::numbered(0)][random.random_range(0..3)];
    let mut key = |i: usize| match kind {
        0 => one,
        1 => K::any(random),
        2 => K::numbered(random.random_range(0..groups)),
        // By Zipf's law, roughly.
        3 | 4 => K::numbered((groups as f64).powf(random.random_range(0.0..1.0)) as u64),
        5 => K::numbered(i as u64 / 40),
        _ => [K::EMPTY, one, K::numbered(i as u64)][random.random_range(0..3)],
    };
    (0..n).map(&mut key).collect()
}

/// `n` keys whose searches begin at different slots of a table with so many slots, so that none is long.
pub fn spread_keys(slots: usize, n: usize) -> Vec<u64> {
    let mut is_taken = vec![false; slots];
    let shift = u64::BITS - slots.ilog2();
    let is_new =
        |key: &u64| !std::mem::replace(&mut is_taken[(key.hash() >> shift) as usize], true);
    (0..).filter(is_new).take(n).collect()
}

/// A value of random cases.
pub trait Value: Element {
    /// A small whole number, so that sums of floats are exact.
    fn drawn(random: &mut StdRng) -> Self;
}

macro_rules! values {
    ($($number:ident),*) => { $(
        impl Value for $number {
            fn drawn(random: &mut StdRng) -> Self {
                random.random_range(0u8..100) as Self
            }
        }
    )* };
}

values!(i32, i64, u64, f32, f64);
