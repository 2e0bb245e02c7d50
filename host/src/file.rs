//! Arrays in files: NumPy's `.npy` and raw little-endian elements.
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
//! | | `.npy` | raw |
//! |---|---|---|
//! | all at once | [`read_npy`] | [`read_raw`] |
//! | mapped into memory, nothing copied | [`Mapped::npy`] | [`Mapped::raw`] |
//! | piece by piece, for files larger than memory | [`Elements::open_npy`] | [`Elements::open_raw`] |
//! | what is in it | [`NpyHeader::of_file`] | |
//!
//! - **Order.** Elements come as they lie in the file. Those of an array in Fortran's order
//!   ([`NpyHeader::fortran_order`]) are not put into C's.
//! - **Types.** The twelve of [`DType`]. `.npy` files say theirs, and another one asked for is an
//!   error; nothing is converted. NumPy's booleans are read as `u8`. NumPy has no `bf16`: `ml_dtypes`
//!   writes it as `V2`, two bytes of no type, which are read as `bf16` where that is asked for.
//! - **Files.** Regular ones, whose length is known, not pipes. Bytes behind the elements of a `.npy`
//!   file are ignored, as by NumPy.
//! - **Hostile files** are errors. Nothing is allocated for elements that the file is too short for.

mod dict;
mod dtype;
mod elements;
mod header;
mod mapped;
mod regular;
mod source;

use std::path::Path;

use crate::element::Element;
use crate::error::Error;
use crate::host;

pub use dtype::DType;
pub use elements::Elements;
pub use header::NpyHeader;
pub use mapped::Mapped;

#[cfg(target_endian = "big")]
compile_error!("files hold little-endian elements, which are read as they are");

/// All elements of a `.npy` file.
///
/// # Errors
///
/// Those of [`Elements::open_npy`] and [`Elements::read`]; [`Error::OutOfHostMemory`].
pub fn read_npy<T: Element>(path: impl AsRef<Path>) -> Result<Vec<T>, Error> {
    all(Elements::open_npy(path)?)
}

/// All elements of a file that holds nothing else, little-endian.
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
