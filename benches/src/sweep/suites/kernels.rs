//! The ladder, and shuffles and atomics: sums of `i32` by every kernel and its reference kernel; sums of triples.

mod reference;
mod triples;

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use warpfold::{Algorithm, Buffer, Device, Plan, Sum, View};
use warpfold_results::schema::{By, Row, Suite};

use self::reference::{Launch, MAX_N, Reference};
use super::planned::{SharedPlan, plan_row, plan_subject};
use super::{Bench, ceiling_subject, cub_subject};
use crate::options::bad_option;
use crate::peers::Peers;
use crate::rungs::{chunks, ladder};
use crate::sweep::copies::Copies;
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::options::SweepOptions;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;

/// Times every size and number of threads of the suite ladder or kepler.
pub fn run(bench: &Bench, suite: Suite, sweep: &mut Sweep) -> Result<()> {
    let options = bench.options;
    // The ladder compares rungs on one large array; the other suite has many sizes.
    let sizes = match suite {
        Suite::Ladder => options.sizes(28..=28, 1),
        _ => options.sizes(12..=28, 2),
    };
    let (requested, threads) = requested(options, suite);
    let triples = usize::from(suite == Suite::Kepler);
    sweep.announce(sizes.len() * (threads.len() + triples));

    let peers = (options.wants(By::Nvcc) || options.wants(By::Cub)).then(|| {
        let peers = reference::build(bench.info.compute_capability);
        for by in [By::Nvcc, By::Cub] {
            if options.wants(by) {
                sweep.peer_built(by, peers.as_ref().map(|peers| &peers.built));
            }
        }
        peers
    });
    let peers = peers.and_then(Result::ok);
    let longest = sizes.iter().copied().max().unwrap_or(1);
    if options.wants(By::Nvcc) && longest > MAX_N {
        let note =
            format!("the reference kernels have int indices: left out for n of more than {MAX_N}");
        sweep.note(note);
    }
    let values = data::draw::<i32>(longest, sweep.seed())?;
    let mut input = bench.gpu.upload(&values)?;
    for n in sizes {
        if sweep.is_over() {
            return Ok(());
        }
        let input = Copies::of(bench.gpu, &mut input, &values[..n])?;
        let expected = Expected::exactly(i32::sum(&values[..n]));
        for &threads in &threads {
            if sweep.is_over() {
                return Ok(());
            }
            let group = Group {
                bench,
                suite,
                input: &input,
                expected,
                n,
                threads,
                peers: peers.as_ref(),
            };
            group.time(&requested, sweep)?;
        }
        if suite == Suite::Kepler {
            triples::time(bench, (&input, &values[..n]), peers.as_ref(), sweep)?;
        }
    }
    Ok(())
}

/// The requested kernels of a suite, and the requested numbers of threads per block.
fn requested(options: &SweepOptions, suite: Suite) -> (Vec<Algorithm>, Vec<u32>) {
    let (mut kernels, threads) = match suite {
        Suite::Ladder => (ladder(&options.chunks), [256, 512, 1024].as_slice()),
        _ => (Algorithm::KEPLER.to_vec(), [512].as_slice()),
    };
    kernels.retain(|one| options.wants_kernel(one.kernel_name()));
    (kernels, options.threads(threads))
}

/// Refuses options with which a requested kernel of the two suites cannot be planned. Needs no GPU.
pub fn check(options: &SweepOptions) -> Result<()> {
    let cpu = Device::cpu();
    let one = cpu.upload(&[1])?;
    for suite in [Suite::Ladder, Suite::Kepler] {
        let is_requested = options.suites().contains(&suite);
        let (kernels, threads) = requested(options, suite);
        for threads in threads.into_iter().filter(|_| is_requested) {
            for &algorithm in &kernels {
                plan(&cpu, one.view(..)?, algorithm, threads)?;
            }
        }
    }
    Ok(())
}

fn plan<'a>(
    device: &Device,
    input: View<'a, i32>,
    algorithm: Algorithm,
    threads: u32,
) -> Result<Plan<'a, i32>> {
    let reduction = device.reduce(input, Sum).algorithm(algorithm);
    reduction.threads(threads).plan().map_err(bad_option)
}

/// Sums of one input with one number of threads per block.
struct Group<'a> {
    bench: &'a Bench<'a>,
    suite: Suite,
    input: &'a Copies<'a, i32>,
    expected: Expected<i32>,
    n: usize,
    threads: u32,
    peers: Option<&'a Peers>,
}

impl Group<'_> {
    fn time(&self, algorithms: &[Algorithm], sweep: &mut Sweep) -> Result<()> {
        let (bench, options) = (self.bench, self.bench.options);
        // The reference kernels run one after the other and share their scratch.
        let references = self
            .peers
            .filter(|_| options.wants(By::Nvcc) && self.n <= MAX_N);
        let partials = references.map_or(0, |_| self.n.div_ceil(self.threads as usize));
        let scratch = [
            bench.gpu.alloc::<i32>(partials)?,
            bench
                .gpu
                .alloc::<i32>(partials.div_ceil(self.threads as usize))?,
        ];
        let mut subjects = Vec::new();
        for &algorithm in algorithms {
            let views = self.input.views(self.n)?.into_iter();
            let plans = views.map(|input| plan(bench.gpu, input, algorithm, self.threads));
            let plans = plans.collect::<Result<Vec<_>>>()?;
            let row = Row {
                chunks: chunks(algorithm),
                ..self.row(By::Warpfold, algorithm.kernel_name())
            };
            let row = plans
                .first()
                .map_or(row.clone(), |plan| plan_row(row, plan));
            let plans = plans.into_iter().map(|plan| Rc::new(RefCell::new(plan)));
            let plans: Vec<_> = plans.collect();
            let check = |got| data::check(got, self.expected);
            subjects.push(plan_subject(row.clone(), plans.clone(), check));
            if let Some(peers) = references {
                let reference = Reference::of(peers, algorithm.kernel_name())?;
                subjects.push(self.reference_subject(row, reference, plans, &scratch));
            }
        }
        if let Some(peers) = self.peers.filter(|_| options.wants(By::Cub)) {
            subjects.push(self.cub_subject(peers)?);
        }
        let row = self.row(By::Ceiling, "read_ceiling");
        subjects.push(ceiling_subject(
            bench,
            row,
            self.input.views(self.n)?,
            self.expected,
        )?);
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();

        let what = format!("{} i32, {} threads", self.n, self.threads);
        sweep.group(&what, bench.device_rows(&subjects))
    }

    fn row(&self, by: By, kernel: &str) -> Row {
        Row {
            by,
            op: Some("sum".into()),
            bytes: (self.n * size_of::<i32>()) as u64,
            ..Row::new(self.suite, kernel, "i32", self.n)
        }
    }

    /// The reference kernel. It writes the same cells as `plans`, those of warpfold's kernel, because the
    /// speed of atomics on one address depends on the address, by up to 8 % on an H200. It runs after the
    /// plans, so that they can read the cells.
    fn reference_subject<'s>(
        &'s self,
        row: Row,
        reference: Reference,
        plans: Vec<SharedPlan<'s, i32>>,
        scratch: &'s [Buffer<i32>; 2],
    ) -> Subject<'s> {
        let chunks = row.chunks.unwrap_or(1);
        let row = Row {
            by: By::Nvcc,
            ..row
        };
        let check = |got| data::check(got, self.expected);
        let of_plans = plan_subject(row, plans.clone(), check);
        let overwrite_results = of_plans.overwrite;
        Subject {
            overwrite: Box::new(move || {
                overwrite_results()?;
                let scratch = scratch.iter().filter(|scratch| !scratch.is_empty());
                scratch
                    .into_iter()
                    .try_for_each(|scratch| self.bench.timer.overwrite(scratch))
            }),
            enqueue: Box::new(move |copy, stream| {
                let on = Launch {
                    input: self.input.address(copy),
                    n: self.n,
                    threads: self.threads,
                    chunks,
                    partials: scratch.each_ref().map(Buffer::as_device_ptr),
                    result: plans[copy].borrow().result_ptr(),
                    stream,
                };
                // SAFETY: the stream is this device's and its context is current (`Subject::enqueue`). All
                // addresses are of live memory of this device: `n` integers in each copy, the plan's result,
                // and scratch for this number of threads (`time`). It lives at least as long as this closure,
                // which is dropped only after a wait for all enqueued work (`Timer::time`, `Events`).
                unsafe { reference.enqueue(on) }
            }),
            ..of_plans
        }
    }

    fn cub_subject(&self, peers: &Peers) -> Result<Subject<'_>> {
        let cub = reference::cub(peers)?;
        let row = Row {
            variant: Some("default".into()),
            ..self.row(By::Cub, "DeviceReduce::Sum")
        };
        cub_subject(self.bench, row, cub, self.input, self.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::BadOption;
    use crate::sweep::options::SuiteName;

    #[test]
    fn options_without_a_plan_are_bad_options() {
        let refused = |suite, threads: &[u32], chunks: &[u32]| {
            let options = SweepOptions {
                suite: vec![suite],
                threads: threads.to_vec(),
                chunks: chunks.to_vec(),
                ..SweepOptions::default()
            };
            let error = check(&options).unwrap_err();
            assert!(error.is::<BadOption>(), "{error}");
            error.to_string()
        };
        for suite in [SuiteName::Ladder, SuiteName::Kepler] {
            assert!(refused(suite, &[300], &[]).contains("300 threads"));
            assert!(refused(suite, &[2048], &[]).contains("2048 threads"));
            assert!(refused(suite, &[256, 16], &[]).contains("16 threads"));
        }
        assert!(refused(SuiteName::Ladder, &[], &[3]).contains("3 chunks"));
        assert!(refused(SuiteName::Ladder, &[], &[0]).contains("0 chunks"));
        assert!(check(&SweepOptions::default()).is_ok(), "no suite");
    }
}
