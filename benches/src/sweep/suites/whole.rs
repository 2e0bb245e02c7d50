//! Whole reductions as a program calls them, beside CUB's: bandwidth against size.

mod group;
mod peers;

use std::cell::RefCell;

use anyhow::{Context, Result};
use warpfold::{Algorithm, Buffer, Max, Min, Sum};
use warpfold_results::schema::By;

use self::group::Group;
use self::peers::Nothing;
use super::Bench;
use crate::options::BadOption;
use crate::peers::Peers;
use crate::rungs::Rungs;
use crate::sweep::asked::{Asked, asked};
use crate::sweep::data::{self, Number};
use crate::sweep::options::Op;
use crate::sweep::python::Python;
use crate::sweep::run::Sweep;

/// Every type, operator and size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let Asked { sizes, types } = asked(bench.options, 10..=28)?;
    sweep.announce(types.len() * bench.options.ops.len() * sizes.len());
    let named = |one: &Algorithm| {
        bench
            .options
            .algorithms
            .iter()
            .any(|name| name == one.kernel_name())
    };
    let algorithms: Vec<_> = Algorithm::all().skip(1).filter(named).collect();
    let cubs = cubs(bench, sweep);
    let nothing = cubs
        .first()
        .map(|(_, cubs)| Nothing::of(cubs))
        .transpose()?;
    let pythons = pythons(bench, sweep);
    for element in &types {
        let of = Sizes {
            bench,
            sizes: &sizes,
            cubs: &cubs,
            nothing: nothing.as_ref(),
            pythons: &pythons,
            algorithms: algorithms.clone(),
        };
        warpfold::with_type!(*element, |T| of.run::<T>(sweep)?);
    }
    Ok(())
}

/// CUB by its default policy and by a tuned one, if it is wanted and there.
fn cubs(bench: &Bench, sweep: &mut Sweep) -> Vec<(&'static str, Peers)> {
    if !bench.options.wants(By::Cub) {
        return Vec::new();
    }
    let capability = bench.info.compute_capability;
    let by_default = peers::by_default(capability);
    sweep.peer_built(By::Cub, by_default.as_ref().map(|cubs| &cubs.built));
    let Ok(by_default) = by_default else {
        return Vec::new();
    };
    let mut cubs = vec![("default", by_default)];
    match peers::tuned(capability) {
        Ok(tuned) => cubs.push(("tuned", tuned)),
        Err(reason) => sweep.note(format!("no rows of a tuned CUB: {reason:#}")),
    }
    sweep.note("CUB's mode that is not deterministic (CUB 3.1 and later) is not timed");
    cubs
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
    sizes: &'a [usize],
    cubs: &'a [(&'static str, Peers)],
    nothing: Option<&'a Nothing>,
    pythons: &'a [(By, RefCell<Python>)],
    /// Beside the default.
    algorithms: Vec<Algorithm>,
}

impl Sizes<'_> {
    fn run<T: Number>(&self, sweep: &mut Sweep) -> Result<()>
    where
        Sum: Rungs<T, Output: Into<Option<T>>>,
        Min: Rungs<T, Output: Into<Option<T>>>,
        Max: Rungs<T, Output: Into<Option<T>>>,
    {
        let gpu = self.bench.gpu;
        let longest = self.sizes.iter().copied().max().unwrap_or(1);
        let file = self.bench.options.input.as_deref();
        let mut values = data::elements::<T>(file, longest, sweep.seed())?;
        data::refuse_useless(&values).map_err(BadOption::new)?;
        let mut input = gpu.upload(&values)?;
        // The ceiling reads as many bytes of its own.
        let words = (longest * size_of::<T>()).div_ceil(size_of::<i32>());
        let words_on_host = data::draw::<i32>(words, sweep.seed() + 1)?;
        let words = gpu.upload(&words_on_host)?;
        let pythons = self.load(&values, sweep)?;
        for &op in &self.bench.options.ops {
            for &n in self.sizes {
                if sweep.is_over() {
                    return Ok(());
                }
                let values = &mut values[..n];
                // Someone's own elements stay as they are.
                let planted = match file {
                    None => data::plant(values, op, sweep.seed()),
                    Some(_) => None,
                };
                if let Some((at, _)) = planted {
                    set(&mut input, &pythons, at, values[at])?;
                }
                let expected =
                    data::expected(values, op, file.is_some()).context("an empty array")?;
                let group = Group {
                    sizes: self,
                    input: &input,
                    expected,
                    words: &words,
                    words_on_host: &words_on_host,
                    pythons: &pythons,
                    n,
                };
                match op {
                    Op::Sum => group.time(Sum, sweep)?,
                    Op::Min => group.time(Min, sweep)?,
                    Op::Max => group.time(Max, sweep)?,
                }
                if let Some((at, value)) = planted {
                    values[at] = value;
                    set(&mut input, &pythons, at, value)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the elements to the libraries of Python, and those that take them.
    fn load<T: Number>(&self, values: &[T], sweep: &mut Sweep) -> Result<Vec<Taken<'_>>> {
        if self.pythons.is_empty() {
            return Ok(Vec::new());
        }
        let file = data::file(values)?;
        let loaded = self.pythons.iter().filter_map(|(by, python)| {
            match python.borrow_mut().load::<T>(&file) {
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
fn set<T: Number>(input: &mut Buffer<T>, pythons: &[Taken], at: usize, value: T) -> Result<()> {
    input.write(at, &[value])?;
    let mut bytes = Vec::new();
    value.append(&mut bytes);
    let mut pythons = pythons.iter();
    pythons.try_for_each(|(_, python)| python.borrow_mut().set(at, &bytes))
}
