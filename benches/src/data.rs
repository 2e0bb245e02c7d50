//! The integers that are reduced, and what their sum is.

use anyhow::{Context, Result};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Elements drawn from one generator; each chunk has its own, so that chunks are drawn in parallel
/// and the same seed gives the same elements on every machine.
const CHUNK: usize = 1 << 18;

/// Random integers and what is known of them.
pub struct Integers {
    pub values: Vec<i32>,
    pub seed: u64,
    /// Their exact sum, wrapped to 32 bits.
    pub sum: i32,
}

impl Integers {
    /// `n` integers drawn from `seed`.
    pub fn draw(n: usize, seed: u64) -> Result<Integers> {
        let values = random(n, seed)?;
        let sum = exact_sum(&values);
        Ok(Integers { values, seed, sum })
    }
}

/// `n` integers over the whole range of `i32`, drawn from `seed`.
fn random(n: usize, seed: u64) -> Result<Vec<i32>> {
    // `vec!` aborts where the memory cannot be had; asking first turns that into an error.
    Vec::<i32>::new().try_reserve_exact(n).with_context(|| {
        format!(
            "no host memory for {n} integers ({} bytes)",
            n.saturating_mul(4)
        )
    })?;
    let mut data = vec![0; n];
    data.par_chunks_mut(CHUNK)
        .enumerate()
        .for_each(|(chunk, elements)| {
            SmallRng::seed_from_u64(seed.wrapping_add((chunk as u64) << 32)).fill(elements);
        });
    Ok(data)
}

/// The exact sum in 64 bits, then wrapped to 32 as every `i32` sum wraps.
fn exact_sum(data: &[i32]) -> i32 {
    let sum = data
        .par_chunks(CHUNK)
        .map(|elements| elements.iter().map(|&x| i64::from(x)).sum::<i64>())
        .reduce(|| 0, i64::wrapping_add);
    sum as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_elements_whatever_n() {
        let long = random(3 * CHUNK + 5, 7).unwrap();
        let short = random(CHUNK + 9, 7).unwrap();
        assert_eq!(long[..short.len()], short);
        assert_ne!(random(100, 8).unwrap(), long[..100]);
        assert_ne!(long[..100], long[CHUNK..CHUNK + 100], "chunks differ");
    }

    #[test]
    fn the_elements_are_spread_over_the_whole_range() {
        let data = random(100_000, 3).unwrap();
        let (min, max) = (data.iter().min().unwrap(), data.iter().max().unwrap());
        assert!(
            *min < i32::MIN / 100 * 99 && *max > i32::MAX / 100 * 99,
            "{min}..{max}"
        );
        assert!(data.iter().filter(|&&x| x == 0).count() < 3);
    }

    #[test]
    fn the_exact_sum_wraps_like_i32() {
        let data = random(2 * CHUNK + 1, 11).unwrap();
        let wrapping = data.iter().fold(0i32, |sum, &x| sum.wrapping_add(x));
        assert_eq!(exact_sum(&data), wrapping);
        assert_eq!(exact_sum(&[i32::MAX, 1]), i32::MIN);
        assert_eq!(exact_sum(&[]), 0);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let error = random(usize::MAX / 8, 1).unwrap_err();
        assert!(error.to_string().contains("no host memory"), "{error}");
    }
}
