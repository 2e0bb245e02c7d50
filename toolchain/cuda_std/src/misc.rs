//! For debuggers and profilers. On the host every function here needs a simulated
//! thread around it, and panics without.

use crate::arch;

/// Stops the thread for a debugger. `brkpt`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn breakpoint() {
    arch::breakpoint()
}

/// Triggers the profiler's event `counter`, once per warp. `pmevent`.
///
/// # Panics
///
/// When `counter` is above 7.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn profiler_counter(counter: u32) {
    assert!(counter <= 7, "profiler counters are 0 to 7");
    arch::profiler_counter(counter)
}

/// Clock cycles of the multiprocessor since some moment. `%clock64`. Not comparable between
/// multiprocessors.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn clock() -> u64 {
    arch::clock()
}
