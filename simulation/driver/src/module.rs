//! Modules: the names of entry points in PTX.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use cust_raw::{CUfunction, CUfunction_attribute, CUjit_option, CUmodule, CUresult, CUstream};

use crate::commands::Command;
use crate::driver::entered;
use crate::functions::{functions, put};
use crate::kernel::{self, Launch, MAX_THREADS};

pub struct Module {
    entries: BTreeSet<String>,
}

impl Module {
    /// The entries of a text, if it is PTX.
    fn parse(text: &[u8]) -> Result<Self, &'static CStr> {
        let text = str::from_utf8(text).map_err(|_| c"the module is not text")?;
        let has = |directive| text.lines().any(|line| line.starts_with(directive));
        if !has(".version ") || !has(".target ") {
            return Err(c"the module has no .version or no .target");
        }
        let names = text.lines().filter_map(|line| {
            let (_, rest) = line.split_once(".visible .entry ")?;
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            Some(rest[..end.unwrap_or(rest.len())].to_owned())
        });
        Ok(Self {
            entries: names.collect(),
        })
    }
}

/// Loads a module. If it is not PTX, `log` is called with the reason.
///
/// # Safety
///
/// `image` is null or a nul-terminated text, and `module` is null or points to a handle.
unsafe fn load(
    module: *mut CUmodule,
    image: *const c_void,
    log: impl FnOnce(&CStr),
) -> Result<(), CUresult> {
    let mut driver = entered()?;
    driver.forbid_unsafe_in_captures()?;
    if image.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: not null (checked above), so it is nul-terminated by the contract.
    let text = unsafe { CStr::from_ptr(image.cast()) };
    let parsed = Module::parse(text.to_bytes()).map_err(|why| {
        log(why);
        CUresult::CUDA_ERROR_INVALID_PTX
    })?;
    let handle = driver.modules.add(parsed);
    // SAFETY: by the contract.
    unsafe { put(module, handle) }
}

/// Writes a message of the compiler to the buffer in the options of a load, if they contain one.
///
/// # Safety
///
/// There are `count` options and values, and they describe a valid buffer if they contain one.
unsafe fn write_log(
    line: &CStr,
    count: c_uint,
    options: *const CUjit_option,
    values: *const *mut c_void,
) {
    let value = |wanted| {
        // SAFETY: `i < count`, the number of options and values by the contract.
        (0..count as usize)
            .find_map(|i| unsafe { (*options.add(i) == wanted).then(|| *values.add(i)) })
    };
    let buffer = value(CUjit_option::CU_JIT_ERROR_LOG_BUFFER);
    let size = value(CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    let line = line.to_bytes_with_nul();
    if let (Some(buffer), Some(size)) = (buffer, size)
        && size.addr() >= line.len()
    {
        // SAFETY: the buffer is valid by the contract and large enough (checked above).
        unsafe { ptr::copy_nonoverlapping(line.as_ptr(), buffer.cast(), line.len()) };
    }
}

functions! {
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) {
        // SAFETY: the caller of this function has the same obligations.
        unsafe { load(module, image, |_| ()) }
    }

    fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
    ) {
        // SAFETY: the caller of this function has the obligations of both.
        unsafe { load(module, image, |line| write_log(line, count, options, values)) }
    }

    fn cuModuleUnload(module: CUmodule) {
        let mut driver = entered()?;
        driver.modules.remove(module)?;
        driver.functions.retain(|(owner, _)| *owner != module.addr());
        Ok(())
    }

    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) {
        let mut driver = entered()?;
        let entries = &driver.modules.get(module)?.entries;
        if name.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller passes a nul-terminated text.
        let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
        let entry = kernel::named(name).filter(|_| entries.contains(name));
        let entry = entry.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        let handle = driver.functions.add((module.addr(), entry));
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(function, handle) }
    }

    fn cuFuncGetAttribute(
        value: *mut c_int,
        attribute: CUfunction_attribute,
        function: CUfunction,
    ) {
        let driver = entered()?;
        driver.functions.get(function)?;
        if attribute != CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { put(value, MAX_THREADS as c_int) }
    }

    fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let mut driver = entered()?;
        let &(_, entry) = driver.functions.get(function)?;
        if !extra.is_null() {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        if parameters.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let launch = Launch {
            entry,
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
            // SAFETY: the caller passes a pointer for each parameter.
            values: unsafe { Launch::read(entry, parameters) },
        };
        launch.check_shape()?;
        driver.submit(stream, Command::Launch(launch))
    }
}
