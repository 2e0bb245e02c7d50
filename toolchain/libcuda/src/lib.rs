//! The symbols of the CUDA driver, forwarded to the driver at their first use.
//!
//! `cust` and `cust_raw` link to `libcuda.so`, so a program that uses them requires a CUDA installation to
//! build and a driver to start. This crate removes both requirements without changing the two crates:
//!
//! * **Build.** `sdk/lib64/libcuda.so` is an empty linker script, which satisfies `-lcuda`.
//!   `CUDA_LIBRARY_PATH=<here>/sdk`, set in `.cargo/config.toml`, makes the build scripts of `cust` and
//!   `cust_raw` use this folder first.
//! * **Link.** The crate defines all `cu*` symbols that `cust` uses, and a few more ([`FORWARDED`]). They
//!   have the signatures of `cust_raw`, which the compiler checks. The binary is the same with and without CUDA
//!   on the machine, and does not require a CUDA library. If a program uses a `cu*` function that is not in the
//!   list, linking fails.
//! * **Run.** The first call opens `libcuda.so.1`; each function is looked up once.
//!
//! | situation | result |
//! |---|---|
//! | no `libcuda.so.1` | `cuInit`: `CUDA_ERROR_NO_DEVICE`; all others: `CUDA_ERROR_NOT_INITIALIZED`; [`driver`] has the loader's message |
//! | a driver without that function | `CUDA_ERROR_NOT_FOUND` |
//! | a code that `cust_raw`'s enum lacks | `CUDA_ERROR_UNKNOWN`; [`record`] has the code |
//!
//! The last row is required for safety: `cust_raw` declares the result as a Rust enum of CUDA 11.4, so a
//! newer driver's code would be undefined behaviour.
//!
//! [`install`] replaces the driver for the process, and [`choose`] for a thread. Tests use both for a
//! simulator.
//!
//! A program must name the crate (`use libcuda as _;` is sufficient), so that its symbols are linked. Linux
//! only: on Windows the driver is `nvcuda.dll` with an import library, which is not tested.

mod driver;
mod failure;
mod symbols;

pub use driver::{
    InUse, LoadError, Lookup, choose, chosen, driver, error_name, error_text, install,
};
pub use failure::{Failure, record};
pub use symbols::FORWARDED;
