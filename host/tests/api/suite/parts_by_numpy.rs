//! Parts of random arrays: the results of NumPy, which `tests/data/numpy/parts.py` computes now, on the CPU.
//! `WARPFOLD_SEED=<number>` repeats a run that printed this seed.

use std::env;
use std::fmt::Debug;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use warpfold::{
    ArgMax, ArgMin, Axes, Buffer, Device, Error, GroupKey, Groups, Indexed, Max, Min, RunKey,
    Strided, Sum, SumWide, f16,
};

use super::compare::{close, is};
use super::number::Number;

/// The cases of a run.
const CASES: usize = 1000;

/// A sum of so few items has fewer additions one after another.
const DEPTH: usize = 24;

pub fn trial() -> Trial {
    Trial::ignorable_test("cpu/parts: random cases by NumPy", || {
        let numpy = Command::new("python3")
            .args(["-c", "import numpy"])
            .stderr(Stdio::null())
            .status();
        if !numpy.is_ok_and(|status| status.success()) {
            return Ok(Completion::ignored_with("python3 has no numpy"));
        }
        let seed = env::var("WARPFOLD_SEED").ok();
        let seed = seed.and_then(|seed| seed.parse().ok());
        let seed: u32 = seed.unwrap_or_else(rand::random);
        println!("parts by NumPy: seed {seed}");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/numpy/parts.py");
        let mut python = Command::new("python3")
            .arg(script)
            .args([seed.to_string(), CASES.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let (device, mut done) = (Device::cpu(), 0);
        for line in BufReader::new(python.stdout.take().expect("piped")).lines() {
            let case = Case(serde_json::from_str(&line?)?);
            check(&device, &case).map_err(|wrong| {
                let why = wrong.message().unwrap_or("failed");
                let (call, dtype) = (&case.0["call"], &case.0["dtype"]);
                format!("{call} of {dtype}: {why} (case {done} of seed {seed})")
            })?;
            done += 1;
        }
        let status = python.wait()?;
        match status.success() && done == CASES {
            true => Ok(Completion::Completed),
            false => Err(format!("parts.py: {status}, {done} lines (seed {seed})").into()),
        }
    })
}

/// A line of the script.
struct Case(Value);

impl Case {
    fn word(&self, name: &str) -> &str {
        self.0[name].as_str().expect("a word")
    }

    /// The words of a list; none if the line has no such list.
    fn words(&self, name: &str) -> Option<Vec<&str>> {
        let list = self.0.get(name)?.as_array().expect("a list");
        Some(
            list.iter()
                .map(|word| word.as_str().expect("a word"))
                .collect(),
        )
    }

    fn numbers<T: FromStr<Err: Debug>>(&self, name: &str) -> Vec<T> {
        let words = self.words(name).expect("the list");
        words
            .into_iter()
            .map(|word| word.parse().expect("a number"))
            .collect()
    }
}

fn check(device: &Device, case: &Case) -> Result<(), Failed> {
    macro_rules! by_dtype {
        ($($other:ident)*; $($indexed:ident)*) => {
            match case.word("dtype") {
                $(stringify!($other) => call::<$other>(device, case)?.check(),)*
                $(stringify!($indexed) => {
                    let call = call::<$indexed>(device, case)?;
                    call.check()?;
                    call.check_indices()
                })*
                other => unreachable!("{other}"),
            }
        };
    }
    by_dtype!(i8 i16 u8 u16; i32 i64 u32 u64 f16 f32 f64)
}

/// The parts of a call.
enum Parts {
    Segments(Buffer<u64>),
    Axes {
        shape: Vec<usize>,
        strides: Vec<isize>,
        start: usize,
        axes: Vec<usize>,
    },
    Groups32(Groups<u32>),
    Groups64(Groups<i64>),
    Runs32(Buffer<u32>),
    Runs64(Buffer<i64>),
}

/// A call for the items of a case.
struct Call<'d, T: Number> {
    device: &'d Device,
    case: &'d Case,
    x: Buffer<T>,
    parts: Parts,
}

fn call<'d, T>(device: &'d Device, case: &'d Case) -> Result<Call<'d, T>, Failed>
where
    T: Number + FromStr<Err: Debug>,
{
    let parts = match (case.word("call"), case.words("keys").and(case.0.get("key"))) {
        ("segments", _) => Parts::Segments(device.upload(&case.numbers("offsets"))?),
        ("axes", _) => Parts::Axes {
            shape: case.numbers("shape"),
            strides: case.numbers("strides"),
            start: case.word("start").parse()?,
            axes: case.numbers("axes"),
        },
        ("groups", Some(key)) if key == "u32" => Parts::Groups32(groups(device, case)?),
        ("groups", Some(_)) => Parts::Groups64(groups(device, case)?),
        ("runs", Some(key)) if key == "u32" => Parts::Runs32(runs(device, case)?),
        ("runs", Some(_)) => Parts::Runs64(runs(device, case)?),
        other => unreachable!("{other:?}"),
    };
    let x = device.upload(&case.numbers::<T>("x"))?;
    Ok(Call {
        device,
        case,
        x,
        parts,
    })
}

/// The sorted groups, which are those of `numpy.unique`.
fn groups<K: GroupKey + FromStr<Err: Debug>>(
    device: &Device,
    case: &Case,
) -> Result<Groups<K>, Failed> {
    let keys = device.upload(&case.numbers::<K>("keys"))?;
    let groups = device.group(&keys)?.sort()?;
    is(groups.keys().download()?, case.numbers("unique"), "keys")?;
    is(
        groups.indices().download()?,
        case.numbers("inverse"),
        "indices",
    )?;
    is(groups.counts()?, case.numbers("counts"), "counts")?;
    Ok(groups)
}

/// The keys, whose runs are those of the case.
fn runs<K: RunKey + FromStr<Err: Debug>>(
    device: &Device,
    case: &Case,
) -> Result<Buffer<K>, Failed> {
    let keys = device.upload(&case.numbers::<K>("keys"))?;
    let runs = device.count_runs(&keys)?;
    is(runs.keys, case.numbers("unique"), "keys")?;
    is(runs.lengths, case.numbers("counts"), "lengths")?;
    Ok(keys)
}

impl<T: Number + FromStr<Err: Debug>> Call<'_, T> {
    fn reduce<O: Axes<T>>(&self, op: O) -> Result<Vec<O::Output>, Error> {
        let Self { device, x, .. } = self;
        match &self.parts {
            Parts::Segments(offsets) => device.reduce_segments(x, offsets, op),
            Parts::Axes {
                shape,
                strides,
                start,
                axes,
            } => {
                let array = Strided::new(shape, strides).starting_at(*start);
                device.reduce_axis(x, array, axes, op)
            }
            Parts::Groups32(groups) => groups.reduce(x, op),
            Parts::Groups64(groups) => groups.arrange(x)?.reduce(op),
            Parts::Runs32(keys) => Ok(device.reduce_runs(keys, x, op)?.results),
            Parts::Runs64(keys) => Ok(device.reduce_runs(keys, x, op)?.results),
        }
    }

    /// Sums, minima and maxima.
    fn check<W: Number>(&self) -> Result<(), Failed>
    where
        Sum: Axes<T, Output = T>,
        SumWide: Axes<T, Output = W>,
        Min: Axes<T, Output = Option<T>>,
        Max: Axes<T, Output = Option<T>>,
    {
        let (sums, wide) = (self.reduce(Sum)?, self.reduce(SumWide)?);
        match self.case.words("exact") {
            None => {
                self.integers(&sums, "sum")?;
                self.integers(&wide, "wide")?;
            }
            Some(_) => {
                self.floats(&sums, "sum")?;
                self.floats(&wide, "wide sum")?;
            }
        }
        self.extrema(&self.reduce(Min)?, "min")?;
        self.extrema(&self.reduce(Max)?, "max")
    }

    /// Sums of integers; for empty parts, 0.
    fn integers<R: Number>(&self, got: &[R], name: &str) -> Result<(), Failed> {
        let words = self.case.words(name).expect("the sums");
        is(got.len(), words.len(), name)?;
        for (part, (got, word)) in got.iter().zip(words).enumerate() {
            let right = if word == "-" { "0" } else { word };
            is(
                format!("{got:?}").as_str(),
                right,
                &format!("{name} of part {part}"),
            )?;
        }
        Ok(())
    }

    fn floats<R: Number>(&self, got: &[R], name: &str) -> Result<(), Failed> {
        let exact: Vec<f64> = self.case.numbers("exact");
        let magnitudes: Vec<f64> = self.case.numbers("magnitude");
        is(got.len(), exact.len(), name)?;
        for (part, got) in got.iter().enumerate() {
            close(*got, exact[part], DEPTH, magnitudes[part], R::ACCUMULATED)
                .map_err(|wrong| format!("{name} of part {part}: {wrong}"))?;
        }
        Ok(())
    }

    /// Zeros of both signs are equal for NumPy.
    fn extrema(&self, got: &[Option<T>], name: &str) -> Result<(), Failed> {
        let words = self.case.words(name).expect("the extrema");
        is(got.len(), words.len(), name)?;
        for (part, (got, word)) in got.iter().zip(words).enumerate() {
            let is_right = match (got, word) {
                (None, "-") => true,
                (Some(got), word) if word != "-" => {
                    let right: T = word.parse().expect("a number");
                    got.bits() == right.bits() || got.to_f64() == 0.0 && right.to_f64() == 0.0
                }
                _ => false,
            };
            if !is_right {
                return Err(format!("{name} of part {part}: {got:?} instead of {word}").into());
            }
        }
        Ok(())
    }

    fn check_indices(&self) -> Result<(), Failed>
    where
        ArgMin: Axes<T, Output = Option<Indexed<T>>>,
        ArgMax: Axes<T, Output = Option<Indexed<T>>>,
        Indexed<T>: Copy + Debug,
    {
        self.indices(&self.reduce(ArgMin)?, "argmin")?;
        self.indices(&self.reduce(ArgMax)?, "argmax")
    }

    /// The index of a zero is that of the first -0.0 or 0.0, which NumPy does not distinguish.
    fn indices(&self, got: &[Option<Indexed<T>>], name: &str) -> Result<(), Failed>
    where
        Indexed<T>: Copy + Debug,
    {
        let words = self.case.words(name).expect("the indices");
        is(got.len(), words.len(), name)?;
        for (part, (got, word)) in got.iter().zip(words).enumerate() {
            let index = got.map_or("-".to_string(), |got| got.index().to_string());
            if index != word && got.is_none_or(|got| got.value().to_f64() != 0.0) {
                return Err(format!("{name} of part {part}: {got:?} instead of {word}").into());
            }
        }
        Ok(())
    }
}
