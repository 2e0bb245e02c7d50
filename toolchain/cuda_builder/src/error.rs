//! Errors of a device build, with advice.

use crate::toolchain::ToolchainError;
use std::fmt;
use std::path::PathBuf;

/// The prefix of a finding for which `cuda_std` gives the reason.
pub(crate) const REFUSES: &str = "cuda_std refuses: ";

/// The reason why a device build failed.
///
/// `Debug` prints the same text as `Display`, because cargo shows the error of a build script's `main` by
/// `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// There is no compiler for the device, or no matching libLLVM.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),

    /// The folder contains no crate.
    #[error("{} is not a crate: Cargo.toml cannot be read ({why})", path.display())]
    NotACrate {
        /// The folder that was given.
        path: PathBuf,
        /// The reason.
        why: String,
    },

    /// The nested cargo, which compiles the kernels, failed.
    #[error(
        "the kernels of `{krate}` did not compile for the GPU (cargo's exit code {code}):\n{output}"
    )]
    BuildFailed {
        /// The crate's name.
        krate: String,
        /// cargo's exit code.
        code: i32,
        /// The output of cargo and rustc.
        output: String,
    },

    /// A program could not be started.
    #[error("could not run {program}: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The operating system's error.
        source: std::io::Error,
    },

    /// Cargo reported success, but wrote no bitcode.
    #[error("cargo reported success but {} is not there; remove {} and build again", bitcode.display(), target_dir.display())]
    NoBitcode {
        /// The expected file.
        bitcode: PathBuf,
        /// The folder to remove.
        target_dir: PathBuf,
    },

    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },

    /// LLVM rejected the module.
    #[error("LLVM {step} failed for {arch}: {message}")]
    Llvm {
        /// The step that failed.
        step: &'static str,
        /// The architecture.
        arch: &'static str,
        /// LLVM's message.
        message: String,
    },

    /// A shared static has an initial value, which shared memory does not support.
    #[error(
        "shared static `{name}` has an initial value; a GPU does not initialise shared memory. \
         Declare it as `static mut {name}: [MaybeUninit<T>; N] = [const {{ MaybeUninit::uninit() }}; N]` \
         and write it from the kernel"
    )]
    InitialisedShared {
        /// The static.
        name: String,
    },

    /// The kernels' crate or a dependency needs a library that a GPU does not have.
    #[error(
        "the kernels of `{krate}` did not compile for the GPU: {culprit} needs `{library}`, which a GPU does not \
         have, at {location}.\nWhat to do: {help}.\nThe compiler's output:\n{output}"
    )]
    NeedsStd {
        /// The kernels' crate.
        krate: String,
        /// The crate that needs the library, and the path of dependencies to it.
        culprit: Box<str>,
        /// The library: `std` or `alloc`.
        library: &'static str,
        /// File and line of the use.
        location: Box<str>,
        /// Advice.
        help: Box<str>,
        /// The output of cargo and rustc.
        output: String,
    },

    /// Functions or statics are used, but not defined.
    #[error(
        "the kernels of `{krate}` use symbols that no crate defines:{}{}",
        list(symbols),
        how_to_define(symbols)
    )]
    Unresolved {
        /// The crate's name.
        krate: String,
        /// The symbols, and where they are used.
        symbols: Vec<Finding>,
    },

    /// Kernels use features that a GPU, or LLVM's back end for it, does not support.
    #[error(
        "the kernels of `{krate}` use features that a GPU, or LLVM's back end for it, does not support:{}",
        list(findings)
    )]
    Unsupported {
        /// The crate's name.
        krate: String,
        /// The features, with alternatives, and where they are used.
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
        /// The limit in bytes.
        limit: u64,
        /// The statics, largest first.
        statics: Vec<Finding>,
    },

    /// A kernel has recursive functions.
    #[error(
        "the kernels of `{krate}` have recursive functions, so their stack size is unknown:{}\n\
        What to do: write a loop. If the depth is small, call `allow_recursion(true)` in the build script, and \
        raise the stack limit before the launch (`cuCtxSetLimit`; the default is 1024 bytes for a thread).",
        list(cycles)
    )]
    Recursion {
        /// The crate's name.
        krate: String,
        /// The functions in the order of the calls, and where the calls are.
        cycles: Vec<Finding>,
    },

    /// A launch attribute names a kernel that does not exist.
    #[error("launch attributes are given for kernel `{kernel}`, which the module does not define")]
    UnknownKernel {
        /// The name in the attribute.
        kernel: String,
    },

    /// No architecture was set.
    #[error("no architecture is set: call `CudaBuilder::arches` with at least one")]
    NoArchitecture,

    /// Kernels without a module, in a build with several modules.
    #[error(
        "the kernels are split into modules, but these name no module; \
         write #[kernel(module = name)]:{}",
        list(kernels)
    )]
    NoModule {
        /// The kernels.
        kernels: Vec<String>,
    },

    /// No kernel is in the module that [`CudaBuilder::only_module`](crate::CudaBuilder::only_module) names.
    #[error("no kernel is in module `{name}`; the modules are: {}", .modules.join(", "))]
    NoSuchModule {
        /// The requested name.
        name: String,
        /// The names of all modules.
        modules: Vec<String>,
    },

    /// The module contains no kernel.
    #[error(
        "`{krate}` defines no kernel: no function has #[kernel], or none is public and reachable from lib.rs"
    )]
    NoKernels {
        /// The crate's name.
        krate: String,
    },
}

/// An error in the kernels' code, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The error.
    pub what: String,
    /// Where it is used; empty if unknown.
    pub sites: Vec<Site>,
}

/// A location in the kernels' code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Site {
    /// The function, after inlining.
    pub function: String,
    /// File and line, if known.
    pub location: Option<(PathBuf, u32)>,
}

impl Site {
    /// ` (src/lib.rs:7)`, or an empty text.
    pub(crate) fn at(&self) -> String {
        let location = self.location.as_ref();
        location.map_or(String::new(), |(file, line)| {
            format!(" ({}:{line})", file.display())
        })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some((file, line)) => write!(f, "{}:{line}, in `{}`", file.display(), self.function),
            None => write!(f, "in `{}`", self.function),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The limit of printed sites.
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
    /// The findings, if the error is about the kernels' code. They have lines only in builds with debug
    /// information.
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
            .any(|site| site.location.is_some())
    }
}

/// Advice for symbols that no crate defines; empty if `cuda_std` gives the reason itself.
fn how_to_define(symbols: &[Finding]) -> &'static str {
    match symbols
        .iter()
        .all(|symbol| symbol.what.starts_with(REFUSES))
    {
        true => "",
        false => {
            "\nWhat to do: define them in Rust, in this crate or in a dependency. Kernels cannot link a library in C \
            or CUDA C++. Functions of floats are in `cuda_std::float`; `cuda_std::println!` prints."
        }
    }
}

fn list(items: &[impl fmt::Display]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}

/// Adds the path to an I/O error.
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
