//! `#[kernel]`: checks the signature, and flattens slices on the device.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, Ident, ItemFn, Pat, PatType, ReturnType, Safety, Token, Type};

mod fat;

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let item: ItemFn = syn::parse2(item)?;
    let mut errors = Errors::default();
    let module = module_in(attribute, &mut errors);
    check_signature(&item, &mut errors);

    let mut parameters = TokenStream::new();
    let mut slices = TokenStream::new();
    let mut checks = TokenStream::new();
    for (position, input) in item.sig.inputs.iter().enumerate() {
        let FnArg::Typed(parameter) = input else {
            errors.push(input.span(), "a kernel cannot be a method");
            continue;
        };
        match Slice::of(parameter) {
            Some(slice) => {
                let (flat, rebuilt) = slice.flatten(position);
                parameters.extend(flat);
                slices.extend(rebuilt);
            }
            None => {
                if let Some((span, message)) = fat::find(&parameter.ty) {
                    errors.push(span, message);
                    continue;
                }
                parameters.extend(quote!(#parameter,));
                checks.extend(check_of(&parameter.ty));
            }
        }
    }
    errors.into_result()?;

    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = &item;
    let name = &sig.ident;
    let body = &block.stmts;
    let module = module.map(|module| {
        let line = format!("//!cuda {name} module={module}");
        quote! {
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(#line);
        }
    });
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(no_mangle)]
        #vis unsafe extern "ptx-kernel" fn #name(#parameters) {
            #slices
            #(#body)*
        }

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #vis #sig #block

        #module
        #checks
    })
}

/// `module = name`, or an empty list.
fn module_in(attribute: TokenStream, errors: &mut Errors) -> Option<Ident> {
    if attribute.is_empty() {
        return None;
    }
    let span = attribute.span();
    let argument = |input: ParseStream<'_>| {
        let key: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((key, input.parse::<Ident>()?))
    };
    match argument.parse2(attribute) {
        Ok((key, module)) if key == "module" => Some(module),
        _ => {
            errors.push(
                span,
                "`#[kernel]` takes `module = name` or nothing; see `#[launch_bounds]`",
            );
            None
        }
    }
}

/// Collects all errors, so that one compilation reports all of them.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn push(&mut self, span: Span, message: &str) {
        let error = Error::new(span, message);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

fn check_signature(item: &ItemFn, errors: &mut Errors) {
    let sig = &item.sig;
    if !matches!(sig.safety, Safety::Unsafe(_)) {
        errors.push(
            sig.ident.span(),
            "a kernel must be `unsafe`: a launch cannot check its arguments",
        );
    }
    if let Some(constness) = &sig.constness {
        errors.push(constness.span(), "a kernel cannot be `const`");
    }
    if let Some(asyncness) = &sig.asyncness {
        errors.push(asyncness.span(), "a kernel cannot be `async`");
    }
    if let Some(abi) = &sig.abi {
        errors.push(abi.span(), "remove the ABI: `#[kernel]` sets it");
    }
    if !sig.generics.params.is_empty() || sig.generics.where_clause.is_some() {
        errors.push(
            sig.generics.span(),
            "a kernel cannot be generic, because it is launched by name: call a generic \
             `#[inline(always)]` function from one kernel per type",
        );
    }
    if let Some(variadic) = &sig.variadic {
        errors.push(variadic.span(), "a kernel cannot be variadic");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.push(
            ty.span(),
            "a kernel cannot return a value: write the result through a pointer",
        );
    }
}

/// A parameter of the form `&[T]` or `&mut [T]`.
struct Slice<'a> {
    attributes: &'a [Attribute],
    pattern: &'a Pat,
    ty: &'a Type,
    element: &'a Type,
    mutable: bool,
}

impl<'a> Slice<'a> {
    fn of(parameter: &'a PatType) -> Option<Self> {
        let mut ty = &*parameter.ty;
        // A type from a `macro_rules!` fragment is in an invisible group.
        while let Type::Group(group) = ty {
            ty = &group.elem;
        }
        let Type::Reference(reference) = ty else {
            return None;
        };
        let mut pointee = &*reference.elem;
        while let Type::Group(group) = pointee {
            pointee = &group.elem;
        }
        let Type::Slice(slice) = pointee else {
            return None;
        };
        Some(Slice {
            attributes: &parameter.attrs,
            pattern: &parameter.pat,
            ty: &parameter.ty,
            element: &slice.elem,
            mutable: reference.mutability.is_some(),
        })
    }

    /// The two parameters, and the statement that constructs the slice from them.
    fn flatten(&self, position: usize) -> (TokenStream, TokenStream) {
        let Slice {
            attributes,
            pattern,
            ty,
            element,
            mutable,
        } = self;
        let start = format_ident!("__slice_{position}");
        let len = format_ident!("__slice_{position}_len");
        if *mutable {
            (
                quote!(#(#attributes)* #start: *mut #element, #(#attributes)* #len: usize,),
                quote! {
                    // SAFETY: the launch passes a slice's address and length, as `#[kernel]` requires.
                    let #pattern: #ty = unsafe { ::core::slice::from_raw_parts_mut(#start, #len) };
                },
            )
        } else {
            // A reference to no elements is a thin pointer that LLVM treats as `noalias readonly`, so that
            // loads become `ld.global.nc`.
            (
                quote!(#(#attributes)* #start: &[#element; 0], #(#attributes)* #len: usize,),
                quote! {
                    // SAFETY: the launch passes a slice's address and length, as `#[kernel]` requires.
                    let #pattern: #ty =
                        unsafe { ::core::slice::from_raw_parts(#start.as_ptr(), #len) };
                },
            )
        }
    }
}

/// Checks that need type information: whether the type is `Copy`, and whether an alias hides a slice.
fn check_of(ty: &Type) -> TokenStream {
    quote_spanned! {ty.span()=>
        const _: () = {
            use ::cuda_std::kernel_parameter::{Parameter, Thin as _};
            ::core::assert!(
                !Parameter::<#ty>::IS_FAT,
                "this type is an alias of a slice: write it as `&[T]` or `&mut [T]`"
            );
            ::cuda_std::kernel_parameter::is_copy::<#ty>();
        };
    }
}

#[cfg(test)]
mod tests;
