//! Whole reductions of files.

use std::io::Write;
use std::str::FromStr;

use warpfold::file::{DType, Elements};
use warpfold::{
    ArgMax, ArgMin, Device, Element, Error, Extrema, Indexed, Max, Mean, MeanVariance, Min, MinMax,
    Norm, Number, Predicate, Product, SinglePass, SumAbs, SumSquares, SumWide,
};

use crate::answer::Answer;
use crate::command::{self, Done};
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::{Command, CountOptions, NormOptions, Order, Question, VarOptions};
use crate::reading::Reading;
use crate::value::Value;

pub fn run(command: &Command, dtype: DType, stderr: &mut dyn Write) -> Result<Done, Failure> {
    let input = command.input();
    warpfold::with_type!(dtype, |T| {
        let elements = command::open::<T>(&input.file)?;
        let n = elements.len();
        check_some(command, n)?;
        let device = command::device(input.device, stderr)?;
        let chunk = chunk_len(&device, input.device_memory, size_of::<T>(), n, 0)?;
        let reading = Reading::new((n * size_of::<T>()) as u64);
        let array = Array {
            device: &device,
            elements,
            reading: &reading,
            chunk,
        };
        let result = match command {
            Command::Sum(_) => array.by(SumWide)?.into(),
            Command::Product(_) => array.by(Product)?.into(),
            Command::Min(_) => some(array.by(Min)?).into(),
            Command::Max(_) => some(array.by(Max)?).into(),
            Command::MinMax(_) => some(array.by(MinMax)?).into(),
            Command::Argmin(_) => some(array.by(ArgMin)?).into(),
            Command::Argmax(_) => some(array.by(ArgMax)?).into(),
            Command::Mean(_) => some(array.by(T::MEAN_BY)?.mean(n)).into(),
            Command::Var(VarOptions { ddof, .. }) => {
                let squares = some(array.by(MeanVariance)?).squares();
                (squares / (n as u64 - ddof) as f64).into()
            }
            Command::Norm(NormOptions { order, .. }) => match order {
                Order::One => array.by(SumAbs)?.into(),
                Order::Two => array.by(SumSquares)?.norm().into(),
                Order::Inf => some(array.by(MinMax)?).norm().into(),
            },
            Command::Count(CountOptions { question, .. }) => {
                array.count(predicate::<T>(question, dtype)?)?.into()
            }
            Command::ReduceByKey(_) => unreachable!("`by_key` does"),
        };
        Ok(Done {
            n,
            result,
            device,
            reading,
            chunk_bytes: chunk * size_of::<T>(),
        })
    })
}

/// That there are elements enough.
fn check_some(command: &Command, n: usize) -> Result<(), Failure> {
    let (without, what) = match command {
        Command::Min(_) => (0, "minimum".into()),
        Command::Max(_) => (0, "maximum".into()),
        Command::MinMax(_) => (0, "minimum and no maximum".into()),
        Command::Argmin(_) => (0, "smallest one".into()),
        Command::Argmax(_) => (0, "largest one".into()),
        Command::Mean(_) => (0, "mean".into()),
        Command::Var(VarOptions { ddof, .. }) => (*ddof, format!("variance with --ddof {ddof}")),
        Command::Norm(NormOptions {
            order: Order::Inf, ..
        }) => (0, "largest absolute value".into()),
        _ => return Ok(()),
    };
    match n as u64 > without {
        true => Ok(()),
        false => Err(Failure::TooFew {
            file: command.input().file.clone(),
            n,
            what,
        }),
    }
}

/// The result of elements of which there are enough.
fn some<R>(result: Option<R>) -> R {
    result.expect("`check_some` has found an element")
}

/// An array in a file, on its way through a device.
pub struct Array<'a, T: Element> {
    pub device: &'a Device,
    pub elements: Elements<T>,
    pub reading: &'a Reading,
    /// Elements of a chunk.
    pub chunk: usize,
}

impl<T: Number> Array<'_, T> {
    pub fn by<O: SinglePass<T>>(mut self, op: O) -> Result<O::Output, Error> {
        self.device.reduce_chunks(op, self.chunk, |chunk| {
            self.reading.read(&mut self.elements, chunk)
        })
    }

    fn count(mut self, predicate: Predicate<T>) -> Result<u64, Error> {
        let mut chunks = self.device.chunks(self.chunk)?;
        let mut count = 0;
        while let Some(chunk) = chunks.load(|chunk| self.reading.read(&mut self.elements, chunk))? {
            count += self.device.count(chunk, predicate)?;
        }
        Ok(count)
    }
}

fn predicate<T: FromStr>(question: &Question, dtype: DType) -> Result<Predicate<T>, Failure> {
    let value = |option: &str, text: &String| {
        let wrong = |_| Failure::Usage(format!("{option} {text:?}: no {dtype}"));
        text.parse().map_err(wrong)
    };
    Ok(match question {
        Question {
            equal: Some(text), ..
        } => Predicate::Equal(value("--equal", text)?),
        Question {
            less: Some(text), ..
        } => Predicate::Less(value("--less", text)?),
        Question {
            greater: Some(text),
            ..
        } => Predicate::Greater(value("--greater", text)?),
        Question { nan: true, .. } => Predicate::Nan,
        _ => Predicate::Nonzero,
    })
}

impl<T: Number + Into<Value>> From<Extrema<T>> for Answer {
    fn from(extrema: Extrema<T>) -> Self {
        Self::Extrema {
            min: extrema.min().into(),
            max: extrema.max().into(),
        }
    }
}

impl<T: Number + Into<Value>> From<Indexed<T>> for Answer {
    fn from(place: Indexed<T>) -> Self {
        Self::Place {
            index: place.index(),
            value: place.value().into(),
        }
    }
}
