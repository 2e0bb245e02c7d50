//! The CUDA driver's symbols, forwarded to the driver at first use.
//!
//! `cust` and `cust_raw` are linked against `libcuda.so`, so a program that uses
//! them needs a CUDA installation to build and a driver to start. This crate
//! takes both needs away and leaves the two crates as they are published:
//!
//! * **Build.** `sdk/lib64/libcuda.so` is an empty linker script. It satisfies
//!   `-lcuda`; `CUDA_LIBRARY_PATH=<here>/sdk`, set in `.cargo/config.toml`, makes
//!   the build scripts of `cust` and `cust_raw` look there before anywhere else.
//! * **Link.** The crate defines every `cu*` symbol that `cust` mentions, and a few more
//!   ([`FORWARDED`]), with the signatures of `cust_raw`, which the compiler
//!   compares. The binary is the same on a machine with CUDA and on one without,
//!   and names no CUDA library as needed. `cu*` functions that are not in the list
//!   are found missing by the linker.
//! * **Run.** The first call opens `libcuda.so.1`; each function is looked up once.
//!
//! | situation | what a caller sees |
//! |---|---|
//! | no `libcuda.so.1` | `cuInit`: `CUDA_ERROR_NO_DEVICE`; all others: `CUDA_ERROR_NOT_INITIALIZED`; [`driver`] says what was tried |
//! | a driver without that function | `CUDA_ERROR_NOT_FOUND` |
//! | a code that `cust_raw`'s enum lacks | `CUDA_ERROR_UNKNOWN`; [`record`] has the number itself |
//!
//! The last row is more than comfort: `cust_raw` declares the result as a Rust enum
//! of CUDA 11.4, and a newer driver's code in it would be undefined behaviour.
//!
//! [`install`] puts another driver in the library's place, and [`choose`] gives one to a thread: a simulator, for
//! tests.
//!
//! A program has to name the crate (`use libcuda as _;` will do) for its symbols to
//! be linked. Linux only: on Windows the driver is `nvcuda.dll`, found through an
//! import library, and none of this has been tried there.

mod driver;
mod failure;
mod symbols;

pub use driver::{
    InUse, LoadError, Lookup, choose, chosen, driver, error_name, error_text, install,
};
pub use failure::{Failure, record};
pub use symbols::FORWARDED;
