//! SASS with the Rust lines that it was compiled from.

use super::Assembled;
use super::parse::{Instruction, Source};
use crate::workspace;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// The functions' SASS, with the workspace's source line above the instructions compiled from it.
pub fn of(assembled: &Assembled) -> String {
    let root = workspace::root();
    let mut files = Files::default();
    let mut text = String::new();
    for function in &assembled.functions {
        let resources = assembled.resources.get(&function.name);
        let registers = resources.map_or(0, |resources| resources.registers);
        let count = function.instructions.len();
        let _ = writeln!(
            text,
            "{}: {registers} registers, {count} instructions",
            function.name
        );
        let mut last = None;
        for instruction in &function.instructions {
            let source = our_source(instruction, &root);
            if source.is_some() && source != last {
                last = source;
                if let Some(source) = source {
                    let _ = writeln!(text, "\n  {}", files.show(source, &root));
                }
            }
            let line = format!(
                "    {:04x}  {:>4} {:<28} {}",
                instruction.offset,
                instruction.guard.as_deref().unwrap_or(""),
                instruction.opcode,
                instruction.operands
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
    text
}

/// The innermost source line in `kernels-gpu`, else in the workspace; lines of `core` are skipped.
fn our_source<'a>(instruction: &'a Instruction, root: &Path) -> Option<&'a Source> {
    let innermost_below = |folder: &Path| {
        let mut sources = instruction.sources.iter();
        sources.find(|source| Path::new(&source.file).starts_with(folder))
    };
    innermost_below(&root.join("kernels-gpu")).or_else(|| innermost_below(root))
}

/// Lines of source files, each file read once.
#[derive(Default)]
struct Files {
    lines: HashMap<String, Vec<String>>,
}

impl Files {
    /// `kernels-gpu/src/mem.rs:12  unsafe { self.start.add(index).read() }`
    fn show(&mut self, source: &Source, root: &Path) -> String {
        let lines = self.lines.entry(source.file.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(&source.file).unwrap_or_default();
            text.lines().map(|line| line.trim().to_owned()).collect()
        });
        let index = (source.line as usize).checked_sub(1);
        let line = index.and_then(|index| lines.get(index));
        let path = Path::new(&source.file);
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        let line = line.map_or("", String::as_str);
        format!("{shown}:{}  {line}", source.line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn instructions_are_listed_below_their_line() {
        let here = workspace::root().join("xtask/src/sass/listing.rs");
        let listing = format!(
            ".section\t.text.k,\"ax\"\n\
             //## File \"/other/core/ptr.rs\", line 9 inlined at \"{0}\", line 1\n\
             //## File \"{0}\", line 1\n\
             /*0000*/ LDG.E R1, desc[UR4][R2.64] ;\n\
             /*0010*/ @P0 EXIT ;\n\
             //## File \"{0}\", line 3\n\
             /*0020*/ STG.E R1, R2 ;\n",
            here.display()
        );
        let assembled = Assembled {
            resources: Default::default(),
            functions: parse::parse(&listing),
        };
        let text = of(&assembled);
        let shown: Vec<_> = text
            .lines()
            .filter(|line| line.contains("listing.rs:"))
            .collect();
        assert_eq!(
            shown,
            [
                "  xtask/src/sass/listing.rs:1  //! SASS with the Rust lines that it was compiled from.",
                "  xtask/src/sass/listing.rs:3  use super::Assembled;"
            ]
        );
        assert!(text.contains("    0010   @P0 EXIT"), "{text}");
    }
}
