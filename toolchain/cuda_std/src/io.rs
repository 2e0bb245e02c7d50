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
//! The macros accept Rust's format syntax, and compile to one call of the driver's `vprintf` (PTX Writer's
//! Guide to Interoperability, system calls). No code on the GPU formats, and the text of one call is never
//! interleaved with another thread's. In the simulator and on the host the text is the same, byte for byte.
//!
//! # What can be printed
//!
//! | format | types | prints |
//! |---|---|---|
//! | `{}` | `i8` to `i64`, `u8` to `u64`, `isize`, `usize` | the number |
//! | `{}` | `f16`, `bf16`, `f32`, `f64` | C's `%g` with 5, 4, 9 and 17 digits, which are enough to read the number back: `0.5`, `0.100000001`, `1e+20`, `inf`, `nan` |
//! | `{:.3}` | floats | three digits after the point, as in Rust |
//! | `{:.3e}`, `{:.3E}` | floats | C's form: `1.500e+02`, with an exponent of at least two digits |
//! | `{}` | `bool`, `char` | as in Rust |
//! | `{}` | a string literal, a [`CStr`](core::ffi::CStr) | the text |
//! | `{:x}`, `{:X}`, `{:o}` | integers | as in Rust: negative numbers as their bits |
//! | `{:#x}`, `{:#X}`, `{:#o}` | integers | with `0x` or `0o`; a width requires `0` or `<` |
//! | `{:p}`, `{:#p}` | raw pointers, [`NonNull`](core::ptr::NonNull), references | the address; `#`: in 16 digits |
//! | `{:8}`, `{:<8}`, `{:>8}` | all except `p` | with a minimum width: by default, numbers are aligned right and text left |
//! | `{:08}` | numbers | zeros instead of spaces; not before `inf` and `nan` |
//! | `{:+}` | `i8` to `i64`, `isize`, floats | with a sign |
//! | `{0}`, `{name}`, `{{`, `}}` | | as in Rust |
//!
//! References are printed as the value that they refer to. In text, a width counts bytes. The sign of a NaN
//! is not printed. Everything else is a compile error that names the reason: `{:?}`, `{:b}`, `{:^8}`, fill
//! characters, widths and precisions from values, exponents without a precision, `i128`, and any `&str` that
//! is not a literal. The driver needs a zero at the end of a text; `c"text"` has one.
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
//! - The output appears on the process's standard output when the host synchronises with the kernel (by a
//!   stream, an event, the context, a blocking copy), at the next launch, and when the context is destroyed.
//!   It does not appear automatically at the end of the program. C's library writes it. In a pipe or a file
//!   it therefore follows the text that Rust's `println!` has written before.
//! - Until then it is stored in a buffer of 1 MiB (`cuCtxSetLimit` with `CU_LIMIT_PRINTF_FIFO_SIZE`, before
//!   the module is loaded). When the buffer is full, the oldest output is lost.
//! - A call prints at most 32 values; more are a compile error.
//! - The order of threads is undefined. Printing takes much longer than computing, and changes the timing of
//!   threads.
//!
//! # On the host
//!
//! In a launch of `cuda_sim::Simulator` the text goes to standard output, or to the target of
//! `Simulator::print_to`. Outside a launch it goes to standard output, with or without the feature
//! `simulator`.
//!
//! The [prelude](crate::prelude) has both macros. In a crate with `std`, on the host, `std` has macros with
//! the same names, and the compiler reports an ambiguity. `use cuda_std::{print, println};` selects these.

pub use cuda_std_macros::{print, println};

#[doc(hidden)]
#[allow(missing_docs)] // used by the code that `print!` generates
pub mod format;
