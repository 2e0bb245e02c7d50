//! The peers: `ladder.cu` (nvcc's twin of every rung, and CUB) and `kepler.cu` (the twins of shuffles
//! and atomics), compiled by the nvcc of this machine at run time and loaded, as are the sources of
//! other suites. Where there is no nvcc there are no peers; nothing else changes.

use std::ffi::{CStr, c_char, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use libloading::{Library, Symbol};
use serde::{Deserialize, Serialize};

use crate::tool;

/// What becomes one library.
const SOURCES: [(&str, &str); 2] = [
    ("ladder.cu", include_str!("../peers/ladder.cu")),
    ("kepler.cu", include_str!("../peers/kepler.cu")),
];

/// The twins index with `int`, and reduce_5 steps past n by up to one grid.
pub const TWIN_MAX_N: usize = 1 << 30;

/// What the peers were built with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Built {
    pub nvcc: PathBuf,
    /// nvcc's own words: `release 13.0, V13.0.88`.
    pub nvcc_version: String,
    pub nvcc_flags: Vec<String>,
    pub cub_version: String,
}

/// The loaded peers.
pub struct Peers {
    /// Never unloaded: the CUDA runtime in it goes with the process.
    library: &'static Library,
    pub built: Built,
}

/// What one peer works on. The buffers are device addresses in the context that owns `stream`.
#[derive(Clone, Copy)]
pub struct Launch {
    pub input: u64,
    pub n: usize,
    pub result: u64,
    pub stream: *mut c_void,
}

/// How a twin is launched.
#[derive(Clone, Copy)]
pub struct Shape {
    pub threads: u32,
    /// Elements per thread of reduce_5's loop; the other rungs ignore it.
    pub chunks: u32,
    /// Scratch for the partials of the odd and of the even passes.
    pub partials: [u64; 2],
}

type TwinFn = unsafe extern "C" fn(
    *const i32,
    i32,
    i32,
    i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut c_void,
) -> i32;
type CubFn =
    unsafe extern "C" fn(*mut c_void, *mut usize, *const i32, i64, *mut i32, *mut c_void) -> i32;
type VersionFn = unsafe extern "C" fn() -> i32;
type ErrorStringFn = unsafe extern "C" fn(i32) -> *const c_char;

impl Peers {
    /// Compiles the peers for a device of this compute capability, or takes them from the cache,
    /// and loads them. The device's context is current on this thread. The error is the reason for
    /// going on without.
    pub fn build(capability: (u32, u32)) -> Result<Peers> {
        let (library, built) = load(&SOURCES, capability)?;
        let peers = Peers { library, built };
        // A runtime that the driver is too old for says so here, not in the middle of a round.
        peers.cub()?.temp_bytes(1)?;
        Ok(peers)
    }

    /// The twin of the rung that is called `kernel`.
    pub fn twin(&self, kernel: &str) -> Result<Twin> {
        // SAFETY: SOURCES define every `twin_*` with this signature (their TWIN macros).
        let call = unsafe { self.library.get(format!("twin_{kernel}")) }
            .with_context(|| format!("the peers have no twin of {kernel}"))?;
        Ok(Twin {
            library: self.library,
            call,
        })
    }

    /// CUB's sum of `n` integers.
    pub fn cub(&self) -> Result<Cub> {
        // SAFETY: SOURCES define `cub_sum` with this signature.
        let call = unsafe { self.library.get::<CubFn>(c"cub_sum") }?;
        Ok(Cub {
            library: self.library,
            call,
        })
    }
}

/// nvcc's twin of one rung.
pub struct Twin {
    library: &'static Library,
    call: Symbol<'static, TwinFn>,
}

impl Twin {
    /// Launches every pass on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has done the work these are live device memory, apart from each other:
    ///   `input` with `n` integers, `result` with one, `partials` with `ceil(n / threads)` and
    ///   `ceil(ceil(n / threads) / threads)`.
    pub unsafe fn enqueue(&self, on: Launch, shape: Shape) -> Result<()> {
        ensure!(
            on.n <= TWIN_MAX_N,
            "the twins index with int: n <= {TWIN_MAX_N}, not {}",
            on.n
        );
        // SAFETY: the caller's promise; n fits an int (above), as do threads and chunks, which the
        // rung itself was planned with.
        let status = unsafe {
            (self.call)(
                on.input as *const i32,
                on.n as i32,
                shape.threads as i32,
                shape.chunks as i32,
                shape.partials[0] as *mut i32,
                shape.partials[1] as *mut i32,
                on.result as *mut i32,
                on.stream,
            )
        };
        check(self.library, status, "nvcc's twin")
    }
}

/// `cub::DeviceReduce::Sum`.
pub struct Cub {
    library: &'static Library,
    call: Symbol<'static, CubFn>,
}

impl Cub {
    /// Bytes of temporary storage for `n` integers.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let (none, stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: without storage the call only writes `bytes`, which lives here.
        let status = unsafe {
            (self.call)(
                none,
                &mut bytes,
                std::ptr::null(),
                n as i64,
                std::ptr::null_mut(),
                stream,
            )
        };
        check(
            self.library,
            status,
            "cub::DeviceReduce::Sum, temporary storage",
        )?;
        Ok(bytes)
    }

    /// Launches the sum on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    /// As for [`Twin::enqueue`], with `temp` of `temp_bytes` bytes, as
    /// [`Cub::temp_bytes`] says for this `n`, in the place of `partials`.
    pub unsafe fn enqueue(&self, on: Launch, temp: u64, mut temp_bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let status = unsafe {
            (self.call)(
                temp as *mut c_void,
                &mut temp_bytes,
                on.input as *const i32,
                on.n as i64,
                on.result as *mut i32,
                on.stream,
            )
        };
        check(self.library, status, "cub::DeviceReduce::Sum")
    }
}

/// An error that a call of a loaded library has returned, in the words of its `error_string`.
pub fn check(library: &Library, status: i32, what: &str) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: all sources define `error_string` with this signature; the text it gives is a constant of
    // the CUDA runtime and ends in a zero.
    let text = unsafe {
        let error_string = library.get::<ErrorStringFn>(c"error_string")?;
        CStr::from_ptr(error_string(status))
            .to_string_lossy()
            .into_owned()
    };
    bail!("{what}: {text} (CUDA error {status})")
}

/// Compiles sources of peers (their names and texts) into one library for a device of this compute
/// capability, or takes it from the cache, and loads it for good. The sources define
/// `int cub_version()` and `const char *error_string(int)`, both `extern "C"`.
pub fn load(sources: &[(&str, &str)], capability: (u32, u32)) -> Result<(&'static Library, Built)> {
    let nvcc = find_nvcc()?;
    let nvcc_version = version(&nvcc)?;
    let nvcc_flags = flags(capability);
    let library = compile(sources, &nvcc, &nvcc_version, &nvcc_flags)?;
    // SAFETY: the library is what nvcc made of the sources (the cache's file name carries a hash of
    // sources, flags and compiler); its initialisers are CUDA's registration of kernels.
    let library = unsafe { Library::new(&library) }
        .with_context(|| format!("cannot load {}", library.display()))?;
    let library: &Library = Box::leak(Box::new(library));
    // SAFETY: all sources define `extern "C" int cub_version()`.
    let cub = unsafe { library.get::<VersionFn>(c"cub_version")?() };
    let built = Built {
        nvcc,
        nvcc_version,
        nvcc_flags,
        cub_version: format!("{}.{}.{}", cub / 100_000, cub / 100 % 1000, cub % 100),
    };
    Ok((library, built))
}

fn find_nvcc() -> Result<PathBuf> {
    let toolkit = env::var_os("CUDA_PATH").map(|root| PathBuf::from(root).join("bin"));
    let folders = toolkit.into_iter().chain(["/usr/local/cuda/bin".into()]);
    tool::find("nvcc", folders)
        .context("nvcc was not found on PATH, in CUDA_PATH/bin, or in /usr/local/cuda/bin")
}

/// nvcc's version, in its own words: the release without what stands around it.
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

/// The shared library, compiled unless the cache has it. Its name says what it was made from.
fn compile(
    sources: &[(&str, &str)],
    nvcc: &Path,
    nvcc_version: &str,
    flags: &[String],
) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (sources, nvcc, nvcc_version, flags).hash(&mut hasher);
    let key = hasher.finish();

    let folder = cache_dir().context("no home folder to keep the compiled peers in")?;
    let library = folder.join(format!("peers-{key:016x}.so"));
    if library.is_file() {
        return Ok(library);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;

    // Compiled beside its place and then moved, so that an interrupted compiler leaves nothing
    // that looks finished.
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
    fn the_architecture_is_the_devices() {
        assert!(flags((9, 0)).contains(&"-arch=sm_90".to_owned()));
        assert!(flags((12, 0)).contains(&"-arch=sm_120".to_owned()));
    }
}
