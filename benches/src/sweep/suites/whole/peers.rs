//! CUB's reductions, and an empty kernel.

use std::ffi::c_void;

use anyhow::{Context, Result};
use libloading::{Library, Symbol};

use crate::peers::{self, Built};

const SOURCE: &str = include_str!("../../../../peers/whole.cu");
const TUNED: &str = include_str!("../../../../peers/tuned.cu");

type CubFn = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    i64,
    *mut c_void,
    *mut c_void,
) -> i32;
type NothingFn = unsafe extern "C" fn(*mut c_void) -> i32;

/// CUB's reductions by one policy.
pub struct Cubs {
    library: &'static Library,
    pub built: Built,
}

/// A kernel that does nothing.
pub struct Nothing {
    library: &'static Library,
    call: Symbol<'static, NothingFn>,
}

/// One of CUB's reductions.
pub struct Cub {
    library: &'static Library,
    call: Symbol<'static, CubFn>,
}

impl Cubs {
    /// By CUB's default policy, as its users call it. Compiles and loads them; the error is the reason
    /// for going on without.
    pub fn by_default(capability: (u32, u32)) -> Result<Cubs> {
        Self::load("whole.cu", SOURCE, capability)
    }

    /// By a policy for this generation of cards.
    pub fn tuned(capability: (u32, u32)) -> Result<Cubs> {
        Self::load("tuned.cu", TUNED, capability)
    }

    fn load(name: &str, source: &str, capability: (u32, u32)) -> Result<Cubs> {
        let (library, built) = peers::load(&[(name, source)], capability)?;
        Ok(Cubs { library, built })
    }

    /// CUB's reduction by this operator of this type.
    pub fn cub(&self, op: &str, element: &str) -> Result<Cub> {
        let name = format!("cub_{op}_{element}");
        // SAFETY: both sources define every `cub_<operator>_<type>` with this signature (their macros
        // REDUCTION), up to what the pointers point at.
        let call =
            unsafe { self.library.get(&name) }.with_context(|| format!("there is no {name}"))?;
        Ok(Cub {
            library: self.library,
            call,
        })
    }

    /// The empty kernel beside CUB's default policy.
    pub fn nothing(&self) -> Result<Nothing> {
        // SAFETY: SOURCE defines `launch_nothing` with this signature.
        let call = unsafe { self.library.get(c"launch_nothing") }?;
        Ok(Nothing {
            library: self.library,
            call,
        })
    }
}

impl Nothing {
    /// Launches it and does not wait.
    ///
    /// # Safety
    ///
    /// The stream is live and its context is current on this thread.
    pub unsafe fn enqueue(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let status = unsafe { (self.call)(stream) };
        peers::check(self.library, status, "an empty kernel")
    }
}

impl Cub {
    /// Bytes of temporary storage for `n` elements.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let none = std::ptr::null_mut();
        // SAFETY: without storage the call only writes `bytes`, which lives here.
        let status = unsafe { (self.call)(none, &mut bytes, none, n as i64, none, none) };
        peers::check(self.library, status, "CUB, temporary storage")?;
        Ok(bytes)
    }

    /// Launches the reduction on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    ///
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has done the work these are live device memory, apart from each other: `n`
    ///   elements of the type at `input`, one at `result`, and the room, as
    ///   [`temp_bytes`](Self::temp_bytes) says for this `n`.
    pub unsafe fn enqueue(
        &self,
        input: u64,
        n: usize,
        result: u64,
        (temp, mut temp_bytes): (u64, usize),
        stream: *mut c_void,
    ) -> Result<()> {
        let (temp, input, result) = (
            temp as *mut c_void,
            input as *const c_void,
            result as *mut c_void,
        );
        // SAFETY: the caller's promise.
        let status = unsafe { (self.call)(temp, &mut temp_bytes, input, n as i64, result, stream) };
        peers::check(self.library, status, "CUB")
    }
}
