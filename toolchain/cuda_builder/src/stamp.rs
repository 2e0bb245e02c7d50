//! A file next to each PTX file that identifies its inputs, so that unchanged PTX is not built again.

use crate::CudaBuilderError;
use crate::error::At;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Two hashes, which differ if anything that determines the PTX differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The hash of all kernels as rustc emitted them: if it is equal, nothing has to be done.
    pub(crate) all: u64,
    /// The hash of the module's kernels only, which takes longer to compute.
    pub(crate) module: u64,
}

impl Stamp {
    /// The stamp of `ptx`, if both exist.
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

/// Hashes `bitcode` and the options.
pub(crate) fn number(bitcode: &[u8], settings: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    bitcode.hash(&mut hasher);
    settings.hash(&mut hasher);
    hasher.finish()
}
