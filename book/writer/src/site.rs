//! The book's folder as mdBook reads it: pages whose links lead to copies of files outside the book.

use crate::pages::Book;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder of the copies, in that of the pages.
const SOURCES: &str = "source";

/// Writes `book.toml` and its style sheet, the pages, the drawings, and every file of the repository that a page links to. Each such file is
/// copied, as text except for pictures, so that a browser shows it.
///
/// # Errors
///
/// If a file cannot be read or written, or a link leads nowhere.
pub fn write(book: &Book, to: &Path) -> Result<()> {
    let pages = to.join("src");
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot empty {}", to.display()))?;
    }
    for file in ["book.toml", "book.css"] {
        copy(&book.root().join("book").join(file), &to.join(file))?;
    }
    for file in book.written()? {
        let path = file.path.strip_prefix(book.folder())?;
        let text = match path.extension().is_some_and(|extension| extension == "md") {
            true => {
                let (text, outside) = linked(&file.text, path);
                for source in outside {
                    copy(&book.root().join(&source), &pages.join(copied(&source)))?;
                }
                text
            }
            false => file.text,
        };
        let target = pages.join(path);
        create_parent(&target)?;
        fs::write(&target, text).with_context(|| format!("cannot write {}", target.display()))?;
    }
    Ok(())
}

fn create_parent(path: &Path) -> Result<()> {
    let parent = path.parent().context("a file is in a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    create_parent(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Where the copy of a file of the repository is, in the folder of the pages.
fn copied(source: &Path) -> PathBuf {
    let mut name = Path::new(SOURCES).join(source).into_os_string();
    if source
        .extension()
        .is_none_or(|extension| extension != "svg")
    {
        name.push(".txt");
    }
    name.into()
}

/// The page with links to copies, and the files outside the book that it links to, from the repository's root.
fn linked(page: &str, path: &Path) -> (String, Vec<PathBuf>) {
    let depth = path.components().count() - 1;
    let folder = Path::new("book/src").join(path.parent().unwrap_or(Path::new("")));
    let (mut text, mut outside) = (String::new(), Vec::new());
    let mut rest = page;
    while let Some(at) = rest.find("](../") {
        let start = at + "](".len();
        let end = rest[start..]
            .find(')')
            .map_or(rest.len(), |end| start + end);
        text += &rest[..start];
        let file = normalised(&folder.join(&rest[start..end]));
        match file.starts_with("book/src") {
            true => text += &rest[start..end],
            false => {
                text += &format!("{}{}", "../".repeat(depth), copied(&file).display());
                outside.push(file);
            }
        }
        rest = &rest[end..];
    }
    (text + rest, outside)
}

/// The path without `..`.
fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_book_lead_to_copies() {
        let page = "[a](../machine.md) [b](../../../docs/order.md) [c](https://a.b) [d](naive.md) ![](../../../e.svg)\n";
        let (text, outside) = linked(page, Path::new("ladder/naive.md"));
        assert_eq!(
            text,
            "[a](../machine.md) [b](../source/docs/order.md.txt) [c](https://a.b) [d](naive.md) ![](../source/e.svg)\n"
        );
        assert_eq!(outside, [Path::new("docs/order.md"), Path::new("e.svg")]);
    }

    #[test]
    fn the_whole_book_is_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let to = tempfile::tempdir().unwrap();
        let to = to.path().join("book");
        write(&Book::new(&root).unwrap(), &to).unwrap();
        for file in [
            "book.toml",
            "src/SUMMARY.md",
            "src/drawings/row.svg",
            "src/source/docs/order.md.txt",
        ] {
            assert!(to.join(file).is_file(), "{file}");
        }
    }
}
