//! Where the elements are in a file: beneath every way to read them.

use std::fs::File;
use std::io;
use std::path::Path;

use super::header::NpyHeader;
use super::regular::{error, open};
use crate::element::{Element, name_of};
use crate::error::Error;

/// Where the elements are in a file that is long enough for them.
pub(super) struct Source {
    pub file: File,
    /// Of the first element, in bytes.
    pub offset: u64,
    /// The number of elements.
    pub len: usize,
}

impl Source {
    pub fn npy<T: Element>(path: &Path) -> Result<Self, Error> {
        let (file, has) = open(path)?;
        let header = NpyHeader::read(&file, path)?;
        header.check::<T>()?;
        let (len, offset) = (header.len(), header.offset());
        let bytes = len.checked_mul(size_of::<T>() as u64);
        let needs = bytes.and_then(|bytes| bytes.checked_add(offset));
        // A file has fewer than 2^63 bytes, so that this needs no number.
        let needs = needs.unwrap_or(u64::MAX);
        if has < needs {
            let path = path.into();
            return Err(Error::FileTooShort { path, needs, has });
        }
        Self::new(path, file, offset, len, needs)
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

    /// `end` is where the last element ends; the address space may be too small for it.
    fn new(path: &Path, file: File, offset: u64, len: u64, end: u64) -> Result<Self, Error> {
        match (isize::try_from(end), usize::try_from(len)) {
            (Ok(_), Ok(len)) => Ok(Self { file, offset, len }),
            _ => Err(error(path, io::ErrorKind::FileTooLarge.into())),
        }
    }
}
