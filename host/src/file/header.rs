//! The header of a `.npy` file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::dict::Dict;
use super::dtype::DType;
use super::regular;
use crate::element::{Element, name_of};
use crate::error::Error;

/// The first bytes of every `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The maximum length of the dictionary in bytes, as in NumPy. An array of 64 dimensions, NumPy's maximum,
/// needs fewer than 1500 bytes.
const MAX_LEN: usize = 10_000;

/// The header of a `.npy` file of version 1.0, 2.0 or 3.0.
///
/// The element type may be unsupported; then [`dtype`](Self::dtype) returns an error.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyHeader {
    /// The path in errors.
    path: PathBuf,
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
    len: u64,
    offset: u64,
}

impl NpyHeader {
    /// Reads the header of the file at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::Npy`].
    pub fn of_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (file, _) = regular::open(path.as_ref())?;
        Self::read(file, path)
    }

    /// Reads the header at the start of `reader`, and no byte after it. `path` is the path in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Npy`]; [`Error::File`] if `reader` fails.
    pub fn read(mut reader: impl Read, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let wrong = |what: String| Error::Npy {
            path: path.into(),
            what,
        };
        let mut read = |bytes: &mut [u8]| {
            let done = reader.read_exact(bytes);
            done.map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => wrong("the file ends inside the header".into()),
                _ => regular::error(path, error),
            })
        };

        let mut start = [0; 8];
        read(&mut start)?;
        let [.., major, minor] = start;
        if !start.starts_with(MAGIC) {
            return Err(wrong("it does not begin with \"\\x93NUMPY\"".into()));
        }
        let (len, offset) = match (major, minor) {
            (1, 0) => {
                let mut len = [0; 2];
                read(&mut len)?;
                (u16::from_le_bytes(len).into(), 10)
            }
            (2 | 3, 0) => {
                let mut len = [0; 4];
                read(&mut len)?;
                (u32::from_le_bytes(len) as usize, 12)
            }
            _ => {
                return Err(wrong(format!(
                    "version {major}.{minor} of the format; only 1.0, 2.0 and 3.0 can be read"
                )));
            }
        };
        if len > MAX_LEN {
            let what = format!("the header has {len} bytes; the limit is {MAX_LEN}");
            return Err(wrong(what));
        }
        let mut text = vec![0; len];
        read(&mut text)?;
        let dict = Dict::parse(&text).map_err(wrong)?;
        let elements = product(&dict.shape);
        let len_of_array = elements.ok_or_else(|| {
            let shape = &dict.shape;
            wrong(format!("the shape {shape:?} has 2^64 elements or more"))
        })?;
        Ok(Self {
            path: path.into(),
            descr: dict.descr,
            fortran_order: dict.fortran_order,
            shape: dict.shape,
            len: len_of_array,
            offset: offset + len as u64,
        })
    }

    /// The path in errors.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The type in NumPy's notation, such as `<f4`.
    pub fn descr(&self) -> &str {
        &self.descr
    }

    /// The element type; `u8` for NumPy's booleans.
    ///
    /// # Errors
    ///
    /// [`Error::UnreadableDType`] for all other types, also for `V2`, which may or may not be `bf16`.
    pub fn dtype(&self) -> Result<DType, Error> {
        let kind = match self.descr.split_at_checked(1) {
            Some(("<" | ">", kind)) => kind,
            Some(("|", kind @ ("b1" | "i1" | "u1"))) => kind,
            _ => "",
        };
        let why = match kind {
            "i1" => return Ok(DType::I8),
            "i2" => return Ok(DType::I16),
            "i4" => return Ok(DType::I32),
            "i8" => return Ok(DType::I64),
            "b1" | "u1" => return Ok(DType::U8),
            "u2" => return Ok(DType::U16),
            "u4" => return Ok(DType::U32),
            "u8" => return Ok(DType::U64),
            "f2" => return Ok(DType::F16),
            "f4" => return Ok(DType::F32),
            "f8" => return Ok(DType::F64),
            _ if self.is_v2() => {
                "two bytes without a type, as ml_dtypes writes bf16; if they are bf16, read them as bf16"
            }
            _ => {
                "not a type that can be reduced; convert the array to one of i8, i16, i32, i64, u8, u16, \
                 u32, u64, f16, f32 or f64"
            }
        };
        Err(Error::UnreadableDType {
            path: self.path.clone(),
            descr: self.descr.clone(),
            why,
        })
    }

    /// An error unless the elements can be read as `T`: they have that type, or they are booleans and `T` is
    /// `u8`, or they are `V2` and `T` is `bf16`.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDType`], or as [`dtype`](Self::dtype).
    pub fn check<T: Element>(&self) -> Result<(), Error> {
        let wanted = DType::of::<T>();
        if wanted == Some(DType::Bf16) && self.is_v2() {
            return Ok(());
        }
        let holds = self.dtype()?;
        match wanted == Some(holds) {
            true => Ok(()),
            false => Err(Error::OtherDType {
                path: self.path.clone(),
                holds: holds.name(),
                wanted: name_of::<T>(),
            }),
        }
    }

    fn is_v2(&self) -> bool {
        matches!(self.descr.as_str(), "<V2" | ">V2" | "|V2")
    }

    /// Whether the elements are big-endian. All readers of this module swap them.
    pub fn big_endian(&self) -> bool {
        self.descr.starts_with('>')
    }

    /// Whether the first index varies fastest.
    pub fn fortran_order(&self) -> bool {
        self.fortran_order
    }

    /// The length of each dimension; empty for a single number.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of elements: the product of the shape.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The offset of the first element in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The offset of the end of the elements, of `size` bytes each; 2^64 - 1 stands for any larger number.
    pub(super) fn end(&self, size: usize) -> u64 {
        let bytes = self.len.saturating_mul(size as u64);
        bytes.saturating_add(self.offset)
    }
}

/// The product; `None` if it needs more than 64 bits.
fn product(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |all, n| all.checked_mul(*n))
}

#[cfg(test)]
mod tests;
