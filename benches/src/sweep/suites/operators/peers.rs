//! CUB's reductions with the functors of `functors.cu`.

use std::ffi::c_void;
use std::ptr;

use anyhow::Result;

use crate::peers::{Function, Peers};

pub const SOURCE: &str = include_str!("../../../../peers/functors.cu");

type FunctorFn = unsafe extern "C" fn(
    temp: *mut c_void,
    temp_bytes: *mut usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    n: i64,
    parameter: f32,
    result: *mut c_void,
    stream: *mut c_void,
) -> i32;

/// CUB's reduction with one functor.
pub struct Functor(Function<FunctorFn>);

/// The parameters of a launch, with device addresses.
#[derive(Clone, Copy)]
pub struct Launch {
    /// 0 for a missing array.
    pub arrays: [u64; 3],
    pub n: usize,
    pub parameter: f32,
    pub result: u64,
    /// Temporary storage and its size in bytes.
    pub temp: (u64, usize),
    pub stream: *mut c_void,
}

/// Compiles and loads the functors.
pub fn build(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("functors.cu", SOURCE)], capability)
}

impl Functor {
    /// The functor with this name, e.g. `cub_best_scored`.
    pub fn of(peers: &Peers, name: &str) -> Result<Functor> {
        // SAFETY: SOURCE defines every `cub_<operator>_<items>` with this signature (its macro PEER).
        Ok(Functor(unsafe { peers.function(name) }?))
    }

    /// Bytes of temporary storage for `n` items.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let none = ptr::null_mut();
        // SAFETY: with null storage the call only writes `bytes`, a local variable.
        let status = unsafe {
            (self.0)(
                none, &mut bytes, none, none, none, n as i64, 0.0, none, none,
            )
        };
        self.0.check(status, "CUB, temporary storage")?;
        Ok(bytes)
    }

    /// Launches the reduction on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    ///
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, these are live device memory without overlap: `n` elements
    ///   in each of the functor's arrays, an accumulator at the result, and [`temp_bytes`](Self::temp_bytes)
    ///   of temporary storage for this `n`.
    pub unsafe fn enqueue(&self, on: Launch) -> Result<()> {
        let [a, b, c] = on.arrays.map(|array| array as *const c_void);
        let (temp, mut temp_bytes) = (on.temp.0 as *mut c_void, on.temp.1);
        // SAFETY: the caller's promise.
        let status = unsafe {
            (self.0)(
                temp,
                &mut temp_bytes,
                a,
                b,
                c,
                on.n as i64,
                on.parameter,
                on.result as *mut c_void,
                on.stream,
            )
        };
        self.0.check(status, "CUB")
    }
}
