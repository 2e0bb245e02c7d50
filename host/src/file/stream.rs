//! Pipes and other readers, piece by piece.

use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::header::NpyHeader;
use super::{order, regular};
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host::bytes_mut;

/// The elements of any reader: a pipe, a socket, a member of an archive.
///
/// They are read piece by piece into the caller's memory, like those of [`Elements`](super::Elements), but
/// without a seek.
///
/// ```
/// use warpfold::file::Stream;
///
/// let bytes: &[u8] = &[1, 0, 2, 0, 3, 0];
/// let mut stream = Stream::<i16, _>::raw(bytes, "bytes");
/// let mut piece = [0; 2];
/// assert_eq!(stream.read(&mut piece)?, Some(2));
/// assert_eq!(piece, [1, 2]);
/// assert_eq!(stream.read(&mut piece)?, Some(1));
/// assert_eq!(stream.read(&mut piece)?, None);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug)]
pub struct Stream<T: Element, R> {
    reader: R,
    /// The path in errors.
    path: PathBuf,
    /// The number of elements that have not been read; `None` for raw elements, which end with the reader.
    left: Option<u64>,
    /// The required bytes of a `.npy` stream; 2^64 - 1 stands for any larger number.
    needs: u64,
    /// The bytes that have been read, including the header.
    has: u64,
    ended: bool,
    big_endian: bool,
    element: PhantomData<T>,
}

impl<T: Element, R: Read> Stream<T, R> {
    /// Reads the header of a `.npy` file from `reader`. `path` is the path in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Npy`], [`Error::UnreadableDType`], [`Error::OtherDType`]; [`Error::File`] if `reader` fails.
    pub fn npy(mut reader: R, path: impl AsRef<Path>) -> Result<Self, Error> {
        let header = NpyHeader::read(&mut reader, path)?;
        Self::after(&header, reader)
    }

    /// The elements after a header that [`NpyHeader::read`] has read from `reader`.
    ///
    /// # Errors
    ///
    /// [`Error::UnreadableDType`], [`Error::OtherDType`].
    pub fn after(header: &NpyHeader, reader: R) -> Result<Self, Error> {
        header.check::<T>()?;
        Ok(Self {
            left: Some(header.len()),
            needs: header.end(size_of::<T>()),
            has: header.offset(),
            big_endian: header.big_endian(),
            ..Self::raw(reader, header.path())
        })
    }

    /// Little-endian elements up to the end of `reader`. `path` is the path in errors.
    pub fn raw(reader: R, path: impl AsRef<Path>) -> Self {
        Self {
            reader,
            path: path.as_ref().into(),
            left: None,
            needs: 0,
            has: 0,
            ended: false,
            big_endian: false,
            element: PhantomData,
        }
    }

    /// Reads the next elements into `piece` and returns their number; `None` at the end.
    ///
    /// It fills `piece`, or reads all remaining elements if they are fewer. It waits for a reader that has no
    /// data yet.
    ///
    /// Bytes after the elements of a `.npy` file stay in the reader.
    ///
    /// # Errors
    ///
    /// [`Error::FileTooShort`] for a `.npy` file, [`Error::NotWholeElements`] for raw elements;
    /// [`Error::File`] if the reader fails. A part of `piece` may then have been overwritten.
    pub fn read(&mut self, piece: &mut [T]) -> Result<Option<usize>, Error> {
        let size = size_of::<T>();
        let room = match self.left {
            None => piece.len(),
            Some(left) => usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len())),
        };
        let bytes = bytes_mut(&mut piece[..room]);
        let n = self.fill(bytes)? / size;
        if self.big_endian {
            order::swap(&mut bytes[..n * size], size);
        }
        match &mut self.left {
            Some(_) if n < room => Err(Error::FileTooShort {
                path: self.path.clone(),
                needs: self.needs,
                has: self.has,
            }),
            None if !self.has.is_multiple_of(size as u64) => Err(Error::NotWholeElements {
                path: self.path.clone(),
                bytes: self.has,
                element: name_of::<T>(),
                size: size as u64,
            }),
            left => {
                *left = left.map(|left| left - n as u64);
                Ok((n > 0).then_some(n))
            }
        }
    }

    /// Returns the reader, positioned after the elements that have been read.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Fills `bytes` and returns the number of bytes read, which is smaller at the reader's end.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < bytes.len() && !self.ended {
            match self.reader.read(&mut bytes[done..]) {
                Ok(0) => self.ended = true,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(regular::error(&self.path, error)),
            }
        }
        self.has += done as u64;
        Ok(done)
    }
}
