//! `#[derive(Element)]` and `#[derive(Value)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Index, Member, Type};

/// The fields of a structure, by their names or numbers.
struct Structure {
    input: DeriveInput,
    fields: Vec<(Member, Type)>,
}

impl Structure {
    fn read(item: TokenStream, derived: &str) -> syn::Result<Self> {
        let input: DeriveInput = syn::parse2(item)?;
        let Data::Struct(data) = &input.data else {
            let message = format!("`{derived}` can only be derived for structures");
            return Err(Error::new_spanned(&input.ident, message));
        };
        let fields = data.fields.iter().enumerate().map(|(i, field)| {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(i)),
            };
            (member, field.ty.clone())
        });
        let fields: Vec<_> = fields.collect();
        if !matches!(data.fields, Fields::Unit) && !fields.is_empty() && !is_repr_c(&input)? {
            let message = format!(
                "`{derived}` needs `#[repr(C)]`, so that the fields have the same offsets on the host and on the device"
            );
            return Err(Error::new_spanned(&input.ident, message));
        }
        Ok(Self { input, fields })
    }

    fn refuse_generics(&self, derived: &str) -> syn::Result<()> {
        match self.input.generics.params.is_empty() {
            true => Ok(()),
            false => Err(Error::new_spanned(
                &self.input.generics,
                format!(
                    "`{derived}` cannot be derived for a generic structure, because its padding is unknown"
                ),
            )),
        }
    }
}

fn is_repr_c(input: &DeriveInput) -> syn::Result<bool> {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C");
            if meta.path.is_ident("packed") {
                return Err(meta.error(
                    "a packed structure is not supported, because its fields are not aligned",
                ));
            }
            // `align(16)` has an argument.
            if meta.input.peek(syn::token::Paren) {
                let _: proc_macro2::Group = meta.input.parse()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

pub fn element(item: TokenStream) -> syn::Result<TokenStream> {
    let structure = Structure::read(item, "Element")?;
    structure.refuse_generics("Element")?;
    let name = &structure.input.ident;
    if structure.fields.is_empty() {
        return Err(Error::new_spanned(
            name,
            "an element must have at least one field",
        ));
    }
    let (members, types): (Vec<_>, Vec<_>) = structure.fields.iter().cloned().unzip();
    Ok(quote! {
        // SAFETY: all fields are elements, and therefore plain; the assertion below excludes padding.
        unsafe impl ::kernels_gpu::element::Plain for #name {}

        const _: () = {
            const fn is_element<T: ::kernels_gpu::element::Element>() {}
            #(is_element::<#types>();)*
            ::kernels_gpu::element::assert_no_padding(
                ::core::stringify!(#name),
                ::core::mem::size_of::<#name>(),
                &[#((
                    ::core::stringify!(#members),
                    ::core::mem::offset_of!(#name, #members),
                    ::core::mem::size_of::<#types>(),
                )),*],
            );
        };

        impl ::kernels_gpu::element::Element for #name {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn shuffle(
                self,
                mask: u32,
                from: ::kernels_gpu::element::Shuffle,
            ) -> Self {
                // SAFETY: the caller's contract, for every field: all lanes shuffle every field.
                unsafe {
                    Self {
                        #(#members: ::kernels_gpu::element::Element::shuffle(
                            self.#members, mask, from,
                        ),)*
                    }
                }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn numbers(
                &mut self,
                each: &mut dyn ::core::ops::FnMut(::kernels_gpu::element::NumberMut<'_>),
            ) {
                #(::kernels_gpu::element::Element::numbers(&mut self.#members, each);)*
            }
        }
    })
}

pub fn value(item: TokenStream) -> syn::Result<TokenStream> {
    let structure = Structure::read(item, "Value")?;
    let name = &structure.input.ident;
    let types: Vec<_> = structure.fields.iter().map(|(_, ty)| ty).collect();
    let (impl_generics, ty_generics, where_clause) = structure.input.generics.split_for_impl();
    let predicates = where_clause.map(|clause| &clause.predicates);
    Ok(quote! {
        // SAFETY: `repr(C)` or without fields; the bounds require that all fields are values.
        unsafe impl #impl_generics ::kernels_gpu::op::Value for #name #ty_generics
        where
            #(#types: ::kernels_gpu::op::Value,)*
            #predicates
        {}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(result: syn::Result<TokenStream>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_an_element_is_refused() {
        let text = refused(element(quote!(
            struct A {
                x: f32,
            }
        )));
        assert!(text.contains("needs `#[repr(C)]`"), "{text}");
        let text = refused(element(quote!(
            #[repr(C)]
            struct A<T> {
                x: T,
            }
        )));
        assert!(text.contains("generic"), "{text}");
        let text = refused(element(quote!(
            #[repr(C, packed)]
            struct A {
                x: f32,
            }
        )));
        assert!(text.contains("packed"), "{text}");
        let text = refused(element(quote!(
            enum A {
                X,
            }
        )));
        assert!(text.contains("only be derived for structures"), "{text}");
        let text = refused(element(quote!(
            struct A;
        )));
        assert!(text.contains("at least one field"), "{text}");
        assert!(
            element(quote!(
                #[repr(C, align(16))]
                struct A(f64, f64);
            ))
            .is_ok()
        );
    }

    #[test]
    fn values_need_no_layout_without_fields() {
        assert!(
            value(quote!(
                struct Last;
            ))
            .is_ok()
        );
        let text = refused(value(quote!(
            struct Power {
                p: f32,
            }
        )));
        assert!(text.contains("`Value` needs `#[repr(C)]`"), "{text}");
    }
}
