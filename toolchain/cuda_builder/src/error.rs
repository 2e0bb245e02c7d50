//! What can go wrong, said for the person who has to mend it.

use crate::toolchain::ToolchainError;
use std::fmt;
use std::path::PathBuf;

/// How a finding begins that `cuda_std` has a reason for.
pub(crate) const REFUSES: &str = "cuda_std refuses: ";

/// Why a device build failed.
///
/// `Debug` prints the same text as `Display`, because that is what `main` of a build script shows of an error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// No compiler for the device, or no libLLVM that goes with it.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),

    /// The folder holds no crate.
    #[error("{} is not a crate: it has no readable Cargo.toml ({why})", path.display())]
    NotACrate {
        /// The folder that was given.
        path: PathBuf,
        /// What the file system said.
        why: String,
    },

    /// The nested cargo, which compiles the kernels, reported errors.
    #[error(
        "the kernels of `{krate}` did not compile for the GPU (cargo's exit code {code}):\n{output}"
    )]
    BuildFailed {
        /// The crate's name.
        krate: String,
        /// cargo's exit code.
        code: i32,
        /// What cargo and rustc printed.
        output: String,
    },

    /// A program could not be started.
    #[error("could not run {program}: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },

    /// cargo reported success and left no bitcode.
    #[error("cargo reported success but {} is not there; remove {} and build again", bitcode.display(), target_dir.display())]
    NoBitcode {
        /// The file that was expected.
        bitcode: PathBuf,
        /// The folder to remove.
        target_dir: PathBuf,
    },

    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },

    /// LLVM refused the module.
    #[error("LLVM {step} failed for {arch}: {message}")]
    Llvm {
        /// What was being done.
        step: &'static str,
        /// For which architecture.
        arch: &'static str,
        /// LLVM's own words.
        message: String,
    },

    /// A shared static has an initialiser, which shared memory cannot have.
    #[error(
        "shared static `{name}` has an initial value; shared memory starts out undefined on a GPU. \
         Declare it as `static mut {name}: [MaybeUninit<T>; N] = [const {{ MaybeUninit::uninit() }}; N]` \
         and write it from the kernel"
    )]
    InitialisedShared {
        /// The static.
        name: String,
    },

    /// The kernels' crate, or a dependency of it, needs a library that a GPU does not have.
    #[error(
        "the kernels of `{krate}` did not compile for the GPU: {culprit} needs `{library}`, which a GPU does not \
         have, at {place}.\nWhat to do: {help}.\nThe compiler's output:\n{output}"
    )]
    NeedsStd {
        /// The crate of the kernels.
        krate: String,
        /// The crate that needs the library, and how it comes to be there.
        culprit: Box<str>,
        /// The library: `std` or `alloc`.
        library: &'static str,
        /// File and line.
        place: Box<str>,
        /// What to do.
        help: Box<str>,
        /// What cargo and rustc printed.
        output: String,
    },

    /// Functions or statics are used and nowhere defined.
    #[error(
        "the kernels of `{krate}` need symbols that no crate defines:{}{}",
        list(symbols),
        how_to_define(symbols)
    )]
    Unresolved {
        /// The crate's name.
        krate: String,
        /// The symbols, and where they are used.
        symbols: Vec<Finding>,
    },

    /// Kernels use what a GPU, or LLVM's back-end for it, does not have.
    #[error(
        "the kernels of `{krate}` use what a GPU, or LLVM's back-end for it, does not have:{}",
        list(findings)
    )]
    Unsupported {
        /// The crate's name.
        krate: String,
        /// What is used, what to use instead, and where it is used.
        findings: Vec<Finding>,
    },

    /// A kernel has more static shared memory than a block may have.
    #[error(
        "kernel `{kernel}` of `{krate}` has {bytes} bytes of static shared memory; the limit is {limit} bytes:{}\n\
         What to do: make the arrays smaller, or use `cuda_std::shared::dynamic_shared_mem`, whose size is an \
         argument of the launch and may be larger.",
        list(statics)
    )]
    SharedMemory {
        /// The crate's name.
        krate: String,
        /// The kernel.
        kernel: String,
        /// The sum of its shared statics, in bytes.
        bytes: u64,
        /// The largest sum that is possible.
        limit: u64,
        /// The statics, largest first.
        statics: Vec<Finding>,
    },

    /// Functions of a kernel call themselves.
    #[error(
        "the kernels of `{krate}` have functions that call themselves, so the size of their stack is unknown:{}\n\
         What to do: write a loop. If the depth is small, allow it in the build script (`allow_recursion(true)`), and \
         raise the stack limit before the launch (`cuCtxSetLimit`; by default a thread has 1024 bytes).",
        list(cycles)
    )]
    Recursion {
        /// The crate's name.
        krate: String,
        /// The functions, in the order of the calls, and where the calls are.
        cycles: Vec<Finding>,
    },

    /// A launch attribute names a kernel that is not there.
    #[error("launch attributes are given for kernel `{kernel}`, which the module does not define")]
    UnknownKernel {
        /// The name in the attribute.
        kernel: String,
    },

    /// No architecture was asked for.
    #[error("no architecture was asked for: give CudaBuilder::arches at least one")]
    NoArchitecture,

    /// Kernels that are in none of the modules asked for.
    #[error(
        "the kernels are to become several modules, and these are in none; \
         write #[kernel(module = name)]:{}",
        list(kernels)
    )]
    NoModule {
        /// The kernels.
        kernels: Vec<String>,
    },

    /// The module holds no kernel.
    #[error(
        "`{krate}` defines no kernel: no function carries #[kernel], or none is public and reachable from lib.rs"
    )]
    NoKernels {
        /// The crate's name.
        krate: String,
    },
}

/// Something wrong in the kernels' code, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub what: String,
    /// Where it is used. Empty where that is unknown.
    pub sites: Vec<Site>,
}

/// A place in the kernels' code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Site {
    /// The function, after optimisation: that into which others are inlined.
    pub function: String,
    /// File and line, where they are known.
    pub place: Option<(PathBuf, u32)>,
}

impl Site {
    /// ` (src/lib.rs:7)`, or nothing.
    pub(crate) fn at(&self) -> String {
        let place = self.place.as_ref();
        place.map_or(String::new(), |(file, line)| {
            format!(" ({}:{line})", file.display())
        })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((file, line)) => write!(f, "{}:{line}, in `{}`", file.display(), self.function),
            None => write!(f, "in `{}`", self.function),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The most sites that are printed.
        const SHOWN: usize = 4;
        f.write_str(&self.what)?;
        for site in self.sites.iter().take(SHOWN) {
            write!(f, "\n    at {site}")?;
        }
        match self.sites.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n    and {more} more"),
        }
    }
}

impl fmt::Debug for CudaBuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CudaBuilderError {
    /// What is wrong in the kernels' code, if that is the error: with lines only in builds with debug information.
    pub(crate) fn findings(&self) -> Option<&[Finding]> {
        match self {
            Self::Unresolved { symbols: all, .. }
            | Self::Unsupported { findings: all, .. }
            | Self::SharedMemory { statics: all, .. }
            | Self::Recursion { cycles: all, .. } => Some(all),
            _ => None,
        }
    }

    /// Whether a finding has a line.
    pub(crate) fn has_lines(&self) -> bool {
        let findings = self.findings().into_iter().flatten();
        findings
            .flat_map(|finding| &finding.sites)
            .any(|site| site.place.is_some())
    }
}

/// What to do about symbols that no crate defines; nothing where `cuda_std` says it itself.
fn how_to_define(symbols: &[Finding]) -> &'static str {
    match symbols
        .iter()
        .all(|symbol| symbol.what.starts_with(REFUSES))
    {
        true => "",
        false => {
            "\nWhat to do: define them in Rust, in this crate or in a dependency. A library in C or CUDA C++ cannot \
             be linked to kernels. Functions of floats are in `cuda_std::float`; `cuda_std::println!` prints."
        }
    }
}

fn list(items: &[impl fmt::Display]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}

/// Attaches the path to an I/O error.
pub(crate) trait At<T> {
    fn at(self, path: &std::path::Path) -> Result<T, CudaBuilderError>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, path: &std::path::Path) -> Result<T, CudaBuilderError> {
        self.map_err(|source| CudaBuilderError::Io {
            path: path.to_owned(),
            source,
        })
    }
}
