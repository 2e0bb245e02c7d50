//! The kernels' PTX, embedded by `build.rs`: which module for which device, and loading it.

use std::ffi::CStr;

use cust::module::Module;
use cust::sys::CUresult;

use crate::driver;
use crate::error::Error;

/// The kernels for one architecture and all later ones.
pub(crate) struct Embedded {
    /// As `sm_90`.
    pub(crate) arch: &'static str,
    /// The compute capability it asks for.
    pub(crate) capability: (u32, u32),
    /// PTX with a nul at its end, which `build.rs` puts there.
    text: &'static str,
}

impl Embedded {
    pub(crate) fn ptx(&self) -> &'static CStr {
        CStr::from_bytes_until_nul(self.text.as_bytes()).unwrap_or_default()
    }
}

/// One row per architecture floor, generated.
const MODULES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

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

/// Gives PTX to the driver's compiler. A context is current.
pub(crate) fn load(arch: &str, ptx: &CStr) -> Result<Module, Error> {
    driver::check(|| Module::from_ptx_cstr(ptx, &[])).map_err(|error| match error {
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
        for module in MODULES {
            assert_eq!(module.ptx().count_bytes() + 1, module.text.len());
            let target = format!(".target {}", module.arch);
            assert!(module.text.contains(&target), "{target}");
        }
    }
}
