//! Makes a copy of the kernels for every seeded bug, and one without a bug. All copies are modules of this
//! package, so that one compilation builds them all. A copy contains only the modules that depend on the bug.
//!
//! [`CHOICE`] limits the copies to some files. The texts of all mutants are compared with the source in any case.

mod copy;
mod entries;
mod table;

use copy::Tree;
use entries::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use table::{Mutant, SOURCES, Source, TEXTBOOK};

/// The variable that limits the copies to files whose path contains one of these words, between which are commas.
const CHOICE: &str = "WARPFOLD_MUTANTS";

fn main() {
    println!("cargo::rerun-if-env-changed={CHOICE}");
    let choice = env::var(CHOICE).ok();
    let words: Option<Vec<&str>> = choice.as_ref().map(|words| words.split(',').collect());
    for word in words.iter().flatten() {
        let mut paths = SOURCES.iter().map(|source| source.path);
        assert!(
            !word.is_empty() && paths.any(|path| path.contains(word)),
            "{CHOICE}: no file with mutants has `{word}` in its path"
        );
    }
    let is_chosen = |path: &str| match &words {
        Some(words) => words.iter().any(|word| path.contains(word)),
        None => true,
    };
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
    // Copies of removed mutants.
    let _ = fs::remove_dir_all(&copies);
    let kernels = Tree::read(&kernels);
    let mut generated = Generated {
        sources: SOURCES.iter().filter(|s| is_chosen(s.path)).collect(),
        ..Generated::default()
    };
    let mut stale = vec![];
    for source in SOURCES {
        if is_chosen(source.path) {
            generated.control(source, &kernels, &textbook, &copies);
        }
        let text = source_text(source, &kernels, &textbook);
        for mutant in source.mutants {
            match copy::replaced(&text, mutant) {
                Ok(text) if is_chosen(source.path) => {
                    generated.mutant(source, mutant, text, &kernels, &copies);
                }
                Ok(_) => {}
                Err(why) => stale.push(format!("{}/{}: {why}", stem(source.path), mutant.name)),
            }
        }
    }
    assert!(
        stale.is_empty(),
        "the text of mutants is no longer in the source:\n{}",
        stale.join("\n")
    );
    let mutants = || SOURCES.iter().flat_map(|source| source.mutants);
    let misses = mutants().filter(|mutant| mutant.known_miss.is_some());
    assert!(
        misses.count() * 20 <= mutants().count(),
        "more than one mutant in twenty is a known miss"
    );
    write(&out.join("mutants.rs"), &generated.finish());
}

/// The package's generated source: the copies as modules, and their table.
#[derive(Default)]
struct Generated {
    /// Those that are compiled.
    sources: Vec<&'static Source>,
    modules: String,
    mutants: String,
    controls: String,
}

impl Generated {
    /// The unchanged kernels of a file. Those of `kernels-gpu` have one copy for all files.
    fn control(&mut self, source: &Source, kernels: &Tree, textbook: &Path, copies: &Path) {
        let programs = if source.path.starts_with(TEXTBOOK) {
            let module = format!("control_{}", stem(source.path));
            let text = read(&textbook.join(source.path));
            self.textbook(&module, &text, source, copies)
        } else {
            let run = entries_of(source.kernels);
            if !self.modules.contains("mod control;") {
                let of_kernels = self.sources.iter();
                let of_kernels = of_kernels.filter(|s| !s.path.starts_with(TEXTBOOK));
                let all = of_kernels.flat_map(|source| entries_of(source.kernels));
                self.tree("control", kernels, &unique(all), None, copies);
            }
            programs("control", &run)
        };
        let control = format!("({:?}, {programs}),", source.path);
        // A file may have several lists of mutants.
        if !self.controls.contains(&control) {
            let _ = writeln!(self.controls, "{control}");
        }
    }

    /// A copy with a bug: the source's file has `text`.
    fn mutant(
        &mut self,
        source: &Source,
        mutant: &Mutant,
        text: String,
        kernels: &Tree,
        copies: &Path,
    ) {
        let id = format!("{}/{}", stem(source.path), mutant.name);
        let module = id.replace('/', "__");
        let is_textbook = source.path.starts_with(TEXTBOOK);
        let programs = if is_textbook {
            self.textbook(&module, &text, source, copies)
        } else {
            let changed = kernels.with(source.path, text);
            let run = entries_of(mutant.kernels.unwrap_or(source.kernels));
            self.tree(&module, &changed, &run, Some(source.path), copies);
            programs(&module, &run)
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
        programs: &[Program],
        changed: Option<&str>,
        copies: &Path,
    ) {
        let path = format!("crate::copies::{module}::");
        let root = tree.write(programs, changed, &copies.join(module), &path);
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
            ..
        } = self;
        format!(
            "#[allow(warnings, clippy::all)]\nmod copies {{\n{modules}}}\n\
             /// The kernels with one bug each.\n\
             pub static MUTANTS: &[Mutant] = &[\n{mutants}];\n\
             /// The unchanged kernels, by file.\n\
             pub static CONTROLS: &[(&str, Programs)] = &[\n{controls}];\n"
        )
    }
}

/// The text of a source's file.
fn source_text(source: &Source, kernels: &Tree, textbook: &Path) -> String {
    match source.path.starts_with(TEXTBOOK) {
        true => read(&textbook.join(source.path)),
        false => kernels.file(source.path).to_owned(),
    }
}

/// The entries of these kernels; several segmented reductions share one.
fn entries_of(kernels: &[&str]) -> Vec<Program> {
    unique(kernels.iter().flat_map(|kernel| Program::of(kernel)))
}

/// Without duplicates.
fn unique(programs: impl Iterator<Item = Program>) -> Vec<Program> {
    let named = programs.map(|program| (program.name.clone(), program));
    let once: BTreeMap<_, _> = named.collect();
    once.into_values().collect()
}

/// The entries of a copy.
fn programs(module: &str, programs: &[Program]) -> String {
    let entry = |Program { name, .. }: &Program| {
        format!("({name:?}, copies::{module}::entry::{name} as Function)")
    };
    let entries: Vec<_> = programs.iter().map(entry).collect();
    format!("Programs::Entries(&[{}])", entries.join(", "))
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
    let folder = path.parent().expect("a file has a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
