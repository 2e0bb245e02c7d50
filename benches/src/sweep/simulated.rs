//! The simulator's counts of the kernels, which are the same on every machine.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use cuda_sim::Simulator;
use kernels_gpu::entry::teaching;
use kernels_sim::Case;
use warpfold::Algorithm;
use warpfold_results::schema::{Backend, Row, Suite, Timing};

use super::options::SweepOptions;
use super::run::Sweep;
use crate::profile::figures::Figures;
use crate::profile::simulated::figures;
use crate::rungs::{chunks, ladder};

/// The default number of simulated elements.
const N: usize = 1 << 14;

/// Simulates the kernels of the suite ladder or kepler.
pub fn run(suite: Suite, options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let (all, threads) = match suite {
        Suite::Ladder => (ladder(&options.chunks), 256),
        _ => (Algorithm::KEPLER.to_vec(), 512),
    };
    let threads = options.threads.first().copied().unwrap_or(threads);
    let sizes = if options.sizes.is_empty() {
        vec![N]
    } else {
        options.sizes(0..=0, 1)
    };
    let requested = all
        .into_iter()
        .filter(|one| options.wants_kernel(one.kernel_name()));
    let requested: Vec<_> = requested.collect();
    sweep.announce(sizes.len());
    for n in sizes {
        if sweep.is_over() {
            return Ok(());
        }
        let rows: Result<Vec<_>> = requested
            .iter()
            .map(|one| counted(suite, *one, threads, n))
            .collect();
        sweep.keep(rows?);
    }
    Ok(())
}

fn counted(suite: Suite, algorithm: Algorithm, threads: u32, n: usize) -> Result<Row> {
    let kernel = algorithm.kernel_name();
    let name = format!("{kernel}_sum_i32");
    let entry = teaching::KERNELS
        .entries
        .iter()
        .find(|entry| entry.name == name);
    let entry = entry.with_context(|| format!("there is no entry {name}"))?;
    let case = Case::new(*entry, threads, n);
    let report = case.run(Simulator::new().count())?;
    let counters = report.counters.context("the simulator counted nothing")?;
    Ok(Row {
        backend: Backend::Sim,
        op: Some("sum".into()),
        bytes: (n * size_of::<i32>()) as u64,
        threads: Some(threads),
        blocks: Some(case.blocks),
        chunks: chunks(algorithm),
        timing: Timing::None,
        counts: named(&figures(&counters)),
        ..Row::new(suite, kernel, "i32", n)
    })
}

/// The counts by which kernels differ, by name.
fn named(figures: &Figures) -> BTreeMap<String, u64> {
    let requests = |access: crate::profile::figures::Access| access.requests.unwrap_or(0);
    let shared = [
        figures.shared_load,
        figures.shared_store,
        figures.shared_atomic,
    ];
    let counts = [
        ("global load requests", requests(figures.global_load)),
        ("global load sectors", figures.global_load.sectors),
        ("global atomic requests", requests(figures.global_atomic)),
        ("shared requests", shared.map(requests).iter().sum()),
        (
            "shared bank conflicts",
            shared.map(|access| access.conflicts()).iter().sum(),
        ),
        ("barriers", figures.barriers),
        ("shuffles", figures.shuffles),
        ("warp reductions", figures.reduxes),
    ];
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rungs_differ_in_their_counts() {
        let of = |algorithm| {
            counted(Suite::Ladder, algorithm, 256, 1 << 12)
                .unwrap()
                .counts
        };
        let (reduce_1, reduce_2) = (of(Algorithm::Reduce1), of(Algorithm::Reduce2));
        assert!(reduce_1["shared bank conflicts"] > 0);
        assert_eq!(reduce_2["shared bank conflicts"], 0);
        assert!(of(Algorithm::Reduce4)["barriers"] < reduce_2["barriers"]);
        assert_eq!(
            of(Algorithm::Naive)["global atomic requests"],
            1 << 7,
            "one for each warp"
        );
    }
}
