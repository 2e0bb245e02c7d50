//! Arrays in files and pipes: NumPy's `.npy` format and raw little-endian elements.
//!
//! ```
//! use warpfold::{Device, file};
//! # let path = std::env::temp_dir().join(format!("warpfold-doc-{}.raw", std::process::id()));
//! # std::fs::write(&path, [1u8, 0, 2, 0, 3, 0])?;
//!
//! let device = Device::auto()?;
//! let x = device.upload(&file::read_raw::<i16>(&path)?)?;
//! assert_eq!(device.sum(&x)?, 6);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to read | `.npy` | raw |
//! |---|---|---|
//! | all elements at once | [`read_npy`] | [`read_raw`] |
//! | a memory-mapped file, without a copy | [`Mapped::npy`] | [`Mapped::raw`] |
//! | piece by piece, for files larger than memory | [`Elements::open_npy`] | [`Elements::open_raw`] |
//! | piece by piece from a pipe or any other reader | [`Stream::npy`] | [`Stream::raw`] |
//! | element type and shape | [`NpyHeader::of_file`] | |
//!
//! - **Order.** Elements have the order of the file. An array in Fortran order ([`NpyHeader::fortran_order`])
//!   is not transposed.
//! - **Types.** The twelve types of [`DType`]. A `.npy` file names its type, and a call for another type is
//!   an error, because nothing is converted. NumPy's booleans are read as `u8`. NumPy has no `bf16`:
//!   `ml_dtypes` writes it as `V2`, two bytes without a type, and a call for `bf16` reads them.
//! - **Byte order.** Big-endian elements of `.npy` files are swapped. Raw elements are little-endian.
//! - **Files.** Regular files, whose length is known. Only [`Stream`] reads pipes. Bytes after the elements
//!   of a `.npy` file are ignored, as by NumPy.
//! - **Malformed files** are errors. Memory is allocated only for elements that the file contains.

mod dict;
mod dtype;
mod elements;
mod header;
mod mapped;
mod order;
mod regular;
mod source;
mod stream;

use std::path::Path;

use crate::element::Element;
use crate::error::Error;
use crate::host;

pub use dtype::DType;
pub use elements::Elements;
pub use header::NpyHeader;
pub use mapped::Mapped;
pub use stream::Stream;

#[cfg(target_endian = "big")]
compile_error!(
    "the target must be little-endian, because little-endian files are read without a swap"
);

/// Reads all elements of a `.npy` file.
///
/// # Errors
///
/// Those of [`Elements::open_npy`] and [`Elements::read`]; [`Error::OutOfHostMemory`].
pub fn read_npy<T: Element>(path: impl AsRef<Path>) -> Result<Vec<T>, Error> {
    all(Elements::open_npy(path)?)
}

/// Reads all elements of a raw file: little-endian elements and nothing else.
///
/// # Errors
///
/// Those of [`Elements::open_raw`] and [`Elements::read`]; [`Error::OutOfHostMemory`].
pub fn read_raw<T: Element>(path: impl AsRef<Path>) -> Result<Vec<T>, Error> {
    all(Elements::open_raw(path)?)
}

fn all<T: Element>(mut elements: Elements<T>) -> Result<Vec<T>, Error> {
    let mut values = host::zeroes(elements.len())?;
    elements.read(&mut values)?;
    Ok(values)
}
