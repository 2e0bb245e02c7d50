//! Queries the CUDA driver directly, because xtask must run without the rest of the project.

use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_uint};

/// The driver's shared object.
pub const LIBRARY: &str = "libcuda.so.1";

const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;

/// The driver and its devices.
#[derive(Debug)]
pub struct Driver {
    /// The CUDA version that the driver supports: major, minor.
    pub cuda: (i32, i32),
    /// The devices in the driver's order.
    pub devices: Vec<Device>,
}

/// One device.
#[derive(Debug)]
pub struct Device {
    /// The driver's name for it.
    pub name: String,
    /// Major, minor.
    pub compute_capability: (i32, i32),
    /// Total memory in bytes.
    pub memory: u64,
}

/// Queries the driver; the error is a text for the user.
pub fn query() -> Result<Driver, String> {
    // SAFETY: the initialisers of NVIDIA's driver have no requirements on the process that loads it.
    let library =
        unsafe { Library::new(LIBRARY) }.map_err(|_| format!("{LIBRARY} cannot be loaded"))?;
    let api = Api { library };
    // SAFETY: the library is the CUDA driver.
    unsafe { api.driver() }
}

struct Api {
    library: Library,
}

impl Api {
    /// # Safety
    /// `F` is the signature of `name` in the driver API.
    unsafe fn get<F>(&self, name: &str) -> Result<Symbol<'_, F>, String> {
        // SAFETY: the caller guarantees the signature.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|error| error.to_string())
    }

    /// # Safety
    /// The library is the CUDA driver.
    unsafe fn driver(&self) -> Result<Driver, String> {
        // SAFETY: signatures from the driver API's documentation; every pointer is to a local variable.
        unsafe {
            let version =
                self.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("cuDriverGetVersion")?;
            let mut number = 0;
            checked("cuDriverGetVersion", version(&mut number))?;
            let cuda = (number / 1000, number % 1000 / 10);

            let init = self.get::<unsafe extern "C" fn(c_uint) -> c_int>("cuInit")?;
            let count =
                self.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("cuDeviceGetCount")?;
            checked("cuInit", init(0))?;
            let mut devices = 0;
            checked("cuDeviceGetCount", count(&mut devices))?;
            let devices = (0..devices).map(|ordinal| self.device(ordinal));
            let devices = devices.collect::<Result<_, _>>()?;
            Ok(Driver { cuda, devices })
        }
    }

    /// # Safety
    /// The library is the CUDA driver, initialised; `ordinal` is below the number of devices.
    unsafe fn device(&self, ordinal: c_int) -> Result<Device, String> {
        type Get = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
        type Name = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
        type Attribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
        type TotalMemory = unsafe extern "C" fn(*mut usize, c_int) -> c_int;
        // SAFETY: signatures from the driver API's documentation; every pointer is to a local variable, and
        // the name's buffer is longer than `length`.
        unsafe {
            let mut device = 0;
            checked(
                "cuDeviceGet",
                self.get::<Get>("cuDeviceGet")?(&mut device, ordinal),
            )?;
            let mut name = [0 as c_char; 256];
            let length = name.len() as c_int - 1;
            let get_name = self.get::<Name>("cuDeviceGetName")?;
            checked(
                "cuDeviceGetName",
                get_name(name.as_mut_ptr(), length, device),
            )?;
            let get_attribute = self.get::<Attribute>("cuDeviceGetAttribute")?;
            let attribute = |which| {
                let mut value = 0;
                checked(
                    "cuDeviceGetAttribute",
                    get_attribute(&mut value, which, device),
                )?;
                Ok::<_, String>(value)
            };
            let mut memory = 0;
            let total = self.get::<TotalMemory>("cuDeviceTotalMem_v2")?;
            checked("cuDeviceTotalMem", total(&mut memory, device))?;
            Ok(Device {
                // `length` excludes the last byte, which stays 0, so the name ends inside the buffer.
                name: CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
                compute_capability: (
                    attribute(COMPUTE_CAPABILITY_MAJOR)?,
                    attribute(COMPUTE_CAPABILITY_MINOR)?,
                ),
                memory: memory as u64,
            })
        }
    }
}

fn checked(call: &str, result: c_int) -> Result<(), String> {
    match result {
        0 => Ok(()),
        100 => Err(format!("{call}: no CUDA device (error 100)")),
        code => Err(format!("{call} failed with error {code}")),
    }
}
