//! The reference kernels of the copies.

use std::ffi::c_void;

use anyhow::{Result, ensure};

use crate::peers::{Function, Peers};

const SOURCE: &str = include_str!("../../../../peers/copy.cu");

/// The reference kernels have `int` indices, which exceed n by up to one grid.
pub const REFERENCE_MAX_N: usize = 1 << 30;

type ReferenceFn = unsafe extern "C" fn(*const i32, *mut i32, i32, i32, i32, *mut c_void) -> i32;

/// Compiles and loads the reference kernels.
pub fn build(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("copy.cu", SOURCE)], capability)
}

/// The reference kernel for one kernel.
pub struct Reference(Function<ReferenceFn>);

impl Reference {
    /// The reference kernel for the kernel of this name.
    pub fn of(peers: &Peers, kernel: &str) -> Result<Reference> {
        // SAFETY: SOURCE defines every `reference_*` with this signature (its macro REFERENCE).
        Ok(Reference(unsafe {
            peers.function(&format!("reference_{kernel}"))
        }?))
    }

    /// Launches the kernel on the stream; does not wait.
    ///
    /// # Safety
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, `from` and `to` are live device memory of `n` integers,
    ///   aligned to 16 bytes, without overlap.
    pub unsafe fn enqueue(
        &self,
        from: u64,
        to: u64,
        n: usize,
        (blocks, threads): (u32, u32),
        stream: *mut c_void,
    ) -> Result<()> {
        ensure!(
            n <= REFERENCE_MAX_N,
            "n is {n}; must be at most {REFERENCE_MAX_N}, because the reference kernels have int indices"
        );
        let (n, blocks, threads) = (n as i32, blocks as i32, threads as i32);
        // SAFETY: the caller's promise; n (checked above), and blocks and threads of a launch fit an int.
        let status = unsafe {
            (self.0)(
                from as *const i32,
                to as *mut i32,
                n,
                blocks,
                threads,
                stream,
            )
        };
        self.0.check(status, "a reference kernel")
    }
}

#[cfg(test)]
mod tests {
    use super::SOURCE;
    use warpfold::CopyWidth;

    #[test]
    fn every_width_has_a_reference_kernel() {
        for width in CopyWidth::ALL {
            let reference = format!("REFERENCE({},", width.kernel_name());
            assert!(SOURCE.contains(&reference), "no {reference}");
        }
    }
}
