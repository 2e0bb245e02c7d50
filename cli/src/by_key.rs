//! Reductions by key of files.
//!
//! Values go to the device in the type of 64 bits that they are combined in, and keys as `u64`: for
//! those there are kernels of every operator.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use npyz::WriterBuilder;
use warpfold::file::{DType, Elements, NpyHeader};
use warpfold::{ByKey, Device, Element, Error, Keyed, Max, Min, Sum, SumWide};

use crate::answer::Answer;
use crate::command::{self, Done};
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::{ByKeyOptions, Op};
use crate::reading::Reading;
use crate::reduce::Array;
use crate::value::Value;

/// Elements whose type is changed at a time: they stay in a core's first cache.
const AT_ONCE: usize = 4096;

/// The bytes of a key and of a value on the device.
const PAIR: usize = 8 + 8;

/// Fills a chunk from its start, and says how far.
type Fill<'a, T> = Box<dyn FnMut(&mut [T]) -> Result<Option<usize>, Error> + 'a>;

pub fn run(options: &ByKeyOptions, dtype: DType, stderr: &mut dyn Write) -> Result<Done, Failure> {
    let input = &options.input;
    warpfold::with_type!(dtype, |T| {
        type Wide = <SumWide as warpfold::Op<T>>::Output;
        let values = command::open::<T>(&input.file)?;
        let n = values.len();
        let holds = NpyHeader::of_file(&options.keys)?.dtype()?;
        let keys = Keys::open(&options.keys, holds)?;
        if keys.len() != n {
            let (keys, values, arrays) = (keys.len(), n, 1);
            let error = Error::KeysAndValues {
                keys,
                values,
                arrays,
            };
            return Err(error.into());
        }
        let device = command::device(input.device, stderr)?;
        let passes = if options.cells.is_some() { 1 } else { 2 };
        let size = size_of::<T>() + passes * holds.size();
        let reading = Reading::new((n as u64).saturating_mul(size as u64));

        let limit = input.device_memory;
        let cells = match options.cells {
            Some(cells) => cells,
            None => {
                let chunk = chunk_len(&device, limit, holds.size(), n, 0)?;
                Keys::open(&options.keys, holds)?.cells(&device, &reading, chunk)?
            }
        };
        let chunk = chunk_len(&device, limit, PAIR, n, cells)?;
        let job = Job {
            device: &device,
            chunk,
            // So many fit into the limit.
            cells: usize::try_from(cells).unwrap_or(usize::MAX),
            keys: keys.fill(&reading),
            values: changed(values, &reading, Wide::from),
        };
        let by_key = match options.op {
            Op::Sum => job.by(Sum),
            Op::Min => job.by(Min),
            Op::Max => job.by(Max),
        }?;
        let result = match &options.output {
            None => Answer::from(by_key),
            Some(output) => written(&by_key, output).map_err(|error| Failure::Write {
                file: output.clone(),
                error,
            })?,
        };
        Ok(Done {
            n,
            result,
            device,
            reading,
            chunk_bytes: chunk * PAIR,
        })
    })
}

/// The elements of a file of keys, as the type that they have there.
enum Keys {
    U32(Elements<u32>),
    U64(Elements<u64>),
    I32(Elements<i32>),
    I64(Elements<i64>),
}

/// An expression of keys of any type.
macro_rules! with_keys {
    ($all:expr, |$keys:ident| $body:expr) => {
        match $all {
            Keys::U32($keys) => $body,
            Keys::U64($keys) => $body,
            Keys::I32($keys) => $body,
            Keys::I64($keys) => $body,
        }
    };
}

impl Keys {
    fn open(file: &Path, holds: DType) -> Result<Self, Failure> {
        Ok(match holds {
            DType::U32 => Self::U32(Elements::open_npy(file)?),
            DType::U64 => Self::U64(Elements::open_npy(file)?),
            DType::I32 => Self::I32(Elements::open_npy(file)?),
            DType::I64 => Self::I64(Elements::open_npy(file)?),
            _ => {
                let file = file.into();
                return Err(Failure::NoKeys { file, holds });
            }
        })
    }

    fn len(&self) -> usize {
        with_keys!(self, |keys| keys.len())
    }

    /// The number of cells that have room for all keys.
    fn cells(self, device: &Device, reading: &Reading, chunk: usize) -> Result<u64, Error> {
        if self.len() == 0 {
            return Ok(0);
        }
        with_keys!(self, |elements| {
            let array = Array {
                device,
                elements,
                reading,
                chunk,
            };
            let largest = array.by(Max)?.and_then(cell_of);
            Ok(largest.map_or(0, |key| key.saturating_add(1)))
        })
    }

    /// A negative key becomes one that no cell has.
    fn fill(self, reading: &Reading) -> Fill<'_, u64> {
        with_keys!(self, |keys| changed(keys, reading, |key| {
            cell_of(key).unwrap_or(u64::MAX)
        }))
    }
}

/// `None` of a negative key.
fn cell_of(key: impl TryInto<u64>) -> Option<u64> {
    key.try_into().ok()
}

/// The elements of a file in another type.
fn changed<'a, T: Element + Default, U>(
    mut elements: Elements<T>,
    reading: &'a Reading,
    change: impl Fn(T) -> U + 'a,
) -> Fill<'a, U> {
    let mut read = [T::default(); AT_ONCE];
    Box::new(move |chunk| {
        let mut done = 0;
        for part in chunk.chunks_mut(AT_ONCE) {
            let n = reading.read(&mut elements, &mut read[..part.len()])?;
            let n = n.unwrap_or(0);
            for (place, element) in part.iter_mut().zip(&read[..n]) {
                *place = change(*element);
            }
            done += n;
        }
        Ok((done > 0).then_some(done))
    })
}

/// Keys and values on their way into cells.
struct Job<'a, T> {
    device: &'a Device,
    /// Elements of a chunk.
    chunk: usize,
    cells: usize,
    keys: Fill<'a, u64>,
    values: Fill<'a, T>,
}

impl<T: Element> Job<'_, T> {
    fn by<O: Keyed<u64, T>>(mut self, op: O) -> Result<ByKey<T>, Error> {
        let mut cells = self.device.cells(self.cells, op)?;
        let mut keys = self.device.chunks(self.chunk)?;
        let mut values = self.device.chunks(self.chunk)?;
        while let (Some(keys), Some(values)) =
            (keys.load(&mut self.keys)?, values.load(&mut self.values)?)
        {
            cells.combine(keys, values)?;
        }
        Ok(ByKey {
            rejected: cells.rejected()?,
            cells: cells.download()?,
        })
    }
}

impl<T: Into<Value>> From<ByKey<T>> for Answer {
    fn from(by_key: ByKey<T>) -> Self {
        Self::Cells {
            cells: by_key.cells.into_iter().map(Into::into).collect(),
            rejected: by_key.rejected,
        }
    }
}

/// The cells, in a `.npy` file.
fn written<T: Element + npyz::AutoSerialize>(
    by_key: &ByKey<T>,
    output: &Path,
) -> io::Result<Answer> {
    let ByKey { cells, rejected } = by_key;
    let mut file = BufWriter::new(File::create(output)?);
    let options = npyz::WriteOptions::new().default_dtype();
    let shape = [cells.len() as u64];
    let mut writer = options.shape(&shape).writer(&mut file).begin_nd()?;
    writer.extend(cells)?;
    writer.finish()?;
    file.flush()?;
    Ok(Answer::Written {
        output: output.display().to_string(),
        cells: cells.len(),
        rejected: *rejected,
    })
}
