//! Reductions by key of files.
//!
//! Values are converted to the 64-bit type in which they are combined, and keys to `u64`, because these types
//! have kernels for every operator.

use std::cell::Cell;
use std::slice;

use warpfold::{Determinism, Device, Element, Error, Keyed, Max, Min, RejectedKey, Sum, SumWide};

use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::keys::{Combined, Filled, Keys, cell_of, note_first, passes, with_keys};
use crate::memory::chunk_len;
use crate::options::{ByKeyOptions, Op};
use crate::ranks::{Share, own_part, together};
use crate::reading::Reading;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Sources};
use crate::value::Value;

/// The number of elements that are converted at a time; they fit into the L1 cache.
const BATCH: usize = 4096;

/// The bytes of a key and a value on the device.
const PAIR_BYTES: usize = 8 + 8;

/// Fills the beginning of a chunk and returns the number of elements; `None` at the end of the input.
pub type Fill<'a, T> = Box<dyn FnMut(&mut [T]) -> Result<Option<usize>, Error> + 'a>;

pub fn run<'a>(
    options: &ByKeyOptions,
    sources: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    let ByKeyOptions {
        input, cells: to, ..
    } = options;
    let keys_file = slice::from_ref(&options.keys);
    let keys = session.find(keys_file, DefaultFormat::Npy)?;
    let passes = passes(to, &keys, "--keys ")?;
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
        let share = session.share(&sources)?;
        let bytes = sources.bytes().zip(keys.bytes());
        let bytes = bytes.map(|(values, keys)| keys.saturating_mul(passes).saturating_add(values));
        // Before the device, because this check is faster than opening a device.
        let keys = Keys::of(keys)?;
        // Float sums by key depend on the order of the atomics.
        let device = match (session.device(input)?, input.exact) {
            (device, true) => device,
            (device, false) => device.determinism(Determinism::Fast),
        };
        let reading = session.reading(bytes);
        let share = share.as_ref();
        let (cells, keys) = keys.with_cells(to, input, n, &device, &reading, share, || {
            session.find(keys_file, DefaultFormat::Npy)
        })?;
        let chunk = chunk_len(&device, input.device_memory, PAIR_BYTES, n, cells)?;
        // `chunk_len` has checked that this number fits into the limit.
        let cells = usize::try_from(cells).unwrap_or(usize::MAX);
        let first = Cell::new(None);
        let job = with_keys!(keys, |keys| {
            // A negative key becomes one without a cell.
            let convert = |key| cell_of(key).unwrap_or(u64::MAX);
            let keys = own_part(keys, share)
                .map(|keys| converted(keys, &reading, convert, note_first(cells, &first)));
            keys.and_then(|keys| {
                let values = own_part(sources.elements::<T>(), share)?;
                Ok(Job {
                    device: &device,
                    chunk,
                    cells,
                    first: &first,
                    keys,
                    values: converted(values, &reading, Wide::from, |_| {}),
                    mismatch: &mismatch,
                })
            })
        });
        let job = session.together("open", job.map_err(Failure::from))?;
        let combined = match options.op {
            Op::Sum => job.run(Sum, share),
            Op::Min => job.run(Min, share),
            Op::Max => job.run(Max, share),
        }?;
        Ok(Done {
            n: combined.n,
            result: combined.answer(to, keys_name.clone(), session.writes())?,
            device,
            reading,
            chunk_bytes: chunk * PAIR_BYTES,
        })
    })
}

/// The elements of files, converted by `convert`; `check` gets them in order.
pub fn converted<'a, T: Element + Default, U>(
    mut elements: Elements<'a, T>,
    reading: &'a Reading,
    convert: impl Fn(T) -> U + 'a,
    mut check: impl FnMut(&[T]) + 'a,
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
            check(&read[..n]);
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
    /// The first key without a cell.
    first: &'a Cell<Option<RejectedKey>>,
    keys: Fill<'a, u64>,
    values: Fill<'a, T>,
    /// The failure for numbers of keys and values that differ.
    mismatch: &'a dyn Fn(usize, usize) -> Failure,
}

impl<T: Element + npyz::AutoSerialize + Into<Value>> Job<'_, T> {
    /// Combines all values, of all ranks if there are several.
    fn run<O: Keyed<u64, T>>(self, op: O, share: Option<&Share>) -> Result<Combined<T>, Failure> {
        let ranks = share.map(|share| &share.ranks);
        let filled = together(ranks, "cells", self.fill(op))?;
        Ok(Combined::of_ranks(filled, share)?)
    }

    /// Combines the values that this rank reads.
    fn fill<O: Keyed<u64, T>>(mut self, op: O) -> Result<Filled<T, O>, Failure> {
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
                    return Err((self.mismatch)(
                        n + keys.map_or(0, |keys| keys.len()) + rest(&mut self.keys)?,
                        n + values.map_or(0, |v| v.len()) + rest(&mut self.values)?,
                    ));
                }
            }
        }
        Ok(Filled {
            cells,
            first: self.first.get(),
            n,
        })
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
