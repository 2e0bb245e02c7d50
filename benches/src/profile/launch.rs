//! `warpfold-bench launch`: each entry once, its answer checked. It is what runs under a profiler
//! or a sanitizer.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use warpfold::{Device, Operator, Sum};

use super::entry::{Element, Entry};
use crate::data::Integers;
use crate::options::{LaunchOptions, bad_option};
use crate::say;

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

/// Whether every answer was right.
pub fn run(options: &LaunchOptions) -> Result<bool> {
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
    let integers = Integers::draw(options.n, options.seed)?;
    let mut launched = Launched {
        device: device.name().into(),
        n: options.n,
        seed: options.seed,
        launches: Vec::new(),
    };
    let mut all_right = true;
    for entry in entries {
        let done = match entry.element {
            Element::I32 => sum::<i32>(&device, entry, options.threads, &integers),
            Element::U32 => sum::<u32>(&device, entry, options.threads, &integers),
            Element::I64 => sum::<i64>(&device, entry, options.threads, &integers),
            Element::U64 => sum::<u64>(&device, entry, options.threads, &integers),
            Element::F32 => sum::<f32>(&device, entry, options.threads, &integers),
            Element::F64 => sum::<f64>(&device, entry, options.threads, &integers),
        };
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
    Ok(all_right)
}

/// Whether the sum was right, and the blocks of its first pass; none on a CPU.
fn sum<T: Number>(
    device: &Device,
    entry: Entry,
    threads: u32,
    integers: &Integers,
) -> Result<(bool, u32)>
where
    Sum: Operator<T, Output = T>,
{
    let whole = integers.values.iter().map(|&x| T::whole(x));
    let values: Vec<T> = whole.clone().map(T::of).collect();
    let expected = T::of(whole.fold(0, i64::wrapping_add));
    let input = device.upload(&values)?;
    let reduction = device.reduce(&input, Sum).algorithm(entry.algorithm);
    let mut plan = reduction.threads(threads).plan().map_err(bad_option)?;
    plan.enqueue()?;
    let blocks = plan.passes().first().map_or(0, |pass| pass.blocks);
    Ok((plan.result()? == expected, blocks))
}

/// An element type, with whole numbers whose sum it holds exactly, wrapped where it wraps.
trait Number: warpfold::Element + PartialEq {
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
        for words in [
            "--entries reduce_9_sum_i32",
            "--entries reduce_2_sum_i32 --threads 300",
        ] {
            let error = run(&options(words)).unwrap_err();
            assert!(error.is::<BadOption>(), "{error:#}");
        }
    }

    #[test]
    fn the_expected_sums_are_exact() {
        let integers = Integers::draw(1 << 16, 5).unwrap();
        let device = Device::cpu();
        for element in ["i32", "u32", "i64", "u64", "f32", "f64"] {
            let entry = Entry::named(&format!("reduce_2_sum_{element}")).unwrap();
            let done = match entry.element {
                Element::I32 => sum::<i32>(&device, entry, 256, &integers),
                Element::U32 => sum::<u32>(&device, entry, 256, &integers),
                Element::I64 => sum::<i64>(&device, entry, 256, &integers),
                Element::U64 => sum::<u64>(&device, entry, 256, &integers),
                Element::F32 => sum::<f32>(&device, entry, 256, &integers),
                Element::F64 => sum::<f64>(&device, entry, 256, &integers),
            };
            assert!(done.unwrap().0, "{element}");
        }
    }
}
