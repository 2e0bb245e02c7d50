//! Random particles in a box of cells.

use anyhow::{Context, Result};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// The order of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Every particle is in a random cell.
    Random,
    /// Sorted by cell.
    Ordered,
    /// Sorted by cell, then each particle moved to the next cell in each of the three directions
    /// with a probability of one half: a step of a simulation after the sort.
    Shifted,
}

impl Distribution {
    pub const ALL: [Self; 3] = [Self::Random, Self::Ordered, Self::Shifted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Ordered => "ordered",
            Self::Shifted => "shifted",
        }
    }
}

/// The number of arrays that share their keys, for kernels that take several.
pub const ARRAYS: usize = 3;

/// Particles, and their expected sums.
pub struct Particles {
    /// The cell of each particle: x + side * (y + side * z).
    pub keys: Vec<u32>,
    /// The values, one array after another: small integers, whose sums are exact in every order and type.
    pub values: Vec<i8>,
    /// The sums of the cells, one array after another.
    pub sums: Vec<i16>,
    /// The number of runs of equal keys.
    pub runs: usize,
}

impl Particles {
    /// `per_cell` particles for each of `side`^3 cells.
    pub fn draw(
        side: u32,
        per_cell: u32,
        distribution: Distribution,
        seed: u64,
    ) -> Result<Particles> {
        let cells = side.pow(3);
        let n = cells as usize * per_cell as usize;
        Vec::<u32>::new()
            .try_reserve_exact(4 * n)
            .with_context(|| format!("no host memory for {n} particles"))?;
        let rng = &mut SmallRng::seed_from_u64(seed);
        let keys: Vec<u32> = (0..n)
            .map(|i| {
                let cell = (i / per_cell as usize) as u32;
                match distribution {
                    Distribution::Random => rng.random_range(0..cells),
                    Distribution::Ordered => cell,
                    Distribution::Shifted => shifted(cell, side, rng),
                }
            })
            .collect();
        let values: Vec<i8> = (0..ARRAYS * n).map(|_| rng.random_range(-9..=9)).collect();
        let mut sums = vec![0; ARRAYS * cells as usize];
        for (i, value) in values.iter().enumerate() {
            let (array, particle) = (i / n, i % n);
            sums[array * cells as usize + keys[particle] as usize] += i16::from(*value);
        }
        let changes = keys.windows(2).filter(|pair| pair[0] != pair[1]).count();
        Ok(Particles {
            keys,
            values,
            sums,
            runs: 1 + changes,
        })
    }
}

/// Moves to the next cell or not, at random for each direction; the box is periodic.
fn shifted(cell: u32, side: u32, rng: &mut SmallRng) -> u32 {
    let mut next = |coordinate: u32| (coordinate + u32::from(rng.random::<bool>())) % side;
    let (x, y, z) = (
        next(cell % side),
        next(cell / side % side),
        next(cell / side / side),
    );
    x + side * (y + side * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_keys_are_runs_and_shifted_ones_are_neighbours() {
        let ordered = Particles::draw(10, 7, Distribution::Ordered, 1).unwrap();
        assert_eq!((ordered.keys.len(), ordered.runs), (7000, 1000));
        assert!(ordered.keys.is_sorted());
        let shifted = Particles::draw(10, 7, Distribution::Shifted, 1).unwrap();
        let steps = [0, 1, 10, 11, 100, 101, 110, 111];
        // Not at the far walls, where the box is periodic.
        let inside = |cell: u32| cell % 10 < 9 && cell / 10 % 10 < 9 && cell / 100 < 9;
        for (before, after) in ordered.keys.iter().zip(&shifted.keys) {
            assert!(!inside(*before) || steps.contains(&(after - before)));
        }
        for step in steps {
            let moved = ordered.keys.iter().zip(&shifted.keys);
            let moved = moved.filter(|(before, after)| after.checked_sub(**before) == Some(step));
            assert!(moved.count() > 300, "{step}");
        }
    }

    #[test]
    fn sums_are_those_of_the_cells() {
        let particles = Particles::draw(4, 5, Distribution::Random, 3).unwrap();
        assert_eq!(particles.values.len(), ARRAYS * 320);
        for array in 0..ARRAYS {
            let values: i16 = particles.values[array * 320..][..320]
                .iter()
                .map(|value| i16::from(*value))
                .sum();
            let sums: i16 = particles.sums[array * 64..][..64].iter().sum();
            assert_eq!(values, sums);
        }
    }
}
