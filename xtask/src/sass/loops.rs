//! Finds the loop around a kernel's widest loads.

use super::parse::{Function, Instruction};
use super::profile::width;

/// The shortest loop that contains one of the widest loads from global memory, the jump back included; `None` if no loop
/// does.
pub fn of_widest_load(function: &Function) -> Option<&[Instruction]> {
    let code = &function.instructions;
    let is_load = |instruction: &&Instruction| instruction.mnemonic() == "LDG";
    let widest = code.iter().filter(is_load).map(width).max()?;
    let loops = code.iter().enumerate().filter_map(|(end, jump)| {
        let start = code.iter().position(|one| {
            let label = one.label.as_deref();
            jump.mnemonic() == "BRA" && label.is_some_and(|label| goes_to(jump, label))
        })?;
        code.get(start..=end)
    });
    let mut loops: Vec<_> = loops
        .filter(|code| {
            let mut loads = code.iter().filter(is_load);
            loads.any(|load| width(load) == widest)
        })
        .collect();
    loops.sort_by_key(|code| code.len());
    loops.first().copied()
}

/// Whether the instruction jumps to the label: ``BRA `(.L_x_3)``.
fn goes_to(jump: &Instruction, label: &str) -> bool {
    jump.operands.contains(&format!("`({label})"))
}

/// The instructions as text, one a line, without the names of labels, which depend on the rest of the module.
pub fn text(code: &[Instruction]) -> String {
    let line = |instruction: &Instruction| {
        let guard = instruction.guard.iter().map(|guard| format!("{guard} "));
        let operands = match instruction.operands.split_once("`(") {
            Some((before, _)) => before.trim(),
            None => &instruction.operands,
        };
        let text = format!("{} {operands}", instruction.opcode);
        guard.collect::<String>() + text.trim() + "\n"
    };
    code.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_loop_with_the_widest_load_is_found() {
        let listing = "\
\t.section\t.text.k,\"ax\",@progbits
        /*0000*/                   LDG.E R4, desc[UR6][R2.64] ;
.L_x_1:
        /*0010*/                   LDG.E.128 R4, desc[UR6][R2.64] ;
        /*0020*/              @!P0 STG.E.128 desc[UR6][R2.64], R4 ;
.L_x_2:
        /*0030*/                   LDG.E R8, desc[UR6][R2.64] ;
        /*0040*/               @P1 BRA `(.L_x_2) ;
        /*0050*/               @P0 BRA P2, `(.L_x_1) ;
        /*0060*/                   BRA `(.L_x_3) ;
.L_x_3:
        /*0070*/                   EXIT ;
";
        let function = &parse::parse(listing)[0];
        let code = of_widest_load(function).unwrap();
        assert_eq!(
            text(code),
            "LDG.E.128 R4, desc[UR6][R2.64]\n@!P0 STG.E.128 desc[UR6][R2.64], R4\n\
             LDG.E R8, desc[UR6][R2.64]\n@P1 BRA\n@P0 BRA P2,\n"
        );
        let straight = parse::tests::function("k", &["LDG.E R4, desc[UR6][R2.64]", "EXIT"]);
        assert_eq!(of_widest_load(&straight), None);
    }
}
