//! Parts of source files: an item by its name.

use anyhow::{Context, Result, bail};

/// What may stand before an item's name.
const KEYWORDS: [&str; 5] = ["fn", "struct", "const", "trait", "mod"];

/// Attributes that are a part of a listing.
const SHOWN: [&str; 4] = ["#[kernel", "#[launch_bounds", "#[derive", "#[repr"];

/// The source of the item `name`, not indented, without its documentation and with those attributes that a reader must see. `impl:Name` is an implementation for
/// a type.
///
/// # Errors
///
/// If the source has no such item, or its braces do not match.
pub fn item(source: &str, name: &str) -> Result<String> {
    let lines: Vec<_> = source.lines().collect();
    let first = lines
        .iter()
        .position(|line| is_start(line, name))
        .with_context(|| format!("there is no item `{name}`"))?;
    let indent = lines[first].len() - lines[first].trim_start().len();
    let (mut depth, mut opened) = (0_i32, false);
    let before = lines[..first].iter().rev().map(|line| line.trim_start());
    let attributes = before.take_while(|line| line.starts_with("#["));
    let shown = attributes.filter(|line| SHOWN.iter().any(|name| line.starts_with(name)));
    let mut text: String = shown.map(|line| format!("{line}\n")).collect();
    for line in &lines[first..] {
        let code = line.split("//").next().unwrap_or(line);
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        opened |= code.contains('{');
        text += line.get(indent..).unwrap_or("").trim_end();
        text.push('\n');
        if (opened && depth == 0) || (!opened && code.trim_end().ends_with(';')) {
            return Ok(text);
        }
    }
    bail!("the item `{name}` has no end")
}

/// Whether the line begins the item: `pub unsafe fn name(`, `const NAME: `, `impl Op<f32> for Name {`.
fn is_start(line: &str, name: &str) -> bool {
    let words: Vec<_> = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let code = line.trim_start();
    if code.starts_with("//") {
        return false;
    }
    if let Some(name) = name.strip_prefix("impl:") {
        return words.first() == Some(&"impl") && words.last() == Some(&name);
    }
    match words.iter().position(|word| KEYWORDS.contains(word)) {
        Some(at) => {
            let before = ["pub", "unsafe", "crate", "super", "in", "const"];
            words.get(at + 1) == Some(&name) && words[..at].iter().all(|word| before.contains(word))
        }
        None => false,
    }
}

/// The lines of a list from the first with `from` on.
///
/// # Errors
///
/// If there is no such line, or there are fewer lines.
pub fn lines_from<'a>(list: &[&'a str], from: &str, count: usize) -> Result<Vec<&'a str>> {
    let first = list
        .iter()
        .position(|line| line.contains(from))
        .with_context(|| format!("no line has `{from}`"))?;
    let lines = list.get(first..first + count);
    Ok(lines
        .with_context(|| format!("there are no {count} lines from `{from}` on"))?
        .to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
/// Not fn second.
#[inline]
pub unsafe fn first<T>(
    x: T,
) {
    if x { // }
        y();
    }
}

/// An entry.
#[inline]
#[kernel(module = a)]
pub fn entry() {}

mod inner {
    const LIMIT: u32 = 3;

    impl Op<f32> for Second {
        fn second() {}
    }
}
";

    #[test]
    fn an_item_ends_with_its_last_brace() {
        let first = item(SOURCE, "first").unwrap();
        assert!(first.starts_with("pub unsafe fn first<T>(\n"), "{first}");
        assert!(first.ends_with("        y();\n    }\n}\n"), "{first}");
        let entry = "#[kernel(module = a)]\npub fn entry() {}\n";
        assert_eq!(item(SOURCE, "entry").unwrap(), entry);
        assert_eq!(item(SOURCE, "LIMIT").unwrap(), "const LIMIT: u32 = 3;\n");
        assert_eq!(item(SOURCE, "second").unwrap(), "fn second() {}\n");
        let second = "impl Op<f32> for Second {\n    fn second() {}\n}\n";
        assert_eq!(item(SOURCE, "impl:Second").unwrap(), second);
        assert!(
            item(SOURCE, "third")
                .unwrap_err()
                .to_string()
                .contains("no item `third`")
        );
        assert!(
            item("fn a() {", "a")
                .unwrap_err()
                .to_string()
                .contains("no end")
        );
    }

    #[test]
    fn lines_are_counted_from_a_text() {
        let list = ["a", "b", "c"];
        assert_eq!(lines_from(&list, "b", 2).unwrap(), ["b", "c"]);
        assert!(lines_from(&list, "b", 3).is_err());
        assert!(lines_from(&list, "d", 1).is_err());
    }
}
