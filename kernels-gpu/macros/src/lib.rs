//! The macros of `kernels-gpu`, which re-exports them; use them from there.
//!
//! Each macro is a function from tokens to tokens in its own module, so that tests can call it without the
//! compiler. This file only registers them with rustc.

use proc_macro::TokenStream;

mod data;
mod kernels;

/// Implements [`Element`](../kernels_gpu/element/trait.Element.html) for a structure of elements.
///
/// The structure must be `#[repr(C)]`, without type parameters and without padding. Every field must be an
/// element: a number, an array of elements, or another such structure. The compiler checks all of this.
#[proc_macro_derive(Element)]
pub fn derive_element(item: TokenStream) -> TokenStream {
    data::element(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Implements [`Value`](../kernels_gpu/op/trait.Value.html) for a structure, so that it can be a parameter of a
/// kernel, as operators are.
///
/// The structure must be `#[repr(C)]` or have no fields. Every field must be a value: a number, an element, or
/// another value. A pointer is not a value.
#[proc_macro_derive(Value)]
pub fn derive_value(item: TokenStream) -> TokenStream {
    data::value(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes entry points for kernel families, operators and items.
///
/// ```ignore
/// kernels! {
///     /// The kernels of this crate.
///     pub static KERNELS:
///     single_pass {
///         PowerSum: f32, f64;
///         Sum: Complex;
///         Dot3: (f32, f32, f32);
///     }
/// }
/// ```
///
/// On the device, each pair of operator and items becomes the entry points of its family. On the host,
/// `KERNELS` is the table of the entry points. Each operator implements the family's trait for its items, and a
/// call finds its entry point through this trait.
///
/// Operators and items are types in scope. The macro uses their source text, so a pair must be written `(T, U)`
/// and not as an alias. PTX modules are named after the crate, the family and the items; `single_pass as name {
/// .. }` replaces the first part.
#[proc_macro]
pub fn kernels(item: TokenStream) -> TokenStream {
    kernels::expand(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
