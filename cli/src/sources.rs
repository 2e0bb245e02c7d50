//! An array in one file, or in several files that are concatenated.

use std::path::{Path, PathBuf};
use std::vec;

use warpfold::file::DType;
use warpfold::{Element, Error};

use crate::failure::Failure;
use crate::reading::Reading;
use crate::source::{DefaultFormat, Open, Shape, Source, Stdin};

/// The files of an array, all of one type.
pub struct Sources<'a> {
    pub dtype: DType,
    /// The number of elements; `None` if a pipe has raw elements.
    pub len: Option<usize>,
    /// Those of all files that have one.
    pub shapes: Vec<Shape>,
    files: Vec<Source<'a>>,
}

impl<'a> Sources<'a> {
    pub fn find(
        files: &[PathBuf],
        default: DefaultFormat,
        stdin: &mut Stdin<'a>,
    ) -> Result<Self, Failure> {
        let sources = files.iter().map(|path| Source::find(path, default, stdin));
        let mut files = sources.collect::<Result<Vec<_>, _>>()?;
        let shapes = files.iter_mut().filter_map(|source| source.shape.take());
        let shapes = shapes.collect();
        let (first, rest) = files.split_first().expect("a file is required");
        if let Some(other) = rest.iter().find(|source| source.dtype != first.dtype) {
            return Err(Failure::OtherType {
                file: other.path.clone(),
                holds: other.dtype,
                first: first.path.clone(),
                expected: first.dtype,
            });
        }
        let mut lens = files.iter().map(|source| source.len);
        Ok(Self {
            dtype: first.dtype,
            len: lens.try_fold(0usize, |sum, len| sum.checked_add(len?)),
            shapes,
            files,
        })
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The files' names, for errors.
    pub fn name(&self) -> String {
        let first = self.files[0].path.display();
        match self.files.len() {
            1 => first.to_string(),
            n => format!("{first} and {} more", n - 1),
        }
    }

    /// The bytes of all elements, if their number is known.
    pub fn bytes(&self) -> Option<u64> {
        let len = self.len? as u64;
        Some(len.saturating_mul(self.dtype.size() as u64))
    }

    /// The first file that can be read only once.
    pub fn pipe(&self) -> Option<&Path> {
        let pipe = self.files.iter().find(|source| source.is_pipe());
        pipe.map(|source| &*source.path)
    }

    /// The elements; `T` must be the type [`dtype`](Self::dtype).
    pub fn elements<T: Element>(self) -> Elements<'a, T> {
        Elements {
            files: self.files.into_iter(),
            open: None,
            n: 0,
        }
    }
}

/// The elements of all files, in their order. One file is open at a time.
pub struct Elements<'a, T: Element> {
    files: vec::IntoIter<Source<'a>>,
    open: Option<(PathBuf, Open<'a, T>)>,
    n: usize,
}

impl<T: Element> Elements<'_, T> {
    /// Passes over `n` elements, without reading those of files that can be read from anywhere.
    pub fn skip(&mut self, mut n: usize) -> Result<(), Error>
    where
        T: Default,
    {
        while n > 0 {
            let Some(source) = self.files.next() else {
                break;
            };
            match source.len {
                Some(len) if len <= n && !source.is_pipe() => n -= len,
                _ => {
                    let path = source.path.clone();
                    let mut open = source.open()?;
                    open.skip(n)?;
                    self.open = Some((path, open));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Fills `piece`, or a part of it at the end of the files. Returns the number of elements; `None` for 0.
    pub fn read(&mut self, piece: &mut [T], reading: &Reading) -> Result<Option<usize>, Error> {
        let mut done = 0;
        while done < piece.len() {
            if self.open.is_none() {
                let Some(source) = self.files.next() else {
                    break;
                };
                self.open = Some((source.path.clone(), source.open()?));
            }
            let Some((_, file)) = &mut self.open else {
                break;
            };
            match reading.read::<T>(|| file.read(&mut piece[done..]))? {
                Some(n) => done += n,
                None => {
                    if let Some((path, file)) = self.open.take() {
                        file.finish(&path)?;
                    }
                }
            }
        }
        self.n += done;
        Ok((done > 0).then_some(done))
    }

    /// Reads to the end, and returns the number of all elements.
    pub fn count(&mut self, reading: &Reading) -> Result<usize, Error>
    where
        T: Default,
    {
        let mut piece = vec![T::default(); 4096];
        while self.read(&mut piece, reading)?.is_some() {}
        Ok(self.n)
    }

    /// The bytes of an element.
    pub fn element_size(&self) -> usize {
        size_of::<T>()
    }

    /// The number of elements that have been read.
    pub fn n(&self) -> usize {
        self.n
    }
}
