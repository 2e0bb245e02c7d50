//! The errors of the command line.

use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use warpfold::file::DType;
use zip::result::ZipError;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong arguments that are detected only after the files have been opened.
    #[error("{0}")]
    Usage(String),

    #[error(transparent)]
    Library(#[from] warpfold::Error),

    /// Why the device cannot be used, and what to do.
    #[error("{0}")]
    Device(String),

    #[error("{file}: {n} element(s), too few for {what}; it requires at least {needs}")]
    TooFew {
        file: String,
        n: usize,
        what: String,
        needs: u128,
    },

    #[error(
        "{} holds {holds}, but {} holds {expected}: files of one array must have one type; --each gives one \
         result for each file",
        .file.display(), .first.display()
    )]
    OtherType {
        file: PathBuf,
        holds: DType,
        first: PathBuf,
        expected: DType,
    },

    /// An axis that the array does not have.
    #[error("{file}: axis {axis} is out of range: {}", axes(*.dims))]
    Axis {
        file: String,
        axis: i64,
        dims: usize,
    },

    #[error("{file}: axis {axis} is given twice; an array is reduced along each axis only once")]
    AxisTwice { file: String, axis: i64 },

    #[error(
        "{file}: raw elements have no axes; save the array as a .npy file, or give the length of its --rows"
    )]
    NoShape { file: String },

    #[error(
        "{file} is in Fortran order, in which rows and segments are not adjacent; give --axis instead of {option}, or \
         save the array in C order"
    )]
    FortranOrder { file: String, option: &'static str },

    #[error("{file} holds {holds}; offsets of segments must be i32, u32, i64 or u64")]
    OffsetType { file: String, holds: DType },

    #[error("{file} has {dims} dimensions; offsets of segments must have one")]
    OffsetShape { file: String, dims: usize },

    /// Parts that do not fit the array in this file, or offsets in it that are wrong.
    #[error("{file}: {error}")]
    Parts {
        file: String,
        error: Box<warpfold::Error>,
    },

    #[error(
        "{}: result {index} does not exist, because its part has too few elements, and a file of integers cannot say \
         so; print the results, or use --json",
        .output.display()
    )]
    NoInteger { output: PathBuf, index: usize },

    #[error("{file} holds {holds}; keys must be integers")]
    KeyType { file: String, holds: DType },

    #[error(
        "{keys_file} has {keys} keys, but {file} has {values} elements; each element requires one key"
    )]
    Keys {
        keys_file: String,
        keys: usize,
        file: String,
        values: usize,
    },

    #[error(
        "{keys_file}: {rejected} of {n} keys have no cell, the first of them {key} at index {index}; the keys of \
         {cells} cells are {}; give {}--ignore-others to leave such elements out",
        keys_of(*.cells), if *.key < 0 { "" } else { "more --cells, or " }
    )]
    NoCell {
        keys_file: String,
        rejected: u64,
        n: usize,
        key: i128,
        index: u64,
        cells: usize,
    },

    #[error("{} has {} elements, but {} has {}; a dot product requires as many", .files[0], .lens[0], .files[1], .lens[1])]
    Lengths {
        files: [String; 2],
        lens: [usize; 2],
    },

    #[error(
        "--device-memory {} is too small: {what} require {needs} bytes; give at least that",
        .limit.as_u64()
    )]
    Memory {
        limit: ByteSize,
        what: String,
        needs: u64,
    },

    #[error("{}: {error}", .file.display())]
    Io { file: PathBuf, error: io::Error },

    #[error("{}: not a readable .npz archive: {error}", .file.display())]
    Archive { file: PathBuf, error: ZipError },

    #[error("{}", array(archive, name, arrays))]
    Array {
        archive: PathBuf,
        /// The requested array.
        name: Option<String>,
        /// The names of the archive's arrays.
        arrays: String,
    },

    /// The ranks read different files under one name.
    #[error(
        "{file}: rank {rank} sees {sees}, but rank 0 sees {first}; all ranks must read the same files"
    )]
    RanksFiles {
        file: String,
        rank: usize,
        sees: String,
        first: String,
    },

    #[error("{failed} of {files} files failed")]
    Files { failed: usize, files: usize },

    #[error("cannot print: {0}")]
    Output(io::Error),
}

fn keys_of(cells: usize) -> String {
    match cells {
        0 => "none".into(),
        _ => format!("0 to {}", cells - 1),
    }
}

fn axes(dims: usize) -> String {
    match dims {
        0 => "the array has no axes".into(),
        1 => "the array has one axis, 0 or -1".into(),
        _ => format!(
            "the array has {dims} axes, 0 to {}, or -{dims} to -1 from the last one",
            dims - 1
        ),
    }
}

fn array(archive: &Path, name: &Option<String>, arrays: &str) -> String {
    let archive = archive.display();
    match name {
        Some(name) => format!("{archive} has no array {name:?}; it has {arrays}"),
        None if arrays == "no arrays" => format!("{archive} has no arrays"),
        None => format!("{archive} has {arrays}; name one: {archive}:NAME"),
    }
}

impl Failure {
    pub fn io(file: &Path, error: io::Error) -> Self {
        Self::Io {
            file: file.into(),
            error,
        }
    }

    /// What a rank tells the others of its failure.
    pub fn told(&self) -> warpfold::Error {
        match self {
            // It keeps the rank that failed first.
            Self::Library(error) => error.clone(),
            other => warpfold::Error::other(other.to_string()),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Axis { .. } | Self::AxisTwice { .. } => 2,
            _ => 1,
        }
    }
}
