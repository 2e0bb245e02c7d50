//! The macros of `kernels-gpu`, which re-exports all of them; use them from there.
//!
//! Each macro is a function from tokens to tokens in a module of its own, so that the tests call it
//! without a compiler around it. This file only connects them to rustc.

use proc_macro::TokenStream;

mod data;
mod kernels;

/// Makes a structure of [elements](../kernels_gpu/element/trait.Element.html) an element.
///
/// The structure is `#[repr(C)]`, has no type parameters and no padding, and every field is an element:
/// a number, an array of elements, another such structure. All of that is checked when the crate is
/// compiled.
#[proc_macro_derive(Element)]
pub fn derive_element(item: TokenStream) -> TokenStream {
    data::element(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a structure a [value](../kernels_gpu/op/trait.Value.html): what travels to a kernel as a
/// parameter, as operators do.
///
/// The structure has no fields or is `#[repr(C)]`, and every field is a value: a number, an element,
/// another value. A pointer is none.
#[proc_macro_derive(Value)]
pub fn derive_value(item: TokenStream) -> TokenStream {
    data::value(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes entry points of kernel families, operators and items.
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
/// On the device each operator and item becomes the entry points of its family. On the host `KERNELS` is
/// the table of them, and each operator implements the family's trait for its items, which is how a call
/// finds its entry.
///
/// An operator or an item stands there as a type in scope. The macro reads it as it is written: a pair is
/// `(T, U)`, not a name for one. Modules of PTX are named after the crate, the family and the item;
/// `single_pass as name { .. }` gives another first part.
#[proc_macro]
pub fn kernels(item: TokenStream) -> TokenStream {
    kernels::expand(item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
