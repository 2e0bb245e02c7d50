//! `#[launch_bounds]`: adds a comment to the module's assembly, which `cuda_builder` converts to function
//! attributes, because rustc has none for this.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ItemFn, MetaNameValue, Token};

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (max_threads, min_blocks) = parse(attribute)?;
    let item: ItemFn = syn::parse2(item)?;
    let name = &item.sig.ident;
    let bounds = match min_blocks {
        None => {
            let line = format!("//!cuda {name} nvvm.maxntid={{}},1,1");
            quote!(::core::arch::global_asm!(#line, const #max_threads);)
        }
        Some(min_blocks) => {
            let line = format!("//!cuda {name} nvvm.maxntid={{}},1,1 nvvm.minctasm={{}}");
            quote!(::core::arch::global_asm!(#line, const #max_threads, const #min_blocks);)
        }
    };
    Ok(quote! {
        #item
        #[cfg(target_arch = "nvptx64")]
        #bounds
    })
}

fn parse(attribute: TokenStream) -> syn::Result<(Expr, Option<Expr>)> {
    const FORM: &str = "expected `launch_bounds(max_threads = N)` or \
                        `launch_bounds(max_threads = N, min_blocks = M)`";
    let span = proc_macro2::Span::call_site();
    let arguments = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(attribute)?;
    let (mut max_threads, mut min_blocks) = (None, None);
    for MetaNameValue { path, value, .. } in arguments {
        let argument = if path.is_ident("max_threads") {
            &mut max_threads
        } else if path.is_ident("min_blocks") {
            &mut min_blocks
        } else {
            return Err(Error::new_spanned(path, FORM));
        };
        if argument.replace(value).is_some() {
            return Err(Error::new_spanned(path, "this argument is given twice"));
        }
    }
    Ok((
        max_threads.ok_or_else(|| Error::new(span, FORM))?,
        min_blocks,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds() {
        let kernel = quote! { unsafe fn k() {} };
        let expanded = expand(
            quote!(max_threads = THREADS, min_blocks = 2),
            kernel.clone(),
        )
        .unwrap();
        let expected = quote! {
            #kernel
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(
                "//!cuda k nvvm.maxntid={},1,1 nvvm.minctasm={}", const THREADS, const 2
            );
        };
        assert_eq!(expanded.to_string(), expected.to_string());
    }

    #[test]
    fn min_blocks_may_be_absent() {
        let expanded = expand(quote!(max_threads = 64), quote! { unsafe fn k() {} }).unwrap();
        assert!(
            expanded
                .to_string()
                .contains("nvvm.maxntid={},1,1\" , const 64"),
            "{expanded}"
        );
        assert!(!expanded.to_string().contains("minctasm"), "{expanded}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for attribute in [
            quote!(),
            quote!(min_blocks = 2),
            quote!(threads = 256),
            quote!(max_threads = 1, max_threads = 2),
            quote!(256),
        ] {
            let text = attribute.to_string();
            assert!(
                expand(attribute, quote! { unsafe fn k() {} }).is_err(),
                "{text}"
            );
        }
    }
}
