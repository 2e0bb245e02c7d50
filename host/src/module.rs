//! The kernels' PTX, embedded by `build.rs`: which modules for which device, and loading them.
//!
//! The driver compiles all of a module when it is loaded, and keeps what it made for the next
//! program. So there are many small modules, and each is loaded when something of it is used.

use std::ffi::{CStr, CString};
use std::io::Read;
use std::sync::{Mutex, OnceLock, PoisonError};

use cust::function::Function;
use cust::module::{Module, ModuleJitOption};
use cust::sys::CUresult;
use flate2::read::DeflateDecoder;

use crate::driver;
use crate::error::Error;

/// The kernels for one architecture and all later ones.
pub(crate) struct Embedded {
    /// As `sm_90`.
    pub(crate) arch: &'static str,
    /// The compute capability it asks for.
    pub(crate) capability: (u32, u32),
    /// What every module begins with.
    header: &'static str,
    /// The smallest module that the driver takes if it takes the others.
    probe: &'static CStr,
    /// In the order of their names.
    modules: &'static [Compressed],
}

/// A module's PTX, behind its header.
struct Compressed {
    /// As the entries' tables call it.
    name: &'static str,
    /// How long the text is, in bytes.
    len: usize,
    bytes: &'static [u8],
}

impl Compressed {
    fn ptx(&self, header: &str) -> CString {
        let mut text = Vec::with_capacity(header.len() + self.len + 1);
        text.extend_from_slice(header.as_bytes());
        let read = DeflateDecoder::new(self.bytes).read_to_end(&mut text);
        assert_eq!(read.ok(), Some(self.len), "build.rs wrote {}", self.name);
        CString::new(text).expect("PTX is text")
    }
}

/// One row per architecture floor, generated.
static MODULES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The newest kernels that a device of this capability runs.
pub(crate) fn choose(device: &str, capability: (u32, u32)) -> Result<&'static Embedded, Error> {
    newest(MODULES, capability).ok_or_else(|| Error::NoKernelForDevice {
        device: device.into(),
        capability,
        oldest: MODULES
            .iter()
            .min_by_key(|module| module.capability)
            .map_or("no architecture", |module| module.arch),
    })
}

fn newest(modules: &[Embedded], capability: (u32, u32)) -> Option<&Embedded> {
    modules
        .iter()
        .filter(|module| module.capability <= capability)
        .max_by_key(|module| module.capability)
}

/// The codes that judge the module or say that the driver cannot compile PTX at all. Not 220,
/// which stands among them: an NVLink error is the hardware's.
const REJECTIONS: [i32; 6] = [
    CUresult::CUDA_ERROR_INVALID_IMAGE as i32,
    CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU as i32,
    CUresult::CUDA_ERROR_INVALID_PTX as i32,
    CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND as i32,
    CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION as i32,
    CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED as i32,
];

/// An architecture's modules on one device: those that have been asked for are loaded.
pub(crate) struct Modules {
    embedded: &'static Embedded,
    /// One for each of `embedded`'s.
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Slot {
    loaded: OnceLock<Module>,
    /// Held by the thread that loads.
    loading: Mutex<()>,
}

impl Modules {
    /// Finds out whether the driver compiles what is `embedded`, and loads nothing of it. A context
    /// is current, here and in the other functions.
    pub(crate) fn probe(embedded: &'static Embedded) -> Result<Self, Error> {
        load(embedded.arch, embedded.probe)?;
        Ok(Self {
            embedded,
            slots: embedded.modules.iter().map(|_| Slot::default()).collect(),
        })
    }

    /// An entry point of a module, which is loaded if it has not been.
    pub(crate) fn function(&self, module: &str, name: &str) -> Result<Function<'_>, Error> {
        let module = self.module(module)?;
        driver::check(|| module.get_function(name))
    }

    fn module(&self, name: &str) -> Result<&Module, Error> {
        let modules = self.embedded.modules;
        let index = modules.binary_search_by_key(&name, |module| module.name);
        let index = index.expect("the tables name the modules there are");
        let Slot { loaded, loading } = &self.slots[index];
        if let Some(module) = loaded.get() {
            return Ok(module);
        }
        let _alone = loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.get() {
            return Ok(module);
        }
        let module = load(
            self.embedded.arch,
            &modules[index].ptx(self.embedded.header),
        )?;
        Ok(loaded.get_or_init(|| module))
    }
}

/// The lines of source stay with the machine code where `build.rs` has put them into the PTX.
const OPTIONS: &[ModuleJitOption] = if cfg!(line_info) {
    &[ModuleJitOption::GenerateLineInfo(true)]
} else {
    &[]
};

/// Gives PTX to the driver's compiler. A context is current.
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

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_gpu::entry::FAMILIES;
    use std::collections::BTreeSet;

    #[test]
    fn the_newest_module_that_the_device_runs_is_chosen() {
        let arch = |major, minor| newest(MODULES, (major, minor)).map(|module| module.arch);
        assert_eq!(arch(7, 5), Some("sm_75"));
        assert_eq!(arch(8, 0), Some("sm_80"));
        assert_eq!(arch(8, 9), Some("sm_80"));
        assert_eq!(arch(9, 0), Some("sm_90"));
        assert_eq!(arch(12, 0), Some("sm_90"));
        assert_eq!(arch(7, 0), None);
    }

    #[test]
    fn an_older_device_is_refused_by_name() {
        let error = choose("Tesla P100", (6, 0))
            .map(|module| module.arch)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "Tesla P100 has compute capability 6.0; the kernels need that of sm_75 or a later one"
        );
    }

    #[test]
    fn modules_are_for_the_architecture_they_name() {
        for embedded in MODULES {
            let target = format!(".target {}\n", embedded.arch);
            let probe = embedded.probe.to_str().unwrap();
            assert!(probe.contains(&target), "{probe}");
            let (header, _) = probe.split_once(".visible").unwrap();
            let version = header.lines().next().unwrap();
            assert!(version.starts_with(".version "), "{probe}");
            for module in embedded.modules {
                let text = module.ptx(embedded.header).into_string().unwrap();
                assert!(text.contains(&target), "{} {target}", module.name);
                assert!(text.contains(version), "{} {version}", module.name);
            }
        }
    }

    /// `Modules::function` finds each by its name, and the tables name no other.
    #[test]
    fn modules_are_those_of_the_tables() {
        let symbols = FAMILIES.iter().flat_map(|family| family.symbols);
        let named: BTreeSet<_> = symbols.map(|symbol| symbol.module).collect();
        for embedded in MODULES {
            let names: Vec<_> = embedded.modules.iter().map(|module| module.name).collect();
            assert!(names.is_sorted(), "{names:?}");
            assert_eq!(BTreeSet::from_iter(names), named, "{}", embedded.arch);
        }
    }
}
