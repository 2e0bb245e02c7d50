//! A file as memory.

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

/// The elements of a file, mapped into memory: a `[T]` of which only what is touched is read.
///
/// Big-endian elements are swapped when the file is mapped: all of them are read then, into memory of this
/// process.
///
/// ```
/// use warpfold::Device;
/// use warpfold::file::Mapped;
/// # let path = std::env::temp_dir().join(format!("warpfold-mapped-{}", std::process::id()));
/// # std::fs::write(&path, 2.5f32.to_le_bytes())?;
///
/// let device = Device::auto()?;
/// // SAFETY: the file is this program's own.
/// let elements = unsafe { Mapped::<f32>::raw(&path) }?;
/// let x = device.upload(&elements)?;
/// assert_eq!(device.sum(&x)?, 2.5);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mapped<T: Element> {
    map: Mmap,
    /// Of the first element, in bytes: `new` has seen that it suits a `T`, and that all elements
    /// lie inside `map`.
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Mapped<T> {
    /// The elements of a `.npy` file.
    ///
    /// # Errors
    ///
    /// As [`Elements::open_npy`](super::Elements::open_npy); [`Error::MisalignedFile`], of a file that
    /// [`read_npy`](super::read_npy) can read.
    ///
    /// # Safety
    ///
    /// As long as this value lives, nobody writes to the file, in this process or in another, and
    /// nobody makes it shorter.
    pub unsafe fn npy(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { Self::new(path, Source::npy::<T>(path)?) }
    }

    /// The elements of a file that holds nothing else, little-endian.
    ///
    /// # Errors
    ///
    /// As [`Elements::open_raw`](super::Elements::open_raw).
    ///
    /// # Safety
    ///
    /// As of [`npy`](Self::npy).
    pub unsafe fn raw(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { Self::new(path, Source::raw::<T>(path)?) }
    }

    /// # Safety
    ///
    /// As of [`npy`](Self::npy).
    unsafe fn new(path: &Path, source: Source) -> Result<Self, Error> {
        let multiple = align_of::<T>() as u64;
        if !source.offset.is_multiple_of(multiple) {
            return Err(Error::MisalignedFile {
                path: path.into(),
                offset: source.offset,
                multiple,
            });
        }
        // SAFETY: the caller promises that the file stays as it is.
        let map = unsafe { Mmap::map(&source.file) };
        let failed = |error| regular::error(path, error);
        let map = map.map_err(failed)?;
        let (offset, len) = (source.offset as usize, source.len);
        // `Source` has seen that the file had room for them; it may have lost it before it was
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
                // SAFETY: the caller promises that the file stays as it is.
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
        // SAFETY: `len` elements lie inside the mapping from `offset` on, which is a multiple of
        // their alignment, as the mapping's start, a page's, is (`new`). Every pattern of bits is a
        // valid `T` (`Plain`). Nobody changes them (the promise to `npy` or `raw`).
        unsafe { slice::from_raw_parts(start, self.len) }
    }
}

impl<T: Element> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapped<{}>({})", name_of::<T>(), self.len)
    }
}
