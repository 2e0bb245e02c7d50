//! Reductions of all elements with the same key, for keys of any value.
//!
//! Both arrays are read as a whole, because a group's elements may be anywhere. Values are converted to the 64-bit type in
//! which they are combined.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::slice;

use warpfold::many::Distributed;
use warpfold::{Device, Element, Error, GroupKey, Max, Min, Segments, Sum, SumWide};

use crate::answer::{Answer, Column};
use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::keys::{Keys, with_keys};
use crate::options::{GroupByOptions, GroupOp};
use crate::ranks::{own_part, together};
use crate::reading::Reading;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Sources};
use crate::value::Value;

pub const USAGE: &str = "group-by requires two files: the keys, and the values";

/// The number of elements that are converted at a time; they fit into the L1 cache.
const BATCH: usize = 4096;

/// The bytes of an item on a device: key, value, index, order, and what a sort stores twice.
const ITEM_BYTES: u64 = 8 + 8 + 4 + 4 + 2 * (8 + 4) + 8;

/// Keys of a type that has kernels.
enum AllKeys {
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
}

/// A key in a file.
trait ToKeys: Element + Default {
    /// The same keys in 32 or 64 bits.
    fn all(elements: Elements<'_, Self>, reading: &Reading) -> Result<AllKeys, Error>;
}

macro_rules! to_keys {
    ($($key:ident to $variant:ident;)*) => { $(
        impl ToKeys for $key {
            fn all(elements: Elements<'_, Self>, reading: &Reading) -> Result<AllKeys, Error> {
                Ok(AllKeys::$variant(all(elements, reading, Into::into)?))
            }
        }
    )* };
}

to_keys! {
    u8 to U32;
    u16 to U32;
    u32 to U32;
    u64 to U64;
    i8 to I32;
    i16 to I32;
    i32 to I32;
    i64 to I64;
}

/// Values of the types in which sums are combined.
enum AllValues {
    I64(Vec<i64>),
    U64(Vec<u64>),
    F64(Vec<f64>),
}

macro_rules! all_values {
    ($($wide:ident to $variant:ident;)*) => { $(
        impl From<Vec<$wide>> for AllValues {
            fn from(values: Vec<$wide>) -> Self {
                Self::$variant(values)
            }
        }
    )* };
}

all_values! {
    i64 to I64;
    u64 to U64;
    f64 to F64;
}

/// `sources` are the keys, in the first of `input`'s files; the second one has the values.
pub fn run<'a>(
    options: &GroupByOptions,
    sources: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    let input = &options.input;
    let [_, values_file] = &input.files[..] else {
        return Err(Failure::Usage(USAGE.into()));
    };
    let default = DefaultFormat::Raw(input.dtype);
    let values = session.find(slice::from_ref(values_file), default)?;
    let (keys_name, name) = (sources.name(), values.name());
    let mismatch = |keys, values| Failure::Keys {
        keys_file: keys_name.clone(),
        keys,
        file: name.clone(),
        values,
    };
    if let (Some(keys), Some(values)) = (sources.len, values.len)
        && keys != values
    {
        return Err(mismatch(keys, values));
    }
    let share = session.share(&sources)?;
    let bytes = sources.bytes().zip(values.bytes());
    let bytes = bytes.map(|(keys, values)| keys.saturating_add(values));
    // Before the device, because this check is faster than opening a device.
    let keys = Keys::of(sources)?;
    let device = session.device(input)?;
    let reading = session.reading(bytes);
    let read = with_keys!(keys, |keys| {
        let keys = own_part(keys, share.as_ref());
        keys.and_then(|keys| ToKeys::all(keys, &reading))
    });
    let read = read.and_then(|keys| {
        let values: AllValues = warpfold::with_type!(values.dtype, |T| {
            type Wide = <SumWide as warpfold::Op<T>>::Output;
            let values = own_part(values.elements::<T>(), share.as_ref())?;
            all(values, &reading, Wide::from)?.into()
        });
        Ok((keys, values))
    });
    let (keys, values) = session.together("items", read.map_err(Failure::from))?;
    let job = Job {
        device: &device,
        options,
        all: session.all(),
        writes: session.writes(),
        mismatch: &mismatch,
    };
    let (result, n) = match keys {
        AllKeys::U32(keys) => job.reduced(keys, values),
        AllKeys::I32(keys) => job.reduced(keys, values),
        AllKeys::U64(keys) => job.reduced(keys, values),
        AllKeys::I64(keys) => job.reduced(keys, values),
    }?;
    Ok(Done {
        n: share.map_or(n, |share| share.n as usize),
        result,
        device,
        reading,
        chunk_bytes: ITEM_BYTES.saturating_mul(n as u64) as usize,
    })
}

/// All elements, converted by `convert`.
fn all<T: Element + Default, U>(
    mut elements: Elements<'_, T>,
    reading: &Reading,
    convert: impl Fn(T) -> U,
) -> Result<Vec<U>, Error> {
    let mut all = vec![];
    let mut piece = [T::default(); BATCH];
    while let Some(n) = elements.read(&mut piece, reading)? {
        all.try_reserve(n).map_err(|_| Error::OutOfHostMemory {
            wanted: (n * size_of::<U>()) as u64,
        })?;
        all.extend(piece[..n].iter().map(|element| convert(*element)));
    }
    Ok(all)
}

/// Keys and values that have been read.
struct Job<'a> {
    device: &'a Device,
    options: &'a GroupByOptions,
    /// The ranks, if there are several.
    all: Option<&'a Distributed>,
    /// Whether this process writes the file with the groups.
    writes: bool,
    /// The failure for numbers of keys and values that differ.
    mismatch: &'a dyn Fn(usize, usize) -> Failure,
}

impl Job<'_> {
    /// The answer for keys of one type, and the number of items that this process has reduced.
    fn reduced<K: GroupKey + Into<Value>>(
        &self,
        keys: Vec<K>,
        values: AllValues,
    ) -> Result<(Answer, usize), Failure> {
        match values {
            AllValues::I64(values) => self.answer(keys, values, |x| x as f64),
            AllValues::U64(values) => self.answer(keys, values, |x| x as f64),
            AllValues::F64(values) => self.answer(keys, values, |x| x),
        }
    }

    /// The answer for values of one type; `to_f64` converts a sum.
    fn answer<K: GroupKey + Into<Value>, T: Element + Into<Value>>(
        &self,
        mut keys: Vec<K>,
        mut values: Vec<T>,
        to_f64: impl Fn(T) -> f64,
    ) -> Result<(Answer, usize), Failure>
    where
        Sum: Segments<T, Output = T>,
        Min: Segments<T, Output = Option<T>>,
        Max: Segments<T, Output = Option<T>>,
    {
        if let Some(all) = self.all {
            // Each rank then has all items of its keys.
            let own = self.check(keys.len(), values.len());
            together(Some(all), "memory", own)?;
            let on_device = (self.device.upload(&keys), self.device.upload(&values));
            let on_device = on_device.0.and_then(|keys| Ok((keys, on_device.1?)));
            let own = together(Some(all), "upload", on_device.map_err(Failure::from))?;
            (keys, values) = all.spread_by_key(&own.0, &own.1)?;
        }
        let columns = self.columns(&keys, &values, to_f64);
        let mut columns = together(self.all, "groups", columns)?;
        if let Some(all) = self.all {
            columns = of_ranks(columns, all)?;
        }
        Ok((self.written(columns)?, keys.len()))
    }

    /// An error unless the device has memory for so many keys and values, which must be as many.
    fn check(&self, keys: usize, values: usize) -> Result<(), Failure> {
        if values != keys {
            return Err((self.mismatch)(keys, values));
        }
        let (limit, needs) = (
            self.options.input.device_memory,
            ITEM_BYTES.saturating_mul(keys as u64),
        );
        match needs > limit.as_u64() {
            true => Err(Failure::Memory {
                limit,
                what: format!("{keys} keys and values as a whole"),
                needs,
            }),
            false => Ok(()),
        }
    }

    /// The groups of these items, an element of each column for each group.
    fn columns<K: GroupKey + Into<Value>, T: Element + Into<Value>>(
        &self,
        keys: &[K],
        values: &[T],
        to_f64: impl Fn(T) -> f64,
    ) -> Result<Vec<Column>, Failure>
    where
        Sum: Segments<T, Output = T>,
        Min: Segments<T, Output = Option<T>>,
        Max: Segments<T, Output = Option<T>>,
    {
        self.check(keys.len(), values.len())?;
        let groups = self.device.group(&self.device.upload(keys)?)?;
        let groups = match self.options.sorted {
            true => groups.sort()?,
            false => groups,
        };
        let ops = &self.options.ops;
        let mut columns = vec![Column::new("key", groups.keys().download()?)];
        let has = |some: &[GroupOp]| ops.iter().any(|op| some.contains(op));
        if !has(&[GroupOp::Sum, GroupOp::Min, GroupOp::Max, GroupOp::Mean]) {
            let counts = groups.counts()?;
            columns.extend(ops.iter().map(|_| Column::new("count", counts.clone())));
            return Ok(columns);
        }
        let values = groups.arrange(&self.device.upload(values)?)?;
        let counts = values.counts()?;
        let sums = match has(&[GroupOp::Sum, GroupOp::Mean]) {
            true => values.reduce(Sum)?,
            false => vec![],
        };
        for op in ops {
            columns.push(match op {
                GroupOp::Sum => Column::new("sum", sums.clone()),
                GroupOp::Min => Column::new("min", some(values.reduce(Min)?)),
                GroupOp::Max => Column::new("max", some(values.reduce(Max)?)),
                GroupOp::Count => Column::new("count", counts.clone()),
                GroupOp::Mean => {
                    let means = sums.iter().zip(&counts);
                    let means = means.map(|(sum, count)| to_f64(*sum) / *count as f64);
                    Column::new("mean", means.collect())
                }
            });
        }
        Ok(columns)
    }

    /// The columns, or the name of the file with them.
    fn written(&self, columns: Vec<Column>) -> Result<Answer, Failure> {
        let Some(output) = &self.options.output else {
            return Ok(Answer::Groups(columns));
        };
        if self.writes {
            write(&columns, output).map_err(|error| Failure::io(output, error))?;
        }
        Ok(Answer::WrittenGroups {
            output: output.display().to_string(),
            groups: columns.first().map_or(0, |column| column.values.len()),
        })
    }
}

/// The groups of all ranks, in the order of the keys. Each key is on one rank.
fn of_ranks(columns: Vec<Column>, all: &Distributed) -> Result<Vec<Column>, Error> {
    let mut gathered = vec![];
    for column in columns {
        let (kinds, bits) = column.values.iter().map(|value| value.to_bits()).unzip();
        let kinds: Vec<Vec<u8>> = all.gather_elements("types of values", Ok(kinds))?;
        let bits: Vec<Vec<u64>> = all.gather_elements("values", Ok(bits))?;
        let values = kinds.concat().into_iter().zip(bits.concat());
        let values: Vec<Value> = values
            .map(|(kind, bits)| Value::from_bits(kind, bits))
            .collect();
        gathered.push((column.name, values));
    }
    let keys = gathered.first().map_or(&[][..], |(_, keys)| &keys[..]);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|row| keys[*row].integer());
    let sorted = |(name, values): &(&'static str, Vec<Value>)| Column {
        name,
        values: order.iter().map(|row| values[*row]).collect(),
    };
    Ok(gathered.iter().map(sorted).collect())
}

/// The results of groups, each of which has an item.
fn some<T>(results: Vec<Option<T>>) -> Vec<T> {
    results.into_iter().flatten().collect()
}

/// Writes a `.npy` file of records with a field of 64 bits for each column.
fn write(columns: &[Column], output: &Path) -> io::Result<()> {
    let descr = |column: &Column| {
        let kind = match column.values.first() {
            Some(Value::Double(_) | Value::Single(_)) => "<f8",
            Some(Value::Signed(_)) => "<i8",
            Some(Value::Unsigned(_)) | None => "<u8",
        };
        format!("('{}', '{kind}'), ", column.name)
    };
    let descr: String = columns.iter().map(descr).collect();
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut header = format!(
        "{{'descr': [{}], 'fortran_order': False, 'shape': ({rows},), }}",
        descr.trim_end_matches(", ")
    );
    /// The magic string, the version and the length of the header.
    const START: usize = 10;
    let padded = (START + header.len() + 1).next_multiple_of(64) - START;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let len = u16::try_from(header.len()).map_err(io::Error::other)?;
    let mut file = BufWriter::new(File::create(output)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&len.to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    for row in 0..rows {
        for column in columns {
            file.write_all(&match column.values[row] {
                Value::Signed(value) => value.to_le_bytes(),
                Value::Unsigned(value) => value.to_le_bytes(),
                Value::Single(value) => f64::from(value).to_le_bytes(),
                Value::Double(value) => value.to_le_bytes(),
            })?;
        }
    }
    file.flush()
}
