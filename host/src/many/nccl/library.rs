//! The functions of NCCL, in a library that is opened at run time.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use crate::error::{Error, RanksError, StartError};

/// The names under which wheels, distributions and toolkits have the library.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The variable with another file.
const VARIABLE: &str = "WARPFOLD_NCCL";

/// The first version with all functions below: 2.14.
const OLDEST: c_int = 21_400;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Id(pub(super) [u8; 128]);

/// `ncclComm_t`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*mut c_void);

// SAFETY: NCCL's communicators may be used from any thread, one at a time; only an abort may come from another thread meanwhile.
unsafe impl Send for Handle {}

/// `ncclUint8`.
const BYTES: c_int = 1;

/// `ncclSuccess`.
const SUCCESS: c_int = 0;

/// `ncclInProgress`.
const IN_PROGRESS: c_int = 7;

/// Declares the functions with their C types, and looks all of them up.
macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions, under their names in NCCL without `nccl`.
        #[allow(non_snake_case, reason = "the names of NCCL")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
            GetErrorString: unsafe extern "C" fn(c_int) -> *const c_char,
            GetLastError: unsafe extern "C" fn(*mut c_void) -> *const c_char,
        }

        impl Functions {
            /// # Safety
            ///
            /// The library is NCCL, 2.14 or later.
            unsafe fn of(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: by the caller's contract the functions have the types of `nccl.h`, which those above are.
                unsafe {
                    Ok(Self {
                        $($name: *library.get(concat!("nccl", stringify!($name)))?,)*
                        GetErrorString: *library.get("ncclGetErrorString")?,
                        GetLastError: *library.get("ncclGetLastError")?,
                    })
                }
            }
        }
    };
}

functions! {
    GetUniqueId(*mut Id);
    CommInitRank(*mut *mut c_void, c_int, Id, c_int);
    CommFinalize(*mut c_void);
    CommDestroy(*mut c_void);
    CommAbort(*mut c_void);
    CommGetAsyncError(*mut c_void, *mut c_int);
    AllGather(*const c_void, *mut c_void, usize, c_int, *mut c_void, *mut c_void);
    Send(*const c_void, usize, c_int, c_int, *mut c_void, *mut c_void);
    Recv(*mut c_void, usize, c_int, c_int, *mut c_void, *mut c_void);
    GroupStart();
    GroupEnd();
}

/// NCCL, opened once and never closed.
pub(super) struct Library {
    functions: Functions,
    /// As 21403 for 2.14.3.
    pub(super) version: c_int,
    // Last, because the functions are in it.
    _library: libloading::Library,
}

/// NCCL; it is opened at the first call.
pub(super) fn library() -> Result<&'static Library, Error> {
    static LIBRARY: OnceLock<Result<Library, StartError>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| match env::var(VARIABLE) {
        Ok(file) => Library::open(&[&file]),
        Err(_) => Library::open(&NAMES),
    });
    library.as_ref().map_err(|error| error.clone().into())
}

impl Library {
    /// Opens the first of these libraries that can be opened.
    pub(super) fn open(names: &[&str]) -> Result<Self, StartError> {
        let mut tried = vec![];
        for name in names {
            let not = |error: &libloading::Error| {
                // The source has the loader's message.
                let source = std::error::Error::source(error);
                (
                    name.to_string(),
                    source.map_or_else(|| error.to_string(), ToString::to_string),
                )
            };
            // SAFETY: loading runs the library's initialisers. Those of NCCL may run at any time, as PyTorch does.
            let library = match unsafe { libloading::Library::new(*name) } {
                Ok(library) => library,
                Err(error) => {
                    tried.push(not(&error));
                    continue;
                }
            };
            let mut version = 0;
            // SAFETY: the function has this type in all versions of NCCL, and `version` can store the number.
            let found = unsafe {
                library
                    .get::<unsafe extern "C" fn(*mut c_int) -> c_int>("ncclGetVersion")
                    .map(|get| get(&mut version))
            };
            if let Err(error) = found {
                tried.push(not(&error));
                continue;
            }
            if version < OLDEST {
                let library = name.to_string();
                return Err(StartError::OldNccl { library, version });
            }
            // SAFETY: it has NCCL's function for the version, which is recent enough.
            match unsafe { Functions::of(&library) } {
                Ok(functions) => {
                    return Ok(Self {
                        functions,
                        version,
                        _library: library,
                    });
                }
                Err(error) => tried.push(not(&error)),
            }
        }
        Err(StartError::NoNccl { tried })
    }

    /// An error unless the call succeeded or goes on.
    fn check(&self, call: &'static str, comm: *mut c_void, code: c_int) -> Result<(), RanksError> {
        if matches!(code, SUCCESS | IN_PROGRESS) {
            return Ok(());
        }
        // SAFETY: any code has a string, which is static.
        let mut text = unsafe { text((self.functions.GetErrorString)(code)) };
        // SAFETY: NCCL ignores the communicator here, and returns the last message of this thread, or null.
        let last = unsafe { text_or_empty((self.functions.GetLastError)(comm)) };
        if !last.is_empty() {
            text = format!("{text}: {last}");
        }
        Err(RanksError::Engine {
            engine: "NCCL",
            call,
            text,
        })
    }

    pub(super) fn new_id(&self) -> Result<Id, RanksError> {
        let mut id = Id([0; 128]);
        // SAFETY: `id` can store an id.
        let code = unsafe { (self.functions.GetUniqueId)(&mut id) };
        self.check("ncclGetUniqueId", std::ptr::null_mut(), code)?;
        Ok(id)
    }

    /// Makes a communicator of the device whose context is current; waits for all other ranks.
    pub(super) fn init(&self, id: Id, rank: usize, size: usize) -> Result<Handle, RanksError> {
        let mut comm = std::ptr::null_mut();
        // SAFETY: `comm` can store a handle.
        let code =
            unsafe { (self.functions.CommInitRank)(&mut comm, size as c_int, id, rank as c_int) };
        self.check("ncclCommInitRank", comm, code)?;
        Ok(Handle(comm))
    }

    /// An error if a call that was enqueued has failed meanwhile.
    ///
    /// # Safety
    ///
    /// The communicator is alive.
    pub(super) unsafe fn check_enqueued(
        &self,
        call: &'static str,
        comm: Handle,
    ) -> Result<(), RanksError> {
        let mut state = SUCCESS;
        // SAFETY: the caller's contract; `state` can store a code.
        let code = unsafe { (self.functions.CommGetAsyncError)(comm.0, &mut state) };
        self.check("ncclCommGetAsyncError", comm.0, code)?;
        self.check(call, comm.0, state)
    }

    /// Enqueues a gather of `bytes` bytes of each rank.
    ///
    /// # Safety
    ///
    /// The communicator is alive and its device's context is current; `from` and `to` are memory of that device, for
    /// `bytes` and for `bytes` times the number of ranks, which nothing else uses until the stream has been waited for.
    pub(super) unsafe fn all_gather(
        &self,
        comm: Handle,
        from: u64,
        to: u64,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<(), RanksError> {
        // SAFETY: the caller's contract.
        let code =
            unsafe { (self.functions.AllGather)(at(from), at(to), bytes, BYTES, comm.0, stream) };
        self.check("ncclAllGather", comm.0, code)
    }

    /// Enqueues sends and receives at once: each is a rank, an address and a number of bytes.
    ///
    /// # Safety
    ///
    /// As [`all_gather`](Self::all_gather), for each of the messages.
    pub(super) unsafe fn exchange(
        &self,
        comm: Handle,
        sends: &[(usize, u64, usize)],
        receives: &[(usize, u64, usize)],
        stream: *mut c_void,
    ) -> Result<(), RanksError> {
        let functions = &self.functions;
        // SAFETY: it has no arguments.
        let code = unsafe { (functions.GroupStart)() };
        self.check("ncclGroupStart", comm.0, code)?;
        let mut result = Ok(());
        for (to, from, bytes) in sends {
            // SAFETY: the caller's contract.
            let code =
                unsafe { (functions.Send)(at(*from), *bytes, BYTES, *to as c_int, comm.0, stream) };
            result = result.and(self.check("ncclSend", comm.0, code));
        }
        for (from, to, bytes) in receives {
            // SAFETY: the caller's contract.
            let code =
                unsafe { (functions.Recv)(at(*to), *bytes, BYTES, *from as c_int, comm.0, stream) };
            result = result.and(self.check("ncclRecv", comm.0, code));
        }
        // SAFETY: it has no arguments; it ends the group also after an error.
        let code = unsafe { (functions.GroupEnd)() };
        result.and(self.check("ncclGroupEnd", comm.0, code))
    }

    /// Ends a communicator after all its work; waits for other ranks.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and is not used again if this succeeds.
    pub(super) unsafe fn end(&self, comm: Handle) -> Result<(), RanksError> {
        // SAFETY: the caller's contract.
        let code = unsafe { (self.functions.CommFinalize)(comm.0) };
        self.check("ncclCommFinalize", comm.0, code)?;
        // SAFETY: the caller's contract; it has been finalized.
        let code = unsafe { (self.functions.CommDestroy)(comm.0) };
        self.check("ncclCommDestroy", comm.0, code)
    }

    /// Stops what is enqueued, ends calls that wait on other threads, and frees the communicator, without other ranks.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and is not used again.
    pub(super) unsafe fn abort(&self, comm: Handle) {
        // SAFETY: the caller's contract. There is nobody to return an error to.
        let _ = unsafe { (self.functions.CommAbort)(comm.0) };
    }
}

/// An address of the device as NCCL takes it.
fn at(address: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(address as usize)
}

/// # Safety
///
/// `text` ends with nul and is not changed meanwhile.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller's contract.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// # Safety
///
/// As [`text`], or null.
unsafe fn text_or_empty(found: *const c_char) -> String {
    match found.is_null() {
        true => String::new(),
        // SAFETY: the caller's contract.
        false => unsafe { text(found) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named_with_its_reason() {
        let Err(error) = Library::open(&["libno-such-nccl.so.2", "libc.so.6"]) else {
            panic!("there is such a library");
        };
        let text = error.to_string();
        assert!(
            text.contains("libno-such-nccl.so.2 (libno-such-nccl.so.2: cannot open"),
            "{text}"
        );
        assert!(text.contains("libc.so.6 ("), "{text}");
        assert!(text.contains("ncclGetVersion"), "{text}");
        assert!(text.contains("set WARPFOLD_NCCL to its file"), "{text}");
    }
}
