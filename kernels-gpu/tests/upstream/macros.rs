//! The attributes of Rust-CUDA's `cuda_std_macros`, as far as types go: an item stays as it is.

use proc_macro::TokenStream;

/// An entry point. With arguments the call of the macro does not compile: Rust-CUDA knows two that no
/// kernel of ours has, and none of ours.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if arguments.is_empty() {
        return item;
    }
    let error = "compile_error!(\"upstream's `#[kernel]` has no such argument\");";
    error.parse().expect("it is an item")
}

/// Puts a static into one of the memories of a GPU.
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
