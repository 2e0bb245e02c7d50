//! The driver library `libcuda.so.1`, opened once and never closed; or a replacement.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr::NonNull;
use std::sync::OnceLock;

use cust_raw::CUresult;
use libloading::Library;

/// The soname of every CUDA driver for Linux, including WSL.
const SONAME: &str = "libcuda.so.1";

/// The reason why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// The file name. The dynamic loader searches `LD_LIBRARY_PATH`, its cache and the system's folders.
    pub tried: &'static str,
    /// The loader's message.
    pub reason: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot be opened: {}", self.tried, self.reason)
    }
}

impl std::error::Error for LoadError {}

/// Looks up a driver's functions by name, such as `cuMemAlloc_v2`.
pub type Lookup = fn(&str) -> Option<NonNull<c_void>>;

/// The error of [`install`]: a driver is already in use and cannot be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse;

impl std::fmt::Display for InUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a CUDA driver is already in use in this process")
    }
}

impl std::error::Error for InUse {}

/// Replaces `libcuda.so.1` for the lifetime of the process, for example by a simulator.
///
/// # Errors
///
/// [`InUse`] after the first call of the driver, or of this function.
///
/// # Safety
///
/// Every function that `lookup` returns must stay valid. It must have the signature that `cust_raw` declares
/// for the name, and meet the contract of the driver's function.
pub unsafe fn install(lookup: Lookup) -> Result<(), InUse> {
    DRIVER.set(Ok(Driver::Installed(lookup))).map_err(|_| InUse)
}

thread_local! {
    static CHOSEN: Cell<Option<Lookup>> = const { Cell::new(None) };
}

/// Redirects the driver calls of this thread to another driver; `None` restores the process's driver. Handles
/// and addresses belong to the driver that created them.
///
/// # Safety
///
/// The contract of [`install`].
pub unsafe fn choose(lookup: Option<Lookup>) {
    CHOSEN.set(lookup);
}

/// The driver that [`choose`] has set for this thread.
pub fn chosen() -> Option<Lookup> {
    CHOSEN.get()
}

/// Opens the driver at the first call; returns an error if there is none.
///
/// The result is kept for the lifetime of the process. `Ok` means that the library exists. Whether there is a
/// device is the result of `cuInit`.
pub fn driver() -> Result<(), &'static LoadError> {
    match chosen() {
        Some(_) => Ok(()),
        None => open().map(|_| ()),
    }
}

/// The driver's name of a result code, such as `CUDA_ERROR_OUT_OF_MEMORY` for 2. `None` without a driver or
/// for an unknown code.
pub fn error_name(code: i32) -> Option<String> {
    static SYMBOL: Symbol<Describe> = Symbol::new("cuGetErrorName");
    describe(&SYMBOL, code)
}

/// The driver's description of a result code; `None` as in [`error_name`].
pub fn error_text(code: i32) -> Option<String> {
    static SYMBOL: Symbol<Describe> = Symbol::new("cuGetErrorString");
    describe(&SYMBOL, code)
}

/// The type of `cuGetErrorName` and `cuGetErrorString`, with an integer as the code, because `CUresult` does
/// not contain all codes.
type Describe = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;

fn describe(symbol: &Symbol<Describe>, code: i32) -> Option<String> {
    let function = symbol.get().ok()?;
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `function` has the type `Describe` (see `Symbol::get`), and `text` points to a variable.
    let result = unsafe { function(code, &mut text) };
    if result != CUresult::CUDA_SUCCESS as c_int || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver stores the address of a static, nul-terminated string; null is excluded
    // above.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();

/// The driver that handles calls.
enum Driver {
    Library(Library),
    Installed(Lookup),
}

impl Driver {
    /// One of its functions.
    ///
    /// # Safety
    ///
    /// `F` is the type of the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        match self {
            Self::Library(library) => {
                // SAFETY: the caller's contract. The library is never closed, so the pointer stays valid.
                let symbol = unsafe { library.get::<F>(name) };
                symbol.ok().map(|symbol| *symbol)
            }
            // SAFETY: the caller's contract, and that of `install`'s caller.
            Self::Installed(lookup) => unsafe { look_up(*lookup, name) },
        }
    }
}

/// A function of a driver that is not a library.
///
/// # Safety
///
/// `F` is the type of the function that `lookup` returns.
unsafe fn look_up<F: Copy>(lookup: Lookup, name: &str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
    lookup(name).map(|address| {
        // SAFETY: `F` is a function pointer of an address's size (asserted above). The caller's contract is
        // that its type is right.
        unsafe { mem::transmute_copy::<NonNull<c_void>, F>(&address) }
    })
}

fn open() -> Result<&'static Driver, &'static LoadError> {
    DRIVER
        .get_or_init(|| {
            // SAFETY: loading runs the library's initialisers. NVIDIA's driver can be loaded at any time and
            // from any thread; the CUDA runtime does so too.
            let library = unsafe { Library::new(SONAME) };
            library.map(Driver::Library).map_err(|error| LoadError {
                tried: SONAME,
                reason: loader_words(&error),
            })
        })
        .as_ref()
}

/// libloading's `Display` is a fixed text; its source has the loader's message.
fn loader_words(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// One function of the driver, looked up at its first use. `F` is its C type, with an integer as the result.
pub(crate) struct Symbol<F> {
    name: &'static str,
    found: OnceLock<Option<F>>,
}

impl<F: Copy> Symbol<F> {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            found: OnceLock::new(),
        }
    }

    /// The function, or the code to return if there is none.
    #[inline]
    pub(crate) fn get(&self) -> Result<F, c_int> {
        // Destructors of an ending thread may find the choice already dropped.
        if let Ok(Some(lookup)) = CHOSEN.try_with(Cell::get) {
            // SAFETY: as below; by `choose`'s contract the functions have the right types.
            let found = unsafe { look_up(lookup, self.name) };
            return found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND as c_int);
        }
        match self.found.get() {
            Some(Some(function)) => Ok(*function),
            _ => self.look_up(),
        }
    }

    #[cold]
    fn look_up(&self) -> Result<F, c_int> {
        let Ok(driver) = open() else {
            return Err(match self.name {
                "cuInit" => CUresult::CUDA_ERROR_NO_DEVICE,
                _ => CUresult::CUDA_ERROR_NOT_INITIALIZED,
            } as c_int);
        };
        let found = self.found.get_or_init(|| {
            // SAFETY: the driver never changes the C signature of an exported name (a changed function gets a
            // new name, `_v2`). `symbols.rs` checks `F` against `cust_raw` where it declares it. `Describe`
            // is cust_raw's type, with a C int for the enum.
            unsafe { driver.function(self.name) }
        });
        found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND as c_int)
    }
}
