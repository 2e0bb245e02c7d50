//! Every reduction of triples under the simulator, with all checks: exact sums of three fields.

use std::process::ExitCode;

use cuda_sim::{Buffer, Plain, Schedule, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::triple::{ENTRIES, TripleEntry};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let trials = ENTRIES.iter().map(|entry| {
        Trial::test(format!("simulator {}", entry.name), move || {
            match entry.element {
                "i32" => sweep(entry, i32::from, 0),
                "f32" => sweep(entry, f32::from, -0.0),
                "f64" => sweep(entry, f64::from, -0.0),
                other => Err(format!("there are no sums of {other}").into()),
            }
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Around nothing, a warp, a block and several rounds of the grid; the sums are small whole numbers.
fn sweep<T: Element + Plain>(
    entry: &TripleEntry,
    of: fn(i16) -> T,
    identity: T,
) -> Result<(), Failed> {
    for (threads, blocks) in [(32, 1), (64, 3), (256, 2), (1024, 1)] {
        let threads_of_grid = (threads * blocks) as usize;
        for n in [0, 1, 31, 33, threads_of_grid - 1, 3 * threads_of_grid + 5] {
            for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(7)] {
                // Each field has numbers of its own.
                let numbers: Vec<i16> = (0..3 * n).map(|i| (i * i % 23) as i16 - 7).collect();
                let mut sums = [0; 3];
                for (i, number) in numbers.iter().enumerate() {
                    sums[i % 3] += number;
                }
                let input: Vec<T> = numbers.iter().map(|number| of(*number)).collect();
                let input = Buffer::from(&input);
                let output = Buffer::from(&vec![identity; 3]);
                let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
                Simulator::new()
                    .check_all()
                    .schedule(schedule)
                    .kernel(entry.name)
                    .grid(blocks)
                    .block(threads)
                    // SAFETY: both arrays are there, of the entry's element type: `n` triples, and
                    // a cell of each field, which holds the identity.
                    .run(|| unsafe { (entry.function)(from, 3 * n, to, 3) })
                    .map_err(|failure| failure.to_string())?;
                let (got, expected) = (output.to_vec(), sums.map(of));
                if got != expected {
                    return Err(format!(
                        "{n} triples, {blocks} blocks of {threads}: {got:?} instead of {expected:?}"
                    )
                    .into());
                }
            }
        }
    }
    Ok(())
}
