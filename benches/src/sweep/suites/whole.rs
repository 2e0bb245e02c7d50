//! Whole-array reductions as a program calls them, beside CUB's, PyTorch's and CuPy's: bandwidth against size.
//!
//! CUB has every type and operator, and accumulates in the types that the library accumulates in (`peers/whole.cu`).
//!
//! | rows | of |
//! |---|---|
//! | the device's own time, in a graph | every type and operator |
//! | launches on an idle stream, call after call, the call that waits | the first type: what the host takes does not depend on it |
//! | every other power of two | sums and minima of `i32`, `f32` and `f64` |
//! | every fourth, and the largest | the others |

mod group;
mod peers;

use std::cell::RefCell;

use anyhow::Result;
use warpfold::file::DType;
use warpfold::{Algorithm, ArgMax, ArgMin, Dot, Max, MeanVariance, Min, Sum};
use warpfold_results::schema::By;

use self::group::Group;
use self::peers::Nothing;
use super::Bench;
use crate::options::BadOption;
use crate::peers::Peers;
use crate::sweep::answers::truth;
use crate::sweep::asked::{Asked, asked};
use crate::sweep::cases::{Case, with_case};
use crate::sweep::copies::Copies;
use crate::sweep::data::{self, Number};
use crate::sweep::options::{Operation, SweepOptions};
use crate::sweep::python::{Python, has};
use crate::sweep::run::Sweep;

/// The default types: those first that programs use most.
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

/// Of which every size is timed by default, in sums and minima.
const DENSE: [DType; 3] = [DType::I32, DType::F32, DType::F64];

/// Every type, operator and size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let asked = asked(bench.options, 10..=28, &TYPES)?;
    let groups = |element: &DType| {
        let ops = bench.options.ops.iter();
        ops.map(|op| sizes(bench.options, &asked, *element, *op).len())
            .sum::<usize>()
    };
    sweep.announce(asked.types.iter().map(groups).sum());
    let named = |one: &Algorithm| {
        bench
            .options
            .algorithms
            .iter()
            .any(|name| name == one.kernel_name())
    };
    let algorithms: Vec<_> = Algorithm::all().skip(1).filter(named).collect();
    let cubs = cubs(bench, &asked, sweep);
    let nothing = cubs
        .first()
        .map(|(_, cubs)| Nothing::of(cubs))
        .transpose()?;
    let pythons = pythons(bench, sweep);
    for (place, element) in asked.types.iter().enumerate() {
        let cub = cubs.iter().find(|(of, _)| of == element);
        let of = Sizes {
            bench,
            asked: &asked,
            element: *element,
            with_host: place == 0,
            cub: cub.map(|(_, cub)| cub),
            nothing: nothing.as_ref(),
            pythons: &pythons,
            algorithms: algorithms.clone(),
        };
        warpfold::with_type!(*element, |T| of.run::<T>(sweep)?);
    }
    Ok(())
}

/// The sizes of one type and operator.
fn sizes(
    options: &SweepOptions,
    asked: &Asked,
    element: DType,
    operation: Operation,
) -> Vec<usize> {
    let is_dense =
        DENSE.contains(&element) && [Operation::Sum, Operation::Min].contains(&operation);
    let is_own = options.sizes.is_empty() && options.input.is_none();
    if is_dense || !is_own {
        return asked.sizes.clone();
    }
    let mut sizes: Vec<_> = asked.sizes.iter().copied().step_by(2).collect();
    sizes.extend(asked.sizes.last());
    sizes.dedup();
    sizes
}

/// CUB for each type, if it is wanted and there.
fn cubs(bench: &Bench, asked: &Asked, sweep: &mut Sweep) -> Vec<(DType, Peers)> {
    if !bench.options.wants(By::Cub) {
        return Vec::new();
    }
    let longest = asked.sizes.iter().copied().max().unwrap_or(1);
    let cubs = peers::build(&asked.types, longest, bench.info.compute_capability);
    let built = cubs.as_ref().map(|cubs| cubs.first());
    match built {
        Ok(Some((_, cub))) => sweep.peer_built(By::Cub, Ok(&cub.built)),
        Ok(None) => {}
        Err(reason) => sweep.peer_built(By::Cub, Err(reason)),
    }
    sweep.note("CUB's mode that is not deterministic (CUB 3.1 and later) is not timed");
    cubs.unwrap_or_default()
}

/// Those of the libraries of Python that are wanted and there.
fn pythons(bench: &Bench, sweep: &mut Sweep) -> Vec<(By, RefCell<Python>)> {
    let wanted = [By::Torch, By::Cupy]
        .into_iter()
        .filter(|by| bench.options.wants(*by));
    let started = wanted.filter_map(|by| {
        let flush_bytes = bench.elsewhere.len() * size_of::<i32>();
        let python = Python::start(by, bench.info.index, flush_bytes);
        let version = python.as_ref().map(|python| python.version.clone());
        sweep.peer(by, version.map_err(|reason| format!("{reason:#}")));
        Some((by, RefCell::new(python.ok()?)))
    });
    started.collect()
}

/// All sizes of one type.
struct Sizes<'a> {
    bench: &'a Bench<'a>,
    asked: &'a Asked,
    element: DType,
    /// Whether rows are timed of which the host's part is the larger.
    with_host: bool,
    cub: Option<&'a Peers>,
    nothing: Option<&'a Nothing>,
    pythons: &'a [(By, RefCell<Python>)],
    /// Beside the default.
    algorithms: Vec<Algorithm>,
}

impl Sizes<'_> {
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
        let longest = self.asked.sizes.iter().copied().max().unwrap_or(1);
        let file = options.input.as_deref();
        let mut values = data::elements::<T>(file, longest, sweep.seed())?;
        data::refuse_useless(&values).map_err(BadOption::new)?;
        let mut input = gpu.upload(&values)?;
        // The second array of products.
        let arrays = options.ops.iter().map(|op| op.arrays()).max().unwrap_or(1);
        let others = match arrays {
            1 => Vec::new(),
            _ => data::draw::<T>(longest, sweep.seed() + 2)?,
        };
        let mut other = gpu.upload(&others)?;
        // The ceiling reads as many bytes of its own.
        let words_of = |n: usize| (n * size_of::<T>() * arrays).div_ceil(size_of::<i32>());
        let words = words_of(longest);
        let words_on_host = data::draw::<i32>(words, sweep.seed() + 1)?;
        let mut words = gpu.upload(&words_on_host)?;
        let pythons = self.load(&values, &others, sweep)?;
        for &n in &self.asked.sizes {
            let is_of_size =
                |op: &&Operation| sizes(options, self.asked, self.element, **op).contains(&n);
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
            let words = Copies::so_many(gpu, &mut words, words_on_host, count)?;
            let others = &others[..n.min(others.len())];
            let other = match arrays {
                1 => None,
                _ => Some(Copies::so_many(gpu, &mut other, others, count)?),
            };
            for &op in ops {
                if sweep.is_over() {
                    return Ok(());
                }
                let values = &mut values[..n];
                // Someone's own elements stay as they are.
                let extreme = op.of_elements().filter(|_| file.is_none());
                let planted = extreme.and_then(|op| data::plant(values, op, sweep.seed()));
                if let Some((at, _)) = planted {
                    set(&mut input, &pythons, at, values[at])?;
                }
                let group = Group {
                    sizes: self,
                    operation: op,
                    a: &input,
                    b: other
                        .as_ref()
                        .filter(|_| op.arrays() == 2)
                        .unwrap_or(&input),
                    values,
                    truth: truth(op, (values, others), file.is_some())?,
                    words: &words,
                    words_on_host,
                    pythons: &pythons,
                };
                with_case!(op, |C| group.time::<C>(sweep)?);
                if let Some((at, value)) = planted {
                    values[at] = value;
                    set(&mut input, &pythons, at, value)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the elements to the libraries of Python, and those that take them.
    fn load<T: Number>(&self, a: &[T], b: &[T], sweep: &mut Sweep) -> Result<Vec<Taken<'_>>> {
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

/// A library of Python that has the elements.
type Taken<'a> = (By, &'a RefCell<Python>);

/// Overwrites an element wherever it is.
fn set<T: Number>(input: &mut Copies<T>, pythons: &[Taken], at: usize, value: T) -> Result<()> {
    input.set(at, value)?;
    let mut bytes = Vec::new();
    value.append(&mut bytes);
    let mut pythons = pythons.iter();
    pythons.try_for_each(|(_, python)| python.borrow_mut().set(at, &bytes))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use warpfold_results::schema::{Cache, Timing};

    use super::*;
    use crate::sweep::options::Sizes as AskedSizes;
    use crate::sweep::suites::tests::simulate;

    /// On the simulated device, whose times say nothing.
    #[test]
    fn every_operator_is_right_and_the_host_is_timed_of_one_type() {
        let options = SweepOptions {
            sizes: vec![AskedSizes::one(100)],
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
                    let of_first = usize::from(element == "f16");
                    assert_eq!(rows(element, op, timing).len(), of_first, "{op} {element}");
                }
            }
        }
        let ceilings = results.rows.iter().filter(|row| row.by == By::Ceiling);
        assert_eq!(ceilings.count(), 2 * 2 * ops.len());
    }

    #[test]
    fn a_default_sweep_has_every_size_of_some_and_a_few_of_all() {
        let options = SweepOptions::default();
        let asked = asked(&options, 10..=28, &TYPES).unwrap();
        let powers = |element, op| {
            let sizes = sizes(&options, &asked, element, op);
            sizes.into_iter().map(usize::ilog2).collect::<Vec<_>>()
        };
        let every: Vec<_> = (10..=28).step_by(2).collect();
        assert_eq!(powers(DType::F32, Operation::Sum), every);
        for (element, op) in [(DType::F32, Operation::Dot), (DType::U8, Operation::Sum)] {
            assert_eq!(powers(element, op), [10, 14, 18, 22, 26, 28]);
        }
        assert_eq!(asked.types.len(), DType::ALL.len());
        assert!(DType::ALL.iter().all(|element| TYPES.contains(element)));
        let own = SweepOptions {
            sizes: vec![AskedSizes::one(77)],
            ..SweepOptions::default()
        };
        let asked = super::asked(&own, 10..=28, &TYPES).unwrap();
        assert_eq!(sizes(&own, &asked, DType::U8, Operation::Dot), [77]);
    }
}
