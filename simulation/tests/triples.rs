//! Every reduction of triples under the simulator, with all checks: exact sums of three fields.

use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::triple::{ENTRIES, TripleEntry};
use kernels_sim::triples::Triples;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let trials = ENTRIES.iter().map(|entry| {
        let name = format!("simulator {}", entry.name);
        Trial::test(name, move || sweep(*entry))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Around nothing, a warp, a block and several rounds of the grid.
fn sweep(entry: TripleEntry) -> Result<(), Failed> {
    for (threads, blocks) in [(32, 1), (64, 3), (256, 2), (1024, 1)] {
        let threads_of_grid = (threads * blocks) as usize;
        for n in [0, 1, 31, 33, threads_of_grid - 1, 3 * threads_of_grid + 5] {
            for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(7)] {
                let triples = Triples {
                    entry,
                    threads,
                    blocks,
                    n,
                };
                triples.run(Simulator::new().check_all().schedule(schedule))?;
            }
        }
    }
    Ok(())
}
