//! The text of the error when a structure with `#[derive(Element)]` has padding, made while the crate is compiled.

/// A field of a structure: its name, offset and size.
#[doc(hidden)]
pub type Field = (&'static str, usize, usize);

/// Panics if a structure has padding.
///
/// # Panics
///
/// With the structure's name, its size, and the first padding.
#[doc(hidden)]
#[track_caller]
pub const fn assert_no_padding(name: &str, size: usize, fields: &[Field]) {
    let text = text(name, size, fields);
    if let Some(text) = &text {
        panic!("{}", text.as_str());
    }
}

/// The error text, if there is padding.
const fn text(name: &str, size: usize, fields: &[Field]) -> Option<Text> {
    let mut sum = 0;
    // The first padding: its bytes, and the field before it.
    let (mut gap, mut before) = (0, "");
    let mut i = 0;
    while i < fields.len() {
        let (field, offset, field_size) = fields[i];
        sum += field_size;
        let next = if i + 1 < fields.len() {
            fields[i + 1].1
        } else {
            size
        };
        if gap == 0 {
            (gap, before) = (next - (offset + field_size), field);
        }
        i += 1;
    }
    if gap == 0 {
        return None;
    }
    Some(
        Text::new("an element must not have padding: `")
            .text(name)
            .text("` has ")
            .number(size)
            .text(" bytes, its fields have ")
            .number(sum)
            .text("; ")
            .number(gap)
            .text(" unused after `")
            .text(before)
            .text("`. Order the fields by size, the largest first, or add a field after `")
            .text(before)
            .text("`: `padding: [u8; ")
            .number(gap)
            .text("]`"),
    )
}

/// The maximum bytes of the text; parts that do not fit are left out.
const LONGEST: usize = 512;

/// A text that is built in constant expressions.
struct Text {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Text {
    const fn new(text: &str) -> Self {
        let empty = Self {
            bytes: [0; LONGEST],
            len: 0,
        };
        empty.text(text)
    }

    /// Appends a text, whole or not at all: a part could end within a character.
    const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if text.len() <= LONGEST - self.len {
            let mut i = 0;
            while i < text.len() {
                self.bytes[self.len + i] = text[i];
                i += 1;
            }
            self.len += text.len();
        }
        self
    }

    const fn number(self, number: usize) -> Self {
        let text = if number > 9 {
            self.number(number / 10)
        } else {
            self
        };
        text.text(DIGITS.split_at(number % 10).1.split_at(1).0)
    }

    const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "an element must not have padding",
        }
    }
}

const DIGITS: &str = "0123456789";

#[cfg(test)]
mod tests {
    use super::text;

    fn said(name: &str, size: usize, fields: &[super::Field]) -> Option<std::string::String> {
        text(name, size, fields).map(|text| text.as_str().into())
    }

    #[test]
    fn a_structure_without_padding_is_accepted() {
        assert_eq!(said("A", 8, &[("x", 0, 4), ("y", 4, 4)]), None);
        assert_eq!(said("A", 1, &[("0", 0, 1)]), None);
    }

    #[test]
    fn padding_is_named_with_the_sizes_and_the_field_before_it() {
        let between = said("Größe", 8, &[("small", 0, 1), ("large", 4, 4)]);
        assert_eq!(
            between.unwrap(),
            "an element must not have padding: `Größe` has 8 bytes, its fields have 5; 3 unused after `small`. Order \
             the fields by size, the largest first, or add a field after `small`: `padding: [u8; 3]`"
        );
        let behind = said("A", 128, &[("0", 0, 1), ("1", 1, 100)]).unwrap();
        assert!(
            behind.contains("128 bytes, its fields have 101; 27 unused after `1`"),
            "{behind}"
        );
    }

    #[test]
    fn a_long_name_is_left_out() {
        let long = "x".repeat(super::LONGEST);
        let text = said(&long, 8, &[("small", 0, 1), ("large", 4, 4)]).unwrap();
        assert!(text.contains("`` has 8 bytes"), "{text}");
    }
}
