//! An array in one file, or in several files that are concatenated.

mod part;

use std::path::{Path, PathBuf};
use std::vec;

use warpfold::file::DType;
use warpfold::{Element, Error};

use crate::failure::Failure;
use crate::reading::Reading;
use crate::source::{DefaultFormat, Open, Shape, Source, Stdin};
pub use part::Part;
use part::PartReader;

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

    /// The number and the type of the elements, and the shapes: what all ranks must see alike.
    pub fn seen(&self) -> String {
        let len = self.len.map_or("unknown".into(), |len| len.to_string());
        let shapes = self.shapes.iter().map(|shape| format!(" {shape}"));
        let shapes: String = shapes.collect();
        format!("{len} elements of type {}{shapes}", self.dtype)
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
            part: None,
        }
    }
}

/// The elements of all files, in their order. One file is open at a time.
pub struct Elements<'a, T: Element> {
    files: vec::IntoIter<Source<'a>>,
    open: Option<(PathBuf, Open<'a, T>)>,
    n: usize,
    /// If only a part is read.
    part: Option<PartReader<T>>,
}

impl<T: Element + Default> Elements<'_, T> {
    /// Passes over the elements in front of a part, and from then on reads no others than those of the part. Gaps are for
    /// an array in one file.
    pub fn only(&mut self, part: Part) -> Result<(), Error> {
        self.skip(part.start)?;
        self.part = Some(PartReader::new(part));
        Ok(())
    }

    /// Passes over `n` elements of the next files or of the open one, without reading those of files that can be read from
    /// anywhere.
    fn skip(&mut self, mut n: usize) -> Result<(), Error> {
        if let Some((_, open)) = &mut self.open {
            return open.skip(n);
        }
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
        let read = match self.part.take() {
            None => self.read_next(piece, reading)?,
            Some(mut part) => {
                let read = part.read(self, piece, reading);
                self.part = Some(part);
                read?
            }
        };
        self.n += read.unwrap_or(0);
        Ok(read)
    }

    /// [`read`](Self::read), without regard to the part.
    fn read_next(&mut self, piece: &mut [T], reading: &Reading) -> Result<Option<usize>, Error> {
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
        Ok((done > 0).then_some(done))
    }

    /// Reads to the end, and returns the number of all elements.
    pub fn count(&mut self, reading: &Reading) -> Result<usize, Error> {
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
