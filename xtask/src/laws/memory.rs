//! Counts memory accesses by instruction, and compares those of two versions of a kernel.

use crate::sass::parse::Function;
use std::collections::BTreeMap;

/// The number of each memory instruction in an entry, by its full name with space, width and modifiers:
/// `ld.global.v4.b32`, `LDG.E.128`.
pub type Accesses = BTreeMap<String, usize>;

/// PTX instructions that access memory. Calls are included, because the function may access memory.
const PTX: [&str; 7] = ["ld", "ldu", "st", "atom", "red", "cp", "call"];

/// SASS instructions that access memory. Reads of parameters from the constant bank are not counted, because
/// their number depends on ptxas's choice of operands.
const SASS: [&str; 17] = [
    "LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "LDGSTS", "ATOM", "ATOMG", "ATOMS",
    "RED", "REDG", "REDS", "QSPC", "CALL",
];

/// The accesses of every entry of a PTX module, by name.
pub fn in_ptx(ptx: &str) -> BTreeMap<String, Accesses> {
    let mut entries = BTreeMap::new();
    let mut current: Option<&mut Accesses> = None;
    for line in ptx.lines() {
        let line = line.split("//").next().unwrap_or("");
        if line.contains(".func") {
            current = None;
        } else if let Some(name) = super::entries(line).into_iter().next() {
            current = Some(entries.entry(name.to_owned()).or_default());
        } else if let Some(accesses) = &mut current {
            for statement in line.split(';') {
                if let Some(opcode) = opcode(statement).filter(|o| is_one_of(&PTX, o)) {
                    *accesses.entry(opcode.to_owned()).or_default() += 1;
                }
            }
        }
    }
    entries
}

/// The opcode of a statement: `ld.global.b32` in `@%p1 ld.global.b32 %r1, [%rd2]`.
fn opcode(statement: &str) -> Option<&str> {
    let mut words = statement
        .trim_start_matches(['{', ' ', '\t'])
        .split_whitespace();
    words.find(|word| !word.starts_with('@'))
}

/// The accesses of a section of code.
pub fn in_sass(function: &Function) -> Accesses {
    let mut accesses = Accesses::new();
    for instruction in &function.instructions {
        if is_one_of(&SASS, &instruction.opcode) {
            *accesses.entry(instruction.opcode.clone()).or_default() += 1;
        }
    }
    accesses
}

/// Whether an opcode without its modifiers is among `mnemonics`.
fn is_one_of(mnemonics: &[&str], opcode: &str) -> bool {
    mnemonics.contains(&opcode.split('.').next().unwrap_or(opcode))
}

/// The accesses that are more in `handles` than in `raw`: `LDS: 3, on raw pointers 2`. An access by another
/// instruction is one more of that instruction.
pub fn excess(handles: &Accesses, raw: &Accesses) -> Vec<String> {
    let more = handles.iter().filter_map(|(opcode, &count)| {
        let on_raw = raw.get(opcode).copied().unwrap_or(0);
        (count > on_raw).then(|| format!("{opcode}: {count}, on raw pointers {on_raw}"))
    });
    more.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::parse;

    fn accesses<const N: usize>(counts: [(&str, usize); N]) -> Accesses {
        counts.map(|(opcode, n)| (opcode.to_owned(), n)).into()
    }

    #[test]
    fn ptx_is_counted_by_entry_space_width_and_modifiers() {
        let ptx = "\
.visible .entry a(
\t.param .u64 .ptr .align 4 a_param_0
)
{
\t.reg .pred %p<4>;
\tld.param.b64 %rd1, [a_param_0];
\tld.global.nc.b32 %r1, [%rd1];
\t@%p1 ld.global.nc.b32 %r2, [%rd1+4]; // ld.local.b32
\t@!%p1 bra $L__BB0_2;
\tld.global.nc.v4.b32 {%r3, %r4, %r5, %r6}, [%rd1+16];
\tredux.sync.add.s32 %r7, %r1, %r8;
\t{ st.shared.b32 [%r9], %r1; atom.shared.add.u32 %r2, [%r9], %r1; }
\tst.b32 [%rd2], %r1;
\tret;
}
.func helper(
{
\tld.local.b32 %r1, [%r2];
}
.visible .entry b(
{
\tcall.uni helper, (%r1);
\tred.relaxed.gpu.global.add.s32 [%rd1], %r1;
}
";
        let a = accesses([
            ("atom.shared.add.u32", 1),
            ("ld.global.nc.b32", 2),
            ("ld.global.nc.v4.b32", 1),
            ("ld.param.b64", 1),
            ("st.b32", 1),
            ("st.shared.b32", 1),
        ]);
        let b = accesses([("call.uni", 1), ("red.relaxed.gpu.global.add.s32", 1)]);
        assert_eq!(in_ptx(ptx), [("a".into(), a), ("b".into(), b)].into());
    }

    #[test]
    fn sass_is_counted_by_opcode() {
        let opcodes = "LDG.E LDG.E LDG.E.128 STS LDS.64 STL LDC ULDC.64 REDUX.SUM REDG.E.ADD BAR";
        let mut listing = String::from(".section\t.text.k,\"ax\"\n");
        for (index, opcode) in opcodes.split_whitespace().enumerate() {
            listing += &format!("/*{:04x}*/ {opcode} R0, R1 ;\n", index * 16);
        }
        let expected = accesses([
            ("LDG.E", 2),
            ("LDG.E.128", 1),
            ("LDS.64", 1),
            ("REDG.E.ADD", 1),
            ("STL", 1),
            ("STS", 1),
        ]);
        assert_eq!(in_sass(&parse::parse(&listing)[0]), expected);
    }

    #[test]
    fn one_more_access_is_an_excess() {
        let raw = accesses([("LDG.E", 2), ("STS", 1)]);
        assert!(excess(&raw, &raw).is_empty());
        assert!(excess(&accesses([("LDG.E", 1)]), &raw).is_empty(), "fewer");
        let one_more = accesses([("LDG.E", 3), ("STS", 1)]);
        assert_eq!(excess(&one_more, &raw), ["LDG.E: 3, on raw pointers 2"]);
        let another = accesses([("LDG.E", 2), ("STL", 1), ("STS", 1)]);
        assert_eq!(excess(&another, &raw), ["STL: 1, on raw pointers 0"]);
        let generic = accesses([("LD.E", 1), ("LDG.E", 1), ("STS", 1)]);
        assert_eq!(excess(&generic, &raw), ["LD.E: 1, on raw pointers 0"]);
    }
}
