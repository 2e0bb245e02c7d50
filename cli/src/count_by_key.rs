//! The number of elements of each key in files.

use std::cell::Cell;
use std::path::PathBuf;

use warpfold::{Device, Error, Key, Sum};

use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::keys::{Combined, Filled, Keys, note_first, passes, with_keys};
use crate::memory::chunk_len;
use crate::options::CountByKeyOptions;
use crate::ranks::{Share, own_part};
use crate::reading::Reading;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Sources};

/// `sources` are the keys, in these files.
pub fn run<'a>(
    options: &CountByKeyOptions,
    files: &[PathBuf],
    sources: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    let CountByKeyOptions { input, cells: to } = options;
    let passes = passes(to, &sources, "")?;
    let (name, len, size) = (sources.name(), sources.len, sources.dtype.size());
    let bytes = sources.bytes();
    let share = session.share(&sources)?;
    // Before the device, because this check is faster than opening a device.
    let keys = Keys::of(sources)?;
    let device = session.device(input)?;
    let reading = session.reading(bytes.map(|bytes| bytes.saturating_mul(passes)));
    let (cells, keys) =
        keys.with_cells(to, input, len, &device, &reading, share.as_ref(), || {
            session.find(files, DefaultFormat::Raw(input.dtype))
        })?;
    let chunk = chunk_len(&device, input.device_memory, size, len, cells)?;
    // `chunk_len` has checked that this number fits into the limit.
    let cells = usize::try_from(cells).unwrap_or(usize::MAX);
    let counted = with_keys!(keys, |keys| {
        count(&device, keys, &reading, chunk, cells, share.as_ref())
    });
    let counted = Combined::of_ranks(session.together("count", counted)?, share.as_ref())?;
    Ok(Done {
        n: counted.n,
        result: counted.answer(to, name, session.writes())?,
        device,
        reading,
        chunk_bytes: chunk * size,
    })
}

/// Counts the elements of each key, `chunk` keys at a time; those that this rank reads, if there are several.
fn count<K: Key + Default>(
    device: &Device,
    keys: Elements<'_, K>,
    reading: &Reading,
    chunk: usize,
    cells: usize,
    share: Option<&Share>,
) -> Result<Filled<u64, Sum>, Failure> {
    let mut keys = own_part(keys, share)?;
    let first = Cell::new(None);
    let mut note = note_first(cells, &first);
    let mut cells = device.cells::<u64, _>(cells, Sum)?;
    let mut chunks = device.chunks(chunk)?;
    while let Some(chunk) = chunks.load(|chunk| {
        let n = keys.read(chunk, reading)?;
        note(&chunk[..n.unwrap_or(0)]);
        Ok::<_, Error>(n)
    })? {
        cells.count(chunk)?;
    }
    Ok(Filled {
        cells,
        first: first.get(),
        n: keys.n(),
    })
}
