//! Reductions by key of files.
//!
//! Values are converted to the 64-bit type in which they are combined, and keys to `u64`, because these types
//! have kernels for every operator.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::slice;

use npyz::WriterBuilder;
use warpfold::file::DType;
use warpfold::{
    Determinism, Device, Element, Error, Key, Keyed, Max, Min, RejectedKey, Sum, SumWide,
};

use crate::answer::Answer;
use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::{ByKeyOptions, Op};
use crate::reading::Reading;
use crate::reduce::Array;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Sources};
use crate::value::Value;

/// The number of elements that are converted at a time; they fit into the L1 cache.
const BATCH: usize = 4096;

/// The bytes of a key and a value on the device.
const PAIR_BYTES: usize = 8 + 8;

/// Fills the beginning of a chunk and returns the number of elements; `None` at the end of the input.
type Fill<'a, T> = Box<dyn FnMut(&mut [T]) -> Result<Option<usize>, Error> + 'a>;

pub fn run<'a>(
    options: &ByKeyOptions,
    sources: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    let input = &options.input;
    let keys_file = slice::from_ref(&options.keys);
    let keys = Sources::find(keys_file, DefaultFormat::Npy, &mut session.stdin)?;
    if let (Some(pipe), None) = (keys.pipe(), options.cells) {
        return Err(Failure::Usage(format!(
            "--keys {}: without --cells, keys are read twice, and a pipe can be read only once; give \
             --cells, or save the keys to a file",
            pipe.display()
        )));
    }
    let (name, keys_name) = (sources.name(), keys.name());
    let mismatch = |keys, values| Failure::Keys {
        keys_file: keys_name.clone(),
        keys,
        file: name.clone(),
        values,
    };
    if let (Some(keys), Some(values)) = (keys.len, sources.len)
        && keys != values
    {
        return Err(mismatch(keys, values));
    }
    warpfold::with_type!(sources.dtype, |T| {
        type Wide = <SumWide as warpfold::Op<T>>::Output;
        let n = sources.len.or(keys.len);
        let key_size = keys.dtype.size();
        let passes = if options.cells.is_some() { 1 } else { 2 };
        let bytes = sources.bytes().zip(keys.bytes());
        let bytes = bytes.map(|(values, keys)| keys.saturating_mul(passes).saturating_add(values));
        // Before the device, because this check is faster than opening a device.
        let keys = Keys::of(keys)?;
        // Float sums by key depend on the order of the atomics.
        let device = match (session.device(input)?, input.exact) {
            (device, true) => device,
            (device, false) => device.determinism(Determinism::Fast),
        };
        let reading = Reading::new(bytes);

        let limit = input.device_memory;
        let (cells, keys) = match options.cells {
            Some(cells) => (cells, keys),
            None => {
                let chunk = chunk_len(&device, limit, key_size, n, 0)?;
                let cells = keys.cells(&device, &reading, chunk)?;
                let reopened = Sources::find(keys_file, DefaultFormat::Npy, &mut session.stdin)?;
                (cells, Keys::of(reopened)?)
            }
        };
        let chunk = chunk_len(&device, limit, PAIR_BYTES, n, cells)?;
        // `chunk_len` has checked that this number fits into the limit.
        let cells = usize::try_from(cells).unwrap_or(usize::MAX);
        let first_rejected = Cell::new(None);
        let job = Job {
            device: &device,
            chunk,
            cells,
            keys: keys.fill(&reading, cells, &first_rejected),
            values: converted(sources.elements::<T>(), &reading, Wide::from, |_, _| {}),
        };
        let (combined, n) = match options.op {
            Op::Sum => job.run(Sum),
            Op::Min => job.run(Min),
            Op::Max => job.run(Max),
        }
        .map_err(|error| match error {
            JobError::Lengths { keys, values } => mismatch(keys, values),
            JobError::Library(error) => error.into(),
        })?;
        if let (Some(RejectedKey { index, key }), false) =
            (first_rejected.get(), options.ignore_others)
        {
            return Err(Failure::NoCell {
                keys_file: keys_name,
                rejected: combined.rejected,
                n,
                key,
                index,
                cells,
            });
        }
        let result = match &options.output {
            None => Answer::from(combined),
            Some(output) => write(&combined, output).map_err(|error| Failure::io(output, error))?,
        };
        Ok(Done {
            n,
            result,
            device,
            reading,
            chunk_bytes: chunk * PAIR_BYTES,
        })
    })
}

/// Keys with their type in the file.
enum Keys<'a> {
    U8(Elements<'a, u8>),
    U16(Elements<'a, u16>),
    U32(Elements<'a, u32>),
    U64(Elements<'a, u64>),
    I8(Elements<'a, i8>),
    I16(Elements<'a, i16>),
    I32(Elements<'a, i32>),
    I64(Elements<'a, i64>),
}

/// Evaluates an expression for keys of any type.
macro_rules! with_keys {
    ($all:expr, |$keys:ident| $body:expr) => {
        match $all {
            Keys::U8($keys) => $body,
            Keys::U16($keys) => $body,
            Keys::U32($keys) => $body,
            Keys::U64($keys) => $body,
            Keys::I8($keys) => $body,
            Keys::I16($keys) => $body,
            Keys::I32($keys) => $body,
            Keys::I64($keys) => $body,
        }
    };
}

impl<'a> Keys<'a> {
    fn of(sources: Sources<'a>) -> Result<Self, Failure> {
        Ok(match sources.dtype {
            DType::U8 => Self::U8(sources.elements()),
            DType::U16 => Self::U16(sources.elements()),
            DType::U32 => Self::U32(sources.elements()),
            DType::U64 => Self::U64(sources.elements()),
            DType::I8 => Self::I8(sources.elements()),
            DType::I16 => Self::I16(sources.elements()),
            DType::I32 => Self::I32(sources.elements()),
            DType::I64 => Self::I64(sources.elements()),
            holds => {
                let file = sources.name();
                return Err(Failure::KeyType { file, holds });
            }
        })
    }

    /// The number of cells for all keys: the largest key plus 1.
    fn cells(self, device: &Device, reading: &Reading, chunk: usize) -> Result<u64, Error> {
        with_keys!(self, |elements| {
            let mut array = Array {
                device,
                elements,
                reading,
                chunk,
            };
            let largest = array.reduce(Max)?.and_then(cell_of);
            Ok(largest.map_or(0, |key| key.saturating_add(1)))
        })
    }

    /// The keys as `u64`; a negative key becomes one without a cell. `first` gets the first key that has none.
    fn fill<'f>(
        self,
        reading: &'f Reading,
        cells: usize,
        first: &'f Cell<Option<RejectedKey>>,
    ) -> Fill<'f, u64>
    where
        'a: 'f,
    {
        with_keys!(self, |keys| {
            let convert = |key| cell_of(key).unwrap_or(u64::MAX);
            converted(keys, reading, convert, note_first(cells, first))
        })
    }
}

/// Notes the first key without a cell in `first`. The returned function gets all keys in order, with their cells.
fn note_first<K: Key>(cells: usize, first: &Cell<Option<RejectedKey>>) -> impl FnMut(&[K], &[u64]) {
    let mut index = 0;
    move |keys, cells_of_keys| {
        if first.get().is_none()
            && let Some(i) = cells_of_keys.iter().position(|cell| *cell >= cells as u64)
        {
            first.set(Some(RejectedKey {
                index: index + i as u64,
                key: keys[i].number(),
            }));
        }
        index += keys.len() as u64;
    }
}

/// The cell of a key; `None` for a negative key.
fn cell_of(key: impl TryInto<u64>) -> Option<u64> {
    key.try_into().ok()
}

/// The elements of files, converted by `convert`; `check` gets them in order, and what they were converted to.
fn converted<'a, T: Element + Default, U>(
    mut elements: Elements<'a, T>,
    reading: &'a Reading,
    convert: impl Fn(T) -> U + 'a,
    mut check: impl FnMut(&[T], &[U]) + 'a,
) -> Fill<'a, U> {
    let mut read = [T::default(); BATCH];
    Box::new(move |chunk| {
        let mut done = 0;
        for part in chunk.chunks_mut(BATCH) {
            let Some(n) = elements.read(&mut read[..part.len()], reading)? else {
                break;
            };
            for (converted, element) in part.iter_mut().zip(&read[..n]) {
                *converted = convert(*element);
            }
            check(&read[..n], &part[..n]);
            done += n;
        }
        Ok((done > 0).then_some(done))
    })
}

/// Keys and values to be combined into cells.
struct Job<'a, T> {
    device: &'a Device,
    /// The number of elements in a chunk.
    chunk: usize,
    cells: usize,
    keys: Fill<'a, u64>,
    values: Fill<'a, T>,
}

/// The combined values of each key, and the number of elements whose key has no cell.
struct Combined<T> {
    cells: Vec<T>,
    rejected: u64,
}

enum JobError {
    /// The numbers of keys and values differ.
    Lengths {
        keys: usize,
        values: usize,
    },
    Library(Error),
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl<T: Element> Job<'_, T> {
    /// The cells, and the number of values.
    fn run<O: Keyed<u64, T>>(mut self, op: O) -> Result<(Combined<T>, usize), JobError> {
        let mut cells = self.device.cells(self.cells, op)?;
        let mut keys = self.device.chunks(self.chunk)?;
        let mut values = self.device.chunks(self.chunk)?;
        let mut n = 0;
        loop {
            match (keys.load(&mut self.keys)?, values.load(&mut self.values)?) {
                (None, None) => break,
                (Some(keys), Some(values)) if keys.len() == values.len() => {
                    n += keys.len();
                    cells.combine(keys, values)?;
                }
                (keys, values) => {
                    return Err(JobError::Lengths {
                        keys: n + keys.map_or(0, |keys| keys.len()) + rest(&mut self.keys)?,
                        values: n + values.map_or(0, |v| v.len()) + rest(&mut self.values)?,
                    });
                }
            }
        }
        let (rejected, cells) = (cells.rejected()?, cells.download()?);
        Ok((Combined { cells, rejected }, n))
    }
}

/// Reads the remaining elements and returns their number.
fn rest<T: Element>(fill: &mut Fill<'_, T>) -> Result<usize, Error> {
    let mut piece = Device::cpu().alloc(BATCH)?.download()?;
    let mut n = 0;
    while let Some(more) = fill(&mut piece)? {
        n += more;
    }
    Ok(n)
}

impl<T: Into<Value>> From<Combined<T>> for Answer {
    fn from(combined: Combined<T>) -> Self {
        Self::Cells {
            cells: combined.cells.into_iter().map(Into::into).collect(),
            rejected: combined.rejected,
        }
    }
}

/// Writes the cells to a `.npy` file.
fn write<T: Element + npyz::AutoSerialize>(
    combined: &Combined<T>,
    output: &Path,
) -> io::Result<Answer> {
    let Combined { cells, rejected } = combined;
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
