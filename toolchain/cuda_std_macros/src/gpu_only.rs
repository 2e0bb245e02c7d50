//! `#[gpu_only]`: keeps a function's body for the device, and panics on the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = syn::parse2(item)?;
    let message = format!("`{}` runs only on the GPU", sig.ident);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)* #vis #sig #block

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_variables)]
        #(#attrs)* #vis #sig { ::core::panic!(#message) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_form_panics_with_the_name() {
        let expanded = expand(quote! { pub fn barrier(id: u32) -> u32 { id } }).unwrap();
        let expected = quote! {
            #[cfg(target_arch = "nvptx64")]
            pub fn barrier(id: u32) -> u32 { id }

            #[cfg(not(target_arch = "nvptx64"))]
            #[allow(unused_variables)]
            pub fn barrier(id: u32) -> u32 { ::core::panic!("`barrier` runs only on the GPU") }
        };
        assert_eq!(expanded.to_string(), expected.to_string());
    }
}
