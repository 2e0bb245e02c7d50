//! `warpfold-bench launch`: launches each entry once and checks its answer, under a profiler or a sanitizer.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use warpfold::{Buffer, Device, Max, Min, Sum};

use super::entry::Entry;
use crate::options::{LaunchOptions, bad_option};
use crate::print_line;
use crate::rungs::Rungs;
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::options::Op;

/// A run of `launch`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launched {
    pub device: String,
    pub n: usize,
    pub seed: u64,
    pub launches: Vec<Launch>,
}

/// The first pass of an entry; its later passes, over partials, are not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub entry: String,
    pub threads: u32,
    pub blocks: u32,
}

/// Fails if an answer is wrong.
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
    let mut launched = Launched {
        device: device.name().into(),
        n: options.n,
        seed: options.seed,
        launches: Vec::new(),
    };
    let mut all_right = true;
    for entry in entries {
        let launch_result = launch(&device, entry, options);
        let (right, blocks) = launch_result.with_context(|| entry.name())?;
        let verdict = if right { "right" } else { "WRONG" };
        print_line(&format!(
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
    ensure!(all_right, "at least one answer is wrong");
    Ok(())
}

/// Whether the answer is right, and the number of blocks of the first pass: 0 on the CPU.
fn launch(device: &Device, entry: Entry, options: &LaunchOptions) -> Result<(bool, u32)> {
    warpfold::with_type!(entry.element, |T| reduce::<T>(device, entry, options))
}

fn reduce<T: Number>(device: &Device, entry: Entry, options: &LaunchOptions) -> Result<(bool, u32)>
where
    Sum: Rungs<T, Output: Into<Option<T>>>,
    Min: Rungs<T, Output: Into<Option<T>>>,
    Max: Rungs<T, Output: Into<Option<T>>>,
{
    let mut values = data::draw::<T>(options.n, options.seed)?;
    data::plant(&mut values, entry.operator, options.seed);
    let expected = data::expected(&values, entry.operator, false);
    let expected = expected.context("there are no elements")?;
    let input = &device.upload(&values)?;
    let threads = options.threads;
    match entry.operator {
        Op::Sum => reduce_by(device, entry, threads, input, Sum, expected),
        Op::Min => reduce_by(device, entry, threads, input, Min, expected),
        Op::Max => reduce_by(device, entry, threads, input, Max, expected),
    }
}

fn reduce_by<T: Number, O: Rungs<T, Output: Into<Option<T>>>>(
    device: &Device,
    entry: Entry,
    threads: u32,
    input: &Buffer<T>,
    operator: O,
    expected: Expected<T>,
) -> Result<(bool, u32)> {
    let reduction = device.reduce(input, operator);
    let mut plan = O::plan(reduction, entry.algorithm, Some(threads))?;
    plan.enqueue()?;
    let blocks = plan.passes().first().map_or(0, |pass| pass.blocks);
    Ok((data::check(plan.result()?, expected).is_ok(), blocks))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use warpfold::file::DType;

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
    fn an_invalid_launch_is_a_bad_option() {
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
        let options = options("--entries all --n 2^16 --seed 5");
        let device = Device::cpu();
        let mut launched = 0;
        for element in DType::ALL {
            for kernel in ["single_pass", "block_atomic_vec4"] {
                for operator in ["sum", "min", "max"] {
                    let name = format!("{kernel}_{operator}_{element}");
                    let Ok(entry) = Entry::named(&name) else {
                        continue;
                    };
                    assert!(launch(&device, entry, &options).unwrap().0, "{name}");
                    launched += 1;
                }
            }
        }
        // single_pass has all 36 pairs of operator and type, block_atomic_vec4 ten.
        assert_eq!(launched, 36 + 10);
    }
}
