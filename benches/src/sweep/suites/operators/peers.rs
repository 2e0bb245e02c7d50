//! CUB's reductions by functors of our own: `functors.cu`.

use std::ffi::c_void;
use std::ptr;

use anyhow::Result;

use crate::peers::{Function, Peers};

/// What nvcc compiles.
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

/// CUB's reduction by one functor.
pub struct Functor(Function<FunctorFn>);

/// What a functor works on: device addresses.
#[derive(Clone, Copy)]
pub struct Launch {
    /// The arrays; 0 where there is none.
    pub arrays: [u64; 3],
    pub n: usize,
    pub parameter: f32,
    pub result: u64,
    /// Temporary storage and its bytes.
    pub temp: (u64, usize),
    pub stream: *mut c_void,
}

/// Compiles and loads them; the error is the reason for going on without.
pub fn build(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("functors.cu", SOURCE)], capability)
}

impl Functor {
    /// The one of this name: `cub_best_scored`.
    pub fn of(peers: &Peers, name: &str) -> Result<Functor> {
        // SAFETY: SOURCE defines every `cub_<operator>_<items>` with this signature (its macro PEER).
        Ok(Functor(unsafe { peers.function(name) }?))
    }

    /// Bytes of temporary storage for `n` items.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let none = ptr::null_mut();
        // SAFETY: without storage the call only writes `bytes`, which lives here.
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
    /// - Until the stream has done the work these are live device memory, apart from each other: `n`
    ///   elements in each of the functor's arrays, an accumulator at the result, and the temporary storage,
    ///   as [`temp_bytes`](Self::temp_bytes) says for this `n`.
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
