//! Reduction by key: particles in the cells of a box, by algorithm and by where equal keys lie.

use std::cell::RefCell;

use anyhow::Result;
use warpfold::{Operator, Sum};
use warpfold_results::schema::{By, Row, Suite};

use super::Bench;
use crate::keyed::data::{ARRAYS, Distribution};
use crate::keyed::peers::Peers;
use crate::keyed::{self, Value};
use crate::options::{ElementType, KeyedOptions};
use crate::report::By as KeyedBy;
use crate::sweep::options::OF_FLOATS;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::row;
use crate::sweep::run::Sweep;

/// Cells along each side of the box, and particles for each: ten million in all, as in the post that the
/// kernels follow; fewer for a quick look.
const SIDE: u32 = 100;
const QUICK_SIDE: u32 = 50;
const PARTICLES: u32 = 10;

/// Every distribution and type.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let types = bench.options.types_of(&OF_FLOATS);
    sweep.announce(Distribution::ALL.len() * types.len());
    let options = KeyedOptions {
        side: if bench.options.quick {
            QUICK_SIDE
        } else {
            SIDE
        },
        particles: PARTICLES,
        threads: bench.options.threads.first().copied().unwrap_or(256),
        peers: true,
        repeats: 0,
        warmup: 0,
        device: None,
        seed: None,
        json: None,
    };
    // Its own twins and CUB's ReduceByKey are one library.
    let wanted = [By::Nvcc, By::Cub].map(|by| bench.options.wants(by));
    let peers = wanted.contains(&true).then(|| {
        let peers = Peers::build(bench.info.compute_capability);
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
    for distribution in Distribution::ALL {
        let particles = keyed::draw(&options, distribution, sweep.seed())?;
        let flush = RefCell::new(bench.gpu.read_ceiling(bench.elsewhere)?);
        let keyed = keyed::Bench {
            gpu: bench.gpu,
            flush: Some(&flush),
            peers: peers.as_ref(),
            options: &options,
            distribution,
            particles: &particles,
        };
        for element in &types {
            if sweep.is_over() {
                return Ok(());
            }
            match element {
                ElementType::F32 => group::<f32>(&keyed, bench, sweep)?,
                _ => group::<f64>(&keyed, bench, sweep)?,
            }
        }
    }
    Ok(())
}

fn group<T: Value>(keyed: &keyed::Bench, bench: &Bench, sweep: &mut Sweep) -> Result<()>
where
    Sum: Operator<T, Acc = T>,
{
    let (n, cells) = (keyed.particles.keys.len(), keyed.cells());
    keyed.with_rows::<T, _>(|timed| {
        let rows = timed.into_iter().filter_map(|mut timed| {
            let by = match timed.row.by {
                KeyedBy::Nvcc => By::Nvcc,
                KeyedBy::Cub => By::Cub,
                KeyedBy::Warpfold | KeyedBy::Host => By::Warpfold,
            };
            let kernel = timed.row.kernel.clone();
            if !bench.options.wants(by) || !(by == By::Cub || bench.options.wants_kernel(&kernel)) {
                return None;
            }
            let arrays = if kernel.ends_with("_x3") { ARRAYS } else { 1 };
            let each = size_of::<T>() * arrays;
            let row = Row {
                by,
                op: Some("sum".into()),
                // Keys and values are read, cells are written.
                bytes: (n * (size_of::<u32>() + each) + cells * each) as u64,
                threads: (by != By::Cub).then_some(keyed.options.threads),
                keys: Some(keyed.distribution.name().into()),
                ..row(Suite::Keyed, &kernel, T::NAME, n)
            };
            Some(Timed::new(row, move || {
                let (ms, wrong) = (timed.run)()?;
                let verdict = match wrong {
                    None => Ok(()),
                    Some(wrong) => Err((wrong, "the exact sums".into())),
                };
                Ok(Run {
                    us: ms * 1e3,
                    verdict,
                })
            }))
        });
        let what = format!("{} keys, {}", keyed.distribution.name(), T::NAME);
        sweep.group(&what, rows.collect())
    })
}
