//! Copies: bandwidth against size, by the width of an access.

use anyhow::Result;
use warpfold_results::schema::{By, Row, Suite};

use super::Bench;
use crate::copies;
use crate::copies::record::By as CopyBy;
use crate::copies::twins::Twins;
use crate::sweep::data;
use crate::sweep::rounds::{Run, Timed};
use crate::sweep::row;
use crate::sweep::run::Sweep;

/// Every size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let sizes = bench.options.sizes(10..=28, 2);
    sweep.announce(sizes.len());
    let twins = bench.options.wants(By::Nvcc).then(|| {
        let twins = Twins::build(bench.info.compute_capability);
        sweep.peer_built(By::Nvcc, twins.as_ref().map(|twins| &twins.built));
        twins
    });
    let twins = twins.and_then(Result::ok);
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let integers = data::draw::<i32>(longest, sweep.seed())?;
    let source = bench.gpu.upload(&integers)?;
    let copies = copies::Bench::new(bench.gpu, &integers, &source)?;
    for n in sizes {
        if sweep.is_over() {
            return Ok(());
        }
        let (rows, timed, sum) = copies.rows(n, twins.as_ref())?;
        let rows = rows.into_iter().zip(timed);
        let wanted = rows.filter(|(row, _)| bench.options.wants_kernel(row.kernel));
        let rows = wanted.map(|(copy, mut timed)| {
            let by = match copy.by {
                CopyBy::Warpfold => By::Warpfold,
                CopyBy::Nvcc => By::Nvcc,
                CopyBy::Driver => By::Driver,
            };
            let row = Row {
                by,
                // Read, and written.
                bytes: 2 * (n * size_of::<i32>()) as u64,
                threads: copy.launch.map(|(_, threads)| threads),
                blocks: copy.launch.map(|(blocks, _)| blocks),
                ..row(Suite::Copy, copy.kernel, "i32", n)
            };
            Timed::new(row, move || {
                let run = timed.run()?;
                Ok(Run {
                    us: run.ms * 1e3,
                    verdict: data::judge(run.answer, sum),
                })
            })
        });
        sweep.group(&format!("copy of {n} i32"), rows.collect())?;
    }
    Ok(())
}
