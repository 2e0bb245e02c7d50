//! Keys in files, and the cells of a command that combines by key.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use npyz::WriterBuilder;
use warpfold::file::DType;
use warpfold::{Cells, Device, Element, Error, Key, Max, Op, RejectedKey};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::{CellOptions, Input};
use crate::ranks::{Share, own_part, together};
use crate::reading::Reading;
use crate::reduce::Array;
use crate::sources::{Elements, Sources};
use crate::value::Value;

/// Keys with their type in the file.
pub enum Keys<'a> {
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
pub(crate) use with_keys;

impl<'a> Keys<'a> {
    pub fn of(sources: Sources<'a>) -> Result<Self, Failure> {
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

    /// The number of cells, and the keys. Without `--cells`, the keys are read here, and `again` opens their files
    /// again.
    #[expect(clippy::too_many_arguments, reason = "what an array has")]
    pub fn with_cells(
        self,
        options: &CellOptions,
        input: &Input,
        n: Option<usize>,
        device: &Device,
        reading: &Reading,
        share: Option<&Share>,
        again: impl FnOnce() -> Result<Sources<'a>, Failure>,
    ) -> Result<(u64, Self), Failure> {
        if let Some(cells) = options.number {
            return Ok((cells, self));
        }
        let largest = with_keys!(self, |elements| {
            let size = elements.element_size();
            let elements = own_part(elements, share).map_err(Failure::from);
            let elements = together(share.map(|share| &share.ranks), "open", elements)?;
            let mut array = Array {
                device,
                elements,
                reading,
                chunk: chunk_len(device, input.device_memory, size, n, 0)?,
                share: share.cloned(),
            };
            array.reduce(Max)?.and_then(cell_of)
        });
        let cells = largest.map_or(0, |key| key.saturating_add(1));
        Ok((cells, Self::of(again()?)?))
    }
}

/// How often the keys in `sources` are read. Fails if that is twice, and a pipe is among them; `option` is what
/// precedes the file on the command line.
pub fn passes(options: &CellOptions, sources: &Sources<'_>, option: &str) -> Result<u64, Failure> {
    match (options.number, sources.pipe()) {
        (Some(_), _) => Ok(1),
        (None, None) => Ok(2),
        (None, Some(pipe)) => Err(Failure::Usage(format!(
            "{option}{}: without --cells, keys are read twice, and a pipe can be read only once; give --cells, or \
             save the keys to a file",
            pipe.display()
        ))),
    }
}

/// Notes the first key without a cell in `first`. The returned function gets all keys in order.
pub fn note_first<K: Key>(cells: usize, first: &Cell<Option<RejectedKey>>) -> impl FnMut(&[K]) {
    let mut index = 0;
    move |keys| {
        if first.get().is_none()
            && let Some(i) = keys.iter().position(|key| key.cell() >= cells)
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
pub fn cell_of(key: impl TryInto<u64>) -> Option<u64> {
    key.try_into().ok()
}

/// The cells that a rank has filled, or one process.
pub struct Filled<T: Element, O: Op<T, Acc = T>> {
    pub cells: Cells<T, O>,
    /// The first element whose key has no cell, among those that have been read.
    pub first: Option<RejectedKey>,
    /// The number of elements that have been read.
    pub n: usize,
}

/// The combined values of each key, and the elements whose key has no cell.
pub struct Combined<T> {
    pub cells: Vec<T>,
    pub rejected: u64,
    /// The first of them.
    pub first: Option<RejectedKey>,
    /// The number of elements, with or without a cell.
    pub n: usize,
}

impl<T: Element + npyz::AutoSerialize + Into<Value>> Combined<T> {
    /// The cells of all ranks.
    pub fn of_ranks<O: Op<T, Acc = T>>(
        own: Filled<T, O>,
        share: Option<&Share>,
    ) -> Result<Self, Error> {
        let Some(share) = share else {
            return Ok(Self {
                cells: own.cells.download()?,
                rejected: own.cells.rejected()?,
                first: own.first,
                n: own.n,
            });
        };
        let start = share.items().start as u64;
        let rejected = own.cells.rejected().map(|rejected| {
            let (index, key) = own.first.map_or((0, 0), |f| (start + f.index, f.key));
            // The key has 128 bits.
            vec![rejected, index, key as u64, (key >> 64) as u64]
        });
        let all_rejected = share
            .ranks
            .gather_elements("keys without a cell", rejected)?;
        let first = all_rejected.iter().find(|rejected| rejected[0] > 0);
        Ok(Self {
            cells: share.ranks.combine_cells(&own.cells)?,
            rejected: all_rejected.iter().map(|rejected| rejected[0]).sum(),
            first: first.map(|of_rank| RejectedKey {
                index: of_rank[1],
                key: (i128::from(of_rank[3] as i64) << 64) | i128::from(of_rank[2]),
            }),
            n: share.n as usize,
        })
    }

    /// The cells, or the name of the file with them, which this process writes if `writes`. Fails if a key has no cell, unless
    /// `--ignore-others` is given.
    pub fn answer(
        self,
        options: &CellOptions,
        keys_file: String,
        writes: bool,
    ) -> Result<Answer, Failure> {
        if let (Some(RejectedKey { index, key }), false) = (self.first, options.ignore_others) {
            return Err(Failure::NoCell {
                keys_file,
                rejected: self.rejected,
                n: self.n,
                key,
                index,
                cells: self.cells.len(),
            });
        }
        let rejected = self.rejected;
        match &options.output {
            None => Ok(Answer::Cells {
                cells: self.cells.into_iter().map(Into::into).collect(),
                rejected,
            }),
            Some(output) => {
                if writes {
                    write(&self.cells, output).map_err(|error| Failure::io(output, error))?;
                }
                Ok(Answer::Written {
                    output: output.display().to_string(),
                    cells: self.cells.len(),
                    rejected,
                })
            }
        }
    }
}

/// Writes the cells to a `.npy` file.
fn write<T: npyz::AutoSerialize>(cells: &[T], output: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(output)?);
    let options = npyz::WriteOptions::new().default_dtype();
    let shape = [cells.len() as u64];
    let mut writer = options.shape(&shape).writer(&mut file).begin_nd()?;
    writer.extend(cells)?;
    writer.finish()?;
    file.flush()
}
