//! The ladder, or another suite of kernels, on a CUDA device: every one, its twin, CUB and the read
//! ceiling, timed in turn.
//!
//! A timed run stands in the stream right behind an untimed read of the whole input, so that every
//! row finds the caches in the same state. The device is busy with that read while the host
//! enqueues: launch latency stays out of the times as long as the read lasts longer than the
//! enqueueing. At sizes that the L2 cache holds it does not, and a note in the report says so.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use warpfold::{Algorithm, Buffer, Device, DeviceInfo, Plan, Sum};

use crate::data::Integers;
use crate::driver::checked;
use crate::machine::describe;
use crate::options::{LadderOptions, Suite, bad_option};
use crate::peers::{Cub, Launch, Peers, Shape, TWIN_MAX_N, Twin};
use crate::report::{self, By, Report, Row, Started};
use crate::say;
use crate::table::thousands;
use crate::timing::{Run, Timed, between_events, rounds};

/// Refuses what no rung can be planned with, before there is any data. Works on the CPU too.
pub fn check(device: &Device, options: &LadderOptions) -> Result<()> {
    let one = device.upload(&[1])?;
    for threads in options.threads() {
        for algorithm in algorithms(options) {
            plan(device, &one, algorithm, threads)?;
        }
    }
    Ok(())
}

/// Times the rows that `options` ask for.
pub fn measure(
    gpu: &Device,
    info: &DeviceInfo,
    options: &LadderOptions,
    started: Started,
) -> Result<Report> {
    // Too little memory is better said before the integers are drawn.
    drop(gpu.alloc::<i32>(options.n)?);
    let integers = Integers::draw(options.n, options.seed())?;
    let input = gpu.upload(&integers.values)?;

    let peers = options.peers.then(|| Peers::build(info.compute_capability));
    let found = peers.as_ref().map(|peers| match peers {
        Ok(peers) => report::Peers::Built(peers.built.clone()),
        Err(reason) => report::Peers::Absent(format!("{reason:#}")),
    });
    let peers = peers.and_then(Result::ok);

    let counts = (options.warmup as usize, options.repeats as usize);
    let mut report = Report::new(
        started,
        report::Device::Cuda(describe(gpu, info)?),
        found,
        &integers,
        counts,
    );
    let twins = peers.as_ref().filter(|_| input.len() <= TWIN_MAX_N);
    if peers.is_some() && twins.is_none() {
        let note =
            format!("nvcc's twins index with int and are right up to n = {TWIN_MAX_N}: left out");
        report.notes.push(note);
    }
    if report.bytes() <= info.l2_bytes {
        report.notes.push(in_l2(info.l2_bytes));
    }
    say(&format!("{}\n", report.header()))?;

    // The twins run one after the other and share their scratch: what one element per thread and
    // the fewest threads need is enough for all.
    let least = options.threads().into_iter().min().unwrap_or(1) as usize;
    let partials = twins.map_or(0, |_| input.len().div_ceil(least));
    let bench = Bench {
        gpu,
        input: &input,
        answer: integers.sum,
        before: RefCell::new(gpu.read_ceiling(&input)?),
        scratch: [gpu.alloc(partials)?, gpu.alloc(partials.div_ceil(least))?],
    };
    let ceiling = Row::new("read_ceiling", By::Warpfold);
    let plan_of_ceiling = Rc::new(RefCell::new(gpu.read_ceiling(&input)?));
    let mut timed = vec![bench.plan(&ceiling, plan_of_ceiling)];
    report.ceiling = Some(ceiling);
    for threads in options.threads() {
        for algorithm in algorithms(options) {
            let plan = plan(gpu, &input, algorithm, threads)?;
            let row = |by| Row {
                threads: Some(threads),
                chunks: chunks(algorithm),
                blocks: plan.passes().first().map(|pass| pass.blocks),
                passes: Some(plan.passes().len()),
                ..Row::new(algorithm.kernel_name(), by)
            };
            let (ours, theirs) = (row(By::Warpfold), row(By::Nvcc));
            let plan = Rc::new(RefCell::new(plan));
            timed.push(bench.plan(&ours, Rc::clone(&plan)));
            report.rows.push(ours);
            if let Some(peers) = twins {
                let twin = peers.twin(&theirs.kernel)?;
                timed.push(bench.twin(&theirs, twin, threads, plan));
                report.rows.push(theirs);
            }
        }
    }
    if let Some(peers) = &peers {
        let row = Row::new("DeviceReduce::Sum", By::Cub);
        timed.push(bench.cub(&row, peers.cub()?)?);
        report.rows.push(row);
    }

    let samples = rounds(&mut timed, integers.sum, counts.0, counts.1)?;
    report.fill(samples);
    Ok(report)
}

/// What to know of the times of an input that the L2 cache holds.
fn in_l2(l2_bytes: u64) -> String {
    format!(
        "at this size the data lies in the L2 cache ({} bytes) and the times include launch latency: % ceiling compares cache with cache",
        thousands(l2_bytes)
    )
}

/// The rows that are asked for.
fn algorithms(options: &LadderOptions) -> Vec<Algorithm> {
    match options.suite {
        Suite::Ladder => rungs(&options.chunks),
        Suite::Kepler => Algorithm::KEPLER.to_vec(),
    }
}

/// The rows of the ladder, with the reduce_5 rows that `chunks` asks for in place of its own.
pub fn rungs(chunks: &[u32]) -> Vec<Algorithm> {
    if chunks.is_empty() {
        return Algorithm::LADDER.to_vec();
    }
    let is_reduce_5 = |algorithm: &&Algorithm| {
        matches!(
            algorithm,
            Algorithm::Reduce5Loop { .. } | Algorithm::Reduce5 { .. }
        )
    };
    let others = Algorithm::LADDER
        .iter()
        .filter(|algorithm| !is_reduce_5(algorithm))
        .copied();
    let loops = chunks
        .iter()
        .map(|&chunks| Algorithm::Reduce5Loop { chunks });
    let unrolled = chunks.iter().map(|&chunks| Algorithm::Reduce5 { chunks });
    others.chain(loops).chain(unrolled).collect()
}

/// Elements per thread, where the kernel's name does not say it.
pub fn chunks(algorithm: Algorithm) -> Option<u32> {
    match algorithm {
        Algorithm::Reduce5Loop { chunks } => Some(chunks),
        _ => None,
    }
}

fn plan<'a>(
    device: &Device,
    input: &'a Buffer<i32>,
    algorithm: Algorithm,
    threads: u32,
) -> Result<Plan<'a, i32>> {
    let reduction = device
        .reduce(input, Sum)
        .algorithm(algorithm)
        .threads(threads);
    reduction.plan().map_err(bad_option)
}

/// What all rows have in common.
struct Bench<'a> {
    gpu: &'a Device,
    input: &'a Buffer<i32>,
    answer: i32,
    /// Read once, untimed, before each timed run.
    before: RefCell<Plan<'a, i32>>,
    /// The twins' partials, of the odd and of the even passes.
    scratch: [Buffer<i32>; 2],
}

impl<'a> Bench<'a> {
    /// One of ours. Its scratch is poisoned, so that every partial must be written anew.
    fn plan<'s>(&'s self, row: &Row, plan: SharedPlan<'a>) -> Timed<'s> {
        Timed::new(&row.kernel, move || {
            let mut plan = plan.borrow_mut();
            plan.fill_scratch(poison(self.answer))?;
            self.before.borrow_mut().enqueue()?;
            let ms = self.gpu.time(|| plan.enqueue())?;
            let answer = plan.result()?;
            Ok(Run { ms, answer })
        })
    }

    /// nvcc's twin of a rung. It writes the very cell that `plan`, the rung's own, writes: how fast
    /// atomics on one address are served depends on the address, by up to 8 % on an H200. And it
    /// runs after the plan, which is thereby able to read the cell. Its scratch is poisoned as ours
    /// is, untimed.
    fn twin<'s>(&'s self, row: &Row, twin: Twin, threads: u32, plan: SharedPlan<'a>) -> Timed<'s> {
        let shape = Shape {
            threads,
            chunks: row.chunks.unwrap_or(1),
            partials: [0, 1].map(|i: usize| self.scratch[i].as_device_ptr()),
        };
        Timed::new(&row.kernel, move || {
            let mut plan = plan.borrow_mut();
            plan.fill_scratch(poison(self.answer))?;
            // SAFETY: the fill has made the device's context current, for any input but an empty one
            // (`Plan::fill_scratch`), whose twins have empty scratch (`measure`).
            unsafe { self.poison_scratch() }?;
            let ms = self.time_peer(plan.result_ptr(), |on| {
                // SAFETY: `time_peer` vouches for `on`, whose result is the plan's and stays until
                // the plan has read it, below; the scratch is this bench's and has as many
                // elements as the fewest threads of the run ask for (`measure`).
                unsafe { twin.enqueue(on, shape) }
            })?;
            let answer = plan.result()?;
            Ok(Run { ms, answer })
        })
    }

    /// Enqueues the poison of the twins' scratch.
    ///
    /// # Safety
    ///
    /// - The device's context is current, unless the scratch is empty.
    unsafe fn poison_scratch(&self) -> Result<()> {
        for scratch in self.scratch.iter().filter(|scratch| !scratch.is_empty()) {
            // SAFETY: the address and the bytes are the buffer's own, which frees its memory only
            // after a wait for this stream (`Buffer`); the stream is the device's and lives as long
            // as `gpu`; no host code reads the scratch; the context is the caller's contract.
            let status = unsafe {
                cust_raw::cuMemsetD8Async(
                    scratch.as_device_ptr(),
                    poison(self.answer),
                    scratch.len() * size_of::<i32>(),
                    self.gpu.stream_ptr().cast(),
                )
            };
            checked("cuMemsetD8Async", status)?;
        }
        Ok(())
    }

    /// CUB's sum, with its temporary storage.
    fn cub(&self, row: &Row, cub: Cub) -> Result<Timed<'_>> {
        let bytes = cub.temp_bytes(self.input.len())?;
        let temp = self.gpu.alloc::<i32>(bytes.div_ceil(size_of::<i32>()))?;
        Ok(Timed::new(&row.kernel, move || {
            let result = self.gpu.upload(&[!self.answer])?;
            let ms = self.time_peer(result.as_device_ptr(), |on| {
                // SAFETY: `time_peer` vouches for `on`, whose result lives until it is read, below;
                // `temp` has the bytes that CUB asked for and lives as long as this closure.
                unsafe { cub.enqueue(on, temp.as_device_ptr(), bytes) }
            })?;
            let answer = result.download()?[0];
            Ok(Run { ms, answer })
        }))
    }

    /// Times what a peer enqueues to write `result`.
    ///
    /// `enqueue` is called with live memory of this input, on the live stream of the device whose
    /// context is current ([`Device::time`] makes it so); the input stays until the stream has done
    /// the work (`time` waits for it).
    fn time_peer(&self, result: u64, enqueue: impl FnOnce(Launch) -> Result<()>) -> Result<f64> {
        let on = Launch {
            input: self.input.as_device_ptr(),
            n: self.input.len(),
            result,
            stream: self.gpu.stream_ptr(),
        };
        self.before.borrow_mut().enqueue()?;
        between_events(self.gpu, || enqueue(on))
    }
}

/// A rung's plan, run by the rung's row and read by its twin's.
type SharedPlan<'a> = Rc<RefCell<Plan<'a, i32>>>;

/// A byte that the answer is not made of.
fn poison(answer: i32) -> u8 {
    if answer == i32::from_ne_bytes([0xA5; 4]) {
        0x5A
    } else {
        0xA5
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_algorithm_has_a_twin() {
        let source = concat!(
            include_str!("../peers/ladder.cu"),
            include_str!("../peers/kepler.cu")
        );
        for algorithm in Algorithm::LADDER.iter().chain(Algorithm::KEPLER) {
            let name = algorithm.kernel_name();
            let defined = |end| source.contains(&format!("_TWIN({name}{end}"));
            assert!(defined(")") || defined(", "), "no twin of {name}");
        }
    }

    #[test]
    fn chunks_take_the_place_of_the_ladders_own() {
        assert_eq!(rungs(&[]), Algorithm::LADDER);
        let rungs = rungs(&[2, 3]);
        let five: Vec<_> = rungs
            .iter()
            .filter(|a| a.kernel_name().starts_with("reduce_5"))
            .collect();
        assert_eq!(
            five,
            [
                &Algorithm::Reduce5Loop { chunks: 2 },
                &Algorithm::Reduce5Loop { chunks: 3 },
                &Algorithm::Reduce5 { chunks: 2 },
                &Algorithm::Reduce5 { chunks: 3 },
            ]
        );
        assert_eq!(rungs[0], Algorithm::Naive);
    }

    #[test]
    fn rows_can_be_told_apart() {
        let rows: Vec<_> = rungs(&[1, 2, 4, 8, 16])
            .iter()
            .map(|&a| (a.kernel_name(), chunks(a)))
            .collect();
        assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
    }

    #[test]
    fn what_cannot_be_planned_is_a_bad_option() {
        use clap::Parser;

        use crate::options::{BadOption, Cli, Command};

        for (words, said) in [
            ("--threads 300", "300 threads"),
            ("--threads 2048", "2048 threads"),
            ("--threads 256,16", "16 threads"),
            ("--chunks 3", "3 chunks"),
            ("--chunks 0", "0 chunks"),
            ("--suite kepler --threads 300", "300 threads"),
        ] {
            let words = ["warpfold-bench", "ladder"]
                .into_iter()
                .chain(words.split(' '));
            let Cli {
                command: Command::Ladder(options),
            } = Cli::parse_from(words)
            else {
                unreachable!("the words say ladder");
            };
            let error = check(&Device::cpu(), &options).unwrap_err();
            assert!(
                error.is::<BadOption>() && error.to_string().contains(said),
                "{error}"
            );
        }
    }

    #[test]
    fn poison_is_never_the_answer() {
        for answer in [
            0,
            -1,
            i32::from_ne_bytes([0xA5; 4]),
            i32::from_ne_bytes([0x5A; 4]),
        ] {
            assert_ne!(i32::from_ne_bytes([poison(answer); 4]), answer);
        }
    }
}
