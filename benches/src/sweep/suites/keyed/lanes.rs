//! The search for peers alone, which the post leaves out of its figure, the sums of peers, and filters.

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context, Result};
use kernels_gpu::element::Number;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Counter, Device, PeerSearch, Plan};
use warpfold_results::schema::{By, Row, Suite};

use super::group::equal;
use super::particles::{Distribution, Particles};
use super::peers::REFERENCE_MAX_N;
use crate::peers::Peers;
use crate::sweep::rounds::Verdict;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::Bench;
use crate::sweep::suites::planned::{plan_row, plan_subject};

/// The number of elements of a filter, unless sizes are requested.
const DEFAULT_N: usize = 1 << 24;
const QUICK_N: usize = 1 << 20;

/// The elements of a filter are from -KINDS to KINDS - 1.
const KINDS: i32 = 32;

/// The limits of the filters, and what they keep.
const LIMITS: [(i32, &str); 3] = [
    (-KINDS - 1, "all kept"),
    (-1, "half kept"),
    (KINDS - 3, "one of 32 kept"),
];

/// The reference kernels, in the order of their numbers in `lanes` of `keyed.cu`.
const REFERENCES: [&str; 6] = [
    "find_peers_ballot",
    "find_peers_match",
    "find_peers_hash",
    "all_reduce_peers",
    "filter_atomic",
    "filter_warp",
];

type ReferenceFn = unsafe extern "C" fn(
    i32,
    *const u32,
    *const f64,
    i32,
    i32,
    *mut c_void,
    *mut u64,
    i32,
    *mut c_void,
) -> i32;

/// Times all searches and the sums of peers for one distribution.
pub fn search(
    bench: &Bench,
    peers: Option<&Peers>,
    (distribution, particles): (Distribution, &Particles),
    sweep: &mut Sweep,
) -> Result<()> {
    let (gpu, n) = (bench.gpu, particles.keys.len());
    let keys = gpu.upload(&particles.keys)?;
    let numbers: Vec<f64> = particles.values[..n]
        .iter()
        .map(|x| f64::from(*x))
        .collect();
    let values = gpu.upload(&numbers)?;
    let cpu = Device::cpu();
    let on_cpu = cpu.upload(&particles.keys)?;
    let masks = cpu.find_peers(&on_cpu, PeerSearch::Match)?.run()?;
    let sums = cpu
        .all_reduce_peers(&on_cpu, &cpu.upload(&numbers)?)?
        .run()?;

    let group = Group {
        bench,
        peers: peers.filter(|_| bench.options.wants(By::Nvcc)),
        given: Given {
            input: keys.as_device_ptr(),
            values: values.as_device_ptr(),
            above: 0,
            n,
        },
        keys: distribution.name(),
    };
    let mut subjects = Vec::new();
    for by in PeerSearch::ALL {
        let row = Row {
            // A key is read, a mask is written.
            bytes: n as u64 * 8,
            ..Row::new(Suite::Keyed, by.kernel_name(), "u32", n)
        };
        let plan = || Ok(gpu.find_peers(&keys, by)?);
        subjects.extend(group.pair(row, plan, |got| equal(&got, &masks))?);
    }
    let row = Row {
        op: Some("sum".into()),
        // A key and a value are read, a sum is written.
        bytes: n as u64 * 20,
        ..Row::new(Suite::Keyed, "all_reduce_peers", "f64", n)
    };
    let plan = || Ok(gpu.all_reduce_peers(&keys, &values)?);
    subjects.extend(group.pair(row, plan, |got| equal(&got, &sums))?);
    let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
    let what = format!("peers of {n} {} keys", distribution.name());
    sweep.group(&what, bench.device_rows(&subjects))
}

/// The number of groups of filters.
pub fn filter_groups(bench: &Bench) -> usize {
    filter_sizes(bench).len() * LIMITS.len()
}

fn filter_sizes(bench: &Bench) -> Vec<usize> {
    let sizes = bench.options.requested_sizes();
    match (sizes.is_empty(), bench.options.quick) {
        (false, _) => sizes,
        (true, true) => vec![QUICK_N],
        (true, false) => vec![DEFAULT_N],
    }
}

/// Times all filters.
pub fn filters(bench: &Bench, peers: Option<&Peers>, sweep: &mut Sweep) -> Result<()> {
    let gpu = bench.gpu;
    for n in filter_sizes(bench) {
        let rng = &mut SmallRng::seed_from_u64(sweep.seed());
        let numbers: Vec<i32> = (0..n).map(|_| rng.random_range(-KINDS..KINDS)).collect();
        let x = gpu.upload(&numbers)?;
        for (limit, kept) in LIMITS {
            if sweep.is_over() {
                return Ok(());
            }
            let mut expected = kinds(&numbers);
            expected[..(limit + 1 + KINDS) as usize].fill(0);
            let kept_elements = expected.iter().sum::<u64>();
            let group = Group {
                bench,
                peers: peers.filter(|_| bench.options.wants(By::Nvcc) && n <= REFERENCE_MAX_N),
                given: Given {
                    input: x.as_device_ptr(),
                    values: 0,
                    above: limit,
                    n,
                },
                keys: kept,
            };
            let mut subjects = Vec::new();
            for counter in Counter::ALL {
                let row = Row {
                    bytes: (n as u64 + kept_elements) * size_of::<i32>() as u64,
                    ..Row::new(Suite::Keyed, counter.kernel_name(), "i32", n)
                };
                let plan = || Ok(gpu.filter_above(&x, limit, counter)?);
                let check = |got: Vec<i32>| equal(&kinds(&got), &expected);
                subjects.extend(group.pair(row, plan, check)?);
            }
            let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
            let what = format!("filter of {n} i32, {kept}");
            sweep.group(&what, bench.device_rows(&subjects))?;
        }
    }
    Ok(())
}

/// The number of elements of each kind, which a filter keeps in any order.
fn kinds(elements: &[i32]) -> Vec<u64> {
    let mut kinds = vec![0; 2 * KINDS as usize];
    for element in elements {
        kinds[(element + KINDS) as usize] += 1;
    }
    kinds
}

/// The inputs of a reference kernel: device addresses of `n` elements each, and a number.
#[derive(Clone, Copy)]
struct Given {
    input: u64,
    values: u64,
    above: i32,
    n: usize,
}

/// Rows over one input.
#[derive(Clone, Copy)]
struct Group<'a> {
    bench: &'a Bench<'a>,
    peers: Option<&'a Peers>,
    given: Given,
    /// The distribution of the keys, or what is kept.
    keys: &'static str,
}

impl<'a> Group<'a> {
    /// warpfold's kernel and its reference kernel; nothing if the kernel is not requested.
    fn pair<T: Number>(
        self,
        row: Row,
        plan: impl FnOnce() -> Result<Plan<'a, Vec<T>>>,
        check: impl Fn(Vec<T>) -> Verdict + Copy + 'a,
    ) -> Result<Vec<Subject<'a>>> {
        if !self.bench.options.wants_kernel(&row.kernel) {
            return Ok(Vec::new());
        }
        let plan = plan()?;
        let row = Row {
            keys: Some(self.keys.into()),
            ..plan_row(row, &plan)
        };
        let plan = vec![Rc::new(RefCell::new(plan))];
        let mut subjects = vec![plan_subject(row.clone(), plan, check)];
        if let Some(peers) = self.peers {
            subjects.push(self.reference(peers, row, check)?);
        }
        Ok(subjects)
    }

    /// The reference kernel, which writes memory of its own.
    fn reference<T: Number>(
        self,
        peers: &Peers,
        row: Row,
        check: impl Fn(Vec<T>) -> Verdict + 'a,
    ) -> Result<Subject<'a>> {
        let Given {
            input,
            values,
            above,
            n,
        } = self.given;
        // SAFETY: keyed.cu defines `lanes` with this signature.
        let call = unsafe { peers.function::<ReferenceFn>("lanes") }?;
        let number = REFERENCES.iter().position(|name| *name == row.kernel);
        let number = number.context("keyed.cu has no such reference kernel")? as i32;
        let threads = row.threads.unwrap_or(256) as i32;
        let output = Rc::new(self.bench.gpu.alloc::<T>(n)?);
        let count = Rc::new(self.bench.gpu.alloc::<u64>(1)?);
        let (overwritten, to, counter) = (
            Rc::clone(&output),
            output.as_device_ptr(),
            count.as_device_ptr(),
        );
        let counts = row.kernel.starts_with("filter");
        Ok(Subject {
            row: Row {
                by: By::Nvcc,
                ..row
            },
            copies: 1,
            overwrite: Box::new(move || self.bench.timer.overwrite(&overwritten)),
            enqueue: Box::new(move |_, stream| {
                // SAFETY: all addresses are of live buffers of this device: `n` elements of each input that the kernel
                // reads and of the output, and a counter; `n` fits an int (`REFERENCE_MAX_N`). The context is current
                // (`Subject::enqueue`), and all enqueued work is waited for (`Timer::time`).
                let status = unsafe {
                    call(
                        number,
                        input as *const u32,
                        values as *const f64,
                        above,
                        n as i32,
                        to as *mut c_void,
                        counter as *mut u64,
                        threads,
                        stream,
                    )
                };
                call.check(status, "a reference kernel")
            }),
            check: Box::new(move |_| {
                let written = match counts {
                    true => n.min(count.download()?[0] as usize),
                    false => n,
                };
                Ok(check(output.view(..written)?.download()?))
            }),
        })
    }
}
