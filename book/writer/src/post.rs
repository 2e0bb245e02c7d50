//! Figures that the posts state, of their own cards: constants, because a published post does not change.

/// A row of the table of "CUDA 006 - Reduction": 400 million `i32` on an RTX 5070, by Nsight Compute.
#[derive(Clone, Copy, Debug)]
pub struct Duration {
    /// The kernel's name here.
    pub kernel: &'static str,
    /// In ms.
    pub duration: f64,
    /// In percent of the highest throughput.
    pub compute: f64,
    /// In percent of the highest throughput.
    pub memory: f64,
}

/// The table. `reduce_5` is the form with four chunks as a template, here `reduce_5_x4`.
pub const DURATIONS: [Duration; 8] = {
    const fn row(kernel: &'static str, duration: f64, compute: f64, memory: f64) -> Duration {
        Duration {
            kernel,
            duration,
            compute,
            memory,
        }
    }
    [
        row("reduce_naive", 6.73, 20.91, 38.26),
        row("reduce_shared_memory", 3.93, 55.48, 65.01),
        row("reduce_0", 7.15, 89.75, 89.75),
        row("reduce_1", 7.24, 88.58, 88.58),
        row("reduce_2", 7.04, 91.14, 91.14),
        row("reduce_3", 3.90, 91.17, 91.17),
        row("reduce_4", 2.86, 65.34, 90.23),
        row("reduce_5_x4", 2.65, 36.17, 96.50),
    ]
};

/// The speed-up over one core that "Parallel Reduction with CUDA" states.
pub const MINIMUM_SPEED_UP: u32 = 18;
