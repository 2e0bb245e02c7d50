//! Copies of the kernels' source.

use crate::entries::Program;
use crate::table::Mutant;
use crate::{read, write};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of entries, for which each copy has its own form.
const ENTRY: &str = "entry";

/// Modules that are never copied: the rows of all copies have one type, and `cuda_sim` executes the
/// instructions.
const SHARED: [&str; 3] = [ENTRY, "needs", "device"];

/// A module that is copied with others, which use its private items.
const TOGETHER: (&str, [&str; 2]) = ("tile", ["segments", "axes"]);

/// The operators of `kernels-sim`, which implement a copy's own traits.
pub const FOREIGN: &str = include_str!("foreign.rs");

/// The source files of `kernels-gpu` by path, relative to `src`, with `/`.
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
        Self(files)
    }

    pub fn file(&self, path: &str) -> &str {
        match self.0.get(path) {
            Some(text) => text,
            None => panic!("kernels-gpu has no {path}, which a mutant changes"),
        }
    }

    pub fn with(&self, path: &str, text: String) -> Self {
        let mut tree = self.clone();
        tree.0.insert(path.to_owned(), text);
        tree
    }

    /// The row of a kernel in the families' macros: `naive::reduce_naive::<T, O>(op, input, output)`.
    pub fn body(&self, kernel: &str) -> String {
        let start = format!(" {kernel} [");
        let mut tables = self.0.iter().filter(|(path, _)| module(path) == ENTRY);
        let row = tables.find_map(|(_, text)| text.split_once(&start));
        let (_, row) = row.unwrap_or_else(|| panic!("no family has the kernel {kernel}"));
        let (_, body) = row
            .split_once(" =")
            .expect("a row has a body after its needs");
        let (body, _) = body.split_once(");\n").expect("a row's body is a call");
        format!("{body})").replace('$', "")
    }

    /// Whether a copy with a bug in the file `changed` has its own form of the module `name`.
    pub fn copies(&self, name: &str, changed: Option<&str>) -> bool {
        let uses = self.uses();
        let sees = |name: &str, changed| name == changed || uses[name].contains(changed);
        let (private, users) = TOGETHER;
        let is_used = |changed| users.iter().any(|user| sees(user, changed));
        let is_copied = |changed| sees(name, changed) || (name == private && is_used(changed));
        !SHARED.contains(&name) && changed.map(module).is_none_or(is_copied)
    }

    /// Writes the files that the programs need, as a module with the path `module`; returns the module's main
    /// file.
    ///
    /// If the file `changed` has a bug, only the modules that depend on it are written; the others are
    /// re-exported from `kernels-gpu`. Without a changed file, the whole crate is written.
    pub fn write(
        &self,
        programs: &[Program],
        changed: Option<&str>,
        folder: &Path,
        path: &str,
    ) -> PathBuf {
        let uses = self.uses();
        let mut used = BTreeSet::new();
        for direct in programs.iter().flat_map(Program::modules) {
            used.insert(*direct);
            used.extend(&uses[direct]);
        }
        used.remove(ENTRY);
        if let Some(changed) = changed {
            let module = module(changed);
            assert!(used.contains(module), "{programs:?} do not use {changed}");
        }

        let mut root = String::from("pub mod entry;\npub use kernels_gpu::{device, needs};\n");
        for name in used {
            if !self.copies(name, changed) {
                root += &self.original(name, folder, path);
                continue;
            }
            root += &format!("pub mod {name};\n");
            for (file, text) in &self.0 {
                if module(file) == name {
                    write(&folder.join(file), &moved(text, path));
                }
            }
        }
        if programs.iter().any(Program::has_foreign) {
            root += "pub mod foreign;\n";
            write(&folder.join("foreign.rs"), FOREIGN);
        }
        let entries = programs.iter().map(|program| program.function(self));
        write(&folder.join("entry.rs"), &entries.collect::<String>());
        let file = folder.join("lib.rs");
        write(&file, &root);
        file
    }

    /// A module that is re-exported from `kernels-gpu`; its private items are copied.
    fn original(&self, name: &str, folder: &Path, path: &str) -> String {
        let text = self.file(&format!("{name}.rs"));
        let mut inner = String::new();
        for item in text
            .lines()
            .filter_map(|l| l.strip_prefix("pub(crate) use "))
        {
            let (file, _) = item.split_once("::").expect("it is of a file");
            inner += &format!("mod {file};\npub(crate) use {item}\n");
            let file = format!("{name}/{file}.rs");
            write(&folder.join(&file), &moved(self.file(&file), path));
        }
        if inner.is_empty() {
            return format!("pub use kernels_gpu::{name};\n");
        }
        format!("pub mod {name} {{\npub use kernels_gpu::{name}::*;\n{inner}}}\n")
    }

    /// For each module of the crate, the modules that it uses directly or indirectly.
    fn uses(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut uses = BTreeMap::<_, BTreeSet<_>>::new();
        for (path, text) in &self.0 {
            // Elements use only the number of lanes from `warp`.
            let can_be_copied = |name: &&str| {
                let file = format!("{name}.rs");
                self.0.contains_key(&file) && !SHARED.contains(name)
            };
            let direct = names_of_modules(text)
                .filter(can_be_copied)
                .filter(|name| (module(path), *name) != ("element", "warp"));
            uses.entry(module(path)).or_default().extend(direct);
        }
        // Two impls of a trait overlap, unless the trait that distinguishes them is in the same crate.
        uses.entry("element").or_default().insert("items");
        loop {
            let before = uses.clone();
            for all in uses.values_mut() {
                for name in all.clone() {
                    all.extend(&before[name]);
                }
            }
            if uses == before {
                return uses;
            }
        }
    }
}

/// The text of a file, with the names that it has in a copy with the path `module`.
fn moved(text: &str, module: &str) -> String {
    text.replace("crate::", module)
        .replace("kernels_gpu_macros::", "kernels_gpu::prelude::")
}

/// The module of a file: `"harris"` for `harris/reduce_0.rs`.
fn module(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The modules that a text uses: `crate::harris::...`.
fn names_of_modules(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
}

/// The text with the mutant's bug.
pub fn replaced(text: &str, mutant: &Mutant) -> Result<String, String> {
    let found: Vec<_> = text.match_indices(mutant.find).collect();
    if found.len() != mutant.occurrences {
        return Err(format!(
            "the text occurs {} times in the file, not {}: {}",
            found.len(),
            mutant.occurrences,
            mutant.find
        ));
    }
    let (at, _) = found[mutant.occurrence - 1];
    let end = at + mutant.find.len();
    Ok(format!("{}{}{}", &text[..at], mutant.replace, &text[end..]))
}
