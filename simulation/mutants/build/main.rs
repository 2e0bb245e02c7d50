//! Makes a copy of the kernels for every seeded bug, with the bug in it, and one without. All of
//! them become modules of the package, so that one compilation builds them all; a copy holds no more
//! than what the bug can be seen from.

mod copy;
mod table;

use copy::Tree;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use table::{Mutant, SOURCES, Source, TEXTBOOK};

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let kernels = package.join("../../kernels-gpu/src");
    let textbook = package.join("src");
    println!("cargo::rerun-if-changed=build");
    println!(
        "cargo::rerun-if-changed={}",
        textbook.join(TEXTBOOK).display()
    );
    println!("cargo::rerun-if-changed={}", kernels.display());

    let copies = out.join("copies");
    // Copies of mutants that are no more.
    let _ = fs::remove_dir_all(&copies);
    let kernels = Tree::read(&kernels);
    let mut generated = Generated::default();
    for source in SOURCES {
        generated.control(source, &kernels, &textbook, &copies);
        for mutant in source.mutants {
            generated.mutant(source, mutant, &kernels, &textbook, &copies);
        }
    }
    write(&out.join("mutants.rs"), &generated.finish());
}

/// The package's generated source: the copies as modules, and the table of what they are.
#[derive(Default)]
struct Generated {
    modules: String,
    mutants: String,
    controls: String,
    stale: String,
}

impl Generated {
    /// The unchanged kernels of a file. Those of `kernels-gpu` have one copy for all files.
    fn control(&mut self, source: &Source, kernels: &Tree, textbook: &Path, copies: &Path) {
        let programs = if source.path.starts_with(TEXTBOOK) {
            let module = format!("control_{}", stem(source.path));
            let text = read(&textbook.join(source.path));
            self.textbook(&module, &text, source, copies)
        } else {
            if !self.modules.contains("mod control;") {
                let of_kernels = SOURCES.iter().filter(|s| !s.path.starts_with(TEXTBOOK));
                let all: Vec<&str> = of_kernels
                    .flat_map(|source| source.kernels)
                    .copied()
                    .collect();
                self.tree("control", kernels, &all, None, copies);
            }
            programs("control", source.kernels, kernels)
        };
        let _ = writeln!(self.controls, "({:?}, {programs}),", source.path);
    }

    /// A copy with a bug; or, where the text to be replaced is not what it was, a note of that.
    fn mutant(
        &mut self,
        source: &Source,
        mutant: &Mutant,
        kernels: &Tree,
        textbook: &Path,
        copies: &Path,
    ) {
        let id = format!("{}/{}", stem(source.path), mutant.name);
        let module = id.replace('/', "__");
        let is_textbook = source.path.starts_with(TEXTBOOK);
        let text = if is_textbook {
            read(&textbook.join(source.path))
        } else {
            kernels.file(source.path).to_owned()
        };
        let text = match copy::replaced(&text, mutant) {
            Ok(text) => text,
            Err(why) => {
                let _ = writeln!(self.stale, "({id:?}, {why:?}),");
                return;
            }
        };
        let programs = if is_textbook {
            self.textbook(&module, &text, source, copies)
        } else {
            let changed = kernels.with(source.path, text);
            let run = mutant.kernels.unwrap_or(source.kernels);
            self.tree(&module, &changed, run, Some(source.path), copies);
            programs(&module, run, kernels)
        };
        let _ = writeln!(
            self.mutants,
            "Mutant {{ id: {id:?}, breaks: {:?}, known_miss: {:?}, programs: {programs} }},",
            mutant.breaks, mutant.known_miss,
        );
    }

    fn tree(
        &mut self,
        module: &str,
        tree: &Tree,
        kernels: &[&str],
        changed: Option<&str>,
        copies: &Path,
    ) {
        let path = format!("crate::copies::{module}::");
        let root = tree.write(kernels, changed, &copies.join(module), &path);
        self.module(module, &root);
    }

    fn textbook(&mut self, module: &str, text: &str, source: &Source, copies: &Path) -> String {
        let file = copies.join(format!("{module}.rs"));
        write(&file, text);
        self.module(module, &file);
        let name = stem(source.path);
        format!("Programs::Textbook({name:?}, copies::{module}::kernel)")
    }

    fn module(&mut self, module: &str, file: &Path) {
        let _ = writeln!(self.modules, "#[path = {file:?}] pub mod {module};");
    }

    fn finish(self) -> String {
        let Self {
            modules,
            mutants,
            controls,
            stale,
        } = self;
        format!(
            "#[allow(warnings, clippy::all)]\nmod copies {{\n{modules}}}\n\
             /// The kernels with a bug each.\n\
             pub static MUTANTS: &[Mutant] = &[\n{mutants}];\n\
             /// The kernels as they are, by their files.\n\
             pub static CONTROLS: &[(&str, Programs)] = &[\n{controls}];\n\
             /// Mutants whose text is not in the source any more, and what was sought.\n\
             pub static STALE: &[(&str, &str)] = &[\n{stale}];\n"
        )
    }
}

/// The entries of a copy that run the kernels, which are of one kind.
fn programs(module: &str, kernels: &[&str], tree: &Tree) -> String {
    let (kind, lists): (BTreeSet<_>, Vec<_>) = kernels
        .iter()
        .map(|kernel| {
            let family = tree.family(kernel);
            let kind = match family {
                "copy" => "Copies",
                "triple" => "Triples",
                "keyed" => "Keyed",
                "single_pass" => "SinglePasses",
                _ => "Entries",
            };
            let list = copy::endings(kernel, family);
            let list = list
                .iter()
                .map(|ending| format!("entry!({module} {family}, \"{kernel}_{ending}\")"));
            (kind, list.collect::<Vec<_>>().join(", "))
        })
        .unzip();
    assert!(kind.len() == 1, "{kernels:?} are launched in several ways");
    let kind: String = kind.into_iter().collect();
    format!("Programs::{kind}(&[{}])", lists.join(", "))
}

/// `SumWide`: `sum_wide`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// `harris/reduce_0.rs`: `reduce_0`.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".rs").unwrap_or(file)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
