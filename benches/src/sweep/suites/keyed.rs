//! Reduction by key: particles in the cells of a box, by algorithm and by where equal keys lie.

mod group;
mod particles;
mod peers;

use std::ops::RangeInclusive;

use anyhow::Result;
use warpfold::file::DType;
use warpfold_results::schema::By;

use self::group::Group;
use self::particles::{Distribution, Particles};
use self::peers::REFERENCE_MAX_N;
use super::Bench;
use crate::sweep::options::{OF_FLOATS, SweepOptions};
use crate::sweep::run::Sweep;

/// Ten million particles, as in the post that the kernels follow; fewer for a quick look.
const CROWD: Crowd = Crowd {
    side: 100,
    per_cell: USUAL_PER_CELL,
};
const QUICK_CROWD: Crowd = Crowd { side: 50, ..CROWD };

const USUAL_PER_CELL: u32 = 10;

/// Every power of two from the second on has one crowd among these.
const PER_CELL: RangeInclusive<u32> = 4..=16;

/// A `u32` names each cell of such a box.
const MAX_SIDE: u32 = 1625;

/// Particles that fill a box of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowd {
    /// Cells along each side.
    side: u32,
    per_cell: u32,
}

impl Crowd {
    /// The nearest to `n`; of two, the more usual.
    fn nearest(n: usize) -> Crowd {
        let sides = |per_cell| {
            let side = (n as f64 / f64::from(per_cell)).cbrt() as u32;
            [side, side.saturating_add(1)].map(|side| Crowd {
                side: side.clamp(1, MAX_SIDE),
                per_cell,
            })
        };
        let off = |crowd: &Crowd| {
            (
                crowd.n().abs_diff(n),
                crowd.per_cell.abs_diff(USUAL_PER_CELL),
            )
        };
        PER_CELL.flat_map(sides).min_by_key(off).unwrap_or(CROWD)
    }

    fn n(self) -> usize {
        (self.side as usize).pow(3) * self.per_cell as usize
    }
}

/// Those that were asked for.
fn crowds(options: &SweepOptions) -> Vec<Crowd> {
    let mut crowds: Vec<_> = options
        .asked_sizes()
        .into_iter()
        .map(Crowd::nearest)
        .collect();
    crowds.dedup();
    match (crowds.is_empty(), options.quick) {
        (false, _) => crowds,
        (true, false) => vec![CROWD],
        (true, true) => vec![QUICK_CROWD],
    }
}

/// Every size, distribution and type.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let types = bench.options.types_of(&OF_FLOATS);
    let crowds = crowds(bench.options);
    sweep.announce(crowds.len() * Distribution::ALL.len() * types.len());
    // Its own reference kernels and CUB's ReduceByKey are one library.
    let wanted = [By::Nvcc, By::Cub].map(|by| bench.options.wants(by));
    let peers = wanted.contains(&true).then(|| {
        let peers = peers::build(bench.info.compute_capability);
        for (by, _) in [By::Nvcc, By::Cub]
            .into_iter()
            .zip(wanted)
            .filter(|(_, wanted)| *wanted)
        {
            sweep.peer_built(by, peers.as_ref().map(|peers| &peers.built));
        }
        peers
    });
    let peers = peers.and_then(Result::ok);
    for crowd in crowds {
        for distribution in Distribution::ALL {
            if sweep.is_over() {
                return Ok(());
            }
            let Crowd { side, per_cell } = crowd;
            let particles = Particles::draw(side, per_cell, distribution, sweep.seed())?;
            let group = Group {
                bench,
                peers: peers.as_ref().filter(|_| crowd.n() <= REFERENCE_MAX_N),
                threads: bench.options.threads.first().copied().unwrap_or(256),
                distribution,
                particles: &particles,
            };
            for element in &types {
                match element {
                    _ if sweep.is_over() => return Ok(()),
                    DType::F32 => group.time::<f32>(sweep)?,
                    _ => group.time::<f64>(sweep)?,
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::sweep::options::{Sizes, Wanted};
    use crate::sweep::suites::tests::simulate;

    #[test]
    fn every_algorithm_is_right_over_every_distribution() {
        let options = SweepOptions {
            suite: vec![Wanted::Keyed],
            sizes: vec![Sizes::one(270)],
            quick: true,
            quiet: true,
            ..SweepOptions::default()
        };
        let results = simulate(&options, run);
        let rows = results.rows.iter();
        let rows = rows.map(|row| (&row.kernel, &row.keys, &row.element, row.cache));
        // Eight kernels, three distributions, two types, cold and warm.
        assert_eq!(rows.collect::<HashSet<_>>().len(), 8 * 3 * 2 * 2);
    }

    #[test]
    fn a_crowd_is_the_nearest_to_a_number() {
        assert_eq!(Crowd::nearest(10_000_000), CROWD);
        for power in 2..=32 {
            assert_eq!(Crowd::nearest(1 << power).n(), 1 << power);
        }
        for n in [1, 7, 1000, 123_457, 400_000_000] {
            let crowd = Crowd::nearest(n);
            let of = |side, per_cell| Crowd { side, per_cell }.n().abs_diff(n);
            let mut others =
                (1..=500).flat_map(|side| PER_CELL.map(move |per_cell| of(side, per_cell)));
            assert!(
                others.all(|other| other >= crowd.n().abs_diff(n)),
                "{n}: {crowd:?}"
            );
        }
        assert_eq!(Crowd::nearest(usize::MAX).side, MAX_SIDE);
    }
}
