//! Copies of the kernels' source.

use crate::table::Mutant;
use crate::{read, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The operators and elements for which copies have entries: the bugs are in what is the same for
/// all of them.
pub const ELEMENTS: [(&str, &str); 2] = [("Sum", "i32"), ("Max", "i32")];

/// The key type for which copies have entries that reduce by key.
pub const KEY: &str = "u32";

/// The sizes of elements whose copies are launched: the words of a byte are the most different.
pub const SIZES: [&str; 2] = ["b8", "b32"];

/// The folder that has the tables of entries.
const ENTRY: &str = "entry/";

/// The source of `kernels-gpu`: its files by their paths, relative to `src`, with `/`.
#[derive(Clone)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    pub fn read(src: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![(src.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            let entries = fs::read_dir(&folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            for entry in entries {
                let path = entry.expect("a folder can be read to its end").path();
                let name = path.file_name().expect("it has a name").to_string_lossy();
                let name = format!("{prefix}{name}");
                if path.is_dir() {
                    folders.push((path, name + "/"));
                } else {
                    let text = read(&path);
                    files.insert(name, text);
                }
            }
        }
        let mut tables = files
            .iter_mut()
            .filter(|(path, _)| path.starts_with(ENTRY))
            .peekable();
        assert!(tables.peek().is_some(), "no tables of entries in {ENTRY}");
        for (_, table) in tables {
            *table = narrowed(table);
        }
        Self(files)
    }

    pub fn file(&self, path: &str) -> &str {
        match self.0.get(path) {
            Some(text) => text,
            None => panic!("kernels-gpu has no {path}, into which bugs are to be seeded"),
        }
    }

    pub fn with(&self, path: &str, text: String) -> Self {
        let mut tree = self.clone();
        tree.0.insert(path.to_owned(), text);
        tree
    }

    /// Writes the tree as a module whose path is `module`; gives the module's own file.
    pub fn write(&self, folder: &Path, module: &str) -> PathBuf {
        for (path, text) in &self.0 {
            // Attributes of a crate are none of a module.
            let lines = text.lines().filter(|line| !line.starts_with("#!["));
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            let text = text.replace("crate::", module);
            write(&folder.join(path), &text);
        }
        folder.join("lib.rs")
    }
}

/// A table of reductions with [`ELEMENTS`] and [`KEY`] alone: `[Sum i32, Sum u32, ...] x {`,
/// `[Sum i32 by u32, ...] x {`.
fn narrowed(table: &str) -> String {
    const END: &str = "] x {";
    let mut narrowed = String::new();
    let mut rest = table;
    while let Some(end) = rest.find(END) {
        let start = rest[..end].rfind('[').expect("the list of elements begins") + 1;
        let kept: Vec<&str> = rest[start..end]
            .split(',')
            .map(str::trim)
            .filter(|pair| {
                ELEMENTS.iter().any(|(op, element)| {
                    let kept = format!("{op} {element}");
                    *pair == kept || *pair == format!("{kept} by {KEY}")
                })
            })
            .collect();
        narrowed += &rest[..start];
        narrowed += &kept.join(", ");
        narrowed += END;
        rest = &rest[end + END.len()..];
    }
    narrowed + rest
}

/// The text with the mutant's bug.
pub fn replaced(text: &str, mutant: &Mutant) -> Result<String, String> {
    let found: Vec<_> = text.match_indices(mutant.find).collect();
    if found.len() != mutant.occurrences {
        return Err(format!(
            "the file says it {} times, not {}: {}",
            found.len(),
            mutant.occurrences,
            mutant.find
        ));
    }
    let (at, _) = found[mutant.occurrence - 1];
    let end = at + mutant.find.len();
    Ok(format!("{}{}{}", &text[..at], mutant.replace, &text[end..]))
}
