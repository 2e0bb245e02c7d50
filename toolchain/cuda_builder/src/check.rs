//! Errors that PTX tools or the driver would report later, or that would fail only at run time.
//!
//! They are found in the optimised module, and reported with the location in the kernels' source.

use crate::cargo::Package;
use crate::error::REFUSES;
use crate::llvm::numbers::*;
use crate::llvm::{Location, Module, Value};
use crate::passes::{DYNAMIC_SHARED, SHARED, demangle};
use crate::{CudaBuilderError, Finding, Site};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::PathBuf;

/// The limit of static shared memory for a block in bytes, on every GPU (CUDA C++ Programming Guide,
/// technical specifications).
pub(crate) const MAX_STATIC_SHARED: u64 = 48 << 10;

/// Functions that the CUDA driver provides to every module.
const DRIVER_PROVIDES: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// The prefixes of `cuda_std`'s functions that must not remain after optimisation.
const REFUSED: &str = "__cuda_std_refused_";

/// LLVM's names of processors that have intrinsics, except for NVIDIA's GPUs.
const OTHER_PROCESSORS: [&str; 12] = [
    "aarch64",
    "amdgcn",
    "arm",
    "bpf",
    "hexagon",
    "loongarch",
    "mips",
    "ppc",
    "riscv",
    "s390",
    "wasm",
    "x86",
];

/// A module after optimisation, and its crate.
pub(crate) struct Checks<'a, 'l> {
    pub(crate) module: &'a Module<'l>,
    pub(crate) package: &'a Package,
}

impl Checks<'_, '_> {
    /// The first error, if there is one.
    pub(crate) fn run(&self, allow_recursion: bool) -> Result<(), CudaBuilderError> {
        let krate = || self.package.name.clone();
        let symbols = self.unresolved();
        if !symbols.is_empty() {
            let krate = krate();
            return Err(CudaBuilderError::Unresolved { krate, symbols });
        }
        let findings = self.without_instruction();
        if !findings.is_empty() {
            return Err(self.unsupported(findings));
        }
        self.shared_memory()?;
        let cycles = match allow_recursion {
            true => Vec::new(),
            false => self.cycles(),
        };
        match cycles.is_empty() {
            true => Ok(()),
            false => Err(CudaBuilderError::Recursion {
                krate: krate(),
                cycles,
            }),
        }
    }

    pub(crate) fn unsupported(&self, findings: Vec<Finding>) -> CudaBuilderError {
        CudaBuilderError::Unsupported {
            krate: self.package.name.clone(),
            findings,
        }
    }

    /// Symbols that are used and not defined.
    fn unresolved(&self) -> Vec<Finding> {
        let module = self.module;
        let functions = module.functions().into_iter();
        let globals = module.globals().into_iter();
        functions
            .chain(globals)
            .filter(|&v| module.is_declaration(v) && module.is_used(v))
            .map(|v| (v, module.name(v)))
            .filter(|(_, name)| {
                !name.starts_with("llvm.")
                    && name != DYNAMIC_SHARED
                    && !DRIVER_PROVIDES.contains(&name.as_str())
            })
            .map(|(value, name)| Finding {
                what: match name.strip_prefix(REFUSED) {
                    Some(what) => format!("{REFUSES}{}", what.replace('_', " ")),
                    None => format!("`{}`", demangle(&name)),
                },
                sites: self.sites_of(value),
            })
            .collect()
    }

    /// Features that the back end has no instruction for, or that it passes on unchanged.
    fn without_instruction(&self) -> Vec<Finding> {
        let module = self.module;
        let mut findings = Vec::new();
        for global in module.globals() {
            if module.is_thread_local(global) {
                let name = demangle(&module.name(global));
                findings.push(Finding {
                    what: format!(
                        "`{name}` is thread-local: use a local variable, or an array with one element per thread"
                    ),
                    sites: self.sites_of(global),
                });
            }
        }
        for function in module.functions() {
            let name = module.name(function);
            let of = name
                .strip_prefix("llvm.")
                .and_then(|rest| rest.split('.').next());
            if of.is_some_and(|of| OTHER_PROCESSORS.contains(&of)) && module.is_used(function) {
                findings.push(Finding {
                    what: format!("`{name}` is an instruction of another processor"),
                    sites: self.sites_of(function),
                });
            }
        }
        findings.extend(self.per_instruction(
            |instruction| self.is_f128(instruction),
            || "128-bit float arithmetic (`f128`) is not supported: use `f64`".to_owned(),
        ));
        for (asm, instructions) in self.foreign_asm() {
            findings.push(Finding {
                what: format!(
                    "the inline assembly `{asm}` is not PTX: each PTX instruction must end with `;`"
                ),
                sites: self.sites(instructions),
            });
        }
        findings
    }

    /// Variadic functions. Runs before optimisation, which rewrites them.
    pub(crate) fn variadic(&self) -> Vec<Finding> {
        let module = self.module;
        let defined = self.defined().into_iter();
        defined
            .filter(|&function| module.is_variadic(function))
            .map(|function| Finding {
                what: format!(
                    "`{}` is variadic: pass a slice",
                    demangle(&module.name(function))
                ),
                sites: vec![self.definition(function)],
            })
            .collect()
    }

    /// Atomic operations of more than 64 bits, which few GPUs support.
    pub(crate) fn wide_atomics(&self) -> Vec<Finding> {
        let is_wide = |instruction| {
            let module = self.module;
            let value = match module.opcode(instruction) {
                OP_ATOMIC_RMW | OP_CMPXCHG => module.operands(instruction).get(1).copied(),
                OP_STORE if module.ordering(instruction) != ORDERING_NOT_ATOMIC => {
                    module.operands(instruction).first().copied()
                }
                OP_LOAD if module.ordering(instruction) != ORDERING_NOT_ATOMIC => Some(instruction),
                _ => None,
            };
            value.is_some_and(|value| module.bytes_of(value) > 8)
        };
        self.per_instruction(is_wide, || {
            "an atomic operation of more than 64 bits is not supported: use at most 64 bits"
                .to_owned()
        })
    }

    /// One finding for all instructions for which `is_wrong` holds.
    fn per_instruction(
        &self,
        is_wrong: impl Fn(Value) -> bool,
        what: impl Fn() -> String,
    ) -> Vec<Finding> {
        let defined = self.defined().into_iter();
        let instructions = defined.flat_map(|function| self.module.instructions(function));
        let wrong: Vec<_> = instructions.filter(|&i| is_wrong(i)).collect();
        let finding = || Finding {
            what: what(),
            sites: self.sites(wrong.clone()),
        };
        (!wrong.is_empty()).then(finding).into_iter().collect()
    }

    /// Whether an instruction computes with 128-bit floats.
    fn is_f128(&self, instruction: Value) -> bool {
        let computes = matches!(
            self.module.opcode(instruction),
            OP_FADD | OP_FSUB | OP_FMUL | OP_FDIV | OP_FREM | OP_FCMP | OP_FNEG
        ) || (OP_FP_TO_UI..=OP_FP_EXT).contains(&self.module.opcode(instruction));
        computes
            && (self.module.is_fp128(instruction)
                || self
                    .module
                    .operands(instruction)
                    .into_iter()
                    .any(|operand| self.module.is_fp128(operand)))
    }

    /// Inline assembly that is not PTX, and the instructions that contain it.
    fn foreign_asm(&self) -> BTreeMap<String, Vec<Value>> {
        let mut found = BTreeMap::<String, Vec<Value>>::new();
        for function in self.defined() {
            for (callee, call) in self.calls(function) {
                if self.module.is_asm(callee) {
                    let text = self.module.asm_text(callee);
                    if !ends_like_ptx(&text) {
                        found.entry(one_line(&text)).or_default().push(call);
                    }
                }
            }
        }
        found
    }

    /// Checks the size of each kernel's static shared memory.
    fn shared_memory(&self) -> Result<(), CudaBuilderError> {
        let module = self.module;
        let is_shared = |global: Value| {
            module.address_space(global) == SHARED && !module.is_declaration(global)
        };
        let globals = module.globals().into_iter();
        let all: u64 = globals
            .filter(|&global| is_shared(global))
            .map(|global| module.bytes_of_global(global))
            .sum();
        if all <= MAX_STATIC_SHARED {
            return Ok(());
        }
        for kernel in module.functions() {
            if !module.is_kernel(kernel) {
                continue;
            }
            let mut shared = self.reached_from(kernel);
            shared.retain(|&value| !module.is_function(value) && is_shared(value));
            let bytes = shared.iter().map(|&s| module.bytes_of_global(s)).sum();
            if bytes > MAX_STATIC_SHARED {
                shared.sort_by_key(|&s| std::cmp::Reverse(module.bytes_of_global(s)));
                let finding = |&global: &Value| Finding {
                    what: format!(
                        "{} bytes: `{}`",
                        module.bytes_of_global(global),
                        demangle(&module.name(global))
                    ),
                    sites: self.sites_of(global),
                };
                return Err(CudaBuilderError::SharedMemory {
                    krate: self.package.name.clone(),
                    kernel: demangle(&module.name(kernel)),
                    bytes,
                    limit: MAX_STATIC_SHARED,
                    statics: shared.iter().map(finding).collect(),
                });
            }
        }
        Ok(())
    }

    /// The functions and statics that `function` uses, directly or indirectly.
    fn reached_from(&self, function: Value) -> Vec<Value> {
        let module = self.module;
        let (mut seen, mut found, mut queue) =
            (HashSet::from([function]), Vec::new(), vec![function]);
        while let Some(value) = queue.pop() {
            let users = match module.is_function(value) {
                true => module.instructions(value),
                false => vec![value],
            };
            for used in users.into_iter().flat_map(|user| module.mentioned(user)) {
                if seen.insert(used) {
                    found.push(used);
                    queue.push(used);
                }
            }
        }
        found
    }

    /// The recursive functions. Only direct calls are followed.
    fn cycles(&self) -> Vec<Finding> {
        let module = self.module;
        let defined = self.defined();
        let calls: HashMap<Value, Vec<(Value, Value)>> = defined
            .iter()
            .map(|&function| (function, self.calls(function)))
            .collect();
        let (mut findings, mut known) = (Vec::new(), HashSet::new());
        for &start in &defined {
            if known.contains(&start) {
                continue;
            }
            let Some(cycle) = shortest_cycle(start, &calls) else {
                continue;
            };
            known.extend(cycle.iter().map(|&(caller, _)| caller));
            let named = cycle.iter().map(|&(function, _)| {
                let site = self.definition(function);
                format!("`{}`{}", site.function, site.at())
            });
            let named = named.collect::<Vec<_>>().join(" calls ");
            let back = match &cycle[..] {
                [_] => "itself".to_owned(),
                _ => format!("`{}`", demangle(&module.name(start))),
            };
            let own = self.own_call_of(start);
            let calls = cycle.iter().map(|&(_, call)| call).chain(own);
            findings.push(Finding {
                what: format!("{named} calls {back}"),
                sites: self.sites(calls.collect()),
            });
        }
        findings
    }

    /// The nearest call in the crate's own source on the path to `function`.
    fn own_call_of(&self, function: Value) -> Option<Value> {
        let (mut seen, mut queue) = (HashSet::from([function]), VecDeque::from([function]));
        while let Some(callee) = queue.pop_front() {
            for user in self.module.using_instructions(callee) {
                if self.own_location(user).is_some() {
                    return Some(user);
                }
                let caller = self.module.function_of(user);
                if seen.insert(caller) {
                    queue.push_back(caller);
                }
            }
        }
        None
    }

    /// The functions that a function calls, and the calls.
    fn calls(&self, function: Value) -> Vec<(Value, Value)> {
        let instructions = self.module.instructions(function).into_iter();
        instructions
            .filter(|&instruction| self.module.opcode(instruction) == OP_CALL)
            .map(|call| (self.module.callee(call), call))
            .collect()
    }

    fn defined(&self) -> Vec<Value> {
        let functions = self.module.functions().into_iter();
        functions
            .filter(|&function| !self.module.is_declaration(function))
            .collect()
    }

    /// For each symbol: where a function is defined, and where an intrinsic of LLVM is used.
    pub(crate) fn sites_by_symbol(&self) -> BTreeMap<String, Vec<Site>> {
        let functions = self.module.functions().into_iter();
        functions
            .map(|function| {
                let sites = match self.module.is_declaration(function) {
                    true => self.sites_of(function),
                    false => vec![self.definition(function)],
                };
                (self.module.name(function), sites)
            })
            .collect()
    }

    fn definition(&self, function: Value) -> Site {
        Site {
            function: demangle(&self.module.name(function)),
            location: self.module.definition(function),
        }
    }

    /// Where a function or static is used.
    fn sites_of(&self, value: Value) -> Vec<Site> {
        self.sites(self.module.using_instructions(value))
    }

    /// The locations of instructions, without duplicates.
    fn sites(&self, instructions: Vec<Value>) -> Vec<Site> {
        let site = |&instruction: &Value| Site {
            function: demangle(&self.module.name(self.module.function_of(instruction))),
            location: self.location(instruction),
        };
        let mut sites: Vec<_> = instructions.iter().map(site).collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// The innermost location of an instruction in the crate itself, else in any crate.
    fn location(&self, instruction: Value) -> Option<(PathBuf, u32)> {
        self.own_location(instruction).or_else(|| {
            let locations = self.module.locations(instruction);
            let known = locations.into_iter().find(|location| location.line != 0)?;
            Some((known.file, known.line))
        })
    }

    fn own_location(&self, instruction: Value) -> Option<(PathBuf, u32)> {
        let locations = self.module.locations(instruction);
        let is_own = |location: &Location| {
            location.line != 0 && location.file.starts_with(&self.package.root)
        };
        let own = locations.into_iter().find(is_own)?;
        Some((own.file, own.line))
    }
}

/// The finding for a fatal error of LLVM. LLVM names a function, or the intrinsic that it has no instruction
/// for.
pub(crate) fn fatal(reason: &str, arch: &str, sites: &BTreeMap<String, Vec<Site>>) -> Finding {
    let (what, function) = match reason.rsplit_once("In function: ") {
        Some((what, function)) => (what, Some(function.trim())),
        None => (reason, None),
    };
    let named = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let symbol = match function {
        Some(function) => Some(function.to_owned()),
        None => what
            .split_whitespace()
            .map(named)
            .find(|word| word.starts_with("llvm.")),
    };
    let known = symbol.as_ref().and_then(|symbol| sites.get(symbol));
    let site = function.map(|function| Site {
        function: demangle(function),
        location: None,
    });
    Finding {
        what: format!(
            "LLVM cannot compile it for {arch}: {}. If newer GPUs support it, set a newer architecture, or \
             test `cuda_std::cfg::cuda_arch` in the kernel",
            one_line(what)
        ),
        sites: known.cloned().unwrap_or_else(|| site.into_iter().collect()),
    }
}

/// The shortest call cycle through `start`: each caller, with its call.
fn shortest_cycle(
    start: Value,
    calls: &HashMap<Value, Vec<(Value, Value)>>,
) -> Option<Vec<(Value, Value)>> {
    let mut came_from = HashMap::<Value, (Value, Value)>::new();
    let mut queue = VecDeque::from([start]);
    while let Some(caller) = queue.pop_front() {
        for &(callee, call) in calls.get(&caller).into_iter().flatten() {
            if !calls.contains_key(&callee) || came_from.contains_key(&callee) {
                continue;
            }
            came_from.insert(callee, (caller, call));
            queue.push_back(callee);
        }
    }
    let mut step = *came_from.get(&start)?;
    let mut cycle = vec![step];
    while step.0 != start {
        step = came_from[&step.0];
        cycle.push(step);
    }
    cycle.reverse();
    Some(cycle)
}

/// Whether the end of the assembly is valid PTX: `;`, a label, a brace, a directive, or empty.
fn ends_like_ptx(asm: &str) -> bool {
    let mut code = String::new();
    let mut rest = asm;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let last = lines.map(str::trim).rfind(|line| !line.is_empty());
    last.is_none_or(|line| line.ends_with([';', ':', '{', '}']) || line.starts_with('.'))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Site, ends_like_ptx, fatal};
    use std::collections::BTreeMap;

    #[test]
    fn ptx_is_told_from_other_assembly_by_its_end() {
        for ptx in [
            "",
            "mov.u32 $0, 1;",
            "mov.u32 $0, 1; // one",
            "{\n .reg .pred p;\n}\n",
            "L:",
            "// nothing",
            ".pragma \"nounroll\";",
            "add.u32 $0, $1, $2; /* a\n b */",
        ] {
            assert!(ends_like_ptx(ptx), "{ptx}");
        }
        for other in ["cpuid", "mov eax, 1\ncpuid", "mov.u32 $0, 1 // ;"] {
            assert!(!ends_like_ptx(other), "{other}");
        }
    }

    #[test]
    fn llvms_words_name_the_function_or_the_intrinsic() {
        let site = |line| Site {
            function: "k".to_owned(),
            location: Some(("src/lib.rs".into(), line)),
        };
        let sites = BTreeMap::from([
            ("k".to_owned(), vec![site(3)]),
            ("llvm.nvvm.redux".to_owned(), vec![site(5)]),
        ]);
        let finding = fatal(
            "Cannot select: t1:\n  i64 = X\nIn function: k",
            "sm_75",
            &sites,
        );
        assert!(
            finding
                .what
                .contains("for sm_75: Cannot select: t1: i64 = X. If")
        );
        assert_eq!(finding.sites, [site(3)]);
        let finding = fatal("Cannot select: intrinsic %llvm.nvvm.redux", "sm_75", &sites);
        assert_eq!(finding.sites, [site(5)]);
        let finding = fatal("no\nIn function: other", "sm_75", &sites);
        assert_eq!(
            (&*finding.sites[0].function, &finding.sites[0].location),
            ("other", &None)
        );
        assert!(fatal("no", "sm_75", &sites).sites.is_empty());
    }
}
