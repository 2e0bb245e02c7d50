//! What a file of PTX was made of, in a file beside it, so that it is not made twice.

use crate::CudaBuilderError;
use crate::error::At;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Two numbers that differ when anything that decides the PTX differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Of all kernels as rustc wrote them: nothing has to be done where it is the same.
    pub(crate) all: u64,
    /// Of the module's kernels alone, which takes longer to know.
    pub(crate) module: u64,
}

impl Stamp {
    /// The stamp of `ptx`, if that is there and has one.
    pub(crate) fn of(ptx: &Path) -> Option<Self> {
        let text = fs::read_to_string(file(ptx))
            .ok()
            .filter(|_| ptx.is_file())?;
        let mut numbers = text.lines().map(|line| u64::from_str_radix(line, 16));
        Some(Self {
            all: numbers.next()?.ok()?,
            module: numbers.next()?.ok()?,
        })
    }

    pub(crate) fn write(self, ptx: &Path) -> Result<(), CudaBuilderError> {
        let file = file(ptx);
        fs::write(&file, format!("{:016x}\n{:016x}\n", self.all, self.module)).at(&file)
    }
}

fn file(ptx: &Path) -> PathBuf {
    ptx.with_extension("ptx.stamp")
}

/// One of a stamp's numbers: of `bitcode`, and of what it is compiled with.
pub(crate) fn number(bitcode: &[u8], settings: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    bitcode.hash(&mut hasher);
    settings.hash(&mut hasher);
    hasher.finish()
}
