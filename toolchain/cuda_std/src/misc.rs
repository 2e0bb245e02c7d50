//! Functions for debuggers and profilers. On the host all of them panic outside a launch of the simulator.

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
/// If `counter` is greater than 7.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn profiler_counter(counter: u32) {
    assert!(
        counter <= 7,
        "profiler counter {counter}; must be from 0 to 7"
    );
    arch::profiler_counter(counter)
}

/// A clock of the multiprocessor in cycles: `%clock64`. Clocks of different multiprocessors cannot be
/// compared.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn clock() -> u64 {
    arch::clock()
}
