//! The location of the elements in a file; every reader uses it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::header::NpyHeader;
use super::regular::{error, open};
use crate::element::{Element, name_of};
use crate::error::Error;

/// The elements in a file that is long enough for them.
pub(super) struct Source {
    pub file: File,
    /// The offset of the first element, in bytes.
    pub offset: u64,
    /// The number of elements.
    pub len: usize,
    /// Whether the elements must be swapped.
    pub big_endian: bool,
}

impl Source {
    pub fn npy<T: Element>(path: &Path) -> Result<Self, Error> {
        let (file, has) = open(path)?;
        let header = NpyHeader::read(&file, path)?;
        header.check::<T>()?;
        // A file has fewer than 2^63 bytes, so 2^64 - 1 is always too many.
        let needs = header.end(size_of::<T>());
        if has < needs {
            let path = path.into();
            return Err(Error::FileTooShort { path, needs, has });
        }
        let source = Self::new(path, file, header.offset(), header.len(), needs)?;
        Ok(Self {
            big_endian: header.big_endian(),
            ..source
        })
    }

    pub fn raw<T: Element>(path: &Path) -> Result<Self, Error> {
        let (file, bytes) = open(path)?;
        let size = size_of::<T>() as u64;
        if bytes % size != 0 {
            return Err(Error::NotWholeElements {
                path: path.into(),
                bytes,
                element: name_of::<T>(),
                size,
            });
        }
        Self::new(path, file, 0, bytes / size, bytes)
    }

    /// `end` is the offset after the last element. An error if the elements exceed the address space.
    fn new(path: &Path, file: File, offset: u64, len: u64, end: u64) -> Result<Self, Error> {
        match (isize::try_from(end), usize::try_from(len)) {
            (Ok(_), Ok(len)) => Ok(Self {
                file,
                offset,
                len,
                big_endian: false,
            }),
            _ => Err(error(path, io::ErrorKind::FileTooLarge.into())),
        }
    }
}
