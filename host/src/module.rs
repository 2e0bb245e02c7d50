//! The embedded PTX modules: which modules a device uses, and loading them.
//!
//! The driver compiles a whole module when it is loaded, and caches the result for the next program. So there
//! are many small modules, and each is loaded at its first use.

use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use cust::function::FunctionAttribute;
use cust::module::{Module, ModuleJitOption};
use cust::sys::{self, CUfunction, CUfunction_attribute, CUresult};
use kernels_gpu::entry::{Entry, Kernels, library};
use lzma_rust2::LzmaReader;

use crate::driver;
use crate::error::Error;

/// The PTX of a list of kernels, as [`embedded!`](crate::embedded) includes it in a program.
#[derive(Debug)]
pub struct Embedded {
    #[doc(hidden)]
    pub kernels: &'static Kernels,
    #[doc(hidden)]
    pub arches: &'static [Arch],
}

/// The modules for one architecture and all later ones.
#[doc(hidden)]
#[derive(Debug)]
pub struct Arch {
    /// The name, such as `sm_80`.
    pub arch: &'static str,
    /// The minimum compute capability.
    pub capability: (u32, u32),
    /// The first lines of every module.
    pub header: &'static str,
    /// A minimal module; if the driver accepts it, it accepts the others.
    pub probe: &'static CStr,
    /// Sorted by name.
    pub modules: &'static [Compressed],
}

/// The PTX of a module after its header, compressed.
#[doc(hidden)]
#[derive(Debug)]
pub struct Compressed {
    /// The module's name in the entries' rows.
    pub name: &'static str,
    /// The length of the text in bytes.
    pub len: usize,
    pub bytes: &'static [u8],
}

impl Compressed {
    fn ptx(&self, header: &str) -> CString {
        let mut text = Vec::with_capacity(header.len() + self.len + 1);
        text.extend_from_slice(header.as_bytes());
        let reader = LzmaReader::new_mem_limit(self.bytes, u32::MAX, None);
        let read = reader.and_then(|mut reader| reader.read_to_end(&mut text));
        assert_eq!(
            read.ok(),
            Some(self.len),
            "the build script wrote {}",
            self.name
        );
        CString::new(text).expect("PTX is text")
    }
}

impl Arch {
    /// Loads the module with this name. A context must be current.
    pub(crate) fn load(&self, name: &str) -> Result<Module, Error> {
        match self.modules.iter().find(|module| module.name == name) {
            Some(module) => load(self.arch, &module.ptx(self.header)),
            None => Err(Error::NoSuchModule {
                module: name.into(),
                modules: self.modules.iter().map(|module| module.name).collect(),
            }),
        }
    }
}

impl Embedded {
    /// The modules for the latest architecture that a device of this capability can run.
    pub(crate) fn choose(
        &self,
        device: &str,
        capability: (u32, u32),
    ) -> Result<&'static Arch, Error> {
        let runs = self
            .arches
            .iter()
            .filter(|arch| arch.capability <= capability);
        runs.max_by_key(|arch| arch.capability)
            .ok_or_else(|| Error::NoKernelForDevice {
                device: device.into(),
                capability,
                oldest: self
                    .arches
                    .iter()
                    .min_by_key(|arch| arch.capability)
                    .map_or("no architecture", |arch| arch.arch),
            })
    }
}

/// The kernels of the library's own calls.
pub(crate) static LIBRARY: Embedded = Embedded {
    kernels: &library::KERNELS,
    arches: ARCHES,
};

/// The kernel that all segmented reductions launch first.
pub(crate) static PARTITION: Embedded = Embedded {
    kernels: &kernels_gpu::entry::segments::PARTITION,
    arches: ARCHES,
};

/// The kernels that count keys.
pub(crate) static COUNTS: Embedded = Embedded {
    kernels: &kernels_gpu::entry::count::COUNTS,
    arches: ARCHES,
};

/// The kernels that find groups.
pub(crate) static GROUPS: Embedded = Embedded {
    kernels: &kernels_gpu::entry::groups::GROUPS,
    arches: ARCHES,
};

/// The kernels of the feature `teaching`.
#[cfg(feature = "teaching")]
pub(crate) static TEACHING: [Embedded; 3] = [
    Embedded {
        kernels: &kernels_gpu::entry::teaching::KERNELS,
        arches: ARCHES,
    },
    Embedded {
        kernels: &kernels_gpu::entry::teaching::COPIES,
        arches: ARCHES,
    },
    Embedded {
        kernels: &kernels_gpu::entry::teaching::LANES,
        arches: ARCHES,
    },
];

/// One row per architecture; generated.
static ARCHES: &[Arch] = {
    #[allow(unused_imports, reason = "there may be no architecture")]
    use crate::module as embedded;
    include!(concat!(env!("OUT_DIR"), "/kernels_gpu.rs"))
};

/// The codes for a rejected module, or for a driver that cannot compile PTX. 220 is not among them: it is an
/// NVLink error of the hardware.
const REJECTIONS: [i32; 6] = [
    CUresult::CUDA_ERROR_INVALID_IMAGE as i32,
    CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU as i32,
    CUresult::CUDA_ERROR_INVALID_PTX as i32,
    CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND as i32,
    CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION as i32,
    CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED as i32,
];

/// A list of kernels on one device, with the modules and entry points that have been loaded so far.
pub(crate) struct Loaded {
    kernels: &'static Kernels,
    arch: &'static Arch,
    // Dropped before the modules.
    /// One for each row of the list.
    functions: Vec<OnceLock<Function>>,
    /// One for each module of the architecture.
    modules: Vec<Slot>,
}

#[derive(Default)]
struct Slot {
    loaded: OnceLock<Module>,
    /// Locked by the thread that loads the module.
    loading: Mutex<()>,
}

/// An entry point of a loaded module.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    handle: CUfunction,
    /// The maximum number of threads per block.
    pub(crate) max_threads: u32,
}

// SAFETY: the driver's functions may be used from any thread; the handle is never changed.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// The driver's handle, valid as long as its [`Loaded`].
    pub(crate) fn handle(&self) -> CUfunction {
        self.handle
    }

    /// Allows launches with so many bytes of dynamic shared memory. The context must be current.
    pub(crate) fn allow_shared_bytes(&self, bytes: u32) -> Result<(), Error> {
        /// A launch needs no permission for as many bytes as these.
        const ALLOWED: u32 = 48 << 10;
        if bytes <= ALLOWED {
            return Ok(());
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is loaded (`handle`).
        driver::call(|| unsafe { sys::cuFuncSetAttribute(self.handle, attribute, bytes as i32) })
    }
}

impl Loaded {
    /// The state of `embedded` for an architecture whose [`probe`] succeeded. Loads nothing.
    pub(crate) fn new(embedded: &'static Embedded, arch: &'static Arch) -> Self {
        let slots = |n| (0..n).map(|_| OnceLock::new()).collect();
        Self {
            kernels: embedded.kernels,
            arch,
            functions: slots(embedded.kernels.entries.len()),
            modules: arch.modules.iter().map(|_| Slot::default()).collect(),
        }
    }

    /// Whether these are the modules of `arch`.
    pub(crate) fn is_of(&self, arch: &'static Arch) -> bool {
        std::ptr::eq(self.arch, arch)
    }

    /// Whether this is the list `kernels`.
    pub(crate) fn is(&self, kernels: &'static Kernels) -> bool {
        std::ptr::eq(self.kernels, kernels)
    }

    /// An entry point that has already been loaded.
    pub(crate) fn known(&self, entry: &'static Entry) -> Option<Function> {
        self.functions[entry.index].get().copied()
    }

    /// An entry point of the list; loads its module if necessary. `most_threads` is the device's limit of
    /// threads per block. A context must be current.
    pub(crate) fn find(&self, entry: &'static Entry, most_threads: u32) -> Result<Function, Error> {
        let module = self.module(entry)?;
        let function = driver::check(|| module.get_function(entry.name))?;
        let attribute = FunctionAttribute::MaxThreadsPerBlock;
        let max_threads = driver::check(|| function.get_attribute(attribute))?.unsigned_abs();
        let function = Function {
            handle: function.to_raw(),
            max_threads: max_threads.min(most_threads),
        };
        Ok(*self.functions[entry.index].get_or_init(|| function))
    }

    fn module(&self, entry: &'static Entry) -> Result<&Module, Error> {
        let modules = self.arch.modules;
        let index = modules.binary_search_by_key(&entry.module, |module| module.name);
        let index = index.map_err(|_| Error::NotEmbedded {
            entry: entry.name,
            module: entry.module,
        })?;
        let Slot { loaded, loading } = &self.modules[index];
        if let Some(module) = loaded.get() {
            return Ok(module);
        }
        let _guard = loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.get() {
            return Ok(module);
        }
        let module = load(self.arch.arch, &modules[index].ptx(self.arch.header))?;
        Ok(loaded.get_or_init(|| module))
    }
}

/// Keep line information in the machine code if `build.rs` has put it into the PTX.
const OPTIONS: &[ModuleJitOption] = if cfg!(line_info) {
    &[ModuleJitOption::GenerateLineInfo(true)]
} else {
    &[]
};

/// Checks that the driver can compile the modules; loads none of them. A context must be current.
pub(crate) fn probe(arch: &Arch) -> Result<(), Error> {
    load(arch.arch, arch.probe).map(drop)
}

/// Compiles and loads PTX. A context must be current.
pub(crate) fn load(arch: &str, ptx: &CStr) -> Result<Module, Error> {
    driver::check(|| Module::from_ptx_cstr(ptx, OPTIONS)).map_err(|error| match error {
        Error::Cuda {
            code, name, text, ..
        } if REJECTIONS.contains(&code) => Error::ModuleRejected {
            arch: arch.into(),
            code,
            name,
            text,
            log: driver::compiler_log(ptx),
        },
        other => other,
    })
}

/// Includes the PTX of a crate of kernels in a program.
///
/// The program's build script compiles the crate with `warpfold_build::embed`. The macro defines a static
/// with the PTX, for [`Device::with`](crate::Device::with).
///
/// ```ignore
/// warpfold::embedded!(pub static MY_KERNELS: my_kernels::KERNELS);
///
/// let device = Device::auto()?.with(&MY_KERNELS)?;
/// ```
#[macro_export]
macro_rules! embedded {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $krate:ident::$list:ident) => {
        $(#[$attribute])*
        $visibility static $name: $crate::Embedded = $crate::Embedded {
            kernels: &$krate::$list,
            arches: {
                #[allow(unused_imports, reason = "there may be no architecture")]
                use $crate::module as embedded;
                ::core::include!(::core::concat!(
                    ::core::env!("OUT_DIR"),
                    "/",
                    ::core::stringify!($krate),
                    ".rs"
                ))
            },
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// PTX for two architectures; what the library embeds depends on the build.
    static TWO: Embedded = Embedded {
        kernels: &library::KERNELS,
        arches: &[
            without_modules("sm_75", (7, 5)),
            without_modules("sm_80", (8, 0)),
        ],
    };

    const fn without_modules(arch: &'static str, capability: (u32, u32)) -> Arch {
        Arch {
            arch,
            capability,
            header: "",
            probe: c"",
            modules: &[],
        }
    }

    #[test]
    fn the_latest_modules_that_the_device_can_run_are_chosen() {
        let arch = |major, minor| {
            let chosen = TWO.choose("", (major, minor));
            chosen.ok().map(|arch| arch.arch)
        };
        assert_eq!(arch(7, 5), Some("sm_75"));
        assert_eq!(arch(8, 0), Some("sm_80"));
        assert_eq!(arch(8, 9), Some("sm_80"));
        assert_eq!(arch(9, 0), Some("sm_80"));
        assert_eq!(arch(12, 0), Some("sm_80"));
        assert_eq!(arch(7, 0), None);
    }

    #[test]
    fn the_error_for_an_older_device_names_it() {
        let error = TWO.choose("Tesla P100", (6, 0)).map(|arch| arch.arch);
        assert_eq!(
            error.unwrap_err().to_string(),
            "Tesla P100 has compute capability 6.0; the kernels require sm_75 or later"
        );
    }

    #[test]
    fn modules_have_the_target_of_their_architecture() {
        for arch in ARCHES {
            let target = format!(".target {}\n", arch.arch);
            let probe = arch.probe.to_str().unwrap();
            assert!(probe.contains(&target), "{probe}");
            let (header, _) = probe.split_once(".visible").unwrap();
            let version = header.lines().next().unwrap();
            assert!(version.starts_with(".version "), "{probe}");
            for module in arch.modules {
                let text = module.ptx(arch.header).into_string().unwrap();
                assert!(text.contains(&target), "{} {target}", module.name);
                assert!(text.contains(version), "{} {version}", module.name);
            }
        }
    }

    #[test]
    fn every_module_that_a_row_names_is_embedded() {
        let lists = [&LIBRARY, &PARTITION, &COUNTS, &GROUPS].into_iter();
        #[cfg(feature = "teaching")]
        let lists = lists.chain(&TEACHING);
        let rows = lists.flat_map(|embedded| embedded.kernels.entries);
        let named: BTreeSet<_> = rows.map(|entry| entry.module).collect();
        for arch in ARCHES {
            let names: Vec<_> = arch.modules.iter().map(|module| module.name).collect();
            assert!(names.is_sorted(), "{names:?}");
            assert_eq!(BTreeSet::from_iter(names), named, "{}", arch.arch);
        }
    }
}
