//! The macros of `cuda_std`, which re-exports all of them; use them from there.
//!
//! Each macro is a function from tokens to tokens in a module of its own, so that the tests call
//! it without a compiler around it. This file only connects them to rustc.

use proc_macro::TokenStream;

mod address_space;
mod gpu_only;
mod kernel;
mod launch_bounds;
mod print;

/// Makes a function an entry point that the host launches by name.
///
/// On `nvptx64` the function becomes `#[unsafe(no_mangle)] extern "ptx-kernel"` and its slices are
/// flattened as Rust-CUDA does it, each into two parameters:
///
/// | written | launched with |
/// |---|---|
/// | `x: &[T]` | address of the first element, number of elements (`usize`) |
/// | `x: &mut [T]` | address of the first element, number of elements (`usize`) |
/// | any other `x: U` where `U: Copy` | `x` |
///
/// The address of a slice must be non-null and aligned for `T`, also when it has no elements. What
/// `&[T]` points at must not be written by anybody while the kernel runs: it is read through the
/// non-coherent cache (`ld.global.nc`).
///
/// On the host the function stays as it was written and can be called.
///
/// `#[kernel(module = name)]` says in which module of PTX the kernel goes where `cuda_builder` makes
/// several (`CudaBuilder::split_modules`).
///
/// # Errors
///
/// At compile time, when the function is not `unsafe`, is generic, `const`, `async` or a method,
/// has an ABI of its own or returns a value; and when a parameter is a slice in disguise (`&str`,
/// `*const [T]`, `&dyn Trait`, a type alias of `&[T]`, a slice inside of another type), is an
/// `impl Trait`, a `&mut T`, or not `Copy`. A struct should be `#[repr(C)]`, so that the host knows
/// its layout; rustc warns of others in the device's build.
///
/// # Example
///
/// ```
/// use cuda_std::prelude::*;
///
/// #[kernel]
/// pub unsafe fn double(x: &[f32], y: *mut f32) {
///     let i = thread::index_1d() as usize;
///     if i < x.len() {
///         // SAFETY: the host passes as many elements in `y` as in `x`; each `i` has one thread.
///         unsafe { y.add(i).write(2.0 * x[i]) };
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Promises the launch shape of a kernel, so that ptxas can spend registers accordingly.
///
/// `#[launch_bounds(max_threads = 256, min_blocks = 2)]`: no launch has more than 256 threads per
/// block, and at least 2 blocks shall fit on a multiprocessor. `min_blocks` may be left out. The
/// values are constant expressions of type `u32`. The driver refuses a launch with more threads.
///
/// PTX ISA, performance-tuning directives `.maxntid` and `.minnctapersm`. Nothing on the host.
///
/// ```
/// use cuda_std::{kernel, launch_bounds};
///
/// pub const THREADS: u32 = 256;
///
/// #[kernel]
/// #[launch_bounds(max_threads = THREADS, min_blocks = 2)]
/// pub unsafe fn heavy(x: *mut f32) {}
/// ```
#[proc_macro_attribute]
pub fn launch_bounds(attribute: TokenStream, item: TokenStream) -> TokenStream {
    launch_bounds::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Puts a `static` into an address space: `#[address_space(shared)]` or `#[address_space(global)]`.
///
/// A shared static exists once per block, and begins uninitialised whatever its initialiser says;
/// so its type has to be `MaybeUninit` all through, or `cuda_builder` refuses it. `global` is where
/// a static lies anyhow. On the host both are ordinary statics.
///
/// ```
/// use core::mem::MaybeUninit;
/// use cuda_std::address_space;
///
/// #[address_space(shared)]
/// static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
/// ```
#[proc_macro_attribute]
pub fn address_space(attribute: TokenStream, item: TokenStream) -> TokenStream {
    address_space::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Keeps a function's body for `nvptx64`; everywhere else the function panics with its name.
///
/// ```should_panic
/// #[cuda_std::gpu_only]
/// fn barrier() {}
///
/// barrier(); // "`barrier` runs on the GPU only"
/// ```
#[proc_macro_attribute]
pub fn gpu_only(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints from a kernel: what `cuda_std::io` says.
///
/// ```
/// let (block, sum) = (3, 0.5_f32);
/// cuda_std::print!("block {block}: sum {sum:.3}\n");
/// ```
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    print::expand(input.into(), false)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints a line from a kernel: what `cuda_std::io` says.
///
/// ```
/// cuda_std::println!("thread {}", 5);
/// ```
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    print::expand(input.into(), true)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
