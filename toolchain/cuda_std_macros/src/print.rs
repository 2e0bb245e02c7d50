//! `print!` and `println!`: split a format in Rust's syntax into pieces. From these, `cuda_std::io::format`
//! builds the C format at compile time, when the types of the values are known.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, ExprLit, Ident, Lit, LitCStr, LitStr, Token};

mod format;
#[cfg(test)]
mod tests;

use format::{Piece, Place, Value};

/// The limit of values for the driver's `vprintf`: CUDA Programming Guide, formatted output, limitations.
const VALUES: usize = 32;

pub fn expand(input: TokenStream, newline: bool) -> syn::Result<TokenStream> {
    let Input { format, arguments } = match syn::parse2(input.clone()) {
        // `println!()`.
        Err(_) if input.is_empty() && newline => Input {
            format: LitStr::new("", Span::call_site()),
            arguments: Vec::new(),
        },
        parsed => parsed?,
    };
    let mut text = format.value();
    if newline {
        text.push('\n');
    }
    let pieces = format::parse(&text).map_err(|message| Error::new(format.span(), message))?;
    let (expressions, values) = resolve(&format, arguments, &pieces)?;
    if values.len() > VALUES {
        let message = format!("{} values; the limit is {VALUES} in one call", values.len());
        return Err(Error::new(format.span(), message));
    }

    let length = 1 + pieces.iter().map(Piece::length).sum::<usize>();
    let references: Vec<_> = (0..expressions.len())
        .map(|i| format_ident!("r{i}"))
        .collect();
    let held: Vec<_> = (0..values.len()).map(|i| format_ident!("h{i}")).collect();
    let holds = values.iter().map(|(value, expression)| {
        let (hold, reference) = (format_ident!("{}", value.hold()), &references[*expression]);
        quote!(::cuda_std::io::format::#hold(#reference))
    });
    let list = held.iter().rev().fold(
        quote!(::cuda_std::io::format::Nil),
        |rest, held| quote!(::cuda_std::io::format::List(#held.argument(), #rest)),
    );
    // Outside the block with the type, so that the expressions cannot refer to that type's name.
    Ok(quote! {
        match (#(&(#expressions),)*) {
            (#(#references,)*) => {
                struct __CudaStdFormat;
                impl ::cuda_std::io::format::Format for __CudaStdFormat {
                    const PIECES: &'static [::cuda_std::io::format::Piece] = &[#(#pieces),*];
                }
                match (#(#holds,)*) {
                    (#(#held,)*) => {
                        ::cuda_std::io::format::write::<__CudaStdFormat, _, #length>(#list)
                    }
                }
            }
        }
    })
}

struct Input {
    format: LitStr,
    arguments: Vec<Argument>,
}

struct Argument {
    name: Option<Ident>,
    value: Expr,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input
            .parse()
            .map_err(|error| Error::new(error.span(), "the format must be a string literal"))?;
        let mut arguments = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let is_named = input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = match is_named {
                true => {
                    let name = input.parse()?;
                    input.parse::<Token![=]>()?;
                    Some(name)
                }
                false => None,
            };
            let value = input.parse()?;
            arguments.push(Argument { name, value });
        }
        Ok(Self { format, arguments })
    }
}

/// The expressions and the values of a call.
type Resolved<'p> = (Vec<Expr>, Vec<(&'p Value, usize)>);

/// The expressions, each evaluated once; and the values in the order of printing, each with the index of its
/// expression.
fn resolve<'p>(
    format: &LitStr,
    arguments: Vec<Argument>,
    pieces: &'p [Piece],
) -> syn::Result<Resolved<'p>> {
    let mut expressions = Vec::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    for (i, Argument { name, value }) in arguments.into_iter().enumerate() {
        match name {
            Some(name) if names.iter().any(|(known, _)| name == known) => {
                return Err(Error::new(name.span(), "this name is given twice"));
            }
            Some(name) => names.push((name.to_string(), i)),
            None if !names.is_empty() => {
                let message = "values without a name must precede those with a name";
                return Err(Error::new_spanned(value, message));
            }
            None => {}
        }
        expressions.push(literal(value)?);
    }
    let given = expressions.len();
    let positional = given - names.len();
    let mut used = vec![false; given];
    let mut values = Vec::new();
    let mut next = 0;
    for value in pieces.iter().filter_map(Piece::value) {
        let index = match &value.place {
            Place::Next => {
                next += 1;
                next - 1
            }
            Place::Index(index) => *index,
            Place::Name(name) => match names.iter().find(|(known, _)| known == name) {
                Some(&(_, index)) => index,
                None => {
                    let ident = Ident::new(name, format.span());
                    expressions.push(syn::parse_quote!(#ident));
                    names.push((name.clone(), expressions.len() - 1));
                    expressions.len() - 1
                }
            },
        };
        // As in Rust, an index may refer to a value with a name.
        if !matches!(value.place, Place::Name(_)) && index >= given {
            let message = format!(
                "there is no value {index}: the call has {positional} values without a name"
            );
            return Err(Error::new(format.span(), message));
        }
        if let Some(used) = used.get_mut(index) {
            *used = true;
        }
        values.push((value, index));
    }
    if let Some(unused) = used.iter().position(|used| !used) {
        let message = "the format does not use this value";
        return Err(Error::new_spanned(&expressions[unused], message));
    }
    Ok((expressions, values))
}

/// Converts a string literal to a C string literal, because the driver requires a terminating zero.
fn literal(expression: Expr) -> syn::Result<Expr> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &expression
    else {
        return Ok(expression);
    };
    let terminated = std::ffi::CString::new(text.value()).map_err(|_| {
        Error::new(
            text.span(),
            "a text to print must not contain the character 0",
        )
    })?;
    let text = LitCStr::new(&terminated, text.span());
    Ok(syn::parse_quote!(#text))
}
