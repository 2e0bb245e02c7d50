//! Runs every kernel of `kernels-gpu` under the simulator, and shows what it counts.
