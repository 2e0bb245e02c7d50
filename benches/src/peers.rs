//! Peers in CUDA C++ (`peers/`), compiled at run time by this machine's nvcc; left out without nvcc.

use std::ffi::{CStr, c_char, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, ptr};

use anyhow::{Context, Result, bail};
use libloading::{Library, Symbol};

use crate::tool;

/// The compiler, its flags and the version of CUB.
#[derive(Clone, Debug)]
pub struct Built {
    /// As nvcc prints it: `release 13.0, V13.0.88`.
    pub nvcc_version: String,
    pub nvcc_flags: Vec<String>,
    pub cub_version: String,
}

impl Built {
    /// The versions of CUB and its compiler.
    pub fn version(&self) -> String {
        format!("CUB {}, nvcc {}", self.cub_version, self.nvcc_version)
    }
}

/// A shared library compiled from this package's sources.
pub struct Peers {
    /// Never unloaded: the CUDA runtime in it lives until the process ends.
    library: &'static Library,
    pub built: Built,
}

/// A function of [`Peers`].
pub struct Function<F: 'static> {
    library: &'static Library,
    call: Symbol<'static, F>,
}

type VersionFn = unsafe extern "C" fn() -> i32;
type ErrorStringFn = unsafe extern "C" fn(i32) -> *const c_char;

impl Peers {
    /// [`build_with`](Self::build_with) without macros.
    pub fn build(sources: &[(&str, &str)], capability: (u32, u32)) -> Result<Peers> {
        Self::build_with(sources, &[], capability)
    }

    /// Compiles sources (names and texts) with these macros into one library for a compute capability, or
    /// takes it from the cache, and loads it. The sources must define `int cub_version()` and
    /// `const char *error_string(int)`, both `extern "C"`. After an error the caller continues without these
    /// peers.
    pub fn build_with(
        sources: &[(&str, &str)],
        macros: &[(&str, u32)],
        capability: (u32, u32),
    ) -> Result<Peers> {
        let nvcc = find_nvcc()?;
        let nvcc_version = version(&nvcc)?;
        let nvcc_flags = flags(capability);
        let macros = macros
            .iter()
            .map(|(name, value)| format!("-D{name}={value}"));
        let flags: Vec<_> = nvcc_flags.iter().cloned().chain(macros).collect();
        let library = compile(sources, &nvcc, &nvcc_version, &flags)?;
        // SAFETY: nvcc compiled the library from the sources (its file name contains a hash of sources, flags
        // and compiler); its initialisers only register kernels with CUDA.
        let library = unsafe { Library::new(&library) }
            .with_context(|| format!("cannot load {}", library.display()))?;
        let library: &Library = Box::leak(Box::new(library));
        // SAFETY: all sources define `extern "C" int cub_version()`.
        let cub = unsafe { library.get::<VersionFn>(c"cub_version")?() };
        let built = Built {
            nvcc_version,
            nvcc_flags,
            cub_version: format!("{}.{}.{}", cub / 100_000, cub / 100 % 1000, cub % 100),
        };
        Ok(Peers { library, built })
    }

    /// The function with this name.
    ///
    /// # Safety
    ///
    /// If the sources define the function, its signature is `F`.
    pub unsafe fn function<F>(&self, name: &str) -> Result<Function<F>> {
        // SAFETY: the caller's promise.
        let call = unsafe { self.library.get(name) };
        Ok(Function {
            library: self.library,
            call: call.with_context(|| format!("the peers' library has no function {name}"))?,
        })
    }

    /// CUB's reduction with this name.
    ///
    /// # Safety
    ///
    /// If the sources define the function, its signature is [`CubFn`], apart from the types of the pointees.
    pub unsafe fn cub(&self, name: &str) -> Result<Cub> {
        // SAFETY: the caller's promise.
        Ok(Cub(unsafe { self.function(name) }?))
    }
}

impl<F> Deref for Function<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.call
    }
}

impl<F> Function<F> {
    /// Converts a status of the function to an error with the text of `error_string`.
    pub fn check(&self, status: i32, what: &str) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: all sources define `error_string` with this signature; it returns a NUL-terminated constant
        // of the CUDA runtime.
        let text = unsafe {
            let error_string = self.library.get::<ErrorStringFn>(c"error_string")?;
            CStr::from_ptr(error_string(status))
                .to_string_lossy()
                .into_owned()
        };
        bail!("{what}: {text} (CUDA error {status})")
    }
}

/// Temporary storage and its size in bytes, input, length, result, stream.
type CubFn = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    i64,
    *mut c_void,
    *mut c_void,
) -> i32;

/// One of CUB's reductions of an array.
pub struct Cub(Function<CubFn>);

impl Cub {
    /// Bytes of temporary storage for `n` elements.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let none = ptr::null_mut();
        // SAFETY: with null storage the call only writes `bytes`, a local variable.
        let status = unsafe { (self.0)(none, &mut bytes, none, n as i64, none, none) };
        self.0.check(status, "CUB, temporary storage")?;
        Ok(bytes)
    }

    /// Launches the reduction on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    ///
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, these are live device memory without overlap: `n` elements
    ///   of the type at `input`, one at `result`, and [`temp_bytes`](Self::temp_bytes) of temporary storage
    ///   for this `n`.
    pub unsafe fn enqueue(
        &self,
        input: u64,
        n: usize,
        result: u64,
        (temp, mut temp_bytes): (u64, usize),
        stream: *mut c_void,
    ) -> Result<()> {
        let (temp, input, result) = (
            temp as *mut c_void,
            input as *const c_void,
            result as *mut c_void,
        );
        // SAFETY: the caller's promise.
        let status = unsafe { (self.0)(temp, &mut temp_bytes, input, n as i64, result, stream) };
        self.0.check(status, "CUB")
    }
}

/// The path of nvcc.
pub fn find_nvcc() -> Result<PathBuf> {
    let toolkit = env::var_os("CUDA_PATH").map(|root| PathBuf::from(root).join("bin"));
    let folders = toolkit.into_iter().chain(["/usr/local/cuda/bin".into()]);
    tool::find("nvcc", folders)
        .context("nvcc was not found on PATH, in CUDA_PATH/bin, or in /usr/local/cuda/bin")
}

/// The release in the output of `nvcc --version`.
fn version(nvcc: &Path) -> Result<String> {
    let text = tool::run(Command::new(nvcc).arg("--version"))?;
    let release = text.lines().find_map(|line| line.split_once("release "));
    Ok(release.map_or_else(
        || text.trim().to_owned(),
        |(_, rest)| format!("release {rest}"),
    ))
}

fn flags((major, minor): (u32, u32)) -> Vec<String> {
    let arch = format!("-arch=sm_{major}{minor}");
    [
        "-O3",
        &arch,
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-cudart",
        "static",
    ]
    .map(String::from)
    .into()
}

/// The shared library, compiled unless it is in the cache, where a hash of all arguments is its name.
fn compile(
    sources: &[(&str, &str)],
    nvcc: &Path,
    nvcc_version: &str,
    flags: &[String],
) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (sources, nvcc, nvcc_version, flags).hash(&mut hasher);
    let key = hasher.finish();

    let folder = cache_dir().context("no home folder for the cache of compiled peers")?;
    let library = folder.join(format!("peers-{key:016x}.so"));
    if library.is_file() {
        return Ok(library);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;

    // Compiled in a temporary folder, then moved: an interrupted compiler leaves no incomplete library.
    let work = tempfile::tempdir_in(&folder)
        .with_context(|| format!("cannot write in {}", folder.display()))?;
    let output = work.path().join("peers.so");
    let mut command = Command::new(nvcc);
    command.args(flags).arg("-o").arg(&output);
    for (name, text) in sources {
        let source = work.path().join(name);
        fs::write(&source, text).with_context(|| format!("cannot write {}", source.display()))?;
        command.arg(source);
    }
    tool::run(&mut command)?;
    fs::rename(&output, &library).with_context(|| format!("cannot write {}", library.display()))?;
    Ok(library)
}

fn cache_dir() -> Option<PathBuf> {
    let set = env::var_os("XDG_CACHE_HOME").filter(|folder| Path::new(folder).is_absolute());
    let cache = set
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cache")))?;
    Some(cache.join("warpfold"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_that_of_the_device() {
        assert!(flags((9, 0)).contains(&"-arch=sm_90".to_owned()));
        assert!(flags((12, 0)).contains(&"-arch=sm_120".to_owned()));
    }
}
