//! How long it takes to read a page.

/// Words of prose, and lines of code, that a reader takes in a minute, with care.
const WORDS: f64 = 100.0;
const LINES: f64 = 12.0;

/// The time for a page in minutes, rounded up.
pub fn minutes(page: &str) -> u32 {
    let (mut words, mut lines, mut in_code) = (0, 0, false);
    for line in page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            lines += 1;
        } else if !line.starts_with("<!--") {
            words += line
                .split_whitespace()
                .filter(|word| word.contains(char::is_alphanumeric))
                .count();
        }
    }
    (f64::from(words as u32) / WORDS + f64::from(lines) / LINES).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_code_count_apart() {
        let prose = "a word or two | - |\n".repeat(50);
        assert_eq!(minutes(&prose), 2);
        let code = format!(
            "<!-- write a b -->\n```rust\n{}```\n",
            "let x = 1;\n".repeat(24)
        );
        assert_eq!(minutes(&code), 2);
        assert_eq!(minutes(""), 0);
    }
}
