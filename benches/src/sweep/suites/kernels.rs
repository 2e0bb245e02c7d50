//! The ladder, and shuffles and atomics: sums of `i32` by every kernel and its twin.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use warpfold::{Algorithm, Buffer, Sum};
use warpfold_results::schema::{By, Row, Suite};

use super::planned::{SharedPlan, plan_row, planned};
use super::{Bench, ceiling};
use crate::ladder;
use crate::options::bad_option;
use crate::peers::{Launch, Peers, Shape, TWIN_MAX_N, Twin};
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::row;
use crate::sweep::run::Sweep;
use crate::sweep::subject::{POISON, Subject};

/// Every size and number of threads of one of the two suites.
pub fn run(bench: &Bench, suite: Suite, sweep: &mut Sweep) -> Result<()> {
    let options = bench.options;
    // The ladder is a picture of one large array, the other of many sizes.
    let (sizes, threads, all) = match suite {
        Suite::Ladder => (
            options.sizes(28..=28, 1),
            [256, 512, 1024].as_slice(),
            ladder::rungs(&options.chunks),
        ),
        _ => (
            options.sizes(12..=28, 2),
            [512].as_slice(),
            Algorithm::KEPLER.to_vec(),
        ),
    };
    let threads = match options.threads.as_slice() {
        [] => threads,
        asked => asked,
    };
    let wanted = all
        .into_iter()
        .filter(|one| options.wants_kernel(one.kernel_name()));
    let wanted: Vec<_> = wanted.collect();
    sweep.announce(sizes.len() * threads.len());

    let peers = (options.wants(By::Nvcc) || options.wants(By::Cub)).then(|| {
        let peers = Peers::build(bench.info.compute_capability);
        for by in [By::Nvcc, By::Cub] {
            if options.wants(by) {
                sweep.peer_built(by, peers.as_ref().map(|peers| &peers.built));
            }
        }
        peers
    });
    let peers = peers.and_then(Result::ok);
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let values = data::draw::<i32>(longest, sweep.seed())?;
    let input = bench.gpu.upload(&values)?;
    for n in sizes {
        let expected = Expected::exactly(i32::sum(&values[..n]));
        for &threads in threads {
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
            group.time(&wanted, sweep)?;
        }
    }
    Ok(())
}

/// Sums of one input by so many threads per block.
struct Group<'a> {
    bench: &'a Bench<'a>,
    suite: Suite,
    input: &'a Buffer<i32>,
    expected: Expected<i32>,
    n: usize,
    threads: u32,
    peers: Option<&'a Peers>,
}

impl Group<'_> {
    fn time(&self, algorithms: &[Algorithm], sweep: &mut Sweep) -> Result<()> {
        let (bench, options) = (self.bench, self.bench.options);
        // The twins run one after the other and share their scratch.
        let twins = self
            .peers
            .filter(|_| options.wants(By::Nvcc) && self.n <= TWIN_MAX_N);
        let partials = twins.map_or(0, |_| self.n.div_ceil(self.threads as usize));
        let scratch = [
            bench.gpu.alloc::<i32>(partials)?,
            bench
                .gpu
                .alloc::<i32>(partials.div_ceil(self.threads as usize))?,
        ];
        let mut subjects = Vec::new();
        for &algorithm in algorithms {
            let plan = bench
                .gpu
                .reduce(self.input.view(..self.n)?, Sum)
                .algorithm(algorithm)
                .threads(self.threads)
                .plan()
                .map_err(bad_option)?;
            let row = Row {
                chunks: ladder::chunks(algorithm),
                ..plan_row(self.row(By::Warpfold, algorithm.kernel_name()), &plan)
            };
            let plan = Rc::new(RefCell::new(plan));
            subjects.push(planned(row.clone(), Rc::clone(&plan), self.expected));
            if let Some(peers) = twins {
                let twin = peers.twin(algorithm.kernel_name())?;
                subjects.push(self.twin(row, twin, plan, &scratch));
            }
        }
        if let Some(peers) = self.peers.filter(|_| options.wants(By::Cub)) {
            subjects.push(self.cub(peers)?);
        }
        let row = self.row(By::Ceiling, "read_ceiling");
        subjects.push(ceiling(
            bench,
            row,
            self.input.view(..self.n)?,
            self.expected,
        )?);
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();

        let what = format!("{} i32, {} threads", self.n, self.threads);
        sweep.group(&what, bench.by_device(&subjects))
    }

    fn row(&self, by: By, kernel: &str) -> Row {
        Row {
            by,
            op: Some("sum".into()),
            bytes: (self.n * size_of::<i32>()) as u64,
            ..row(self.suite, kernel, "i32", self.n)
        }
    }

    /// nvcc's twin of a kernel. It writes the very cell that `plan`, the kernel's own, writes: how fast
    /// atomics on one address are served depends on the address, by up to 8 % on an H200. And it
    /// runs after the plan, which is thereby able to read the cell.
    fn twin<'s>(
        &'s self,
        row: Row,
        twin: Twin,
        plan: SharedPlan<'s, i32>,
        scratch: &'s [Buffer<i32>; 2],
    ) -> Subject<'s> {
        let shape = Shape {
            threads: self.threads,
            chunks: row.chunks.unwrap_or(1),
            partials: [0, 1].map(|i: usize| scratch[i].as_device_ptr()),
        };
        let (spoiled, judged) = (Rc::clone(&plan), Rc::clone(&plan));
        Subject {
            row: Row {
                by: By::Nvcc,
                ..row
            },
            spoil: Box::new(move || {
                spoiled.borrow_mut().fill_scratch(POISON)?;
                let scratch = scratch.iter().filter(|scratch| !scratch.is_empty());
                scratch
                    .into_iter()
                    .try_for_each(|scratch| self.bench.stage.spoil(scratch))
            }),
            enqueue: Box::new(move |stream| {
                let on = Launch {
                    input: self.input.as_device_ptr(),
                    n: self.n,
                    result: plan.borrow().result_ptr(),
                    stream,
                };
                // SAFETY: live device memory of the device whose stream this is and whose context is
                // current (`Subject::enqueue`): at least `n` integers; the plan's result; scratch of as
                // many elements as these threads ask for (`time`). All of it lives as long as this
                // closure or longer, and what is enqueued is waited for before (`Stage::time`).
                unsafe { twin.enqueue(on, shape) }
            }),
            judge: Box::new(move || Ok(data::judge(judged.borrow().result()?, self.expected))),
        }
    }

    fn cub(&self, peers: &Peers) -> Result<Subject<'_>> {
        let cub = peers.cub()?;
        let bytes = cub.temp_bytes(self.n)?;
        let temp = self.bench.gpu.alloc::<u8>(bytes.max(1))?;
        let cell = Rc::new(self.bench.gpu.upload(&[!self.expected.value])?);
        let (spoiled, judged) = (Rc::clone(&cell), Rc::clone(&cell));
        Ok(Subject {
            row: Row {
                variant: Some("default".into()),
                ..self.row(By::Cub, "DeviceReduce::Sum")
            },
            spoil: Box::new(move || self.bench.stage.spoil(&spoiled)),
            enqueue: Box::new(move |stream| {
                let on = Launch {
                    input: self.input.as_device_ptr(),
                    n: self.n,
                    result: cell.as_device_ptr(),
                    stream,
                };
                // SAFETY: as for the twins; `temp` has the bytes that CUB asked for.
                unsafe { cub.enqueue(on, temp.as_device_ptr(), bytes) }
            }),
            judge: Box::new(move || Ok(data::judge(judged.download()?[0], self.expected))),
        })
    }
}
