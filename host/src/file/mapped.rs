//! A memory-mapped file.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::slice;

use memmap2::{Mmap, MmapOptions};

use super::source::Source;
use super::{order, regular};
use crate::element::{Element, name_of};
use crate::error::Error;

/// The elements of a file, mapped into memory as a `[T]`. Only the pages that are used are read.
///
/// Big-endian elements are copied and swapped when the file is mapped; this reads all of them.
///
/// ```
/// use warpfold::Device;
/// use warpfold::file::Mapped;
/// # let path = std::env::temp_dir().join(format!("warpfold-mapped-{}", std::process::id()));
/// # std::fs::write(&path, 2.5f32.to_le_bytes())?;
///
/// let device = Device::auto()?;
/// // SAFETY: no other program writes to the file.
/// let elements = unsafe { Mapped::<f32>::raw(&path) }?;
/// let x = device.upload(&elements)?;
/// assert_eq!(device.sum(&x)?, 2.5);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mapped<T: Element> {
    map: Mmap,
    /// The offset of the first element, in bytes. `new` has checked that it is aligned for `T` and that all
    /// elements are inside `map`.
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Mapped<T> {
    /// Maps a `.npy` file.
    ///
    /// # Errors
    ///
    /// As [`Elements::open_npy`](super::Elements::open_npy). [`Error::MisalignedFile`] for a file with
    /// unaligned elements, which [`read_npy`](super::read_npy) can read.
    ///
    /// # Safety
    ///
    /// While this value lives, no process writes to the file or makes it shorter.
    pub unsafe fn npy(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // SAFETY: the caller's contract.
        unsafe { Self::new(path, Source::npy::<T>(path)?) }
    }

    /// Maps a raw file: little-endian elements and nothing else.
    ///
    /// # Errors
    ///
    /// As [`Elements::open_raw`](super::Elements::open_raw).
    ///
    /// # Safety
    ///
    /// As for [`npy`](Self::npy).
    pub unsafe fn raw(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // SAFETY: the caller's contract.
        unsafe { Self::new(path, Source::raw::<T>(path)?) }
    }

    /// # Safety
    ///
    /// As for [`npy`](Self::npy).
    unsafe fn new(path: &Path, source: Source) -> Result<Self, Error> {
        let multiple = align_of::<T>() as u64;
        if !source.offset.is_multiple_of(multiple) {
            return Err(Error::MisalignedFile {
                path: path.into(),
                offset: source.offset,
                multiple,
            });
        }
        // SAFETY: the caller guarantees that the file does not change.
        let map = unsafe { Mmap::map(&source.file) };
        let failed = |error| regular::error(path, error);
        let map = map.map_err(failed)?;
        let (offset, len) = (source.offset as usize, source.len);
        // `Source` has checked that the file contains the elements; it may have become shorter before it was
        // mapped.
        let needs = offset + len * size_of::<T>();
        if map.len() < needs {
            return Err(Error::FileTooShort {
                path: path.into(),
                needs: needs as u64,
                has: map.len() as u64,
            });
        }
        let map = match source.big_endian {
            false => map,
            true => {
                // SAFETY: the caller guarantees that the file does not change.
                let copy = unsafe { MmapOptions::new().len(needs).map_copy(&source.file) };
                let mut copy = copy.map_err(failed)?;
                order::swap_all(&mut copy[offset..], size_of::<T>());
                copy.make_read_only().map_err(failed)?
            }
        };
        Ok(Self {
            map,
            offset,
            len,
            element: PhantomData,
        })
    }
}

impl<T: Element> Deref for Mapped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let start = self.map[self.offset..].as_ptr().cast();
        // SAFETY: the mapping contains `len` elements from `offset` on. It starts at a page, and `offset` is
        // a multiple of their alignment (`new`). Every bit pattern is a valid `T` (`Plain`). No process
        // changes them (the contract of `npy` and `raw`).
        unsafe { slice::from_raw_parts(start, self.len) }
    }
}

impl<T: Element> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapped<{}>({})", name_of::<T>(), self.len)
    }
}
