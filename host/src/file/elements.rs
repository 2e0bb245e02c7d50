//! A file as a sequence of pieces.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::order::{PART_BYTES, swap};
use super::regular;
use super::source::Source;
use crate::element::Element;
use crate::error::Error;
use crate::host::bytes_mut;

/// The elements of a file, read piece by piece into the caller's memory, so that the file may be larger than
/// memory. All cores read large pieces.
///
/// ```
/// use warpfold::file::Elements;
/// # let path = std::env::temp_dir().join(format!("warpfold-elements-{}", std::process::id()));
/// # std::fs::write(&path, [1u8, 2, 3, 4, 5])?;
///
/// let mut elements = Elements::<u8>::open_raw(&path)?;
/// let (mut piece, mut all) = ([0; 2], vec![]);
/// while let Some(n) = elements.read(&mut piece)? {
///     all.push(piece[..n].to_vec());
/// }
/// assert_eq!(all, [vec![1, 2], vec![3, 4], vec![5]]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Elements<T: Element> {
    path: PathBuf,
    file: File,
    /// The offset of the next element, in bytes.
    offset: u64,
    len: usize,
    /// The number of elements that have not been read.
    left: usize,
    big_endian: bool,
    element: PhantomData<T>,
}

impl<T: Element> Elements<T> {
    /// Opens a `.npy` file.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::Npy`], [`Error::UnreadableDType`], [`Error::OtherDType`],
    /// [`Error::FileTooShort`].
    pub fn open_npy(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::new(path, Source::npy::<T>(path)?))
    }

    /// Opens a raw file: little-endian elements and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::NotWholeElements`].
    pub fn open_raw(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::new(path, Source::raw::<T>(path)?))
    }

    fn new(path: &Path, source: Source) -> Self {
        Self {
            path: path.into(),
            file: source.file,
            offset: source.offset,
            len: source.len,
            left: source.len,
            big_endian: source.big_endian,
            element: PhantomData,
        }
    }

    /// The number of elements in the file.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the file has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Passes over the next `n` elements without reading them, or over all if there are fewer.
    pub fn skip(&mut self, n: usize) {
        let n = n.min(self.left);
        self.left -= n;
        self.offset += (n * size_of::<T>()) as u64;
    }

    /// Reads the next elements into `piece` and returns their number; `None` at the end.
    ///
    /// It fills `piece`, or reads all remaining elements if they are fewer.
    ///
    /// # Errors
    ///
    /// [`Error::File`], also if the file has become shorter since it was opened. A part of `piece` may then
    /// have been overwritten, and the position of the next read is undefined.
    pub fn read(&mut self, piece: &mut [T]) -> Result<Option<usize>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let n = piece.len().min(self.left);
        let done = self.read_bytes(bytes_mut(&mut piece[..n]));
        done.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let shorter = "the file became shorter while it was read; read it again when no program \
                               writes to it";
                regular::error(&self.path, io::Error::other(shorter))
            }
            _ => regular::error(&self.path, error),
        })?;
        self.left -= n;
        self.offset += (n * size_of::<T>()) as u64;
        Ok(Some(n))
    }

    /// Fills `bytes` from `offset` on; the file's elements are little-endian.
    ///
    /// Reads in parts of [`PART_BYTES`] bytes. A part is large enough that the cost of a system call is
    /// negligible, and small enough that a chunk has several parts. One thread alone would copy from the
    /// system's page cache at a fraction of the speed of a GPU's bus.
    fn read_bytes(&self, bytes: &mut [u8]) -> io::Result<()> {
        if bytes.len() <= PART_BYTES {
            return self.read_part(bytes, self.offset);
        }
        let parts = bytes.par_chunks_mut(PART_BYTES).enumerate();
        parts
            .map(|(i, part)| (part, self.offset + (i * PART_BYTES) as u64))
            .try_for_each(|(part, start)| self.read_part(part, start))
    }

    fn read_part(&self, bytes: &mut [u8], start: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, start)?;
        if self.big_endian {
            swap(bytes, size_of::<T>());
        }
        Ok(())
    }
}
