//! `warpfold-bench launch`: each entry once, its answer checked. It is what runs under a profiler
//! or a sanitizer.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use warpfold::{Buffer, Device, Max, Min, Sum};

use super::entry::{self, Element, Entry};
use crate::options::{LaunchOptions, bad_option};
use crate::rungs::Rungs;
use crate::say;
use crate::sweep::data::draw;

/// What was launched.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launched {
    pub device: String,
    pub n: usize,
    pub seed: u64,
    pub launches: Vec<Launch>,
}

/// The first pass over the input; passes over partials are not told of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub entry: String,
    pub threads: u32,
    pub blocks: u32,
}

/// Fails where an answer was wrong.
pub fn run(options: &LaunchOptions) -> Result<()> {
    let entries: Vec<_> = options
        .entries
        .iter()
        .map(|name| Entry::named(name))
        .collect::<Result<_>>()?;
    let device = match options.device {
        Some(index) => Device::nth(index),
        None => Device::auto(),
    };
    let device = device.map_err(bad_option)?;
    let integers = draw::<i32>(options.n, options.seed)?;
    let mut launched = Launched {
        device: device.name().into(),
        n: options.n,
        seed: options.seed,
        launches: Vec::new(),
    };
    let mut all_right = true;
    for entry in entries {
        let done = launch(&device, entry, options.threads, &integers);
        let (right, blocks) = done.with_context(|| entry.name())?;
        let verdict = if right { "right" } else { "WRONG" };
        say(&format!(
            "{}, {} threads: {verdict}",
            entry.name(),
            options.threads
        ))?;
        all_right &= right;
        launched.launches.push(Launch {
            entry: entry.name(),
            threads: options.threads,
            blocks,
        });
    }
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(&launched)?;
        fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))?;
    }
    ensure!(all_right, "a wrong answer");
    Ok(())
}

/// Whether the answer was right, and the blocks of the first pass; none on a CPU.
fn launch(device: &Device, entry: Entry, threads: u32, integers: &[i32]) -> Result<(bool, u32)> {
    match entry.element {
        Element::I32 => reduce::<i32>(device, entry, threads, integers),
        Element::U32 => reduce::<u32>(device, entry, threads, integers),
        Element::I64 => reduce::<i64>(device, entry, threads, integers),
        Element::U64 => reduce::<u64>(device, entry, threads, integers),
        Element::F32 => reduce::<f32>(device, entry, threads, integers),
        Element::F64 => reduce::<f64>(device, entry, threads, integers),
    }
}

fn reduce<T: Number>(
    device: &Device,
    entry: Entry,
    threads: u32,
    integers: &[i32],
) -> Result<(bool, u32)>
where
    Sum: Rungs<T, Output = T>,
    Min: Rungs<T, Output = T>,
    Max: Rungs<T, Output = T>,
{
    let whole = integers.iter().map(|&x| T::whole(x));
    let values: Vec<T> = whole.clone().map(T::of).collect();
    let extremum = |is_better: fn(&T, &T) -> bool| {
        let better = |a, b| if is_better(&b, &a) { b } else { a };
        let all = values.iter().copied();
        all.reduce(better).context("there are no elements")
    };
    let input = device.upload(&values)?;
    match entry.operator {
        entry::Operator::Sum => {
            let expected = T::of(whole.fold(0, i64::wrapping_add));
            reduce_by(device, entry, threads, &input, Sum, expected)
        }
        entry::Operator::Min => reduce_by(device, entry, threads, &input, Min, extremum(T::lt)?),
        entry::Operator::Max => reduce_by(device, entry, threads, &input, Max, extremum(T::gt)?),
    }
}

fn reduce_by<T: Number, O: Rungs<T, Output = T>>(
    device: &Device,
    entry: Entry,
    threads: u32,
    input: &Buffer<T>,
    operator: O,
    expected: T,
) -> Result<(bool, u32)> {
    let reduction = device.reduce(input, operator);
    let mut plan = O::by(reduction, entry.algorithm, Some(threads))?;
    plan.enqueue()?;
    let blocks = plan.passes().first().map_or(0, |pass| pass.blocks);
    Ok((plan.result()? == expected, blocks))
}

/// An element type, with whole numbers whose sum it holds exactly, wrapped where it wraps.
trait Number: warpfold::Element + PartialOrd {
    fn whole(x: i32) -> i64;
    fn of(whole: i64) -> Self;
}

macro_rules! numbers {
    ($($number:ident: $whole:expr;)*) => {
        $(impl Number for $number {
            fn whole(x: i32) -> i64 {
                let whole: fn(i64) -> i64 = $whole;
                whole(x.into())
            }

            fn of(whole: i64) -> Self {
                whole as Self
            }
        })*
    };
}

// Floats are -1, 0 and 1: whatever the order, no partial sum needs more bits than there are.
numbers! {
    i32: |x| x;
    u32: |x| x;
    i64: |x| x;
    u64: |x| x;
    f32: |x| x % 2;
    f64: |x| x % 2;
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::{BadOption, Cli, Command};

    fn options(words: &str) -> LaunchOptions {
        let words = ["warpfold-bench", "launch"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Launch(options) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_cannot_be_launched_is_a_bad_option() {
        crate::driver::simulated();
        for words in [
            "--entries reduce_9_sum_i32",
            "--entries reduce_2_sum_i32 --threads 300",
        ] {
            let error = run(&options(words)).unwrap_err();
            assert!(error.is::<BadOption>(), "{error:#}");
        }
    }

    #[test]
    fn the_expected_answers_are_exact() {
        let integers = draw::<i32>(1 << 16, 5).unwrap();
        let device = Device::cpu();
        let mut launched = 0;
        for element in ["i32", "u32", "i64", "u64", "f32", "f64"] {
            for kernel in ["single_pass", "block_atomic_vec4"] {
                for operator in ["sum", "min", "max"] {
                    let name = format!("{kernel}_{operator}_{element}");
                    let Ok(entry) = Entry::named(&name) else {
                        continue;
                    };
                    assert!(launch(&device, entry, 256, &integers).unwrap().0, "{name}");
                    launched += 1;
                }
            }
        }
        // All of the single pass; ten of the other.
        assert_eq!(launched, 18 + 10);
    }
}
