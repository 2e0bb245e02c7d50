//! Arrays in `.npz` archives, which are zip archives of `.npy` files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use self_cell::{MutBorrow, self_cell};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::failure::Failure;

/// The largest number of names in an error text.
const MAX_LISTED: usize = 20;

/// Splits `a.npz:NAME` into the archive's path, which ends at the first `.npz:`, and the name.
pub fn split(path: &Path) -> Option<(&Path, &str)> {
    const END: &[u8] = b".npz:";
    let bytes = path.as_os_str().as_bytes();
    let mut windows = bytes.windows(END.len());
    let end = END.len() + windows.position(|window| window.eq_ignore_ascii_case(END))?;
    let name = str::from_utf8(&bytes[end..]).ok()?;
    Some((Path::new(OsStr::from_bytes(&bytes[..end - 1])), name))
}

/// One array of an archive.
pub struct Member {
    archive: PathBuf,
    index: usize,
    /// `ARCHIVE:NAME`, for errors.
    pub path: PathBuf,
}

impl Member {
    /// The array `name`; without a name, the only array of the archive.
    pub fn find(path: &Path, name: Option<&str>) -> Result<Self, Failure> {
        let archive = open(path)?;
        let failed = |error| failure(path, error);
        let mut arrays = vec![];
        for index in 0..archive.len() {
            let member = archive.name_for_index(index).unwrap_or(Ok("".into()));
            if let Some(array) = member.map_err(failed)?.strip_suffix(".npy") {
                arrays.push((index, array.to_owned()));
            }
        }
        let found = match (name, &arrays[..]) {
            (None, [only]) => Some(only),
            (None, _) => None,
            // Like NumPy, which accepts the name of the member as well.
            (Some(name), arrays) => {
                let short = name.strip_suffix(".npy").unwrap_or(name);
                let named = |wanted: &str| arrays.iter().find(|(_, array)| array == wanted);
                named(name).or_else(|| named(short))
            }
        };
        let Some((index, array)) = found else {
            return Err(Failure::Array {
                archive: path.into(),
                name: name.map(Into::into),
                arrays: list(&arrays),
            });
        };
        let mut full = path.as_os_str().to_owned();
        full.push(":");
        full.push(array);
        Ok(Self {
            archive: path.into(),
            index: *index,
            path: full.into(),
        })
    }

    /// The array's bytes, decompressed while they are read. The checksum is verified at the end.
    pub fn open(&self) -> Result<impl Read + use<>, Failure> {
        let failed = |error| failure(&self.path, error);
        let archive = MutBorrow::new(open(&self.archive)?);
        Bytes::try_new(archive, |archive| {
            archive.borrow_mut().by_index(self.index).map_err(failed)
        })
    }
}

type FileIn<'a> = ZipFile<'a, File>;

self_cell! {
    /// A member together with the open archive.
    struct Bytes {
        owner: MutBorrow<ZipArchive<File>>,
        #[not_covariant]
        dependent: FileIn,
    }
}

impl Read for Bytes {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.with_dependent_mut(|_, file| file.read(bytes))
    }
}

fn open(path: &Path) -> Result<ZipArchive<File>, Failure> {
    let file = File::open(path).map_err(|error| failure(path, error.into()))?;
    ZipArchive::new(file).map_err(|error| failure(path, error))
}

fn failure(path: &Path, error: ZipError) -> Failure {
    match error {
        ZipError::Io(error) => Failure::Io {
            file: path.into(),
            error,
        },
        error => Failure::Archive {
            file: path.into(),
            error,
        },
    }
}

/// The arrays' names for an error text, escaped because a file could contain control sequences of a terminal.
fn list(arrays: &[(usize, String)]) -> String {
    let shown = arrays.iter().take(MAX_LISTED);
    let shown: Vec<_> = shown
        .map(|(_, name)| name.escape_debug().to_string())
        .collect();
    match (arrays.len(), arrays.len() - shown.len()) {
        (0, _) => "no arrays".into(),
        (1, _) => format!("the array {}", shown[0]),
        (n, 0) => format!("{n} arrays: {}", shown.join(", ")),
        (n, more) => format!("{n} arrays: {} and {more} more", shown.join(", ")),
    }
}
