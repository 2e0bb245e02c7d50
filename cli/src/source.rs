//! One source of elements: a file, a member of an archive, or a pipe.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use warpfold::file::{DType, Elements, NpyHeader, Stream};
use warpfold::{Element, Error};

use crate::archive::{self, Member};
use crate::failure::Failure;

/// Standard input; `None` after it has been read.
pub type Stdin<'a> = Option<&'a mut dyn Read>;

/// The format of regular files without the extension `npy` or `npz`.
#[derive(Clone, Copy)]
pub enum DefaultFormat {
    /// Raw elements of this type.
    Raw(Option<DType>),
    Npy,
}

/// A source whose type and length are known.
pub struct Source<'a> {
    /// For errors.
    pub path: PathBuf,
    pub dtype: DType,
    /// The number of elements; `None` for raw elements in a pipe.
    pub len: Option<usize>,
    /// `None` for raw elements.
    pub shape: Option<Shape>,
    kind: Kind<'a>,
}

/// The shape of an array.
pub struct Shape {
    /// The length of each dimension.
    pub dims: Vec<usize>,
    /// Whether the header says that the first index varies fastest.
    fortran_order: bool,
}

impl Shape {
    fn of(header: &NpyHeader) -> Self {
        let dims = header.shape().iter();
        Self {
            dims: dims
                .map(|len| usize::try_from(*len).unwrap_or(usize::MAX))
                .collect(),
            fortran_order: header.fortran_order(),
        }
    }

    /// Whether the elements are in C order. Those of a vector are in both orders.
    pub fn is_c_order(&self) -> bool {
        !self.fortran_order || self.dims.iter().filter(|len| **len != 1).count() <= 1
    }
}

/// As NumPy prints it.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(usize::to_string).collect();
        let end = if dims.len() == 1 { "," } else { "" };
        write!(f, "({}{end})", dims.join(", "))?;
        match self.is_c_order() {
            true => Ok(()),
            false => f.write_str(" in Fortran order"),
        }
    }
}

enum Kind<'a> {
    Npy,
    Raw,
    Member(Member),
    Pipe(Box<dyn Read + 'a>, Option<NpyHeader>),
}

/// An open source.
pub enum Open<'a, T: Element> {
    File(Elements<T>),
    Stream(Stream<T, Box<dyn Read + 'a>>),
    Member(Stream<T, Box<dyn Read + 'a>>),
}

impl<'a> Source<'a> {
    /// The file at `path`, or standard input for `-`.
    pub fn find(
        path: &Path,
        default: DefaultFormat,
        stdin: &mut Stdin<'a>,
    ) -> Result<Self, Failure> {
        let dtype = match default {
            DefaultFormat::Raw(dtype) => dtype,
            DefaultFormat::Npy => None,
        };
        if path == Path::new("-") {
            let Some(stdin) = stdin.take() else {
                let text = "-: standard input can be read only once; save it to a file";
                return Err(Failure::Usage(text.into()));
            };
            return Self::pipe(Path::new("standard input"), Box::new(stdin), dtype);
        }
        let metadata = match (fs::metadata(path), archive::split(path)) {
            (Ok(metadata), _) => metadata,
            (Err(_), Some((archive, name))) => return Self::member(archive, Some(name), dtype),
            (Err(error), None) => return Err(Failure::io(path, error)),
        };
        let has_extension = |wanted: &str| {
            let extension = path.extension();
            extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
        };
        if metadata.is_dir() {
            let error = io::Error::other("a directory; name a file");
            Err(Failure::io(path, error))
        } else if !metadata.is_file() {
            let file = File::open(path).map_err(|error| Failure::io(path, error))?;
            Self::pipe(path, Box::new(file), dtype)
        } else if has_extension("npz") {
            Self::member(path, None, dtype)
        } else if has_extension("npy") || matches!(default, DefaultFormat::Npy) {
            let header = NpyHeader::of_file(path)?;
            let dtype = match dtype {
                Some(dtype) => dtype,
                None => header.dtype()?,
            };
            Ok(Self {
                shape: Some(Shape::of(&header)),
                ..Self::regular(path, dtype, Kind::Npy)?
            })
        } else {
            let dtype = dtype.ok_or_else(|| no_dtype(path, "the file is not a .npy file"))?;
            Self::regular(path, dtype, Kind::Raw)
        }
    }

    fn regular(path: &Path, dtype: DType, kind: Kind<'a>) -> Result<Self, Failure> {
        let len = warpfold::with_type!(dtype, |T| match kind {
            Kind::Npy => Elements::<T>::open_npy(path),
            _ => Elements::<T>::open_raw(path),
        }
        .map(|elements| elements.len()));
        Ok(Self {
            path: path.into(),
            dtype,
            len: Some(len?),
            shape: None,
            kind,
        })
    }

    fn member(path: &Path, name: Option<&str>, dtype: Option<DType>) -> Result<Self, Failure> {
        let member = Member::find(path, name)?;
        let header = NpyHeader::read(member.open()?, &member.path)?;
        Ok(Self {
            path: member.path.clone(),
            dtype: checked(&header, dtype)?,
            len: usize::try_from(header.len()).ok(),
            shape: Some(Shape::of(&header)),
            kind: Kind::Member(member),
        })
    }

    fn pipe(
        path: &Path,
        mut reader: Box<dyn Read + 'a>,
        dtype: Option<DType>,
    ) -> Result<Self, Failure> {
        const NPY: &[u8] = b"\x93NUMPY";
        const ZIP: &[u8] = b"PK\x03\x04";
        let mut start = vec![];
        let read = (&mut reader).take(NPY.len() as u64).read_to_end(&mut start);
        read.map_err(|error| Failure::io(path, error))?;
        let (is_npy, is_zip) = (start == NPY, start.starts_with(ZIP));
        let mut reader = Box::new(Cursor::new(start).chain(reader));
        let header = match is_npy {
            true => Some(NpyHeader::read(&mut reader, path)?),
            false => None,
        };
        let dtype = match (&header, dtype) {
            (Some(header), dtype) => checked(header, dtype)?,
            (None, Some(dtype)) => dtype,
            (None, None) if is_zip => {
                return Err(Failure::Usage(format!(
                    "{}: an .npz archive cannot be read from a pipe; save it to a file",
                    path.display()
                )));
            }
            (None, None) => return Err(no_dtype(path, "there is no .npy header")),
        };
        let len = header.as_ref().map(|header| header.len());
        Ok(Self {
            path: path.into(),
            dtype,
            len: len.and_then(|len| usize::try_from(len).ok()),
            shape: header.as_ref().map(Shape::of),
            kind: Kind::Pipe(reader, header),
        })
    }

    /// Whether the source can be read only once.
    pub fn is_pipe(&self) -> bool {
        matches!(self.kind, Kind::Pipe(..))
    }

    pub fn open<T: Element>(self) -> Result<Open<'a, T>, Error> {
        Ok(match self.kind {
            Kind::Npy => Open::File(Elements::open_npy(self.path)?),
            Kind::Raw => Open::File(Elements::open_raw(self.path)?),
            Kind::Pipe(reader, None) => Open::Stream(Stream::raw(reader, self.path)),
            Kind::Pipe(reader, Some(header)) => Open::Stream(Stream::after(&header, reader)?),
            Kind::Member(member) => {
                let bytes: Box<dyn Read> = Box::new(member.open().map_err(Error::other)?);
                Open::Member(Stream::npy(bytes, self.path)?)
            }
        })
    }
}

impl<T: Element> Open<'_, T> {
    /// As [`Elements::read`].
    pub fn read(&mut self, piece: &mut [T]) -> Result<Option<usize>, Error> {
        match self {
            Self::File(elements) => elements.read(piece),
            Self::Stream(stream) | Self::Member(stream) => stream.read(piece),
        }
    }

    /// Passes over the first `n` elements, which a stream has to read.
    pub fn skip(&mut self, n: usize) -> Result<(), Error>
    where
        T: Default,
    {
        match self {
            Self::File(elements) => elements.skip(n),
            Self::Stream(stream) | Self::Member(stream) => {
                let mut piece = [T::default(); 4096];
                let mut left = n;
                while left > 0 {
                    let len = left.min(piece.len());
                    match stream.read(&mut piece[..len])? {
                        Some(read) => left -= read,
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }

    /// Must be called after the last element: reads the rest of a member and verifies its checksum.
    pub fn finish(self, path: &Path) -> Result<(), Error> {
        if let Self::Member(stream) = self {
            let read = io::copy(&mut stream.into_inner(), &mut io::sink());
            read.map_err(|error| Error::other(Failure::io(path, error)))?;
        }
        Ok(())
    }
}

/// The type of the elements after `header`, which must be `dtype` if that is given.
fn checked(header: &NpyHeader, dtype: Option<DType>) -> Result<DType, Error> {
    match dtype {
        None => header.dtype(),
        Some(dtype) => warpfold::with_type!(dtype, |T| header.check::<T>()).map(|()| dtype),
    }
}

fn no_dtype(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "{path}: {why}; give the type of its raw elements, for example --dtype f32"
    ))
}
