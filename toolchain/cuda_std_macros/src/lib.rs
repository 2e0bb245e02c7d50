//! The macros of `cuda_std`. Use them through `cuda_std`, which re-exports them.
//!
//! Each macro is a function from tokens to tokens in its own module, so that tests can call it without a
//! compiler. This file only exports them.

use proc_macro::TokenStream;

mod address_space;
mod gpu_only;
mod kernel;
mod launch_bounds;
mod print;

/// Makes a function a kernel, an entry point that the host launches by its name.
///
/// On `nvptx64` the function becomes `#[unsafe(no_mangle)] extern "ptx-kernel"`. As in Rust-CUDA, each slice
/// is flattened into two parameters:
///
/// | parameter | launch arguments |
/// |---|---|
/// | `x: &[T]` | address of the first element, number of elements (`usize`) |
/// | `x: &mut [T]` | address of the first element, number of elements (`usize`) |
/// | any other `x: U` where `U: Copy` | `x` |
///
/// The address of a slice must be non-null and aligned for `T`, even if it is empty. The elements of `&[T]`
/// must not be written while the kernel runs, because they are read through the non-coherent cache
/// (`ld.global.nc`).
///
/// On the host the function is unchanged and can be called.
///
/// `#[kernel(module = name)]` selects the kernel's PTX module, if `cuda_builder` emits several
/// (`CudaBuilder::split_modules`).
///
/// # Errors
///
/// A compile error occurs if the function is not `unsafe`; is generic, `const`, `async` or a method; has its
/// own ABI; or returns a value. A parameter must not be `impl Trait` or `&mut T`, and must be `Copy`. It must
/// not be a fat pointer: `&str`, `*const [T]`, `&dyn Trait`, a type alias of `&[T]`, or a slice inside
/// another type. A struct should be `#[repr(C)]`, so that the host has the same layout; rustc warns about
/// others in the device's build.
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

/// Sets the launch bounds of a kernel, so that ptxas can allocate registers accordingly.
///
/// `#[launch_bounds(max_threads = 256, min_blocks = 2)]`: a launch has at most 256 threads per block, and at
/// least 2 blocks should fit on a multiprocessor. `min_blocks` is optional. The values are constant
/// expressions of type `u32`. The driver rejects a launch with more threads.
///
/// PTX ISA, performance-tuning directives `.maxntid` and `.minnctapersm`. No effect on the host.
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
/// A shared static exists once for each block. It is uninitialised at the block's start, regardless of its
/// initialiser, so its type must consist of `MaybeUninit`; otherwise `cuda_builder` rejects it. `global` is
/// the default address space of statics. On the host both are ordinary statics.
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

/// Compiles a function's body only for `nvptx64`; on other targets the function panics with its name.
///
/// ```should_panic
/// #[cuda_std::gpu_only]
/// fn barrier() {}
///
/// barrier(); // "`barrier` runs only on the GPU"
/// ```
#[proc_macro_attribute]
pub fn gpu_only(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints from a kernel; see `cuda_std::io`.
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

/// Prints a line from a kernel; see `cuda_std::io`.
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
