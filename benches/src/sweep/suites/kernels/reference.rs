//! The reference kernels, which nvcc compiles, and CUB's sum.

use std::ffi::c_void;

use anyhow::{Result, ensure};

use crate::peers::{Cub, Function, Peers};

/// The sources of one library.
const SOURCES: [(&str, &str); 2] = [
    ("ladder.cu", include_str!("../../../../peers/ladder.cu")),
    ("kepler.cu", include_str!("../../../../peers/kepler.cu")),
];

/// The reference kernels have `int` indices, which exceed n by up to one grid in reduce_5.
pub const MAX_N: usize = 1 << 30;

/// The parameters of a launch, with device addresses.
#[derive(Clone, Copy)]
pub struct Launch {
    pub input: u64,
    pub n: usize,
    pub threads: u32,
    /// Elements per thread of reduce_5's loop; the other rungs ignore it.
    pub chunks: u32,
    /// Scratch for the partials of the odd and of the even passes.
    pub partials: [u64; 2],
    pub result: u64,
    pub stream: *mut c_void,
}

type ReferenceFn = unsafe extern "C" fn(
    *const i32,
    i32,
    i32,
    i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut c_void,
) -> i32;

/// Compiles and loads the reference kernels. The device's context must be current on this thread.
pub fn build(capability: (u32, u32)) -> Result<Peers> {
    let peers = Peers::build(&SOURCES, capability)?;
    // If the driver is too old for the CUDA runtime, this call fails, not one in the middle of a round.
    cub(&peers)?.temp_bytes(1)?;
    Ok(peers)
}

/// CUB's sum of integers.
pub fn cub(peers: &Peers) -> Result<Cub> {
    // SAFETY: SOURCES define `cub_sum` with this signature.
    unsafe { peers.cub("cub_sum") }
}

/// The reference kernel for one kernel.
pub struct Reference(Function<ReferenceFn>);

impl Reference {
    /// The reference kernel for the kernel of this name.
    pub fn of(peers: &Peers, kernel: &str) -> Result<Self> {
        // SAFETY: SOURCES define every `reference_*` with this signature (their macro REFERENCE).
        Ok(Self(unsafe {
            peers.function(&format!("reference_{kernel}"))
        }?))
    }

    /// Launches every pass on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, these are live device memory without overlap: `input` with
    ///   `n` integers, `result` with one, `partials` with `ceil(n / threads)` and
    ///   `ceil(ceil(n / threads) / threads)`.
    pub unsafe fn enqueue(&self, on: Launch) -> Result<()> {
        ensure!(
            on.n <= MAX_N,
            "n is {}; must be at most {MAX_N}, because the reference kernels have int indices",
            on.n
        );
        // SAFETY: the caller's promise; n (checked above), threads and chunks (of a valid plan) fit an int.
        let status = unsafe {
            (self.0)(
                on.input as *const i32,
                on.n as i32,
                on.threads as i32,
                on.chunks as i32,
                on.partials[0] as *mut i32,
                on.partials[1] as *mut i32,
                on.result as *mut i32,
                on.stream,
            )
        };
        self.0.check(status, "a reference kernel")
    }
}

#[cfg(test)]
mod tests {
    use warpfold::Algorithm;

    use super::SOURCES;

    #[test]
    fn every_algorithm_has_a_reference_kernel() {
        let sources = SOURCES.map(|(_, text)| text).concat();
        for algorithm in Algorithm::LADDER.iter().chain(Algorithm::KEPLER) {
            let name = algorithm.kernel_name();
            let defined = |by| sources.contains(&format!("\n{by}({name}, "));
            assert!(
                ["ATOMIC", "PARTIALS", "STABLE"].into_iter().any(defined),
                "{name}"
            );
        }
    }
}
