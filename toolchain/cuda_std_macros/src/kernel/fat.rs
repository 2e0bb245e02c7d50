//! Finds fat pointers among parameters: they have two words, but the host passes one.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};

/// The first part of `ty` that cannot be a kernel parameter, and why.
pub fn find(ty: &Type) -> Option<(Span, &'static str)> {
    let refuse = |message| Some((ty.span(), message));
    match ty {
        Type::Group(group) => find(&group.elem),
        Type::Paren(paren) => find(&paren.elem),
        Type::Reference(reference) => match unsized_kind(&reference.elem) {
            Some(Unsized::Slice) => refuse(
                "a slice inside another type cannot be flattened: \
                 make it a separate parameter, `&[T]` or `&mut [T]`",
            ),
            Some(Unsized::Str) => {
                refuse("a kernel cannot take a `&str`: pass its bytes as `&[u8]`")
            }
            Some(Unsized::Dyn) => {
                refuse("a kernel cannot take a trait object: host and device do not share vtables")
            }
            None if reference.mutability.is_some() => refuse(
                "every thread would hold the same exclusive reference: take a `*mut` pointer",
            ),
            None => find(&reference.elem),
        },
        Type::Ptr(pointer) => match unsized_kind(&pointer.elem) {
            Some(_) => {
                refuse("a kernel cannot take a fat pointer: pass a thin pointer and a length")
            }
            None => find(&pointer.elem),
        },
        Type::Slice(_) => refuse("pass a slice by reference: `&[T]` or `&mut [T]`"),
        Type::ImplTrait(_) => refuse("a kernel cannot be generic: write the concrete type"),
        Type::TraitObject(_) => {
            refuse("a kernel cannot take a trait object: host and device do not share vtables")
        }
        Type::Array(array) => find(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(find),
        Type::Path(path) => {
            path.path
                .segments
                .iter()
                .find_map(|segment| match &segment.arguments {
                    PathArguments::AngleBracketed(arguments) => {
                        arguments.args.iter().find_map(|argument| match argument {
                            GenericArgument::Type(ty) => find(ty),
                            _ => None,
                        })
                    }
                    _ => None,
                })
        }
        _ => None,
    }
}

enum Unsized {
    Slice,
    Str,
    Dyn,
}

fn unsized_kind(ty: &Type) -> Option<Unsized> {
    match ty {
        Type::Group(group) => unsized_kind(&group.elem),
        Type::Paren(paren) => unsized_kind(&paren.elem),
        Type::Slice(_) => Some(Unsized::Slice),
        Type::TraitObject(_) => Some(Unsized::Dyn),
        Type::Path(path) if path.path.is_ident("str") => Some(Unsized::Str),
        _ => None,
    }
}
