//! Copies of the kernels' source.

use crate::table::Mutant;
use crate::{read, write};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The operators and elements for which copies have entries: the bugs are in what is the same for
/// all of them.
const ELEMENTS: [(&str, &str); 2] = [("Sum", "i32"), ("Max", "i32")];

/// Those of single passes: a partial of more than one word, too, two arrays, and a predicate.
const SINGLE_PASSES: [(&str, &str); 5] = [
    ("Sum", "i32"),
    ("Max", "i32"),
    ("SumWide", "i32"),
    ("Dot", "i32"),
    ("Less", "i32"),
];

/// The key type for which copies have entries that reduce by key.
const KEY: &str = "u32";

/// The sizes of elements whose copies are launched: the words of a byte are the most different.
const SIZES: [&str; 2] = ["b8", "b32"];

/// The module that has the tables of entries, a file for each family, and their macros.
const ENTRY: &str = "entry";
const MACROS: &str = "entry/product.rs";

/// The operators and elements for which copies of a family have entries.
fn elements(family: &str) -> &'static [(&'static str, &'static str)] {
    match family {
        "single_pass" => &SINGLE_PASSES,
        _ => &ELEMENTS,
    }
}

/// What stands behind the kernel's name in the names of a copy's entries, where there are such entries.
pub fn endings(kernel: &str, family: &str) -> Vec<String> {
    let pairs = elements(family).iter();
    let pairs = pairs.map(|(op, element)| format!("{}_{element}", crate::snake(op)));
    match (kernel, family) {
        (_, "copy") => SIZES.map(str::to_owned).to_vec(),
        (_, "keyed") => pairs.map(|pair| format!("{pair}_by_{KEY}")).collect(),
        ("single_pass_dot", _) => vec!["i32".into()],
        ("single_pass", _) => pairs.filter(|pair| !pair.starts_with("dot")).collect(),
        _ => pairs.collect(),
    }
}

/// What a row of a table says to the host, which is not copied: rows of all copies are of one type.
const NEEDS: &str = "needs";

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

    /// The family whose table has the kernel: `"ladder"`.
    pub fn family(&self, kernel: &str) -> &str {
        let (row, plain_row) = (format!("{kernel} ["), format!("{kernel};"));
        let list = format!("{kernel}: [");
        let pasted = format!("[<{kernel}_ ");
        let has = |line: &str| {
            let line = line.trim();
            line.starts_with(&row) || line == plain_row || line == list || line.contains(&pasted)
        };
        let mut tables = self.0.iter().filter(|(path, _)| module(path) == ENTRY);
        let table = tables.find(|(_, text)| text.lines().any(has));
        let (path, _) = table.unwrap_or_else(|| panic!("no table has the kernel {kernel}"));
        crate::stem(path)
    }

    /// Writes what the kernels need to be launched, as a module whose path is `module`; gives the
    /// module's own file.
    ///
    /// Only what the bug in the file `changed` can be seen from is written, the whole crate's
    /// modules that use it; the others are `kernels-gpu`'s own. Without such a file all of it is.
    pub fn write(
        &self,
        kernels: &[&str],
        changed: Option<&str>,
        folder: &Path,
        path: &str,
    ) -> PathBuf {
        let families: BTreeSet<&str> = kernels.iter().map(|k| self.family(k)).collect();
        let uses = self.uses();
        let mut used = BTreeSet::new();
        for family in &families {
            for direct in names_of_modules(self.file(&format!("{ENTRY}/{family}.rs"))) {
                used.insert(direct);
                used.extend(&uses[direct]);
            }
        }
        used.remove(ENTRY);
        let is_copied = |name: &str| {
            let sees = |changed| name == changed || uses[name].contains(changed);
            name != NEEDS && changed.map(module).is_none_or(sees)
        };
        if let Some(changed) = changed {
            assert!(
                used.contains(module(changed)),
                "{kernels:?} do not run {changed}"
            );
        }

        let mut root = String::from("pub mod entry;\n");
        for name in used {
            if !is_copied(name) {
                root += &self.original(name, folder, path);
                continue;
            }
            root += &format!("pub mod {name};\n");
            for (file, text) in &self.0 {
                if module(file) == name {
                    write(&folder.join(file), &text.replace("crate::", path));
                }
            }
        }
        let mut entry = String::from("#[macro_use] mod product;\npub use kernels_gpu::entry::*;\n");
        write(
            &folder.join(MACROS),
            &self.file(MACROS).replace("crate::", path),
        );
        for family in families {
            entry += &format!("pub mod {family};\n");
            let file = format!("{ENTRY}/{family}.rs");
            let table = narrowed(self.file(&file), kernels, elements(family));
            write(&folder.join(file), &table.replace("crate::", path));
        }
        write(&folder.join("entry.rs"), &entry);
        let file = folder.join("lib.rs");
        write(&file, &root);
        file
    }

    /// A module that is `kernels-gpu`'s own. What it has for its crate alone is copied.
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
            write(
                &folder.join(&file),
                &self.file(&file).replace("crate::", path),
            );
        }
        if inner.is_empty() {
            return format!("pub use kernels_gpu::{name};\n");
        }
        format!("pub mod {name} {{\npub use kernels_gpu::{name}::*;\n{inner}}}\n")
    }

    /// For each module of the crate those that it uses, whether itself or through others.
    fn uses(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut uses = BTreeMap::<_, BTreeSet<_>>::new();
        for (path, text) in &self.0 {
            let direct = names_of_modules(text).filter(|name| *name != ENTRY);
            uses.entry(module(path)).or_default().extend(direct);
        }
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

/// The module of the crate that a file belongs to: `"harris"` for `harris/reduce_0.rs`.
fn module(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The modules of the crate that a text speaks of: `crate::harris::...`. In comments, too, which does
/// no harm.
fn names_of_modules(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// A table of reductions with the elements, [`KEY`] and the kernels alone.
fn narrowed(table: &str, kernels: &[&str], elements: &[(&str, &str)]) -> String {
    let mut narrowed = String::new();
    let mut rows = false;
    let mut row = String::new();
    for line in with_fewer_pairs(table, elements).lines() {
        if !rows || line.trim_start().starts_with('|') {
            narrowed += &format!("{line}\n");
            rows |= line.ends_with("x {");
        } else if line == "});" {
            narrowed += &format!("{line}\n");
            rows = false;
        } else {
            row += &format!("{line}\n");
            if line.ends_with(';') {
                let kernel = row.split_whitespace().next().unwrap_or_default();
                if kernels.contains(&kernel) {
                    narrowed += &row;
                }
                row.clear();
            }
        }
    }
    narrowed
}

/// The table with shorter lists of `Operator element` and `Operator element by key`.
fn with_fewer_pairs(table: &str, elements: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = table;
    while let Some(open) = rest.find('[') {
        let Some(len) = rest[open..].find(']') else {
            break;
        };
        let pairs: Vec<&str> = rest[open + 1..open + len]
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty())
            .collect();
        if !pairs.iter().all(|pair| is_pair(pair)) {
            text += &rest[..=open];
            rest = &rest[open + 1..];
            continue;
        }
        let kept = pairs.into_iter().filter(|pair| {
            elements.iter().any(|(op, element)| {
                let kept = format!("{op} {element}");
                *pair == kept || *pair == format!("{kept} by {KEY}")
            })
        });
        text += &rest[..=open];
        text += &kept.collect::<Vec<_>>().join(", ");
        rest = &rest[open + len..];
    }
    text + rest
}

fn is_pair(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_name = |word: &&str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.starts_with(char::is_uppercase) && words.len() > 1 && words.iter().all(is_name)
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
