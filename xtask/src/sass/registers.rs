//! The registers that an instruction writes and reads.

use super::parse::Instruction;
use super::profile::width;

/// The names of the registers, uniform registers and predicates that an instruction writes and reads.
///
/// The first operand is written, and predicates directly after it; shuffles and comparisons write predicates
/// first. A double takes two registers, the result of a load one for each 32 bits.
pub fn written_and_read(instruction: &Instruction) -> (Vec<String>, Vec<String>) {
    let mnemonic = instruction.mnemonic();
    let loads = ["LDG", "LDS"].contains(&mnemonic);
    let double = mnemonic.starts_with('D') && mnemonic != "DEPBAR";
    let words = match loads {
        true => width(instruction).div_ceil(32),
        false if double || instruction.has("WIDE") || instruction.has("64") => 2,
        false => 1,
    };
    let stores = ["STG", "STS", "RED", "REDG", "BRA", "EXIT"].contains(&mnemonic);
    let compares = mnemonic.ends_with("SETP");
    let (mut written, mut read) = (Vec::new(), Vec::new());
    read.extend(instruction.guard.iter().flat_map(|guard| names(guard, 1)));
    let mut value_written = stores || compares;
    for (index, operand) in instruction.operands.split(',').enumerate() {
        // An address in global memory takes two registers; the operand names the first.
        let words = match (mnemonic, value_written) {
            ("LDG", true) => 2,
            ("LDS", true) => 1,
            _ => words,
        };
        let names = names(operand, words);
        let is_predicate = operand.trim().starts_with(['P', 'U', '!']) && !names.is_empty()
            || ["PT", "UPT"].contains(&operand.trim());
        if is_predicate && !stores && (index < 2 || !value_written) && !operand.contains('!') {
            written.extend(names);
        } else if !value_written && !is_predicate {
            value_written = true;
            written.extend(names);
        } else {
            read.extend(names);
        }
    }
    (written, read)
}

/// An operand's registers: `words` from `R4` on for `R4.reuse` and `[R4+0x10]`; none for `RZ` and numbers.
fn names(operand: &str, words: u32) -> Vec<String> {
    let mut names = Vec::new();
    for word in operand.split(|c: char| !c.is_ascii_alphanumeric()) {
        let split = word
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(word.len());
        let (kind, number) = word.split_at(split);
        if let (true, Ok(number)) = (
            ["R", "UR", "P", "UP"].contains(&kind),
            number.parse::<u32>(),
        ) {
            let words = if kind.ends_with('R') { words } else { 1 };
            names.extend((number..number + words).map(|number| format!("{kind}{number}")));
        }
    }
    names
}
