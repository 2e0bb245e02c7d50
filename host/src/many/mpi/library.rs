//! The functions of MPI, in a library that is opened at run time.
//!
//! MPI's standard fixes the functions, but until version 5 not the types of handles and the values of constants. Two
//! families have different ones: Open MPI, and MPICH with those that share its binary interface (Intel MPI, MVAPICH, Cray
//! MPI).

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::os::unix::{Library as File, RTLD_GLOBAL, RTLD_NOW};

use crate::error::{RanksError, StartError};

/// The variable with another file.
const VARIABLE: &str = "WARPFOLD_MPI";

/// Open MPI's library, and those of MPICH and of its relatives.
const NAMES: [&str; 4] = [
    "libmpi.so.40",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi.so",
];

/// `MPI_THREAD_SERIALIZED`: several threads, one at a time.
const SERIALIZED: c_int = 2;

/// The longest text of an error in any version.
const TEXT: usize = 1024;

/// The handles and constants of a family.
pub(super) trait Family: Copy + 'static {
    /// Communicators, types and error handlers.
    type Handle: Copy + Send;
    /// A request that is pending.
    type Request: Copy + Send;

    /// The constants; `None` if the library is of another family.
    fn constants(library: &File) -> Option<Constants<Self>>;
}

/// `MPI_COMM_WORLD`, `MPI_BYTE`, `MPI_ERRORS_RETURN`, `MPI_REQUEST_NULL` and `MPI_STATUS_IGNORE`.
pub(super) struct Constants<F: Family> {
    world: F::Handle,
    byte: F::Handle,
    errors_return: F::Handle,
    no_request: F::Request,
    ignore: *mut c_void,
}

/// Handles are addresses of objects in the library.
#[derive(Clone, Copy)]
pub(super) struct OpenMpi;

/// An address, which is only compared.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Address(*mut c_void);

// SAFETY: the address of an object that lives as long as the library, which is never closed; nothing here reads it.
unsafe impl Send for Address {}

impl Family for OpenMpi {
    type Handle = Address;
    type Request = Address;

    fn constants(library: &File) -> Option<Constants<Self>> {
        let object = |name: &str| {
            // SAFETY: only the symbol's address is taken.
            let symbol = unsafe { library.get::<*mut c_void>(name) };
            symbol.ok().map(|symbol| Address(symbol.into_raw()))
        };
        Some(Constants {
            world: object("ompi_mpi_comm_world")?,
            byte: object("ompi_mpi_byte")?,
            errors_return: object("ompi_mpi_errors_return")?,
            no_request: object("ompi_request_null")?,
            ignore: std::ptr::null_mut(),
        })
    }
}

/// Handles are numbers.
#[derive(Clone, Copy)]
pub(super) struct Mpich;

impl Family for Mpich {
    type Handle = c_int;
    type Request = c_int;

    fn constants(library: &File) -> Option<Constants<Self>> {
        let mut text = [0u8; 8192];
        let mut len = 0;
        type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
        // SAFETY: the function has this type in MPI's standard.
        let version = unsafe { library.get::<Version>("MPI_Get_library_version") }.ok()?;
        // SAFETY: it may be called before MPI has been started; the text is as long as any version's.
        unsafe { version(text.as_mut_ptr().cast(), &mut len) };
        let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
        let families = ["MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"];
        families
            .iter()
            .any(|family| text.contains(family))
            .then_some(Constants {
                world: 0x4400_0000,
                byte: 0x4c00_010d,
                errors_return: 0x5400_0001,
                no_request: 0x2c00_0000,
                ignore: std::ptr::without_provenance_mut(1),
            })
    }
}

/// Declares the functions with their C types, and looks all of them up.
macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions, under their names in MPI without `MPI_`.
        #[allow(non_snake_case, reason = "the names of MPI")]
        struct Functions<F: Family> {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<F: Family> Functions<F> {
            /// # Safety
            ///
            /// The library is MPI, of this family.
            unsafe fn of(library: &File) -> Result<Self, libloading::Error> {
                // SAFETY: by the caller's contract the functions have the types of MPI's standard, which those above are,
                // with the handles of the family.
                unsafe { Ok(Self { $($name: *library.get(concat!("MPI_", stringify!($name)))?,)* }) }
            }
        }
    };
}

functions! {
    Initialized(*mut c_int);
    Finalized(*mut c_int);
    Init_thread(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    Query_thread(*mut c_int);
    Finalize();
    Comm_dup(F::Handle, *mut F::Handle);
    Comm_set_errhandler(F::Handle, F::Handle);
    Comm_rank(F::Handle, *mut c_int);
    Comm_size(F::Handle, *mut c_int);
    Isend(*const c_void, c_int, F::Handle, c_int, c_int, F::Handle, *mut F::Request);
    Irecv(*mut c_void, c_int, F::Handle, c_int, c_int, F::Handle, *mut F::Request);
    Test(*mut F::Request, *mut c_int, *mut c_void);
    Error_string(c_int, *mut c_char, *mut c_int);
}

/// MPI, opened and never closed, with a communicator of its own.
struct Library<F: Family> {
    functions: Functions<F>,
    constants: Constants<F>,
    comm: F::Handle,
    /// Whether this library has started MPI, and so ends it.
    started: bool,
    rank: usize,
    size: usize,
}

// SAFETY: the constants are addresses of objects in the library, or numbers; MPI is called by one thread at a time, because the
// library is behind a lock, and it is told so (`SERIALIZED`).
unsafe impl<F: Family> Send for Library<F> {}

/// What the rest of this module needs of MPI, whatever the family.
pub(super) trait Calls: Send {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// Begins to send `bytes`.
    ///
    /// # Safety
    ///
    /// The bytes live, and nobody writes them, until the message [has been sent](Pending::is_done).
    unsafe fn send(
        &self,
        to: usize,
        tag: c_int,
        bytes: &[u8],
    ) -> Result<Box<dyn Pending>, RanksError>;

    /// Begins to receive `bytes`.
    ///
    /// # Safety
    ///
    /// The bytes live, and nobody else uses them, until the message [has been received](Pending::is_done).
    unsafe fn receive(
        &self,
        from: usize,
        tag: c_int,
        bytes: *mut [u8],
    ) -> Result<Box<dyn Pending>, RanksError>;

    /// Ends MPI, if this library has started it: all ranks do so.
    fn end(&self);
}

/// A message on its way.
pub(super) trait Pending: Send {
    /// Whether it has arrived, or has been sent.
    fn is_done(&mut self) -> Result<bool, RanksError>;
}

/// Opens and starts MPI. A process can do so once.
pub(super) fn start() -> Result<Box<dyn Calls>, crate::error::Error> {
    match env::var(VARIABLE) {
        Ok(file) => open(&[&file]),
        Err(_) => open(&NAMES),
    }
}

/// Opens the first of these libraries that can be opened, and starts it.
pub(super) fn open(names: &[&str]) -> Result<Box<dyn Calls>, crate::error::Error> {
    let mut tried = vec![];
    for name in names {
        // SAFETY: loading runs the library's initialisers, which those of MPI may at any time. Open MPI's components look for
        // its symbols among the global ones.
        let library = match unsafe { File::open(Some(*name), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => library,
            Err(error) => {
                // The source has the loader's message.
                let source = std::error::Error::source(&error);
                tried.push((
                    name.to_string(),
                    source.map_or_else(|| error.to_string(), ToString::to_string),
                ));
                continue;
            }
        };
        if let Some(constants) = OpenMpi::constants(&library) {
            return Ok(Box::new(Library::<OpenMpi>::start(
                name, library, constants,
            )?));
        }
        if let Some(constants) = Mpich::constants(&library) {
            return Ok(Box::new(Library::<Mpich>::start(name, library, constants)?));
        }
        tried.push((
            name.to_string(),
            "neither Open MPI nor a relative of MPICH".into(),
        ));
    }
    Err(StartError::NoMpi { tried }.into())
}

impl<F: Family> Library<F> {
    fn start(
        name: &str,
        library: File,
        constants: Constants<F>,
    ) -> Result<Self, crate::error::Error> {
        // SAFETY: it has the constants of the family.
        let functions =
            unsafe { Functions::<F>::of(&library) }.map_err(|error| StartError::NoMpi {
                tried: vec![(name.to_string(), error.to_string())],
            })?;
        // Its functions and objects are used until the process ends.
        std::mem::forget(library);
        let comm = constants.world;
        let mut mpi = Self {
            functions,
            constants,
            comm,
            started: false,
            rank: 0,
            size: 1,
        };
        let (mut initialized, mut finalized) = (0, 0);
        // SAFETY: both may be called at any time, and the variables can store the answers.
        unsafe {
            (mpi.functions.Initialized)(&mut initialized);
            (mpi.functions.Finalized)(&mut finalized);
        }
        if finalized != 0 {
            let text = "MPI has ended in this process, and cannot be started again";
            return Err(engine("MPI_Init_thread", text).into());
        }
        let mut level = 0;
        // SAFETY: it has been started, or not (above); no arguments are passed on, which the standard allows.
        let code = unsafe {
            match initialized {
                0 => (mpi.functions.Init_thread)(
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    SERIALIZED,
                    &mut level,
                ),
                _ => (mpi.functions.Query_thread)(&mut level),
            }
        };
        mpi.check("MPI_Init_thread", code)?;
        mpi.started = initialized == 0;
        if level < SERIALIZED {
            let text = "this MPI allows calls of the main thread alone; it must have MPI_THREAD_SERIALIZED";
            return Err(engine("MPI_Init_thread", text).into());
        }
        let (world, mut comm) = (mpi.constants.world, mpi.constants.world);
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has been started; the variables can store the answers.
        unsafe {
            // Messages of a communicator of its own are not mixed with those of the program.
            mpi.check("MPI_Comm_dup", (mpi.functions.Comm_dup)(world, &mut comm))?;
            let code = (mpi.functions.Comm_set_errhandler)(comm, mpi.constants.errors_return);
            mpi.check("MPI_Comm_set_errhandler", code)?;
            mpi.check("MPI_Comm_rank", (mpi.functions.Comm_rank)(comm, &mut rank))?;
            mpi.check("MPI_Comm_size", (mpi.functions.Comm_size)(comm, &mut size))?;
        }
        (mpi.comm, mpi.rank, mpi.size) = (comm, rank as usize, size as usize);
        Ok(mpi)
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), RanksError> {
        check(self.functions.Error_string, call, code)
    }

    fn pending(&self, request: F::Request) -> Box<dyn Pending> {
        Box::new(Message::<F> {
            request: Some(request),
            ignore: Address(self.constants.ignore),
            test: self.functions.Test,
            text: self.functions.Error_string,
        })
    }
}

type ErrorString = unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int;

/// An error unless the call succeeded.
fn check(text: ErrorString, call: &'static str, code: c_int) -> Result<(), RanksError> {
    if code == 0 {
        return Ok(());
    }
    let (mut bytes, mut len) = ([0u8; TEXT], 0);
    // SAFETY: any code has a text, which is shorter than the bytes.
    unsafe { text(code, bytes.as_mut_ptr().cast(), &mut len) };
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Err(engine(call, &text.to_string_lossy()))
}

fn engine(call: &'static str, text: &str) -> RanksError {
    RanksError::Engine {
        engine: "MPI",
        call,
        text: text.into(),
    }
}

impl<F: Family> Calls for Library<F> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    unsafe fn send(
        &self,
        to: usize,
        tag: c_int,
        bytes: &[u8],
    ) -> Result<Box<dyn Pending>, RanksError> {
        let mut request = self.constants.no_request;
        let (from, len, byte) = (
            bytes.as_ptr().cast(),
            bytes.len() as c_int,
            self.constants.byte,
        );
        // SAFETY: MPI has been started; the caller's contract for the bytes.
        let code = unsafe {
            (self.functions.Isend)(from, len, byte, to as c_int, tag, self.comm, &mut request)
        };
        self.check("MPI_Isend", code)?;
        Ok(self.pending(request))
    }

    unsafe fn receive(
        &self,
        from: usize,
        tag: c_int,
        bytes: *mut [u8],
    ) -> Result<Box<dyn Pending>, RanksError> {
        let mut request = self.constants.no_request;
        let (to, len, byte) = (bytes.cast(), bytes.len() as c_int, self.constants.byte);
        // SAFETY: MPI has been started; the caller's contract for the bytes.
        let code = unsafe {
            (self.functions.Irecv)(to, len, byte, from as c_int, tag, self.comm, &mut request)
        };
        self.check("MPI_Irecv", code)?;
        Ok(self.pending(request))
    }

    fn end(&self) {
        if self.started {
            // SAFETY: MPI has been started here, and is not used again. There is nobody to return an error to.
            unsafe { (self.functions.Finalize)() };
        }
    }
}

struct Message<F: Family> {
    /// `None` after it has been done.
    request: Option<F::Request>,
    ignore: Address,
    test: unsafe extern "C" fn(*mut F::Request, *mut c_int, *mut c_void) -> c_int,
    text: ErrorString,
}

impl<F: Family> Pending for Message<F> {
    fn is_done(&mut self) -> Result<bool, RanksError> {
        let Some(request) = &mut self.request else {
            return Ok(true);
        };
        let mut done = 0;
        // SAFETY: the request is pending; MPI's functions stay, because the library is never closed.
        let code = unsafe { (self.test)(request, &mut done, self.ignore.0) };
        check(self.text, "MPI_Test", code)?;
        if done != 0 {
            self.request = None;
        }
        Ok(done != 0)
    }
}
