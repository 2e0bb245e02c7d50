//! `libcuda.so.1`: opened once, never closed; or what is put in its place.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr::NonNull;
use std::sync::OnceLock;

use cust_raw::CUresult;
use libloading::Library;

/// The soname that every CUDA driver for Linux installs, the one in WSL included.
const SONAME: &str = "libcuda.so.1";

/// Why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// The name given to the dynamic loader, which looks for it in
    /// `LD_LIBRARY_PATH`, in the loader's cache and in the system's folders.
    pub tried: &'static str,
    /// The loader's own words.
    pub reason: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot be opened: {}", self.tried, self.reason)
    }
}

impl std::error::Error for LoadError {}

/// Where the functions of a driver are found: each by its name, as `cuMemAlloc_v2`.
pub type Lookup = fn(&str) -> Option<NonNull<c_void>>;

/// A driver is in use already: another cannot take its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse;

impl std::fmt::Display for InUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a CUDA driver has been looked for already")
    }
}

impl std::error::Error for InUse {}

/// Puts another driver in the place of `libcuda.so.1`, for the life of the process: a simulator.
///
/// # Errors
///
/// [`InUse`] after the first call of the driver, or of this.
///
/// # Safety
///
/// Whatever `lookup` gives is a function of the signature that `cust_raw` declares by that name, with
/// the contract of the driver's, and stays one.
pub unsafe fn install(lookup: Lookup) -> Result<(), InUse> {
    DRIVER.set(Ok(Driver::Installed(lookup))).map_err(|_| InUse)
}

thread_local! {
    static CHOSEN: Cell<Option<Lookup>> = const { Cell::new(None) };
}

/// Lets the calls of this thread go to another driver from now on, or with `None` to the process's own again. Handles
/// and addresses of one driver are none of another's.
///
/// # Safety
///
/// As [`install`]'s.
pub unsafe fn choose(lookup: Option<Lookup>) {
    CHOSEN.set(lookup);
}

/// The driver that [`choose`] has given this thread.
pub fn chosen() -> Option<Lookup> {
    CHOSEN.get()
}

/// Opens the driver if that has not been tried yet, and says why there is none.
///
/// The outcome is kept for the life of the process. `Ok` means that the library is
/// there, not that it has a device: that is `cuInit`'s answer.
pub fn driver() -> Result<(), &'static LoadError> {
    match chosen() {
        Some(_) => Ok(()),
        None => open().map(|_| ()),
    }
}

/// The driver's name of a result code, as `CUDA_ERROR_OUT_OF_MEMORY` for 2; `None`
/// without a driver or for a code it does not know.
pub fn error_name(code: i32) -> Option<String> {
    static SYMBOL: Symbol<Describe> = Symbol::new("cuGetErrorName");
    describe(&SYMBOL, code)
}

/// The driver's sentence on a result code; `None` as in [`error_name`].
pub fn error_text(code: i32) -> Option<String> {
    static SYMBOL: Symbol<Describe> = Symbol::new("cuGetErrorString");
    describe(&SYMBOL, code)
}

/// `cuGetErrorName` and `cuGetErrorString`, with a plain integer for the code: they
/// are asked about codes that `CUresult` cannot hold.
type Describe = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;

fn describe(symbol: &Symbol<Describe>, code: i32) -> Option<String> {
    let function = symbol.get().ok()?;
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `function` has the type `Describe` (see `Symbol::get`), and `text` is a
    // place for one pointer.
    let result = unsafe { function(code, &mut text) };
    if result != CUresult::CUDA_SUCCESS as c_int || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver stores the address of a static, nul-terminated
    // string; the null case is excluded above.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();

/// What answers.
enum Driver {
    Library(Library),
    Installed(Lookup),
}

impl Driver {
    /// A function of it.
    ///
    /// # Safety
    ///
    /// `F` is the function's type.
    unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        match self {
            Self::Library(library) => {
                // SAFETY: the caller's contract. The library is never closed, so the pointer stays
                // valid.
                let symbol = unsafe { library.get::<F>(name) };
                symbol.ok().map(|symbol| *symbol)
            }
            // SAFETY: the caller's contract, and that of `install`'s caller.
            Self::Installed(lookup) => unsafe { look_up(*lookup, name) },
        }
    }
}

/// A function of a driver that is no library.
///
/// # Safety
///
/// `F` is the type of the function that `lookup` gives.
unsafe fn look_up<F: Copy>(lookup: Lookup, name: &str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
    lookup(name).map(|address| {
        // SAFETY: `F` is a function pointer, as large as the address (asserted above), of the type that the
        // caller vouches for.
        unsafe { mem::transmute_copy::<NonNull<c_void>, F>(&address) }
    })
}

fn open() -> Result<&'static Driver, &'static LoadError> {
    DRIVER
        .get_or_init(|| {
            // SAFETY: loading runs the library's initialisers; NVIDIA's driver is made
            // to be loaded at any time and from any thread (the CUDA runtime does).
            let library = unsafe { Library::new(SONAME) };
            library.map(Driver::Library).map_err(|error| LoadError {
                tried: SONAME,
                reason: loader_words(&error),
            })
        })
        .as_ref()
}

/// libloading's `Display` is a fixed sentence; the loader's message is its source.
fn loader_words(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// One function of the driver, looked up at its first use. `F` is its C type, with
/// the result as a plain integer.
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

    /// The function, or the code to answer in its place.
    #[inline]
    pub(crate) fn get(&self) -> Result<F, c_int> {
        // Destructors of a thread that is ending may have lost the choice: it had none.
        if let Ok(Some(lookup)) = CHOSEN.try_with(Cell::get) {
            // SAFETY: as below; `choose`'s caller vouches for the functions.
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
            // SAFETY: the driver keeps the C signature of an exported name for ever
            // (a changed one gets a new name, `_v2`). That `F` is this signature is
            // checked against `cust_raw` where `symbols.rs` declares it; `Describe`
            // is cust_raw's type but for the enum, which is a C int.
            unsafe { driver.function(self.name) }
        });
        found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND as c_int)
    }
}
