//! Reduction by key: particles in the cells of a box, for each algorithm and distribution of the keys; the search for
//! peers alone; histograms and filters.

mod counts;
mod group;
mod lanes;
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
use crate::sweep::options::{KEYED_TYPES, SweepOptions};
use crate::sweep::run::Sweep;

/// Ten million particles, as in the post that the kernels follow; fewer in a quick run.
const DEFAULT_BOX: BoxSize = BoxSize {
    side: 100,
    per_cell: USUAL_PER_CELL,
};
const QUICK_BOX: BoxSize = BoxSize {
    side: 50,
    ..DEFAULT_BOX
};

const USUAL_PER_CELL: u32 = 10;

/// With these numbers, particles fill a box for every power of two from 4 on.
const PER_CELL: RangeInclusive<u32> = 4..=16;

/// The largest box whose cells have `u32` indices.
const MAX_SIDE: u32 = 1625;

/// A box of cells, and its particles per cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BoxSize {
    /// Cells along each side.
    side: u32,
    per_cell: u32,
}

impl BoxSize {
    /// The box with the number of particles nearest to `n`, preferably with the usual number per cell.
    fn nearest(n: usize) -> BoxSize {
        let sides = |per_cell| {
            let side = (n as f64 / f64::from(per_cell)).cbrt() as u32;
            [side, side.saturating_add(1)].map(|side| BoxSize {
                side: side.clamp(1, MAX_SIDE),
                per_cell,
            })
        };
        let distance =
            |size: &BoxSize| (size.n().abs_diff(n), size.per_cell.abs_diff(USUAL_PER_CELL));
        PER_CELL
            .flat_map(sides)
            .min_by_key(distance)
            .unwrap_or(DEFAULT_BOX)
    }

    /// The number of particles.
    fn n(self) -> usize {
        (self.side as usize).pow(3) * self.per_cell as usize
    }
}

/// The requested boxes.
fn box_sizes(options: &SweepOptions) -> Vec<BoxSize> {
    let mut sizes: Vec<_> = options
        .requested_sizes()
        .into_iter()
        .map(BoxSize::nearest)
        .collect();
    sizes.dedup();
    match (sizes.is_empty(), options.quick) {
        (false, _) => sizes,
        (true, false) => vec![DEFAULT_BOX],
        (true, true) => vec![QUICK_BOX],
    }
}

/// Times every size, distribution and type.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let types = bench.options.types_of(&KEYED_TYPES);
    let box_sizes = box_sizes(bench.options);
    let has_counts = bench.options.wants_kernel(counts::KERNEL);
    let count_groups = if has_counts { counts::groups() } else { 0 };
    let boxes = box_sizes.len() * Distribution::ALL.len();
    let others = count_groups + boxes + lanes::filter_groups(bench);
    sweep.announce(boxes * types.len() + others);
    // The reference kernels and CUB's functions are one library.
    let requested = [By::Nvcc, By::Cub].map(|by| bench.options.wants(by));
    let peers = requested.contains(&true).then(|| {
        let peers = peers::build(bench.info.compute_capability);
        for (by, _) in [By::Nvcc, By::Cub]
            .into_iter()
            .zip(requested)
            .filter(|(_, is_requested)| *is_requested)
        {
            sweep.peer_built(by, peers.as_ref().map(|peers| &peers.built));
        }
        peers
    });
    let peers = peers.and_then(Result::ok);
    if has_counts {
        counts::run(bench, sweep, peers.as_ref())?;
    }
    lanes::filters(bench, peers.as_ref(), sweep)?;
    for size in box_sizes {
        for distribution in Distribution::ALL {
            if sweep.is_over() {
                return Ok(());
            }
            let BoxSize { side, per_cell } = size;
            let particles = Particles::draw(side, per_cell, distribution, sweep.seed())?;
            let group = Group {
                bench,
                peers: peers.as_ref().filter(|_| size.n() <= REFERENCE_MAX_N),
                threads: bench.options.threads.first().copied().unwrap_or(256),
                distribution,
                particles: &particles,
            };
            lanes::search(bench, group.peers, (distribution, &particles), sweep)?;
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
    use crate::sweep::options::{Sizes, SuiteName};
    use crate::sweep::suites::tests::simulate;

    #[test]
    fn every_algorithm_is_right_over_every_distribution() {
        let options = SweepOptions {
            suite: vec![SuiteName::Keyed],
            sizes: vec![Sizes::one(270)],
            quick: true,
            quiet: true,
            ..SweepOptions::default()
        };
        let results = simulate(&options, run);
        let rows = results.rows.iter();
        let rows = rows.map(|row| (&row.kernel, &row.keys, &row.element, row.cache));
        let rows: HashSet<_> = rows.collect();
        let rows_of = |start: &str| rows.iter().filter(|row| row.0.starts_with(start)).count();
        // Three distributions of keys of two types, cold and warm.
        assert_eq!(rows_of(counts::KERNEL), 3 * 2 * 2);
        // Eight kernels, three distributions, two types, cold and warm.
        assert_eq!(rows_of("keyed_"), 8 * 3 * 2 * 2);
        // Three searches and a sum over three distributions.
        assert_eq!(rows_of("find_peers_") + rows_of("all_reduce_"), 4 * 3 * 2);
        // Two kernels, three shares of elements that are kept.
        assert_eq!(rows_of("filter_"), 2 * 3 * 2);
    }

    #[test]
    fn the_nearest_box_is_found() {
        assert_eq!(BoxSize::nearest(10_000_000), DEFAULT_BOX);
        for power in 2..=32 {
            assert_eq!(BoxSize::nearest(1 << power).n(), 1 << power);
        }
        for n in [1, 7, 1000, 123_457, 400_000_000] {
            let nearest = BoxSize::nearest(n);
            let distance = |side, per_cell| BoxSize { side, per_cell }.n().abs_diff(n);
            let mut distances =
                (1..=500).flat_map(|side| PER_CELL.map(move |per_cell| distance(side, per_cell)));
            assert!(
                distances.all(|distance| distance >= nearest.n().abs_diff(n)),
                "{n}: {nearest:?}"
            );
        }
        assert_eq!(BoxSize::nearest(usize::MAX).side, MAX_SIDE);
    }
}
