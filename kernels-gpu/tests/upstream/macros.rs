//! The attributes of Rust-CUDA's `cuda_std_macros`, for type checks: an item is unchanged.

use proc_macro::TokenStream;

/// An entry point. The macro accepts no arguments: Rust-CUDA has two, which no kernel here uses, and does not
/// have this repository's.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if arguments.is_empty() {
        return item;
    }
    let error = "compile_error!(\"upstream's `#[kernel]` has no such argument\");";
    error.parse().expect("it is an item")
}

/// Marks a static as belonging to a memory space of the GPU.
#[proc_macro_attribute]
pub fn address_space(space: TokenStream, item: TokenStream) -> TokenStream {
    let space = space.to_string();
    if ["global", "shared", "constant", "local"].contains(&space.as_str()) {
        return item;
    }
    let error = "compile_error!(\"upstream has no such address space\");";
    error.parse().expect("it is an item")
}

/// A function that panics on the host.
#[proc_macro_attribute]
pub fn gpu_only(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}
