//! What can go wrong.

use std::io;
use std::path::PathBuf;

use bytesize::ByteSize;
use warpfold::file::DType;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What only the file shows to be wrong with the arguments.
    #[error("{0}")]
    Usage(String),

    #[error(transparent)]
    Library(#[from] warpfold::Error),

    #[error("{}: {n} element(s) have no {what}", .file.display())]
    TooFew {
        file: PathBuf,
        n: usize,
        what: String,
    },

    #[error("{} holds {holds}, and keys are u32, u64, i32 or i64", .file.display())]
    NoKeys { file: PathBuf, holds: DType },

    #[error("--device-memory {}: {what} takes {needs} bytes", .limit.as_u64())]
    Memory {
        limit: ByteSize,
        what: String,
        needs: u64,
    },

    #[error("{}: {error}", .file.display())]
    Write { file: PathBuf, error: io::Error },

    #[error("cannot print: {0}")]
    Output(io::Error),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            _ => 1,
        }
    }
}
