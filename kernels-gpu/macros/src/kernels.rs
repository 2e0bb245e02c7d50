//! `kernels!`: the list of entry points and their names. The macro of each family defines its entry points
//! (`kernels_gpu::family_single_pass!` and so on).

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, Token, Type, Visibility, braced};

/// The input of the macro.
struct Kernels {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    families: Vec<Family>,
}

/// `single_pass as name { .. }`
struct Family {
    name: Ident,
    prefix: Option<Ident>,
    rows: Vec<Row>,
}

/// `Sum: f32, f64;`
struct Row {
    op: Type,
    subjects: Vec<Subject>,
}

/// `f32`, `(f32, f32)`, `f32 by u32`
struct Subject {
    items: Type,
    key: Option<Type>,
}

mod keyword {
    syn::custom_keyword!(by);
}

impl Parse for Kernels {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![static]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let mut families = Vec::new();
        while !input.is_empty() {
            families.push(input.parse()?);
        }
        Ok(Self {
            attributes,
            visibility,
            name,
            families,
        })
    }
}

impl Parse for Family {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let prefix = match input.parse::<Option<Token![as]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        let content;
        braced!(content in input);
        let rows = content.parse_terminated(Row::parse, Token![;])?;
        let rows = rows.into_iter().collect();
        Ok(Self { name, prefix, rows })
    }
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let op = input.parse()?;
        input.parse::<Token![:]>()?;
        let subjects = Punctuated::<Subject, Token![,]>::parse_separated_nonempty(input)?;
        let subjects = subjects.into_iter().collect();
        Ok(Self { op, subjects })
    }
}

impl Parse for Subject {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let items = input.parse()?;
        let key = match input.parse::<Option<keyword::by>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { items, key })
    }
}

pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let krate = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    expand_in(item, &krate.replace('-', "_"))
}

/// The expansion in a crate with this name.
fn expand_in(item: TokenStream, krate: &str) -> syn::Result<TokenStream> {
    let Kernels {
        attributes,
        visibility,
        name,
        families,
    } = syn::parse2(item)?;
    let hidden = format_ident!("__entries_of_{}", snake(&name.to_string()));
    let mut entries = TokenStream::new();
    let mut rows = Vec::<Ident>::new();
    for family in &families {
        let of_family = format_ident!("family_{}", family.name);
        for row in &family.rows {
            for Subject { items, key } in &row.subjects {
                let number = rows.len();
                let table = format_ident!("ROWS_{}", rows.len());
                let op = &row.op;
                let by = key.as_ref().map(|key| format!("_by_{}", words(key)));
                let suffix = format!("{}_{}{}", words(op), words(items), by.unwrap_or_default());
                let suffix = Ident::new(&suffix, Span::call_site());
                let prefix = match &family.prefix {
                    Some(prefix) => prefix.to_string(),
                    None => format!("{krate}_{}", family.name),
                };
                let module = format_ident!("{prefix}_{}", words(items));
                let (op_name, items_name) = (words(op), words(items));
                let key_name = key.as_ref().map(words).unwrap_or_default();
                let arrays = arrays(items)?;
                let key = key.iter();
                entries.extend(quote! {
                    ::kernels_gpu::#of_family! {
                        #suffix #module [#op_name #items_name #key_name] [#table #number]
                        [#op] [#items] [#arrays] #([#key])*
                    }
                });
                rows.push(table);
            }
        }
    }
    if rows.is_empty() {
        return Err(Error::new(name.span(), "the list contains no kernels"));
    }
    let table = table(&families);
    Ok(quote! {
        #[doc(hidden)]
        #[allow(
            improper_ctypes_definitions,
            missing_docs,
            unused_imports,
            clippy::missing_safety_doc,
            clippy::too_many_arguments
        )]
        pub mod #hidden {
            use super::*;

            #entries

            /// The rows of each operator and items.
            #[cfg(not(target_arch = "nvptx64"))]
            const TABLES: &[&[::kernels_gpu::entry::Entry]] = &[#(#rows),*];

            #[cfg(not(target_arch = "nvptx64"))]
            pub static SET: ::kernels_gpu::entry::Kernels = ::kernels_gpu::entry::Kernels {
                name: ::core::env!("CARGO_PKG_NAME"),
                entries: &ENTRIES,
            };

            #[cfg(not(target_arch = "nvptx64"))]
            pub static ENTRIES: [
                ::kernels_gpu::entry::Entry;
                ::kernels_gpu::entry::count(TABLES)
            ] = ::kernels_gpu::entry::numbered(TABLES, &SET);
        }

        #(#attributes)*
        #[doc = #table]
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility use #hidden::SET as #name;
    })
}

/// The list as a table for the documentation: one line for each family and operator.
fn table(families: &[Family]) -> String {
    let mut table = String::from("\n\n| family | operator | items |\n|---|---|---|\n");
    let mut lines = Vec::<(String, Vec<String>)>::new();
    for family in families {
        for row in &family.rows {
            let operator = format!("| `{}` | `{}` |", family.name, text(&row.op));
            let items = row.subjects.iter().map(|Subject { items, key }| {
                let by = key.as_ref().map(|key| format!(" by {}", text(key)));
                format!("`{}{}`", text(items), by.unwrap_or_default())
            });
            match lines.iter_mut().find(|(line, _)| *line == operator) {
                Some((_, others)) => others.extend(items),
                None => lines.push((operator, items.collect())),
            }
        }
    }
    for (operator, items) in lines {
        table += &format!("{operator} {} |\n", items.join(", "));
    }
    table
}

/// The source text of a type: `Count<Less<f32>>`.
fn text(ty: &Type) -> String {
    let tokens = ty.to_token_stream().to_string();
    tokens.replace(' ', "").replace(',', ", ")
}

/// The arrays of items: `a: T, b: U` for a pair.
fn arrays(items: &Type) -> syn::Result<TokenStream> {
    let Type::Tuple(tuple) = items else {
        return Ok(quote!(input: #items));
    };
    let names = ["a", "b", "c"].map(|name| Ident::new(name, Span::call_site()));
    if !(2..=names.len()).contains(&tuple.elems.len()) {
        return Err(Error::new_spanned(
            tuple,
            "items must come from one, two or three arrays",
        ));
    }
    let elements = tuple.elems.iter();
    let names = names.iter();
    let arrays = names
        .zip(elements)
        .map(|(name, element)| quote!(#name: #element));
    Ok(quote!(#(#arrays),*))
}

/// A type as a part of a name: `count_less_f32` for `Count<Less<f32>>`, `f32_u8` for `(f32, u8)`.
fn words(ty: &Type) -> String {
    let mut words = Vec::new();
    collect(ty.to_token_stream(), &mut words);
    words.join("_")
}

fn collect(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => words.push(snake(&name.to_string())),
            TokenTree::Literal(number) => words.push(number.to_string()),
            TokenTree::Group(group) => collect(group.stream(), words),
            TokenTree::Punct(_) => {}
        }
    }
}

/// `SumWide` in snake case: `sum_wide`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before_is_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && before_is_lower {
            snake.push('_');
        }
        before_is_lower = c.is_lowercase() || c.is_numeric();
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(ty: TokenStream) -> String {
        words(&syn::parse2(ty).unwrap())
    }

    #[test]
    fn types_become_parts_of_names() {
        assert_eq!(words_of(quote!(SumWide)), "sum_wide");
        assert_eq!(words_of(quote!(Count<Less<f32>>)), "count_less_f32");
        assert_eq!(words_of(quote!((f32, u8))), "f32_u8");
        assert_eq!(words_of(quote!([f32; 4])), "f32_4");
        assert_eq!(words_of(quote!(crate::Mat2)), "crate_mat2");
        assert_eq!(snake("KERNELS"), "kernels");
    }

    #[test]
    fn every_operator_and_item_gets_its_familys_macro() {
        let expanded = expand_in(
            quote! {
                pub static KERNELS:
                single_pass { Sum: f32, (f32, f32); Norm<3>: Complex }
                keyed as cells { Sum: f32 by u32; }
            },
            "mine",
        );
        let text = expanded.unwrap().to_string();
        for part in [
            "family_single_pass ! { sum_f32 mine_single_pass_f32 [\"sum\" \"f32\" \"\"] \
             [ROWS_0 0usize] [Sum] [f32] [input : f32] }",
            "sum_f32_f32 mine_single_pass_f32_f32",
            "[a : f32 , b : f32]",
            "norm_3_complex mine_single_pass_complex",
            "family_keyed ! { sum_f32_by_u32 cells_f32 [\"sum\" \"f32\" \"u32\"] \
             [ROWS_3 3usize] [Sum] [f32] [input : f32] [u32] }",
            "const TABLES : & [& [:: kernels_gpu :: entry :: Entry]] = & [ROWS_0 , ROWS_1 , ROWS_2 , ROWS_3] ;",
        ] {
            let flat = |text: &str| text.split_whitespace().collect::<String>();
            assert!(flat(&text).contains(&flat(part)), "{part} is not in {text}");
        }
    }

    #[test]
    fn the_documentation_has_a_line_for_each_operator() {
        let list = quote! {
            static KERNELS:
            single_pass { Sum: f32, (f32, u8); Count<Less<f32>>: f32 }
            single_pass as other { Sum: f64 }
            keyed { Sum: f32 by u32; }
        };
        let Kernels { families, .. } = syn::parse2(list).unwrap();
        let lines = [
            "| `single_pass` | `Sum` | `f32`, `(f32, u8)`, `f64` |",
            "| `single_pass` | `Count<Less<f32>>` | `f32` |",
            "| `keyed` | `Sum` | `f32 by u32` |\n",
        ];
        assert!(table(&families).ends_with(&lines.join("\n")));
    }

    #[test]
    fn a_list_without_kernels_is_refused() {
        assert!(expand_in(quote!(static KERNELS:), "mine").is_err());
        let four = quote!(static KERNELS: single_pass { Sum: (f32, f32, f32, f32) });
        let error = expand_in(four, "mine").unwrap_err().to_string();
        assert!(error.contains("one, two or three"), "{error}");
    }
}
