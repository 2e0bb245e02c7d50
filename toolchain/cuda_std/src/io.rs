//! Printing from a kernel: [`print!`] and [`println!`].
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::println; // in a crate with `std`, see below
//!
//! #[kernel]
//! pub unsafe fn show(x: &[f32]) {
//!     let i = thread::index_1d() as usize;
//!     if i < x.len() {
//!         println!("thread {i:>4}: {:10.3}", x[i]);
//!     }
//! }
//! ```
//!
//! The macros read Rust's syntax and become one call of the driver's `vprintf` (PTX Writer's Guide to
//! Interoperability, system calls): no code formats on the GPU, and a call's text is never mixed with another
//! thread's. Under the simulator and on the host the text is the same, byte for byte.
//!
//! # What can be printed
//!
//! | in the format | for | prints |
//! |---|---|---|
//! | `{}` | `i8` to `i64`, `u8` to `u64`, `isize`, `usize` | the number |
//! | `{}` | `f16`, `bf16`, `f32`, `f64` | C's `%g` with 5, 4, 9 and 17 digits, from which the number can be read back: `0.5`, `0.100000001`, `1e+20`, `inf`, `nan` |
//! | `{:.3}` | floats | three digits after the point, as Rust |
//! | `{:.3e}`, `{:.3E}` | floats | C's form: `1.500e+02`, an exponent of two digits at least |
//! | `{}` | `bool`, `char` | as Rust |
//! | `{}` | a string literal, a [`CStr`](core::ffi::CStr) | the text |
//! | `{:x}`, `{:X}`, `{:o}` | integers | as Rust: negative numbers as their bits |
//! | `{:#x}`, `{:#X}`, `{:#o}` | integers | with `0x` or `0o`; a width needs `0` or `<` |
//! | `{:p}`, `{:#p}` | raw pointers, [`NonNull`](core::ptr::NonNull), references | the address; `#`: in 16 digits |
//! | `{:8}`, `{:<8}`, `{:>8}` | all but `p` | at least so wide: numbers to the right, text to the left, or as it says |
//! | `{:08}` | numbers | zeros instead of spaces; not before `inf` and `nan` |
//! | `{:+}` | `i8` to `i64`, `isize`, floats | with a sign |
//! | `{0}`, `{name}`, `{{`, `}}` | | as Rust |
//!
//! References are printed as what they refer to. In text a width counts bytes. The sign of a `nan` is not
//! printed. Everything else does not compile, and the error says what: `{:?}`, `{:b}`, `{:^8}`, fills, widths
//! and precisions from values, exponents without a precision, `i128`, and `&str` that is no literal (the
//! driver looks for a zero at its end; `c"text"` has one).
//!
//! ```compile_fail
//! # use cuda_std::prelude::*;
//! let name = "warp";
//! cuda_std::println!("{}", name); // `str` cannot be printed by a kernel
//! ```
//!
//! ```compile_fail
//! cuda_std::println!("{:?}", 1); // a GPU has no `Debug`
//! ```
//!
//! # Limits of the driver
//!
//! CUDA C++ Programming Guide, formatted output:
//!
//! - The output appears on the process's standard output when the host synchronises with the kernel (a stream,
//!   an event, the context, a blocking copy), at the next launch, and when the context is destroyed; not by
//!   itself when the program ends. C's library writes it there: into a pipe or a file, after what Rust's
//!   `println!` has written before.
//! - Until then it is kept in a buffer of 1 MiB (`cuCtxSetLimit` with `CU_LIMIT_PRINTF_FIFO_SIZE`, before the
//!   module is loaded). When it is full, the oldest output is lost.
//! - A call prints at most 32 values; more do not compile.
//! - The order of threads is not defined. To print takes much longer than to compute, and moves threads in time.
//!
//! # The host
//!
//! Under `cuda_sim::Simulator` the text goes to standard output, or where `Simulator::print_to` says.
//! Outside of a simulated thread, with the feature `simulator` or without, it goes to standard output.
//!
//! The [prelude](crate::prelude) has both macros. In a crate with `std`, on the host, `std` has macros of the
//! same names, and the compiler refuses to choose: `use cuda_std::{print, println};` says which ones are meant.

pub use cuda_std_macros::{print, println};

#[doc(hidden)]
#[allow(missing_docs)] // written into kernel crates by `print!`
pub mod format;
