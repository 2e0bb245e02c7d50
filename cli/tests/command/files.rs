//! Input files.

use std::fmt::Debug;
use std::fs;
use std::io::Write;

use tempfile::TempDir;
use warpfold::{bf16, f16};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An element type that contains the integers from -100 (0 if unsigned) to 100.
pub trait Sample: Copy + Debug {
    const NAME: &'static str;
    const DESCR: &'static str;
    const IS_SIGNED: bool;
    const IS_FLOAT: bool;

    fn of(integer: i32) -> Self;
    fn bytes(self) -> Vec<u8>;

    /// The program's output for a number, or a sum, of this type.
    fn shown(integer: i64) -> String {
        match Self::IS_FLOAT {
            true => format!("{:?}", integer as f64),
            false => integer.to_string(),
        }
    }
}

macro_rules! samples {
    ($($type:ident, $descr:literal, $signed:literal, $float:literal, |$x:ident| $of:expr;)*) => {
        $(impl Sample for $type {
            const NAME: &'static str = stringify!($type);
            const DESCR: &'static str = $descr;
            const IS_SIGNED: bool = $signed;
            const IS_FLOAT: bool = $float;

            fn of($x: i32) -> Self {
                $of
            }

            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        })*
    };
}

samples! {
    i8, "|i1", true, false, |x| x as i8;
    i16, "<i2", true, false, |x| x as i16;
    i32, "<i4", true, false, |x| x;
    i64, "<i8", true, false, |x| x.into();
    u8, "|u1", false, false, |x| x as u8;
    u16, "<u2", false, false, |x| x as u16;
    u32, "<u4", false, false, |x| x as u32;
    u64, "<u8", false, false, |x| x as u64;
    f16, "<f2", true, true, |x| f16::from_f32(x as f32);
    bf16, "|V2", true, true, |x| bf16::from_f32(x as f32);
    f32, "<f4", true, true, |x| x as f32;
    f64, "<f8", true, true, |x| x.into();
}

/// Calls a function for every type.
macro_rules! for_every_type {
    ($function:ident($($argument:expr),*)) => {
        $crate::files::for_every_type!(@ $function, ($($argument),*),
            (i8) (i16) (i32) (i64) (u8) (u16) (u32) (u64)
            (warpfold::f16) (warpfold::bf16) (f32) (f64))
    };
    (@ $function:ident, $arguments:tt, $(($type:ty))*) => {
        $($function::<$type> $arguments;)*
    };
}

pub(crate) use for_every_type;

/// A temporary folder, deleted on drop.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn raw<T: Sample>(&self, name: &str, elements: &[T]) -> String {
        self.file(name, &bytes(elements))
    }

    pub fn npy<T: Sample>(&self, name: &str, elements: &[T]) -> String {
        self.file(name, &npy(elements))
    }

    /// An array of any shape; in Fortran order, the elements are in the order of the file.
    pub fn shaped<T: Sample>(
        &self,
        name: &str,
        elements: &[T],
        shape: &[usize],
        is_fortran: bool,
    ) -> String {
        let header = shaped_header(T::DESCR, shape, is_fortran);
        self.file(name, &[header, bytes(elements)].concat())
    }

    /// An archive with these members, stored or deflated.
    pub fn npz(&self, name: &str, deflated: bool, members: &[(&str, &[u8])]) -> String {
        let path = self.path(name);
        let mut archive = ZipWriter::new(fs::File::create(&path).unwrap());
        let method = match deflated {
            true => CompressionMethod::Deflated,
            false => CompressionMethod::Stored,
        };
        let options = SimpleFileOptions::default().compression_method(method);
        for (member, content) in members {
            archive.start_file(*member, options).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap();
        path
    }
}

/// The bytes of a `.npy` file.
pub fn npy<T: Sample>(elements: &[T]) -> Vec<u8> {
    [header(T::DESCR, elements.len()), bytes(elements)].concat()
}

/// The bytes of a `.npy` file with big-endian elements.
pub fn big_endian<T: Sample>(elements: &[T]) -> Vec<u8> {
    let swapped = |x: &T| x.bytes().into_iter().rev().collect::<Vec<_>>();
    let descr = T::DESCR.replace(['<', '|'], ">");
    let bytes = elements.iter().flat_map(swapped).collect();
    [header(&descr, elements.len()), bytes].concat()
}

pub fn header(descr: &str, n: usize) -> Vec<u8> {
    shaped_header(descr, &[n], false)
}

pub fn shaped_header(descr: &str, shape: &[usize], is_fortran: bool) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let shape: String = shape.iter().map(|len| format!("{len},")).collect();
    let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape})}}\n");
    [
        b"\x93NUMPY\x01\0",
        &[dict.len() as u8, 0][..],
        dict.as_bytes(),
    ]
    .concat()
}

pub fn bytes<T: Sample>(elements: &[T]) -> Vec<u8> {
    elements
        .iter()
        .flat_map(|element| element.bytes())
        .collect()
}
