//! Profiles of entries: resources from ptxas, and counts of SASS instructions.

use super::parse::{Function, Instruction};
use super::{in_flight, shuffles};
use cuda_builder::NvvmArch;
use std::collections::{BTreeMap, BTreeSet};

/// The resources that ptxas reserves for an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of local memory per thread, with spills.
    pub stack: u32,
    /// Bytes of spill stores.
    pub spill_stores: u32,
    /// Bytes of spill loads.
    pub spill_loads: u32,
    /// Bytes of static shared memory per block.
    pub shared: u32,
}

/// Parses the output of `ptxas -v`: the entries and their resources.
pub fn resources(verbose: &str) -> BTreeMap<String, Resources> {
    let mut entries = BTreeMap::new();
    let mut name = String::new();
    let mut properties = Resources::default();
    for line in verbose.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or(rest).into();
            properties = Resources::default();
        } else if line.contains("bytes stack frame") {
            properties.stack = number_before(line, " bytes stack frame");
            properties.spill_stores = number_before(line, " bytes spill stores");
            properties.spill_loads = number_before(line, " bytes spill loads");
        } else if line.contains("Used ") && !name.is_empty() {
            properties.registers = number_before(line, " registers");
            properties.shared = number_before(line, " bytes smem");
            entries.insert(std::mem::take(&mut name), properties);
        }
    }
    entries
}

/// The number before `unit`; 0 if there is none.
fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.split(unit).next().filter(|_| line.contains(unit));
    let word = before.and_then(|text| text.rsplit([' ', ',']).next());
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Counts of an entry's instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All instructions, without padding.
    pub instructions: usize,
    /// Non-atomic loads from global memory, by width in bits.
    pub ldg: BTreeMap<u32, usize>,
    /// The most non-atomic loads from global memory that are in flight together, by width in bits.
    pub in_flight: BTreeMap<u32, usize>,
    /// Non-atomic stores to global memory, by width in bits.
    pub stg: BTreeMap<u32, usize>,
    /// Atomic loads from global memory, by width in bits.
    pub atomic_ldg: BTreeMap<u32, usize>,
    /// Atomic stores to global memory, by width in bits.
    pub atomic_stg: BTreeMap<u32, usize>,
    /// Fences, and invalidations of the L1 cache after an acquire load.
    pub fences: usize,
    /// Loads, stores and atomics with generic addresses, and queries of an address's space.
    pub generic: usize,
    /// Loads and stores of local memory.
    pub local: usize,
    /// Loads from shared memory.
    pub lds: usize,
    /// Stores to shared memory.
    pub sts: usize,
    /// Shuffles by mode: `DOWN`, `BFLY`, `UP`, `IDX`. Those in collectives are not counted: they are ptxas's
    /// copies for diverged warps.
    pub shfl: BTreeMap<String, usize>,
    /// Shuffles that depend on the previous one.
    pub dependent_shfl: usize,
    /// Warp reductions in hardware.
    pub redux: usize,
    /// Atomics on global memory without a result.
    pub red: usize,
    /// Atomics on global memory with a result.
    pub atom: usize,
    /// Atomics on shared memory.
    pub atoms: usize,
    /// Atomics on shared memory in a loop around a compare-and-swap.
    pub atoms_loops: usize,
    /// Barriers.
    pub bar: usize,
    /// Calls of functions. Two kinds are not counted: before sm_90, calls of ptxas's functions for diverged
    /// warps; and calls of labels, by which ptxas leaves a region where a warp converges.
    pub calls: usize,
    /// Conversions from `f16`.
    pub from_f16: usize,
    /// Offsets in the parameters, in bytes, that instructions read from the constant bank.
    pub parameters: BTreeSet<u32>,
}

impl Counts {
    /// Counts the instructions of a function that was assembled for `arch`.
    pub fn of(function: &Function, arch: NvvmArch) -> Self {
        let mut counts = Self {
            dependent_shfl: shuffles::count_dependent(function),
            in_flight: in_flight::most(function),
            ..Self::default()
        };
        let mut in_collective = false;
        for instruction in &function.instructions {
            match instruction.mnemonic() {
                "WARPSYNC" => in_collective = instruction.has("COLLECTIVE"),
                "ENDCOLLECTIVE" => in_collective = false,
                _ => {}
            }
            counts.add(instruction, in_collective, arch);
        }
        counts
    }

    fn add(&mut self, instruction: &Instruction, in_collective: bool, arch: NvvmArch) {
        self.instructions += 1;
        let first = first_parameter(arch);
        let read = constants(&instruction.operands);
        self.parameters
            .extend(read.filter_map(|at| at.checked_sub(first)));
        match instruction.mnemonic() {
            "LDG" | "STG" => {
                let by_width = match (instruction.mnemonic(), instruction.has("STRONG")) {
                    ("LDG", false) => &mut self.ldg,
                    ("LDG", true) => &mut self.atomic_ldg,
                    (_, false) => &mut self.stg,
                    (_, true) => &mut self.atomic_stg,
                };
                *by_width.entry(width(instruction)).or_default() += 1;
            }
            "MEMBAR" | "FENCE" => self.fences += 1,
            // Others are prefetches.
            "CCTL" if instruction.has("IVALL") => self.fences += 1,
            "LD" | "ST" | "ATOM" | "QSPC" => self.generic += 1,
            // Global memory's `RED` is called `REDG` from sm_90 on.
            "RED" if arch >= NvvmArch::Compute90 => self.generic += 1,
            "LDL" | "STL" => self.local += 1,
            "LDS" => self.lds += 1,
            "STS" => self.sts += 1,
            "SHFL" if !in_collective => {
                let mode = instruction.modifiers().next().unwrap_or("");
                *self.shfl.entry(mode.into()).or_default() += 1;
            }
            "REDUX" | "CREDUX" => self.redux += 1,
            "RED" | "REDG" => self.red += 1,
            "ATOMG" => self.atom += 1,
            "ATOMS" => {
                self.atoms += 1;
                let swaps = instruction.has("CAS") || instruction.has("CAST");
                self.atoms_loops += usize::from(swaps);
            }
            "BAR" => self.bar += 1,
            "CALL" => {
                let target = &instruction.operands;
                let is_ptxas = target.contains("__cuda_sm70_") || target.contains("(.L_");
                self.calls += usize::from(!is_ptxas);
            }
            "HADD2" if instruction.has("F32") => self.from_f16 += 1,
            "F2F" if instruction.modifiers().last() == Some("F16") => self.from_f16 += 1,
            _ => {}
        }
    }
}

/// The offset of the parameters in the constant bank.
fn first_parameter(arch: NvvmArch) -> u32 {
    match arch {
        arch if arch >= NvvmArch::Compute100 => 0x380,
        arch if arch >= NvvmArch::Compute90 => 0x210,
        _ => 0x160,
    }
}

/// The offsets in the parameters' constant bank that operands read: 0x164 in `R2, c[0x0][0x164]` and in
/// `R2, c[0x0] [0x164].H0_H0`.
fn constants(operands: &str) -> impl Iterator<Item = u32> {
    let reads = operands.split("c[0x0]").skip(1);
    reads.filter_map(|rest| {
        let at = rest.trim_start().strip_prefix("[0x")?.split(']').next()?;
        u32::from_str_radix(at, 16).ok()
    })
}

/// The bits that a load or store moves for each thread.
pub fn width(instruction: &Instruction) -> u32 {
    let widths = [
        ("256", 256),
        ("128", 128),
        ("64", 64),
        ("U16", 16),
        ("S16", 16),
        ("U8", 8),
        ("S8", 8),
    ];
    let named = widths.into_iter().find(|(name, _)| instruction.has(name));
    named.map_or(32, |(_, bits)| bits)
}

/// The resources and instruction counts of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The entry's symbol.
    pub name: String,
    /// From ptxas.
    pub resources: Resources,
    /// From SASS.
    pub counts: Counts,
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const VERBOSE: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'reduce_0_sum_i32' for 'sm_90'
ptxas info    : Function properties for reduce_0_sum_i32
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 13 registers, used 1 barriers
ptxas info    : Compile time = 7.424 ms
ptxas info    : Compiling entry function 'big' for 'sm_90'
ptxas info    : Function properties for big
    48 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 380 bytes cmem[0]
";

    #[test]
    fn the_output_of_ptxas_is_parsed() {
        let entries = resources(VERBOSE);
        let small = Resources {
            registers: 13,
            ..Resources::default()
        };
        let big = Resources {
            registers: 255,
            stack: 48,
            spill_stores: 16,
            spill_loads: 20,
            shared: 4096,
        };
        let expected = [("reduce_0_sum_i32", small), ("big", big)];
        assert_eq!(entries, expected.map(|(n, r)| (n.to_owned(), r)).into());
    }

    #[test]
    fn instructions_are_counted() {
        let counts = Counts::of(&parse::parse(parse::tests::SAMPLE)[0], NvvmArch::Compute90);
        let expected = Counts {
            instructions: 5,
            ldg: [(128, 1)].into(),
            in_flight: [(128, 1)].into(),
            sts: 1,
            bar: 1,
            shfl: [("DOWN".to_owned(), 1)].into(),
            ..Counts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn only_calls_of_functions_are_counted() {
        let count = |callee: &str| {
            let listing =
                format!(".section\t.text.k,\"ax\"\n/*0000*/ CALL.REL.NOINC `({callee}) ;\n");
            Counts::of(&parse::parse(&listing)[0], NvvmArch::Compute80).calls
        };
        assert_eq!(count("$__internal_0_$__cuda_sm70_shflsync_down_p"), 0);
        assert_eq!(count(".L_x_160"), 0);
        assert_eq!(count("$k$__cuda_sm20_div_u64"), 1);
        assert_eq!(count("helper"), 1);
    }

    #[test]
    fn parameters_are_read_as_offsets() {
        let lines = [
            "FSETP.GT.AND P0, PT, R4, c[0x0][0x170], PT",
            "ULDC.64 UR4, c[0x0][0x118]",
            "IMAD R2, R3, c[0x0][0x0], -c[0x0][0x160]",
            "HSETP2.GEU.AND P1, P2, R20, c[0x0] [0x174].H0_H0, PT",
            "LDC R2, c[0x3][0x180]",
        ];
        let function = parse::tests::function("k", &lines);
        let parameters = |arch| Counts::of(&function, arch).parameters;
        assert_eq!(parameters(NvvmArch::Compute80), [0, 0x10, 0x14].into());
        assert_eq!(parameters(NvvmArch::Compute90), [].into());
    }

    #[test]
    fn instructions_are_counted_by_space_and_width() {
        let opcodes = [
            "LDG.E",
            "LDG.E.64",
            "LDG.E.U16.CONSTANT",
            "LDG.E.ENL2.256",
            "LD.E",
            "ST.E",
            "STL",
            "LDS",
            "REDG.E.ADD.STRONG.GPU",
            "ATOMG.E.CAS.STRONG.GPU",
            "ATOMS.POPC.INC.32",
            "ATOMS.CAST.SPIN.64",
            "ATOMS.CAS",
            "ATOM.E.ADD",
            "RED.E.ADD.STRONG.GPU",
            "QSPC.E.S",
            "REDUX.SUM.S32",
            "LDGSTS.E",
            "CALL.REL.NOINC",
            "LDG.E.64.STRONG.GPU",
            "STG.E.STRONG.SM",
            "MEMBAR.ALL.GPU",
            "CCTL.IVALL",
            "CCTL.E.PF1",
            "HADD2.F32",
            "HADD2",
            "F2F.F64.F16",
            "F2F.F16.F32",
            "SHFL.DOWN",
            "WARPSYNC.COLLECTIVE",
            "SHFL.DOWN",
            "ENDCOLLECTIVE",
            "SHFL.IDX",
            "WARPSYNC",
            "SHFL.IDX",
        ];
        let mut listing = String::from(".section\t.text.k,\"ax\"\n");
        for (index, opcode) in opcodes.iter().enumerate() {
            listing += &format!("/*{:04x}*/ {opcode} R0, R8 ;\n", index * 16);
        }
        let function = &parse::parse(&listing)[0];
        let expected = Counts {
            instructions: opcodes.len(),
            ldg: [(32, 1), (64, 1), (16, 1), (256, 1)].into(),
            in_flight: [(32, 1), (64, 1), (16, 1), (256, 1)].into(),
            atomic_ldg: [(64, 1)].into(),
            atomic_stg: [(32, 1)].into(),
            fences: 2,
            generic: 5,
            local: 1,
            lds: 1,
            red: 1,
            atom: 1,
            atoms: 3,
            atoms_loops: 2,
            redux: 1,
            calls: 1,
            from_f16: 2,
            shfl: [("DOWN".to_owned(), 1), ("IDX".to_owned(), 2)].into(),
            ..Counts::default()
        };
        assert_eq!(Counts::of(function, NvvmArch::Compute90), expected);
        let before_hopper = Counts {
            generic: 4,
            red: 2,
            ..expected
        };
        assert_eq!(Counts::of(function, NvvmArch::Compute80), before_hopper);
    }
}
