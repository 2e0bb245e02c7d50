//! Launches of the textbook kernels, and their right results.

use cuda_sim::{Buffer, Simulator};
use cuda_std::atomic::AtomicU32;
use kernels_gpu::mem::Global;
use kernels_mutants::textbook::Textbook;

use crate::attempt::{Attempt, Mode};

/// A launch.
struct Launch {
    n: usize,
    threads: usize,
    blocks: usize,
}

/// Launches the kernel until a launch fails.
pub fn search(name: &str, kernel: Textbook, mode: Mode) -> Attempt {
    for &schedule in mode.schedules() {
        for threads in [64, 256] {
            for n in [3 * threads + 7, threads, 2 * threads - 1, 5 * threads, 1] {
                // One resident block, and several.
                for resident in [1, 3] {
                    let launch = Launch {
                        n,
                        threads,
                        blocks: n.div_ceil(threads),
                    };
                    let text = format!(
                        "{name}, {} blocks of {threads} threads, {resident} at a time, n = {n}, \
                         {schedule:?}",
                        launch.blocks
                    );
                    let simulator = mode.simulator(schedule).resident_blocks(resident);
                    let attempt = launch.run(name, kernel, simulator, mode, &text);
                    if matches!(attempt, Attempt::Failed { .. }) {
                        return attempt;
                    }
                }
            }
        }
    }
    Attempt::Fine
}

impl Launch {
    fn run(
        &self,
        name: &str,
        kernel: Textbook,
        simulator: Simulator,
        mode: Mode,
        text: &str,
    ) -> Attempt {
        let values = values(self.n);
        let expected = self.expected(name, &values);
        let input = Buffer::from(&values);
        let output = Buffer::<i32>::uninitialised(expected.len());
        let counters = Buffer::from(&vec![0u32; 1 + self.blocks]);
        let launched = simulator
            .kernel(name)
            .grid(self.blocks as u32)
            .block(self.threads as u32)
            .dynamic_shared_memory((self.threads + 2) * size_of::<i32>())
            // SAFETY: the buffers have the handles' lengths and outlive the launch; an `AtomicU32` has the
            // layout of a `u32`.
            .run(|| unsafe {
                let counters = counters.as_ptr().cast::<AtomicU32>();
                let counters = std::slice::from_raw_parts(counters, 1 + self.blocks);
                let input = Global::new(input.as_mut_ptr(), self.n);
                kernel(
                    input,
                    Global::new(output.as_mut_ptr(), output.len()),
                    counters,
                );
            });
        if let Err(failure) = launched {
            return mode.failed(text, &failure);
        }
        let output = output.to_vec();
        match (0..expected.len()).find(|&i| output[i] != expected[i]) {
            None => Attempt::Fine,
            Some(i) => Attempt::wrong(format!(
                "{text}\noutput[{i}] is {}; expected {}",
                output[i], expected[i]
            )),
        }
    }

    /// The kernel's right output.
    fn expected(&self, name: &str, values: &[i32]) -> Vec<i32> {
        let sum = |values: &[i32]| values.iter().fold(0, |a: i32, b| a.wrapping_add(*b));
        let of_blocks = |f: &dyn Fn(&[i32]) -> i32| values.chunks(self.threads).map(f).collect();
        match name {
            "last_block" => {
                let partials: Vec<i32> = of_blocks(&sum);
                [vec![sum(values)], partials].concat()
            }
            "maxima" => of_blocks(&|block| {
                let largest = block.iter().max();
                block.iter().filter(|v| Some(*v) == largest).count() as i32
            }),
            "stencil" => (0..self.n)
                .map(|i| sum(&values[i.saturating_sub(1)..(i + 2).min(self.n)]))
                .collect(),
            "scan" => (1..=self.n).map(|end| sum(&values[..end])).collect(),
            _ => panic!("no right output for {name}"),
        }
    }
}

/// Negative numbers, each of which occurs several times in a block.
fn values(n: usize) -> Vec<i32> {
    (0..n).map(|i| -1 - (i * 37 % 23) as i32).collect()
}
