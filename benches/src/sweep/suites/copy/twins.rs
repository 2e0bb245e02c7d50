//! nvcc's copies.

use std::ffi::c_void;

use anyhow::{Context, Result, ensure};
use libloading::{Library, Symbol};

use crate::peers::{self, Built};

const SOURCE: &str = include_str!("../../../../peers/copy.cu");

/// The twins index with `int`, which goes past n by up to one grid.
pub const TWIN_MAX_N: usize = 1 << 30;

type TwinFn = unsafe extern "C" fn(*const i32, *mut i32, i32, i32, i32, *mut c_void) -> i32;

/// The loaded twins.
pub struct Twins {
    library: &'static Library,
    pub built: Built,
}

/// The twin of one kernel.
pub struct Twin {
    library: &'static Library,
    call: Symbol<'static, TwinFn>,
}

impl Twins {
    /// Compiles and loads them; the error is the reason for going on without.
    pub fn build(capability: (u32, u32)) -> Result<Twins> {
        let (library, built) = peers::load(&[("copy.cu", SOURCE)], capability)?;
        Ok(Twins { library, built })
    }

    /// The twin of the kernel of this name.
    pub fn twin(&self, kernel: &str) -> Result<Twin> {
        let library = self.library;
        // SAFETY: SOURCE defines every `twin_*` with this signature (its macro TWIN).
        let call = unsafe { library.get(format!("twin_{kernel}")) }
            .with_context(|| format!("copy.cu has no twin of {kernel}"))?;
        Ok(Twin { library, call })
    }
}

impl Twin {
    /// Launches it on the stream and does not wait.
    ///
    /// # Safety
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has done the work `from` and `to` are live device memory of `n` integers,
    ///   aligned to 16 bytes, apart from each other.
    pub unsafe fn enqueue(
        &self,
        from: u64,
        to: u64,
        n: usize,
        (blocks, threads): (u32, u32),
        stream: *mut c_void,
    ) -> Result<()> {
        ensure!(
            n <= TWIN_MAX_N,
            "the twins index with int: n <= {TWIN_MAX_N}, not {n}"
        );
        let (n, blocks, threads) = (n as i32, blocks as i32, threads as i32);
        // SAFETY: the caller's promise; the numbers fit an int: n (above), and blocks and threads
        // of a launch.
        let status = unsafe {
            (self.call)(
                from as *const i32,
                to as *mut i32,
                n,
                blocks,
                threads,
                stream,
            )
        };
        peers::check(self.library, status, "nvcc's twin")
    }
}

#[cfg(test)]
mod tests {
    use super::SOURCE;
    use warpfold::CopyWidth;

    #[test]
    fn every_width_has_a_twin() {
        for width in CopyWidth::ALL {
            let twin = format!("TWIN({},", width.kernel_name());
            assert!(SOURCE.contains(&twin), "no {twin}");
        }
    }
}
