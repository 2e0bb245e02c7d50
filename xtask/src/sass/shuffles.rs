//! Finds shuffles that depend on the previous one.

use super::parse::{Function, Instruction};
use super::registers::written_and_read;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Whether each instruction is a shuffle whose value depends on the result of the previous shuffle, directly
/// or through other instructions.
pub fn dependent(instructions: &[Instruction]) -> Vec<bool> {
    // The registers that depend on the last shuffle's result.
    let mut results = BTreeSet::new();
    let mut dependent = Vec::new();
    for instruction in instructions {
        let (written, read) = written_and_read(instruction);
        let depends = read.iter().any(|register| results.contains(register));
        let is_shuffle = is_shuffle(instruction);
        dependent.push(is_shuffle && depends);
        if is_shuffle {
            results.clear();
        }
        for register in written {
            if depends || is_shuffle {
                results.insert(register);
            } else {
                results.remove(&register);
            }
        }
    }
    dependent
}

/// The number of [`dependent`] shuffles.
pub fn count_dependent(function: &Function) -> usize {
    let dependent = dependent(&function.instructions);
    dependent.into_iter().filter(|depends| *depends).count()
}

/// The shuffles of several functions side by side, with the instructions between them. Between shuffles of
/// different steps, only the number of instructions is printed. A line connects a shuffle with the next one
/// if that depends on it.
pub fn side_by_side(functions: &[&Function]) -> String {
    const WIDTH: usize = 48;
    let columns: Vec<Vec<String>> = functions.iter().map(|function| column(function)).collect();
    let mut text = String::new();
    let mut row = |cells: &[&str]| {
        let line: String = cells.iter().map(|cell| format!("{cell:<WIDTH$}")).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    };
    let names: Vec<_> = functions.iter().map(|function| &*function.name).collect();
    row(&names);
    for line in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cell = |column: &Vec<String>| column.get(line).cloned().unwrap_or_default();
        let cells: Vec<String> = columns.iter().map(cell).collect();
        row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let count = |function: &&Function| {
        let shuffles = function.instructions.iter().filter(|i| is_shuffle(i));
        let (dependent, all) = (count_dependent(function), shuffles.count());
        format!("{dependent} of {all} SHFL depend on the previous one")
    };
    let counts: Vec<_> = functions.iter().map(count).collect();
    row(&counts.iter().map(String::as_str).collect::<Vec<_>>());
    text
}

fn is_shuffle(instruction: &Instruction) -> bool {
    instruction.mnemonic() == "SHFL"
}

/// Whether an instruction, a jump or an atomic, ends a sequence of steps.
fn ends_steps(instruction: &Instruction) -> bool {
    ["BRA", "EXIT", "RED", "REDG"].contains(&instruction.mnemonic())
}

fn column(function: &Function) -> Vec<String> {
    let instructions = &function.instructions;
    let depends = dependent(instructions);
    let shuffles: Vec<_> = (0..instructions.len())
        .filter(|&i| is_shuffle(&instructions[i]))
        .collect();
    let mut lines = Vec::new();
    for (s, &index) in shuffles.iter().enumerate() {
        let next = shuffles.get(s + 1).copied();
        let leads = next.is_some_and(|next| depends[next]);
        let mark = match (depends[index], leads) {
            (false, false) => "",
            (false, true) => "┌─",
            (true, true) => "├►",
            (true, false) => "└►",
        };
        lines.push(line(mark, &instructions[index]));
        let between = &instructions[index + 1..next.unwrap_or(index + 1)];
        if between.iter().any(ends_steps) {
            lines.push(format!("   ... {} instructions", between.len()));
        } else {
            let mark = if leads { "│" } else { "" };
            lines.extend(between.iter().map(|instruction| line(mark, instruction)));
        }
    }
    lines
}

/// An instruction after its mark.
fn line(mark: &str, instruction: &Instruction) -> String {
    let guard = instruction.guard.as_deref().unwrap_or("");
    let text = format!("{guard} {} {}", instruction.opcode, instruction.operands);
    format!("{mark:<3}{}", text.trim())
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::function;
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: &[bool]) {
        assert_eq!(dependent(&function("k", lines).instructions), expected);
    }

    const SINGLE: [&str; 4] = [
        "SHFL.DOWN PT, R4, R3, 0x10, 0x1f",
        "FADD R4, R3, R4",
        "SHFL.DOWN PT, R5, R4.reuse, 0x8, 0x1f",
        "IMAD.IADD R5, R4, 0x1, R5",
    ];

    #[test]
    fn a_shuffle_depends_on_its_operand() {
        check(&SINGLE, &[false, false, true, false]);
        // A shuffle of another value is between them.
        check(
            &[
                "SHFL.DOWN PT, R4, R3, 0x10, 0x1f",
                "SHFL.DOWN PT, R6, R7, 0x10, 0x1f",
                "IADD3 R3, R3, R4, RZ",
                "SHFL.DOWN PT, R4, R3, 0x8, 0x1f",
                "IADD3 R7, R7, R6, RZ",
                "SHFL.DOWN PT, R6, R7, 0x8, 0x1f",
            ],
            &[false; 6],
        );
        // Through another register; in a pair of registers; and after the result was overwritten.
        check(
            &[
                "SHFL.DOWN PT, R5, R3, 0x10, 0x1f",
                "DADD R8, R2, R4",
                "MOV R10, R9",
                "@P0 SHFL.DOWN PT, R5, R10, 0x8, 0x1f",
                "MOV R5, R1",
                "SHFL.DOWN PT, R6, R5, 0x8, 0x1f",
            ],
            &[false, false, false, true, false, false],
        );
        // A minimum by a comparison.
        check(
            &[
                "SHFL.DOWN PT, R5, R3, 0x10, 0x1f",
                "FSETP.GEU.FTZ.AND P1, PT, R3, R5, PT",
                "FSEL R3, R3, R7, !P1",
                "SHFL.DOWN PT, R5, R3, 0x8, 0x1f",
            ],
            &[false, false, false, true],
        );
    }

    #[test]
    fn steps_are_printed_side_by_side() {
        let (one, two) = (function("one", &SINGLE), function("two", &SINGLE[..2]));
        let text = side_by_side(&[&one, &two]);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("one ") && lines[0].ends_with("two"));
        assert!(lines[1].starts_with("┌─ SHFL.DOWN PT, R4, R3"), "{text}");
        assert!(
            lines[1].ends_with("   SHFL.DOWN PT, R4, R3, 0x10, 0x1f"),
            "{text}"
        );
        assert!(lines[2].starts_with("│  FADD"), "{text}");
        assert!(lines[3].starts_with("└► SHFL.DOWN PT, R5, R4"), "{text}");
        assert!(
            lines[4].starts_with("1 of 2 SHFL depend") && lines[4].contains("0 of 1 SHFL depend"),
            "{text}"
        );
    }

    #[test]
    fn only_the_number_of_instructions_between_steps_is_printed() {
        let steps = [
            "SHFL.DOWN PT, R4, R3, 0x10, 0x1f",
            "FADD R4, R3, R4",
            "SHFL.DOWN PT, R5, R4, 0x8, 0x1f",
            "FADD R5, R4, R5",
            "SHFL.DOWN PT, R6, R5, 0x4, 0x1f",
            "@!P0 REDG.E.ADD.F32 desc[UR4][R8.64], R6",
            "MOV R6, R1",
            "SHFL.DOWN PT, R7, R6, 0x10, 0x1f",
            "EXIT",
        ];
        let text = side_by_side(&[&function("k", &steps)]);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[3].starts_with("├► SHFL.DOWN PT, R5"), "{text}");
        assert!(lines[5].starts_with("└► SHFL.DOWN PT, R6"), "{text}");
        assert_eq!(lines[6], "   ... 2 instructions", "{text}");
        assert!(lines[7].starts_with("   SHFL.DOWN PT, R7"), "{text}");
        assert_eq!(lines.len(), 9, "{text}");
    }
}
