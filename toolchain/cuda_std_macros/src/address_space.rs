//! `#[address_space(shared)]`: marks a static for `cuda_builder`, which sets its address space.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Ident, ItemStatic};

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let space: Ident = syn::parse2(attribute)?;
    let item: ItemStatic = syn::parse2(item)?;
    match space.to_string().as_str() {
        // rustc has no address spaces: the builder reads them from the name of the section.
        "shared" => Ok(quote! {
            #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".shared"))]
            #item
        }),
        "global" => Ok(quote! { #item }),
        other => Err(Error::new(
            space.span(),
            format!("unknown address space `{other}`: use `shared` or `global`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_becomes_a_section_on_the_device() {
        let expanded = expand(quote!(shared), quote! { static mut X: T = U; }).unwrap();
        let expected = quote! {
            #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".shared"))]
            static mut X: T = U;
        };
        assert_eq!(expanded.to_string(), expected.to_string());
    }

    #[test]
    fn global_is_the_default() {
        let item = quote! { static X: T = U; };
        assert_eq!(
            expand(quote!(global), item.clone()).unwrap().to_string(),
            item.to_string()
        );
    }

    #[test]
    fn other_spaces_are_refused_by_name() {
        let error = expand(quote!(constant), quote! { static X: T = U; }).unwrap_err();
        assert!(error.to_string().contains("`constant`"), "{error}");
    }
}
