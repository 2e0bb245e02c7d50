//! Blocks of a grid with more than 2^32 threads, where a 32-bit index wraps to 0.
//!
//! Such a grid takes hours, but two of its blocks take no time: the first one, and one beyond the last
//! element, which has nothing to load.

use cuda_sim::{Buffer, Schedule};
use kernels_gpu::entry::Entry;
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::Sum;
use kernels_sim::launch::{Array, launch as launch_entry};

use crate::attempt::{Attempt, Mode};

const THREADS: u32 = 1024;

/// The block whose first thread has index 2^32.
const FAR: u32 = 1 << 22;

/// More elements than one block loads, unless it loads vectors.
const N: usize = 3000;

/// Launches the entries until one fails. Does nothing without checks, because this is not tested on a device.
pub fn search(entries: &[Entry], mode: Mode) -> Attempt {
    if mode == Mode::AnswersAlone {
        return Attempt::Fine;
    }
    entries
        .iter()
        .filter(|entry| {
            (entry.op, entry.items) == ("sum", "i32") && !entry.kernel.starts_with("triple")
        })
        .flat_map(|entry| [0, FAR].map(|block| launch(entry, block, mode)))
        .find(|attempt| matches!(attempt, Attempt::Failed { .. }))
        .unwrap_or(Attempt::Fine)
}

/// Launches one block of a sum.
fn launch(entry: &Entry, block: u32, mode: Mode) -> Attempt {
    let blocks = FAR + 1;
    let values: Vec<i32> = (1..=N as i32).collect();
    let input = Buffer::from(&values);
    let mut output = Buffer::<i32>::uninitialised(entry.needs.outputs(blocks));
    let cell = match entry.needs.result {
        ResultIn::Partials => block as usize,
        _ => {
            output.write(&[0]);
            0
        }
    };
    let text = format!(
        "{}, block {block} of {blocks} of {THREADS} threads",
        entry.name
    );
    let simulator = mode
        .simulator(Schedule::Forward)
        .grid(blocks)
        .block(THREADS)
        .only_blocks(block..block + 1)
        .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, size_of::<i32>()));
    let arrays = [
        Array::new("input", input.as_ptr(), N),
        Array::new("output", output.as_ptr(), output.len()),
    ];
    // SAFETY: both arrays exist and have the entry's element type, and the launch satisfies the kernel's
    // `Needs`.
    let launched = unsafe { launch_entry(entry, simulator, Sum, &arrays) };
    if let Err(failure) = launched {
        return mode.failed(&text, &failure);
    }
    let share = match block {
        0 => &values[..N.min(THREADS as usize * entry.load_items())],
        _ => &[],
    };
    let (got, expected) = (output.to_vec()[cell], share.iter().sum::<i32>());
    if got == expected {
        Attempt::Fine
    } else {
        Attempt::wrong(format!("{text}\n{got} instead of {expected}"))
    }
}
