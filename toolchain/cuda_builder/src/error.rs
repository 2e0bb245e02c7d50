//! What can go wrong, said for the person who has to mend it.

use crate::toolchain::ToolchainError;
use std::path::PathBuf;

/// Why a device build failed.
#[derive(Debug, thiserror::Error)]
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

    /// Functions or statics are used and nowhere defined.
    #[error(
        "the kernels of `{krate}` need symbols that nobody defines:{}",
        list(symbols)
    )]
    Unresolved {
        /// The crate's name.
        krate: String,
        /// The symbols, each explained.
        symbols: Vec<String>,
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

fn list(symbols: &[String]) -> String {
    symbols.iter().map(|s| format!("\n  {s}")).collect()
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
