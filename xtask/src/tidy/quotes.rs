//! Code blocks of pages must be up to date. If the first line is `// path/to/file.rs`, relative to the page,
//! the file must contain the other lines as one piece. Comments and empty lines may differ.

use std::path::Path;

/// The blocks of a page in this folder that the named file does not contain, with line numbers.
pub fn changed(folder: &Path, page: &str) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    for (line, block) in blocks(page) {
        let (first, quoted) = block.split_once('\n').unwrap_or((&block, ""));
        let file = first
            .strip_prefix("// ")
            .filter(|file| file.ends_with(".rs"));
        let Some(file) = file else { continue };
        match std::fs::read_to_string(folder.join(file)) {
            Ok(text) if has(&code(&text), &code(quoted)) => {}
            Ok(_) => wrong.push((line, format!("{file} does not contain this code"))),
            Err(error) => wrong.push((line, format!("{file}: {error}"))),
        }
    }
    wrong
}

/// The lines of a file or a block, without comments and empty lines.
fn code(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty() && !line.trim_start().starts_with("//"))
        .collect()
}

/// Whether `file` contains `quoted` as one piece; false if `quoted` is empty.
fn has(file: &[&str], quoted: &[&str]) -> bool {
    !quoted.is_empty() && file.windows(quoted.len()).any(|lines| lines == quoted)
}

/// The fenced blocks of Rust, with the line numbers of their fences.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in page.lines().enumerate() {
        match &mut open {
            Some((_, block)) if !line.starts_with("```") => *block += &format!("{line}\n"),
            Some(_) => blocks.extend(open.take()),
            None if line.starts_with("```rust") => open = Some((index + 1, String::new())),
            None => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_code_must_be_in_its_file() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.rs"), "fn a() {}\n\nfn b() {}\n").unwrap();
        let wrong =
            |code: &str| changed(root.path(), &format!("text\n```rust,ignore\n{code}```\n"));
        assert!(wrong("// a.rs\nfn b() {}\n").is_empty());
        assert!(wrong("fn c() {}\n").is_empty());
        assert_eq!(wrong("// a.rs\nfn c() {}\n")[0].0, 2);
        assert!(wrong("// b.rs\nfn b() {}\n")[0].1.starts_with("b.rs: "));
        assert_eq!(wrong("// a.rs\n").len(), 1);
    }
}
