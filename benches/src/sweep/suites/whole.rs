//! Whole-array reductions by the library's calls, CUB, PyTorch and CuPy: bandwidth against size.
//!
//! CUB has every type and operator, and the same accumulators as the library (`peers/whole.cu`).
//!
//! | rows | for |
//! |---|---|
//! | device time, time in a graph | every type and operator |
//! | launches on an idle stream, call after call, calls that wait | the first type; others take as long |
//! | every other power of two | sums and minima of `i32`, `f32` and `f64` |
//! | every fourth power of two, and the largest | the others |

mod group;
mod peers;

use std::cell::RefCell;

use anyhow::Result;
use warpfold::file::DType;
use warpfold::{Algorithm, ArgMax, ArgMin, Dot, Max, MeanVariance, Min, Sum};
use warpfold_results::schema::By;

use self::group::Group;
use self::peers::EmptyKernel;
use super::Bench;
use crate::options::BadOption;
use crate::peers::Peers;
use crate::sweep::answers::truth;
use crate::sweep::cases::{Case, with_case};
use crate::sweep::copies::Copies;
use crate::sweep::data::{self, Number};
use crate::sweep::options::{Operation, SweepOptions};
use crate::sweep::python::{Python, has};
use crate::sweep::requested::{Requested, requested};
use crate::sweep::run::Sweep;

/// The default types, the most common first.
const TYPES: [DType; 12] = [
    DType::I32,
    DType::F32,
    DType::F64,
    DType::F16,
    DType::Bf16,
    DType::I64,
    DType::U32,
    DType::U64,
    DType::I16,
    DType::U16,
    DType::I8,
    DType::U8,
];

/// Types with sums and minima of every default size.
const DENSE: [DType; 3] = [DType::I32, DType::F32, DType::F64];

/// Times every type, operator and size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let requested = requested(bench.options, 10..=28, &TYPES)?;
    let groups = |element: &DType| {
        let ops = bench.options.ops.iter();
        ops.map(|op| sizes(bench.options, &requested, *element, *op).len())
            .sum::<usize>()
    };
    sweep.announce(requested.types.iter().map(groups).sum());
    let is_named = |one: &Algorithm| {
        bench
            .options
            .algorithms
            .iter()
            .any(|name| name == one.kernel_name())
    };
    let algorithms: Vec<_> = Algorithm::all().skip(1).filter(is_named).collect();
    let cubs = cubs(bench, &requested, sweep);
    let empty_kernel = cubs
        .first()
        .map(|(_, cubs)| EmptyKernel::of(cubs))
        .transpose()?;
    let pythons = pythons(bench, sweep);
    for (index, element) in requested.types.iter().enumerate() {
        let cub = cubs.iter().find(|(other, _)| other == element);
        let type_run = TypeRun {
            bench,
            requested: &requested,
            element: *element,
            with_host: index == 0,
            cub: cub.map(|(_, cub)| cub),
            empty_kernel: empty_kernel.as_ref(),
            pythons: &pythons,
            algorithms: algorithms.clone(),
        };
        warpfold::with_type!(*element, |T| type_run.run::<T>(sweep)?);
    }
    Ok(())
}

/// The sizes of one type and operator.
fn sizes(
    options: &SweepOptions,
    requested: &Requested,
    element: DType,
    operation: Operation,
) -> Vec<usize> {
    let is_dense =
        DENSE.contains(&element) && [Operation::Sum, Operation::Min].contains(&operation);
    let is_default = options.sizes.is_empty() && options.input.is_none();
    if is_dense || !is_default {
        return requested.sizes.clone();
    }
    let mut sizes: Vec<_> = requested.sizes.iter().copied().step_by(2).collect();
    sizes.extend(requested.sizes.last());
    sizes.dedup();
    sizes
}

/// CUB for each type, if requested and available.
fn cubs(bench: &Bench, requested: &Requested, sweep: &mut Sweep) -> Vec<(DType, Peers)> {
    if !bench.options.wants(By::Cub) {
        return Vec::new();
    }
    let longest = requested.sizes.iter().copied().max().unwrap_or(1);
    let cubs = peers::build(&requested.types, longest, bench.info.compute_capability);
    let built = cubs.as_ref().map(|cubs| cubs.first());
    match built {
        Ok(Some((_, cub))) => sweep.peer_built(By::Cub, Ok(&cub.built)),
        Ok(None) => {}
        Err(reason) => sweep.peer_built(By::Cub, Err(reason)),
    }
    sweep.note("CUB's non-deterministic mode (CUB 3.1 and later) is not timed");
    cubs.unwrap_or_default()
}

/// The Python libraries that are requested and available.
fn pythons(bench: &Bench, sweep: &mut Sweep) -> Vec<(By, RefCell<Python>)> {
    let requested = [By::Torch, By::Cupy]
        .into_iter()
        .filter(|by| bench.options.wants(*by));
    let started = requested.filter_map(|by| {
        let flush_bytes = bench.flush_buffer.len() * size_of::<i32>();
        let python = Python::start(by, bench.info.index, flush_bytes);
        let version = python.as_ref().map(|python| python.version.clone());
        sweep.peer(by, version.map_err(|reason| format!("{reason:#}")));
        Some((by, RefCell::new(python.ok()?)))
    });
    started.collect()
}

/// A run over all operators and sizes of one type.
struct TypeRun<'a> {
    bench: &'a Bench<'a>,
    requested: &'a Requested,
    element: DType,
    /// Whether to time rows in which the host takes most of the time.
    with_host: bool,
    cub: Option<&'a Peers>,
    empty_kernel: Option<&'a EmptyKernel>,
    pythons: &'a [(By, RefCell<Python>)],
    /// Algorithms besides the default.
    algorithms: Vec<Algorithm>,
}

impl TypeRun<'_> {
    fn run<T: Number>(&self, sweep: &mut Sweep) -> Result<()>
    where
        Sum: Case<T>,
        Min: Case<T>,
        Max: Case<T>,
        ArgMin: Case<T>,
        ArgMax: Case<T>,
        Dot: Case<T>,
        MeanVariance: Case<T>,
    {
        let (gpu, options) = (self.bench.gpu, self.bench.options);
        let longest = self.requested.sizes.iter().copied().max().unwrap_or(1);
        let file = options.input.as_deref();
        let mut values = data::elements::<T>(file, longest, sweep.seed())?;
        data::refuse_useless(&values).map_err(BadOption::new)?;
        let mut input = gpu.upload(&values)?;
        // The second array of dot products.
        let arrays = options.ops.iter().map(|op| op.arrays()).max().unwrap_or(1);
        let second_values = match arrays {
            1 => Vec::new(),
            _ => data::draw::<T>(longest, sweep.seed() + 2)?,
        };
        let mut second = gpu.upload(&second_values)?;
        // The ceiling reads its own input of the same size.
        let words_of = |n: usize| (n * size_of::<T>() * arrays).div_ceil(size_of::<i32>());
        let words = words_of(longest);
        let words_on_host = data::draw::<i32>(words, sweep.seed() + 1)?;
        let mut words = gpu.upload(&words_on_host)?;
        let pythons = self.load(&values, &second_values, sweep)?;
        for &n in &self.requested.sizes {
            let is_of_size =
                |op: &&Operation| sizes(options, self.requested, self.element, **op).contains(&n);
            let ops: Vec<_> = options.ops.iter().filter(is_of_size).collect();
            if ops.is_empty() {
                continue;
            }
            if sweep.is_over() {
                return Ok(());
            }
            let mut input = Copies::of(gpu, &mut input, &values[..n])?;
            let count = input.count();
            let words_on_host = &words_on_host[..words_of(n)];
            let words = Copies::with_count(gpu, &mut words, words_on_host, count)?;
            let second_values = &second_values[..n.min(second_values.len())];
            let second = match arrays {
                1 => None,
                _ => Some(Copies::with_count(gpu, &mut second, second_values, count)?),
            };
            for &op in ops {
                if sweep.is_over() {
                    return Ok(());
                }
                let values = &mut values[..n];
                // Elements from a file stay as they are.
                let extreme = op.element_op().filter(|_| file.is_none());
                let planted = extreme.and_then(|op| data::plant(values, op, sweep.seed()));
                if let Some((index, _)) = planted {
                    set(&mut input, &pythons, index, values[index])?;
                }
                let group = Group {
                    type_run: self,
                    operation: op,
                    a: &input,
                    b: second
                        .as_ref()
                        .filter(|_| op.arrays() == 2)
                        .unwrap_or(&input),
                    values,
                    truth: truth(op, (values, second_values), file.is_some())?,
                    words: &words,
                    words_on_host,
                    pythons: &pythons,
                };
                with_case!(op, |C| group.time::<C>(sweep)?);
                if let Some((index, value)) = planted {
                    values[index] = value;
                    set(&mut input, &pythons, index, value)?;
                }
            }
        }
        Ok(())
    }

    /// Loads the elements into the Python libraries; returns those that have the type.
    fn load<T: Number>(
        &self,
        a: &[T],
        b: &[T],
        sweep: &mut Sweep,
    ) -> Result<Vec<LoadedPython<'_>>> {
        if self.pythons.is_empty() {
            return Ok(Vec::new());
        }
        let mut pythons = self.pythons.iter();
        let has_products = pythons.any(|(by, _)| has(*by, Operation::Dot, T::NAME));
        let files = [
            data::file(a)?,
            data::file(if has_products { b } else { &[] })?,
        ];
        let loaded = self.pythons.iter().filter_map(|(by, python)| {
            match python.borrow_mut().load::<T>(&files) {
                Ok(()) => Some((*by, python)),
                Err(reason) => {
                    sweep.note(format!("no rows of {}: {reason:#}", T::NAME));
                    None
                }
            }
        });
        Ok(loaded.collect())
    }
}

/// A Python library with the elements.
type LoadedPython<'a> = (By, &'a RefCell<Python>);

/// Overwrites an element in all copies and in the Python libraries.
fn set<T: Number>(
    input: &mut Copies<T>,
    pythons: &[LoadedPython],
    index: usize,
    value: T,
) -> Result<()> {
    input.set(index, value)?;
    let mut bytes = Vec::new();
    value.append(&mut bytes);
    let mut pythons = pythons.iter();
    pythons.try_for_each(|(_, python)| python.borrow_mut().set(index, &bytes))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use warpfold_results::schema::{Cache, Timing};

    use super::*;
    use crate::sweep::options::Sizes;
    use crate::sweep::suites::tests::simulate;

    /// On the simulated device, whose times mean nothing.
    #[test]
    fn every_operator_is_right_and_one_type_has_the_hosts_times() {
        let options = SweepOptions {
            sizes: vec![Sizes::one(100)],
            types: vec![DType::F16, DType::I8],
            ops: Operation::value_variants().to_vec(),
            quick: true,
            quiet: true,
            ..SweepOptions::default()
        };
        let results = simulate(&options, run);
        let rows = |element: &str, op: &str, timing| {
            let rows = results.rows.iter().filter(|row| {
                (row.by, row.element.as_str(), row.timing) == (By::Warpfold, element, timing)
                    && row.op.as_deref() == Some(op)
            });
            rows.map(|row| (row.cache, row.bytes)).collect::<Vec<_>>()
        };
        let ops = [
            "sum",
            "min",
            "max",
            "arg_min",
            "arg_max",
            "dot",
            "mean_variance",
        ];
        for op in ops {
            for (element, size) in [("f16", 2), ("i8", 1)] {
                let bytes = if op == "dot" { 200 * size } else { 100 * size };
                let device = [(Cache::Cold, bytes), (Cache::Warm, bytes)];
                assert_eq!(rows(element, op, Timing::Device), device, "{op} {element}");
                assert_eq!(rows(element, op, Timing::Graph).len(), 1, "{op} {element}");
                for timing in [Timing::Launch, Timing::Stream, Timing::Call] {
                    let expected = usize::from(element == "f16");
                    assert_eq!(rows(element, op, timing).len(), expected, "{op} {element}");
                }
            }
        }
        let ceilings = results.rows.iter().filter(|row| row.by == By::Ceiling);
        assert_eq!(ceilings.count(), 2 * 2 * ops.len());
    }

    #[test]
    fn default_sizes_depend_on_type_and_operator() {
        let options = SweepOptions::default();
        let all = requested(&options, 10..=28, &TYPES).unwrap();
        let powers = |element, op| {
            let sizes = sizes(&options, &all, element, op);
            sizes.into_iter().map(usize::ilog2).collect::<Vec<_>>()
        };
        let every: Vec<_> = (10..=28).step_by(2).collect();
        assert_eq!(powers(DType::F32, Operation::Sum), every);
        for (element, op) in [(DType::F32, Operation::Dot), (DType::U8, Operation::Sum)] {
            assert_eq!(powers(element, op), [10, 14, 18, 22, 26, 28]);
        }
        assert_eq!(all.types.len(), DType::ALL.len());
        assert!(DType::ALL.iter().all(|element| TYPES.contains(element)));
        let one_size = SweepOptions {
            sizes: vec![Sizes::one(77)],
            ..SweepOptions::default()
        };
        let one = requested(&one_size, 10..=28, &TYPES).unwrap();
        assert_eq!(sizes(&one_size, &one, DType::U8, Operation::Dot), [77]);
    }
}
