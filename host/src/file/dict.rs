//! Parser of the dictionary in a `.npy` file's header, a Python literal.
//!
//! It accepts only the dictionaries of plain arrays, in any order and spacing, such as
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. It has no recursion, so nested brackets
//! cannot overflow the stack, and no backtracking, so it takes linear time.

/// The values of the dictionary.
#[derive(Debug, PartialEq)]
pub(super) struct Dict {
    pub descr: String,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

/// The number of bytes of an unexpected text that an error quotes.
const EXCERPT: usize = 40;

impl Dict {
    /// Parses the header's text; the error is for the field `what` of [`Error::Npy`](crate::Error::Npy).
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let mut rest = Rest(text);
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        rest.expect("{")?;
        while !rest.take("}") {
            let key = rest.string()?;
            rest.expect(":")?;
            let twice = match key.as_str() {
                "descr" => descr.replace(rest.descr()?).is_some(),
                "fortran_order" => fortran_order.replace(rest.boolean()?).is_some(),
                "shape" => shape.replace(rest.shape()?).is_some(),
                _ => {
                    return Err(format!(
                        "unknown key `{}` in the header",
                        key.escape_debug()
                    ));
                }
            };
            if twice {
                return Err(format!("the header has the key `{key}` twice"));
            }
            if !rest.take(",") {
                rest.expect("}")?;
                break;
            }
        }
        if !rest.trimmed().is_empty() {
            return Err(rest.instead_of("the header's end"));
        }
        let missing = |key| move || format!("the header has no key `{key}`");
        Ok(Self {
            descr: descr.ok_or_else(missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(missing("fortran_order"))?,
            shape: shape.ok_or_else(missing("shape"))?,
        })
    }
}

/// The text that has not been parsed yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Skips spaces.
    fn trimmed(&mut self) -> &'a [u8] {
        self.0 = self.0.trim_ascii_start();
        self.0
    }

    /// Skips `token` if it comes next, and returns whether it did.
    fn take(&mut self, token: &str) -> bool {
        let after = self.trimmed().strip_prefix(token.as_bytes());
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.instead_of(&format!("`{token}`"))),
        }
    }

    fn instead_of(&mut self, wanted: &str) -> String {
        let rest = self.trimmed();
        let shown = String::from_utf8_lossy(&rest[..rest.len().min(EXCERPT)]);
        match rest {
            [] => format!("the header ends where {wanted} is expected"),
            _ => format!(
                "the header has `{}` where {wanted} is expected",
                shown.trim_end().escape_debug()
            ),
        }
    }

    /// A string without escapes; no key or type of a plain array has any.
    fn string(&mut self) -> Result<String, String> {
        let text = self.trimmed();
        let Some((quote @ (b'\'' | b'"'), text)) = text.split_first() else {
            return Err(self.instead_of("a string"));
        };
        let end = text.iter().position(|byte| byte == quote || *byte == b'\\');
        match end {
            Some(end) if text[end] == *quote => {
                self.0 = &text[end + 1..];
                Ok(String::from_utf8_lossy(&text[..end]).into_owned())
            }
            _ => Err(self.instead_of("a string without escapes")),
        }
    }

    fn descr(&mut self) -> Result<String, String> {
        match self.trimmed().first() {
            Some(b'[') => Err(self.instead_of("one type (records cannot be reduced)")),
            _ => self.string(),
        }
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.take("True") {
            Ok(true)
        } else if self.take("False") {
            Ok(false)
        } else {
            Err(self.instead_of("`True` or `False`"))
        }
    }

    /// A tuple, or a list, which some writers use. Without its comma, `(3,)` is a number.
    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let close = if self.take("(") {
            ")"
        } else if self.take("[") {
            "]"
        } else {
            return Err(self.instead_of("a shape"));
        };
        let mut shape = vec![];
        while !self.take(close) {
            shape.push(self.dimension()?);
            if self.take(",") {
                continue;
            }
            if close == ")" && shape.len() == 1 {
                return Err(self.instead_of("`,`"));
            }
            self.expect(close)?;
            break;
        }
        Ok(shape)
    }

    fn dimension(&mut self) -> Result<u64, String> {
        let text = self.trimmed();
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let (digits, rest) = text.split_at(digits.count());
        let number = str::from_utf8(digits).ok().and_then(|d| d.parse().ok());
        let number = number.ok_or_else(|| self.instead_of("a dimension of at most 64 bits"))?;
        // Python 2 wrote `3L`.
        self.0 = rest.strip_prefix(b"L").unwrap_or(rest);
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dict(descr: &str, fortran_order: bool, shape: &[u64]) -> Result<Dict, String> {
        Ok(Dict {
            descr: descr.into(),
            fortran_order,
            shape: shape.into(),
        })
    }

    #[test]
    fn dictionaries_written_by_numpy() {
        let parse = |text: &str| Dict::parse(text.as_bytes());
        assert_eq!(
            parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n"),
            dict("<f4", false, &[3, 4])
        );
        assert_eq!(
            parse("{'descr': '|u1', 'fortran_order': True, 'shape': (), }"),
            dict("|u1", true, &[])
        );
    }

    #[test]
    fn dictionaries_written_by_other_programs() {
        let parse = |text: &str| Dict::parse(text.as_bytes());
        assert_eq!(
            parse(
                " {\"shape\":[18446744073709551615L,2],\"fortran_order\":True,\"descr\":\"<i8\"}"
            ),
            dict("<i8", true, &[u64::MAX, 2])
        );
        assert_eq!(
            parse("{'shape': (7L,), 'descr':'<f8','fortran_order' :False}"),
            dict("<f8", false, &[7])
        );
    }

    #[test]
    fn malformed_dictionaries_are_rejected() {
        let rejected = |text: &str, what: &str| {
            let error = Dict::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
            assert!(error.len() < 200, "{error}");
        };
        rejected("", "ends where `{` is expected");
        rejected("{", "ends where a string is expected");
        rejected("{}", "has no key `descr`");
        rejected("{'descr': '<f4'}", "has no key `fortran_order`");
        rejected("{'descr': '<f4', 'descr': '<f4'}", "the key `descr` twice");
        rejected("{'order': 'C'}", "unknown key `order`");
        rejected("{'descr': [('a', '<f4')]}", "records cannot be reduced");
        rejected("{'descr': '<f4}", "a string without escapes");
        rejected("{'descr': '<\\x66'}", "a string without escapes");
        rejected("{'descr': 4}", "`4}` where a string");
        rejected("{'fortran_order': 0}", "`True` or `False`");
        rejected("{'shape': 3}", "a shape");
        rejected("{'shape': (-3,)}", "a dimension");
        rejected("{'shape': (3)}", "`)}` where `,`");
        rejected("{'shape': (3, 4 5)}", "`5)}` where `)`");
        rejected("{'shape': (,)}", "a dimension");
        rejected("{'shape': (18446744073709551616,)}", "64 bits");
        rejected("{'shape': ((3,),)}", "a dimension");
        rejected("{'descr': '<f4', 'shape': ", "ends where a shape");
        let whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}";
        rejected(&format!("{whole}{whole}"), "where the header's end is");
        rejected(&"(".repeat(60_000), "where `{`");
        rejected(&"{".repeat(60_000), "where a string");
        rejected("\u{1b}[31m", "\\u{1b}");
    }
}
