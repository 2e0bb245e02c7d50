//! The backend that executes the kernels on the CPU.

use conformance_kernels::entry::find;
use cuda_sim::{Buffer, Checks, Failure, Printed, Schedule, Simulator};

use crate::backend::{Backend, BackendError};
use crate::case::Launch;

/// The limit of a case's buffers in bytes, because simulated buffers use the host's memory.
const MEMORY: u64 = 1 << 30;

/// The limit of resident threads: each has a stack, and a process can have only so many. If blocks wait for
/// each other, this is enough for all of them.
const RESIDENT_THREADS: u32 = 1024;

/// The step in which a kernel fails.
pub const RUN: &str = "run";

/// A simulated device.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The order in which its threads run.
    pub schedule: Schedule,
    /// Its compute capability, times 100.
    pub arch: u32,
    /// The output of its kernels.
    pub printed: Printed,
}

impl Simulated {
    /// The checks for a correct kernel. Some kernels of the suite let threads exit before a barrier, or
    /// shuffle from lanes outside the member mask and ignore the value. Both are allowed, although they are
    /// usually mistakes.
    const CHECKS: Checks = Checks {
        exited_at_barrier: false,
        shuffle_sources: false,
        ..Checks::ALL
    };

    /// Launches one kernel and returns the findings.
    ///
    /// # Errors
    /// [`Failure`], in full.
    ///
    /// # Panics
    /// If there is no kernel with that name.
    pub fn launch(
        &self,
        launch: &Launch,
        input: &Buffer<u64>,
        output: &Buffer<u64>,
        scratch: &Buffer<u64>,
    ) -> Result<(), Failure> {
        let entry = find(&launch.kernel).expect("cases use kernels of the table");
        let blocks: u32 = launch.grid.iter().product();
        let threads: u32 = launch.block.iter().product();
        let [a, b, c, d] = launch.parameters;
        Simulator::new()
            .kernel(&launch.kernel)
            .grid(launch.grid)
            .block(launch.block)
            .dynamic_shared_memory(launch.shared_bytes as usize)
            .schedule(self.schedule)
            .arch(self.arch)
            .print_to(&self.printed)
            .check(Self::CHECKS)
            .count()
            .resident_blocks(blocks.min(RESIDENT_THREADS / threads.max(1)).max(1))
            .run(|| {
                // SAFETY: the case has the buffers and the shape that the kernel requires; nothing writes to
                // the input.
                unsafe {
                    let input = std::slice::from_raw_parts(input.as_ptr(), input.len());
                    (entry.function)(
                        input,
                        output.as_mut_ptr(),
                        output.len(),
                        scratch.as_mut_ptr(),
                        scratch.len(),
                        a,
                        b,
                        c,
                        d,
                    );
                }
            })
            .map(|_| ())
    }
}

impl Backend for Simulated {
    fn run(
        &self,
        launches: &[Launch],
        input: &[u64],
        output: &mut [u64],
        scratch_bytes: u64,
    ) -> Result<(), BackendError> {
        let bytes = 8 * (input.len() + output.len()) as u64 + scratch_bytes;
        if bytes > MEMORY {
            return Err(BackendError::OutOfMemory {
                bytes,
                cause: format!("the limit of a simulated device is {MEMORY} bytes"),
            });
        }
        let (input, results) = (Buffer::from(input), Buffer::from(&*output));
        let scratch = Buffer::from(&vec![0; scratch_bytes.div_ceil(8) as usize]);
        for launch in launches {
            self.launch(launch, &input, &results, &scratch)
                .map_err(|failure| BackendError::Launch {
                    kernel: launch.kernel.clone(),
                    step: RUN,
                    cause: failure.to_string(),
                })?;
        }
        output.copy_from_slice(&results.to_vec());
        Ok(())
    }
}
