//! The parts of a page that are written: between `<!-- write WHAT -->` and `<!-- end -->`.

use anyhow::{Context, Result, bail};

const BEGIN: &str = "<!-- write ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// The page with every part written again. `write` gets the words of WHAT.
///
/// A part on lines of its own is a block. A part within a line is a phrase; it may not begin a line, because Markdown
/// then takes the whole line for HTML.
///
/// # Errors
///
/// An error of `write`, or a part without an end; both with the line's number.
pub fn rewrite(page: &str, write: impl Fn(&[&str]) -> Result<String>) -> Result<String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let line = || page[..page.len() - rest.len() + at].matches('\n').count() + 1;
        let in_line = || format!("line {}", line());
        let before = &rest[..at];
        let (what, after) = rest[at + BEGIN.len()..]
            .split_once(CLOSE)
            .with_context(|| format!("line {}: a comment without an end", line()))?;
        let Some((old, next)) = after.split_once(END) else {
            bail!("line {}: `{what}` has no `{END}`", line());
        };
        if old.contains(BEGIN) {
            bail!(
                "line {}: `{what}` has no `{END}` before the next part",
                line()
            );
        }
        let words: Vec<_> = what.split_whitespace().collect();
        let text = write(&words).with_context(in_line)?;
        let begins_line = before.is_empty() || before.ends_with('\n');
        let text = match (begins_line, old.starts_with('\n')) {
            (true, true) => format!("\n{}\n", text.trim_end()),
            (false, false) => text,
            _ => bail!(
                "line {}: `{what}` must have lines of its own, or stand within a line",
                line()
            ),
        };
        out += &format!("{before}{BEGIN}{what}{CLOSE}{text}{END}");
        rest = next;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(words: &[&str]) -> Result<String> {
        match words {
            ["bad"] => bail!("no such thing"),
            words => Ok(words.join("+").to_uppercase()),
        }
    }

    #[test]
    fn blocks_and_phrases_are_written() {
        let page =
            "a\n\n<!-- write b c -->\nold\n<!-- end -->\n\nIt is <!-- write d -->1<!-- end -->.\n";
        let written = rewrite(page, shout).unwrap();
        assert_eq!(
            written,
            "a\n\n<!-- write b c -->\nB+C\n<!-- end -->\n\nIt is <!-- write d -->D<!-- end -->.\n"
        );
        assert_eq!(rewrite(&written, shout).unwrap(), written);
        assert_eq!(rewrite("no parts\n", shout).unwrap(), "no parts\n");
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        for (page, why) in [
            ("a\n<!-- write b -->\n", "line 2: `b` has no `<!-- end -->`"),
            (
                "<!-- write b -->1<!-- end -->\n",
                "line 1: `b` must have lines of its own",
            ),
            (
                "<!-- write b -->\n<!-- write c -->\n<!-- end -->",
                "before the next part",
            ),
            (
                "\n\n a <!-- write bad -->1<!-- end -->\n",
                "line 3: no such thing",
            ),
        ] {
            let error = format!("{:#}", rewrite(page, shout).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }
}
