//! The pages and pictures of the book.

use crate::records::{Records, SASS};
use crate::tables::short;
use crate::{directive, listing, loops, post, ranks, reading, simulated, tables};
use anyhow::{Context, Result, bail};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The tables that name their records, with the links' texts.
const TITLES: &[(&str, &[(&str, &str)])] = &[
    (
        "rung",
        &[
            ("Times on an H200, 2026-11-23", "ladder"),
            ("Nsight Compute, 2026-11-22", "nsight"),
        ],
    ),
    (
        "in-flight",
        &[
            ("Times on an H200, 2026-11-23", "ladder"),
            ("Nsight Compute, 2026-11-22", "nsight"),
        ],
    ),
    ("durations", &[("Nsight Compute, 2026-11-22", "nsight")]),
];

/// A file of the book as it must be.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The book of a repository.
#[derive(Debug)]
pub struct Book {
    root: PathBuf,
    records: Records,
    /// The drawings that the pages show.
    drawings: RefCell<BTreeMap<String, String>>,
}

impl Book {
    /// The book of the repository at `root`.
    ///
    /// # Errors
    ///
    /// If there is no book.
    pub fn new(root: &Path) -> Result<Self> {
        let root = root
            .canonicalize()
            .with_context(|| format!("cannot read {}", root.display()))?;
        Ok(Self {
            records: Records::new(&root),
            root,
            drawings: RefCell::default(),
        })
    }

    /// The repository's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the pages.
    pub fn folder(&self) -> PathBuf {
        self.root.join("book/src")
    }

    /// The paths of the pages.
    ///
    /// # Errors
    ///
    /// If a folder cannot be read.
    pub fn pages(&self) -> Result<Vec<PathBuf>> {
        let mut pages = Vec::new();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            let context = || format!("cannot read {}", folder.display());
            for entry in fs::read_dir(&folder).with_context(context)? {
                let path = entry.with_context(context)?.path();
                match path.extension().and_then(|extension| extension.to_str()) {
                    Some("md") => pages.push(path),
                    None if path.is_dir() => folders.push(path),
                    _ => {}
                }
            }
        }
        pages.sort();
        Ok(pages)
    }

    /// All pages and drawings as they must be.
    ///
    /// # Errors
    ///
    /// The first part that cannot be written, with its page and line.
    pub fn written(&self) -> Result<Vec<Written>> {
        let mut files = Vec::new();
        for path in self.pages()? {
            let name = || path.display().to_string();
            let page = fs::read_to_string(&path).with_context(name)?;
            let folder = path.parent().context("a page is in a folder")?;
            let depth = folder.strip_prefix(self.folder())?.components().count();
            let text =
                directive::rewrite(&page, |words| self.write(words, depth)).with_context(name)?;
            files.push(Written { path, text });
        }
        for (name, text) in self.drawings.borrow().iter() {
            files.push(Written {
                path: self.folder().join("drawings").join(format!("{name}.svg")),
                text: text.clone(),
            });
        }
        Ok(files)
    }

    /// A link to a record.
    fn record(&self, up: &str, title: &str, file: &str) -> String {
        format!("[{title}](../../{up}benches/records/{file}).")
    }

    /// A link to a drawing, which is written too.
    fn drawing(&self, up: &str, name: &str, svg: String, summary: &str) -> String {
        self.drawings.borrow_mut().insert(name.to_owned(), svg);
        format!("![{summary}]({up}drawings/{name}.svg)")
    }

    /// The part for these words, in a page this many folders below the book's.
    fn write(&self, words: &[&str], depth: usize) -> Result<String> {
        let up = "../".repeat(depth);
        match words {
            ["item", file, name] => {
                let path = self.root.join(file);
                let source =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
                let item = listing::item(&source, name).with_context(|| (*file).to_owned())?;
                Ok(format!(
                    "```rust,ignore\n{item}```\n\nFrom [{file}](../../{up}{file})."
                ))
            }
            ["sass", entry, from, count] => {
                let code = self.records.sass(entry)?;
                let code: Vec<_> = code.iter().map(String::as_str).collect();
                let lines = listing::lines_from(&code, from, count.parse()?)?;
                let of = self.record(up.as_str(), "From a record", SASS);
                Ok(format!("```text\n{}\n```\n\n{of}", lines.join("\n")))
            }
            ["ptx", entry, from, count] => {
                let file = format!("book/ptx/{entry}.ptx");
                let text = fs::read_to_string(self.root.join(&file))
                    .with_context(|| format!("cannot read {file}"))?;
                // LLVM marks inline assembly by comments.
                let code: Vec<_> = text
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"))
                    .collect();
                let lines = listing::lines_from(&code, from, count.parse()?)?;
                Ok(format!(
                    "```text\n{}\n```\n\nFrom [{file}](../../{up}{file}).",
                    lines.join("\n").replace('\t', "    ")
                ))
            }
            ["drawing", name] => {
                let request = simulated::drawing(name)?;
                Ok(self.drawing(&up, name, request.to_svg(), &request.summary()))
            }
            ["ranks", "drawing"] => {
                Ok(self.drawing(&up, "ranks", ranks::drawing(), ranks::SUMMARY))
            }
            ["ranks", "bits"] => ranks::bits(),
            ["bits"] => simulated::bits(),
            ["copies"] => simulated::copies(),
            ["loops"] => loops::table(&self.root),
            ["finding", name] => Ok(format!("```text\n{}\n```", simulated::finding(name)?)),
            ["counts", rungs @ ..] => simulated::counts(rungs),
            ["figure", record, row, column @ ..] => {
                let table = self.records.table(record)?;
                Ok(table.cell(row, &column.join(" "))?.to_owned())
            }
            ["ms", record, row, column @ ..] => {
                let table = self.records.table(record)?;
                Ok(short(table.number(row, &column.join(" "))? / 1000.0))
            }
            ["ratio", record, over, under, column @ ..] => {
                let (table, column) = (self.records.table(record)?, column.join(" "));
                let quotient = table.number(over, &column)? / table.number(under, &column)?;
                Ok(format!("{quotient:.1}"))
            }
            ["post", kernel, "memory"] => {
                let row = post::DURATIONS.iter().find(|row| row.kernel == *kernel);
                let row = row.with_context(|| format!("the post has no row `{kernel}`"))?;
                Ok(format!("{:.2} %", row.memory))
            }
            ["minutes", pages @ ..] => {
                let mut minutes = 0;
                for page in pages {
                    minutes += reading::minutes(&fs::read_to_string(self.folder().join(page))?);
                }
                Ok(minutes.to_string())
            }
            ["puzzles"] => {
                let folder = self.root.join("book/puzzles/exercises");
                Ok(fs::read_dir(folder)?.count().to_string())
            }
            ["table", words @ ..] => {
                let mut text = tables::table(&self.records, words)?;
                for (name, titles) in TITLES {
                    if words[0] == *name {
                        text.push('\n');
                        for (title, table) in *titles {
                            let file = self.records.table(table)?.file();
                            text += &(self.record(&up, title, file) + "\n");
                        }
                    }
                }
                Ok(text)
            }
            _ => bail!("nothing is written for `{}`", words.join(" ")),
        }
    }
}
