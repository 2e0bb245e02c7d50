//! What an instruction writes and reads.

use super::parse::Instruction;
use super::profile::width;

/// The registers, uniform ones and predicates that an instruction writes and reads, by their names.
/// The first operand is written, and with it predicates right behind; a shuffle and a comparison
/// write predicates first. Doubles lie in two registers each, and what a load brings in as many as
/// it is wide.
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
    for (place, operand) in instruction.operands.split(',').enumerate() {
        // An address of global memory is named by the first of its two registers.
        let words = match (mnemonic, value_written) {
            ("LDG", true) => 2,
            ("LDS", true) => 1,
            _ => words,
        };
        let names = names(operand, words);
        let is_predicate = operand.trim().starts_with(['P', 'U', '!']) && !names.is_empty()
            || ["PT", "UPT"].contains(&operand.trim());
        if is_predicate && !stores && (place < 2 || !value_written) && !operand.contains('!') {
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

/// `R4` of `R4.reuse` and `[R4+0x10]`; with those behind it, `words` in all; none of `RZ` and numbers.
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
