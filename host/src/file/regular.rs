//! Regular files, and file errors.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::Error;

/// Opens a regular file and returns its length in bytes.
pub(super) fn open(path: &Path) -> Result<(File, u64), Error> {
    let opened = || {
        // Check before opening, because opening a pipe waits for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other(
                "not a regular file; read a pipe with `file::Stream`",
            ));
        }
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok((file, len))
    };
    opened().map_err(|wrong| error(path, wrong))
}

pub(super) fn error(path: &Path, error: io::Error) -> Error {
    Error::File {
        path: path.into(),
        text: error.to_string(),
    }
}
