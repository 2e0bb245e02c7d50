//! One number for each part: printed, or written to a `.npy` file.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use npyz::WriterBuilder;
use warpfold::many::Distributed;
use warpfold::{Element, Error, bf16, f16};

use crate::failure::Failure;
use crate::value::Value;

/// A number that can be printed and written.
pub trait Printed: Element + Debug + Default + Into<Value> {
    /// The type in a `.npy` file. 16-bit floats are converted to `f32`, which is exact.
    type InFile: npyz::AutoSerialize + Copy;

    /// What the file has for a part without a result: NaN, or nothing for integers.
    const MISSING: Option<Self::InFile>;

    fn in_file(self) -> Self::InFile;
}

macro_rules! printed {
    ($($number:ident in $in_file:ident, $missing:expr;)*) => { $(
        impl Printed for $number {
            type InFile = $in_file;
            const MISSING: Option<$in_file> = $missing;

            fn in_file(self) -> $in_file {
                self.into()
            }
        }
    )* };
}

printed! {
    i8 in i8, None;
    i16 in i16, None;
    i32 in i32, None;
    i64 in i64, None;
    u8 in u8, None;
    u16 in u16, None;
    u32 in u32, None;
    u64 in u64, None;
    f16 in f32, Some(f32::NAN);
    bf16 in f32, Some(f32::NAN);
    f32 in f32, Some(f32::NAN);
    f64 in f64, Some(f64::NAN);
}

/// The results of all parts in C order; `None` for a part that is too short to have one.
pub trait Column: Send + Debug {
    fn len(&self) -> usize;

    fn value(&self, index: usize) -> Option<Value>;

    /// The results of all ranks, one rank after another.
    fn of_ranks(&self, all: &Distributed) -> Result<Box<dyn Column>, Error>;

    /// Writes an array of this shape.
    fn write(&self, shape: &[usize], output: &Path) -> Result<(), Failure>;
}

impl<R: Printed> Column for Vec<Option<R>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn value(&self, index: usize) -> Option<Value> {
        self[index].map(Into::into)
    }

    fn of_ranks(&self, all: &Distributed) -> Result<Box<dyn Column>, Error> {
        let numbers = self.iter().map(|result| result.unwrap_or_default());
        let numbers = all.gather_elements("results", Ok(numbers.collect::<Vec<R>>()))?;
        let exist = self.iter().map(|result| u8::from(result.is_some()));
        let exist = all.gather_elements("results that exist", Ok(exist.collect()))?;
        let results = numbers.concat().into_iter().zip(exist.concat());
        let results = results.map(|(number, exists)| (exists > 0).then_some(number));
        Ok(Box::new(results.collect::<Vec<_>>()))
    }

    fn write(&self, shape: &[usize], output: &Path) -> Result<(), Failure> {
        let missing = self.iter().position(Option::is_none);
        if let (Some(index), None) = (missing, R::MISSING) {
            return Err(Failure::NoInteger {
                output: output.into(),
                index,
            });
        }
        let numbers = self.iter().flat_map(|result| match result {
            Some(number) => Some(number.in_file()),
            None => R::MISSING,
        });
        write(numbers, shape, output).map_err(|error| Failure::io(output, error))
    }
}

fn write<T: npyz::AutoSerialize>(
    numbers: impl Iterator<Item = T>,
    shape: &[usize],
    output: &Path,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(output)?);
    let shape: Vec<u64> = shape.iter().map(|len| *len as u64).collect();
    let options = npyz::WriteOptions::new().default_dtype();
    let mut writer = options.shape(&shape).writer(&mut file).begin_nd()?;
    writer.extend(numbers)?;
    writer.finish()?;
    file.flush()
}
