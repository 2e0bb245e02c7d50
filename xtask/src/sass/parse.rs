//! Parses the output of `nvdisasm -c`.

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path that the compiler got.
    pub file: String,
    /// The line's number, from 1.
    pub line: u32,
}

/// One SASS instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The offset in the function, in bytes.
    pub offset: u32,
    /// The label in front of it: `.L_x_1`.
    pub label: Option<String>,
    /// The guard: `@!P0`.
    pub guard: Option<String>,
    /// The mnemonic with its modifiers: `LDG.E.128`.
    pub opcode: String,
    /// Everything after the opcode.
    pub operands: String,
    /// Its source lines, innermost inlined function first; empty without line information.
    pub sources: Vec<Source>,
}

impl Instruction {
    /// The mnemonic without modifiers: `LDG`.
    pub fn mnemonic(&self) -> &str {
        self.modifiers_and_mnemonic().0
    }

    /// Whether the opcode has the modifier: `LDG.E.128` has `128`.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|other| other == modifier)
    }

    /// The modifiers in order: `E`, `128`.
    pub fn modifiers(&self) -> impl Iterator<Item = &str> {
        self.modifiers_and_mnemonic().1
    }

    fn modifiers_and_mnemonic(&self) -> (&str, impl Iterator<Item = &str>) {
        let mut parts = self.opcode.split('.');
        (parts.next().unwrap_or(""), parts)
    }
}

/// A section of code: a kernel with the functions that only it calls, or a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The symbol.
    pub name: String,
    /// Without the padding after the end.
    pub instructions: Vec<Instruction>,
}

/// Reads every section of code.
pub fn parse(disassembly: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut sources = Vec::new();
    let mut fresh = true;
    let mut label = None;
    for line in disassembly.lines() {
        let line = line.trim();
        if let Some(section) = line
            .strip_prefix(".section\t")
            .or(line.strip_prefix(".section "))
        {
            if let Some(name) = section.trim().strip_prefix(".text.") {
                let name = name.split(',').next().unwrap_or(name).trim_matches('"');
                functions.push(Function {
                    name: name.into(),
                    instructions: Vec::new(),
                });
                sources.clear();
            }
        } else if let Some(name) = line.strip_suffix(':')
            && name.starts_with(".L_")
        {
            label = Some(name.to_owned());
        } else if let Some(mark) = line.strip_prefix("//## File ") {
            // Consecutive marks are one chain of inlined functions.
            if fresh {
                sources.clear();
                fresh = false;
            }
            sources.extend(source(mark));
        } else if let Some(mut instruction) = instruction(line) {
            fresh = true;
            instruction.sources.clone_from(&sources);
            instruction.label = label.take();
            if let Some(function) = functions.last_mut() {
                function.instructions.push(instruction);
            }
        }
    }
    for function in &mut functions {
        drop_padding(&mut function.instructions);
    }
    functions
}

/// `"/path/reduce_0.rs", line 40 inlined at ...`
fn source(mark: &str) -> Option<Source> {
    let (file, rest) = mark.strip_prefix('"')?.split_once('"')?;
    let number = rest.strip_prefix(", line ")?;
    let end = number.find(|c: char| !c.is_ascii_digit());
    let line = number[..end.unwrap_or(number.len())].parse().ok()?;
    Some(Source {
        file: file.into(),
        line,
    })
}

/// `/*01a0*/               @P0 ATOMS.ADD R9, [UR4], R6 ;`
fn instruction(line: &str) -> Option<Instruction> {
    let (offset, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    let rest = rest.split(';').next()?.trim();
    let (guard, rest) = match rest.split_once(char::is_whitespace) {
        Some((guard, rest)) if guard.starts_with('@') => (Some(guard.to_owned()), rest.trim()),
        _ => (None, rest),
    };
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(Instruction {
        offset,
        label: None,
        guard,
        opcode: opcode.into(),
        operands: operands.trim().into(),
        sources: Vec::new(),
    })
}

/// Removes the end of a function: a jump to itself, and NOPs up to the alignment.
fn drop_padding(instructions: &mut Vec<Instruction>) {
    while instructions.last().is_some_and(|i| i.opcode == "NOP") {
        instructions.pop();
    }
    if instructions.len() > 1 && instructions.last().is_some_and(|i| i.opcode == "BRA") {
        instructions.pop();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A function of these instructions.
    pub(crate) fn function(name: &str, lines: &[&str]) -> Function {
        let mut listing = format!(".section\t.text.{name},\"ax\"\n");
        for (index, line) in lines.iter().enumerate() {
            listing += &format!("/*{:04x}*/ {line} ;\n", index * 16);
        }
        parse(&listing).remove(0)
    }

    pub(crate) const SAMPLE: &str = "\
\t.target\tsm_90

//--------------------- .text.reduce_4_sum_i32 --------------------------
\t.section\t.text.reduce_4_sum_i32,\"ax\",@progbits
\t.align\t128
        .global         reduce_4_sum_i32
        .other          reduce_4_sum_i32,@\"STO_CUDA_ENTRY STV_DEFAULT\"
reduce_4_sum_i32:
.text.reduce_4_sum_i32:
\t//## File \"/src/mem.rs\", line 12 inlined at \"/src/reduce_4.rs\", line 40
\t//## File \"/src/reduce_4.rs\", line 40
        /*0000*/                   LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
        /*0010*/              @!P0 STS [UR4+0x8], R4 ;
\t//## File \"/src/reduce_4.rs\", line 41
.L_x_1:
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0030*/                   SHFL.DOWN PT, R9, R9, 0x10, 0x1f ;
        /*0040*/                   EXIT ;
.L_x_0:
        /*0050*/                   BRA `(.L_x_0);
        /*0060*/                   NOP;
        /*0070*/                   NOP;
.L_x_6:
";

    #[test]
    fn sections_become_functions_without_padding() {
        let functions = parse(SAMPLE);
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].name, "reduce_4_sum_i32");
        let opcodes: Vec<_> = functions[0]
            .instructions
            .iter()
            .map(|i| &*i.opcode)
            .collect();
        let expected = [
            "LDG.E.128.CONSTANT",
            "STS",
            "BAR.SYNC.DEFER_BLOCKING",
            "SHFL.DOWN",
            "EXIT",
        ];
        assert_eq!(opcodes, expected);
    }

    #[test]
    fn parts_of_an_instruction() {
        let functions = parse(SAMPLE);
        let load = &functions[0].instructions[0];
        assert_eq!((load.offset, load.mnemonic()), (0, "LDG"));
        assert!(load.has("128") && load.has("CONSTANT") && !load.has("LDG"));
        assert_eq!(load.operands, "R4, desc[UR6][R2.64]");
        let store = &functions[0].instructions[1];
        assert_eq!((store.offset, store.guard.as_deref()), (16, Some("@!P0")));
        assert_eq!(store.mnemonic(), "STS");
    }

    #[test]
    fn a_chain_of_sources_is_valid_until_the_next() {
        let functions = parse(SAMPLE);
        let lines: Vec<Vec<u32>> = functions[0]
            .instructions
            .iter()
            .map(|i| i.sources.iter().map(|s| s.line).collect())
            .collect();
        assert_eq!(
            lines,
            [vec![12, 40], vec![12, 40], vec![41], vec![41], vec![41]]
        );
        assert_eq!(functions[0].instructions[0].sources[0].file, "/src/mem.rs");
    }

    #[test]
    fn other_text_has_no_functions() {
        assert_eq!(parse("nvdisasm fatal: x\n/*zz*/ FADD\n"), []);
    }
}
