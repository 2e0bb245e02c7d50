//! CUB's reductions, and an empty kernel.

use std::ffi::c_void;

use anyhow::Result;

use crate::peers::{Cub, Function, Peers};

const SOURCE: &str = include_str!("../../../../peers/whole.cu");
const TUNED: &str = include_str!("../../../../peers/tuned.cu");

type NothingFn = unsafe extern "C" fn(*mut c_void) -> i32;

/// CUB by its default policy, as its users call it. Compiles and loads it; the error is the reason for going
/// on without.
pub fn by_default(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("whole.cu", SOURCE)], capability)
}

/// The same by a policy for this generation of cards.
pub fn tuned(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("tuned.cu", TUNED)], capability)
}

/// CUB's reduction by this operator of this type.
pub fn cub(peers: &Peers, op: &str, element: &str) -> Result<Cub> {
    // SAFETY: both sources define every `cub_<operator>_<type>` with this signature (their macros REDUCTION).
    unsafe { peers.cub(&format!("cub_{op}_{element}")) }
}

/// A kernel that does nothing.
pub struct Nothing(Function<NothingFn>);

impl Nothing {
    /// The one beside CUB's default policy.
    pub fn of(peers: &Peers) -> Result<Nothing> {
        // SAFETY: SOURCE defines `launch_nothing` with this signature.
        Ok(Nothing(unsafe { peers.function("launch_nothing") }?))
    }

    /// Launches it and does not wait.
    ///
    /// # Safety
    ///
    /// The stream is live and its context is current on this thread.
    pub unsafe fn enqueue(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let status = unsafe { (self.0)(stream) };
        self.0.check(status, "an empty kernel")
    }
}
