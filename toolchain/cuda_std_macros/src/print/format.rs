//! The part of Rust's format syntax that C's formats support.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// A piece of a format.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Value(Value),
}

/// The value of a placeholder, and how to print it.
#[derive(Debug, PartialEq, Eq)]
pub struct Value {
    pub place: Place,
    pub kind: Kind,
    /// `Some(true)` for `<`, `Some(false)` for `>`.
    pub left: Option<bool>,
    pub plus: bool,
    pub zeros: bool,
    pub width: u32,
    pub precision: Option<u32>,
}

/// How a placeholder names its value.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    Next,
    Index(usize),
    Name(String),
}

/// The type at the end of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Display,
    Hex,
    UpperHex,
    Octal,
    Exponent,
    UpperExponent,
    Pointer,
}

impl Piece {
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Text(_) => None,
            Self::Value(value) => Some(value),
        }
    }

    /// The longest C conversion of a placeholder in bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len() + text.matches('%').count(),
            Self::Value(value) => {
                let precision = value
                    .precision
                    .map_or(0, |digits| 1 + digits.to_string().len());
                // `%-+0999.99`, then at most `.17g`.
                4 + value.width.to_string().len() + precision + 4
            }
        }
    }
}

impl Value {
    /// The function of `cuda_std::io::format` that takes the values of this kind.
    pub fn hold(&self) -> &'static str {
        match self.kind {
            Kind::Display if self.precision.is_some() => "fixed",
            Kind::Display if self.plus => "signed",
            Kind::Display if self.zeros => "number",
            Kind::Display => "display",
            Kind::Hex => "hex",
            Kind::UpperHex => "upper_hex",
            Kind::Octal => "octal",
            Kind::Exponent => "exponent",
            Kind::UpperExponent => "upper_exponent",
            Kind::Pointer => "pointer",
        }
    }
}

impl ToTokens for Piece {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let option = |value: Option<TokenStream>| match value {
            Some(value) => quote!(::core::option::Option::Some(#value)),
            None => quote!(::core::option::Option::None),
        };
        tokens.extend(match self {
            Self::Text(text) => quote!(::cuda_std::io::format::Piece::Text(#text)),
            Self::Value(value) => {
                let Value {
                    plus, zeros, width, ..
                } = value;
                let left = option(value.left.map(|left| quote!(#left)));
                let precision = option(value.precision.map(|digits| quote!(#digits)));
                quote! {
                    ::cuda_std::io::format::Piece::Value(::cuda_std::io::format::Spec {
                        left: #left,
                        plus: #plus,
                        zeros: #zeros,
                        width: #width,
                        precision: #precision,
                    })
                }
            }
        });
    }
}

/// The limit of a width or a precision.
const MOST: u32 = 999;

/// Splits a format into pieces, or returns an error text.
pub fn parse(format: &str) -> Result<Vec<Piece>, String> {
    if format.contains('\0') {
        return Err("a text to print must not contain the character 0".into());
    }
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
        } else if brace == "}" {
            return Err("a `}` without a matching `{`: write `}}` for the character".into());
        } else {
            let (inside, after) = rest
                .split_once('}')
                .ok_or("a `{` without a matching `}`: write `{{` for the character")?;
            rest = after;
            let (prefix, value) = self::value(inside.trim_end())?;
            text.push_str(prefix);
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Value(value));
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Parses a placeholder: returns its prefix, such as `0x`, and the value.
fn value(inside: &str) -> Result<(&'static str, Value), String> {
    let (place, spec) = match inside.split_once(':') {
        Some((place, spec)) => (place, spec),
        None => (inside, ""),
    };
    let place = match place.trim() {
        "" => Place::Next,
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => Place::Index(
            digits
                .parse()
                .map_err(|_| format!("there is no value {digits}"))?,
        ),
        name if syn::parse_str::<syn::Ident>(name).is_ok() || name == "self" => {
            Place::Name(name.into())
        }
        other => return Err(format!("`{other}` is neither an index nor a name")),
    };
    spec_of(spec, place).map_err(|why| format!("`{{{inside}}}`: {why}"))
}

fn spec_of(spec: &str, place: Place) -> Result<(&'static str, Value), String> {
    let mut rest = spec;
    let mut take = |prefix: char| match rest.strip_prefix(prefix) {
        Some(after) => {
            rest = after;
            true
        }
        None => false,
    };

    let mut characters = spec.chars();
    let (first, second) = (characters.next(), characters.next());
    let is_align = |c: Option<char>| matches!(c, Some('<' | '^' | '>'));
    if is_align(second) {
        match first {
            Some(' ') => take(' '),
            Some(fill) => return Err(format!("a GPU pads with spaces or `0`, not with `{fill}`")),
            None => unreachable!("the second character has a predecessor"),
        };
    }
    let left = match (take('<'), take('>'), take('^')) {
        (true, ..) => Some(true),
        (_, true, _) => Some(false),
        (.., true) => return Err("a GPU aligns left or right, but cannot centre".into()),
        _ => None,
    };
    let plus = take('+');
    if take('-') {
        return Err("the flag `-` has no effect, in Rust and here: remove it".into());
    }
    let alternate = take('#');
    let mut zeros = take('0');
    let mut width = number(&mut rest)?.unwrap_or(0);
    let precision = match rest.strip_prefix('.') {
        Some(after) => {
            rest = after;
            let digits = number(&mut rest)?;
            Some(digits.ok_or("the precision must be a number in the format, as in `{:.3}`")?)
        }
        None => None,
    };
    if rest.contains('$') || rest.contains('*') {
        return Err("width and precision must be numbers in the format".into());
    }
    let kind = match rest {
        "" => Kind::Display,
        "x" => Kind::Hex,
        "X" => Kind::UpperHex,
        "o" => Kind::Octal,
        "e" => Kind::Exponent,
        "E" => Kind::UpperExponent,
        "p" => Kind::Pointer,
        "?" | "#?" => {
            return Err("a GPU does not support `Debug`; print the fields with `{}`".into());
        }
        "b" => return Err("a GPU does not print binary numbers; `{:x}` is hexadecimal".into()),
        other => return Err(format!("a GPU does not support the format `{other}`")),
    };

    let is_exponent = matches!(kind, Kind::Exponent | Kind::UpperExponent);
    if is_exponent && precision.is_none() {
        return Err("an exponent requires a precision, as in `{:.3e}`".into());
    }
    if !is_exponent && kind != Kind::Display && (precision.is_some() || plus) {
        return Err("only decimal numbers can have a precision or a `+`".into());
    }
    let mut prefix = "";
    match kind {
        Kind::Pointer if width != 0 || zeros || left.is_some() => {
            return Err("a pointer cannot have a width; `{:#p}` prints all 16 digits".into());
        }
        Kind::Pointer => {
            prefix = "0x";
            if alternate {
                (zeros, width) = (true, 16);
            }
        }
        // C's `#` has no prefix for 0, so the prefix is text before the digits.
        Kind::Hex | Kind::UpperHex | Kind::Octal if alternate => {
            if width != 0 && !zeros && left != Some(true) {
                return Err("a width with `#` requires `0` or `<`, as in `{:#010x}`".into());
            }
            prefix = if kind == Kind::Octal { "0o" } else { "0x" };
            width = width.saturating_sub(2);
        }
        _ if alternate => return Err("`#` requires `x`, `X`, `o` or `p`".into()),
        _ => {}
    }
    // As in Rust: zeros stand between sign and digits, regardless of the alignment; without a width there are
    // none.
    if width == 0 {
        zeros = false;
    }
    let left = if zeros { None } else { left };
    Ok((
        prefix,
        Value {
            place,
            kind,
            left,
            plus,
            zeros,
            width,
            precision,
        },
    ))
}

/// Parses a number at the start of a specification.
fn number(rest: &mut &str) -> Result<Option<u32>, String> {
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    // `{:1$}` is a width from a value.
    if digits.is_empty() || after.starts_with('$') {
        return Ok(None);
    }
    *rest = after;
    let number = digits.parse().unwrap_or(u32::MAX);
    match number > MOST {
        true => Err(format!("width or precision {digits}; the limit is {MOST}")),
        false => Ok(Some(number)),
    }
}
