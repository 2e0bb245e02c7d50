//! The attributes of kernels in `cuda_std`: lines in the module's assembly, because rustc passes on nothing
//! else.
//!
//! `//!cuda <kernel> key=value ...`: the kernel's module, or an attribute of its function.

use crate::CudaBuilderError;
use crate::llvm::Module;
use std::collections::{BTreeMap, BTreeSet};

/// The key of the module's name.
pub(crate) const MODULE: &str = "module";

/// One `key=value` of a line.
pub(crate) struct Note {
    pub(crate) kernel: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// Removes the notes from the module's assembly and returns them.
pub(crate) fn take(module: &Module<'_>) -> Vec<Note> {
    let (notes, rest) = read(&module.inline_asm());
    module.set_inline_asm(&rest);
    notes
}

/// Splits assembly into notes and the rest.
fn read(assembly: &str) -> (Vec<Note>, String) {
    let (mut notes, mut rest) = (Vec::new(), String::new());
    for line in assembly.lines() {
        let Some(words) = line.trim_start().strip_prefix("//!cuda ") else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut words = words.split_whitespace();
        let kernel = words.next().unwrap_or_default();
        let pairs = words.filter_map(|word| word.split_once('='));
        notes.extend(pairs.map(|(key, value)| Note {
            kernel: kernel.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        }));
    }
    (notes, rest)
}

/// The module of each kernel that names one.
pub(crate) fn modules_of(notes: &[Note]) -> BTreeMap<&str, &str> {
    let notes = notes.iter().filter(|note| note.key == MODULE);
    notes.map(|note| (&*note.kernel, &*note.value)).collect()
}

/// The names of all modules; an error if a kernel names none.
pub(crate) fn modules(module: &Module<'_>) -> Result<BTreeSet<String>, CudaBuilderError> {
    let (notes, _) = read(&module.inline_asm());
    let of = modules_of(&notes);
    let functions = module.functions().into_iter();
    let kernels = functions
        .filter(|&function| module.is_kernel(function))
        .map(|kernel| module.name(kernel));
    let without: Vec<_> = kernels
        .filter(|kernel| !of.contains_key(&**kernel))
        .collect();
    if !without.is_empty() {
        return Err(CudaBuilderError::NoModule { kernels: without });
    }
    Ok(of.into_values().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_from_assembly() {
        let (notes, rest) = read("a\n//!cuda k module=m x=1,2\n // b\n\t//!cuda l y=\n");
        let words: Vec<_> = notes
            .iter()
            .map(|note| [&*note.kernel, &note.key, &note.value])
            .collect();
        assert_eq!(
            words,
            [["k", "module", "m"], ["k", "x", "1,2"], ["l", "y", ""]]
        );
        assert_eq!(rest, "a\n // b\n");
        assert_eq!(modules_of(&notes), [("k", "m")].into());
    }
}
