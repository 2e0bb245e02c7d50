//! Adds to a module what rustc cannot express about GPU code, before LLVM optimises it.
//!
//! rustc has neither address spaces nor convergence. The module is unoptimised, so nothing has been moved
//! yet:
//!
//! 1. launch attributes become attributes of functions;
//! 2. every function except the module's kernels becomes internal, so that unused code disappears;
//! 3. statics in section `.shared`, and the dynamic shared memory, move to address space 3;
//! 4. pointer parameters of kernels are declared to point into global memory, address space 1;
//! 5. inline assembly that is not `pure` becomes convergent, because a shuffle or a barrier must neither be
//!    duplicated nor moved under a condition; so do all functions and all indirect calls;
//! 6. orderings of atomic read-modify-writes, which LLVM's NVPTX back end would drop, become fences;
//! 7. floating-point options become flags of instructions, except in functions that promise the CPU's bits;
//! 8. in builds with panic messages, the values of messages are declared unused, because `cuda_std` does not
//!    print them.

use crate::CudaBuilderError;
use crate::builder::FloatOptions;
use crate::llvm::numbers::*;
use crate::llvm::{Location, Machine, Module, Value};
use crate::notes;
use std::collections::HashSet;
use std::path::Path;

/// NVPTX's address spaces.
const GLOBAL: u32 = 1;
pub(crate) const SHARED: u32 = 3;

/// The section that `#[address_space(shared)]` puts a static in.
const SHARED_SECTION: &str = ".shared";

/// The symbol of `cuda_std::shared::dynamic_shared_mem`, and its alignment: that of the widest asynchronous
/// copy.
pub(crate) const DYNAMIC_SHARED: &str = "__cuda_dynamic_shared";
const DYNAMIC_SHARED_ALIGN: u32 = 128;

/// Infers the address spaces of pointers.
const INFER: &str = "function(infer-address-spaces)";

/// The optimisation pipeline, for a module after [`prepare`].
///
/// Address spaces are inferred first, after functions with `#[inline(always)]` are inlined, so that all later
/// passes see them. Local variables are hidden from that pass. LLVM replaces a variable that is only a copy
/// of a constant by the constant. A variable that is known to be in local memory would then be loaded from
/// the constant's address in local memory, which is a different location.
pub(crate) fn optimise(
    module: &Module<'_>,
    machine: &Machine<'_>,
    panic_messages: bool,
) -> Result<(), String> {
    module.run_passes("always-inline,function(sroa)", machine)?;
    let hidden = module.hide_locals();
    let inferred = module.run_passes(INFER, machine);
    module.show_locals(hidden);
    inferred?;
    module.run_passes("default<O3>", machine)?;
    if panic_messages {
        // Removes formatting code that no message needs.
        module.run_passes("deadargelim,globaldce,default<O3>", machine)?;
    }
    module.run_passes(INFER, machine)
}

/// Makes all functions internal except the kernels of this module, or all kernels: the first two steps.
///
/// In a build with panic messages, the function that [`drop_panic_values`] looks for stays visible
/// too.
pub(crate) fn choose(
    module: &Module<'_>,
    name: Option<&str>,
    panic_messages: bool,
) -> Result<(), CudaBuilderError> {
    let notes = notes::take(module);
    for note in &notes {
        let function = module.function_named(&note.kernel);
        let function = function.ok_or_else(|| CudaBuilderError::UnknownKernel {
            kernel: note.kernel.clone(),
        })?;
        if note.key != notes::MODULE {
            module.add_string_attribute(function, &note.key, &note.value);
        }
    }
    let modules = notes::modules_of(&notes);
    let wanted = |kernel: &str| match name {
        Some(name) => modules.get(kernel) == Some(&name),
        None => true,
    };
    for function in module.functions() {
        let own_name = module.name(function);
        let kept = module.is_kernel(function) && wanted(&own_name)
            || panic_messages && own_name == PANIC_BOUNDS.1;
        if !kept && !module.is_declaration(function) {
            module.make_internal(function);
        }
    }
    Ok(())
}

/// Prepares a module for [`optimise`]: the other steps.
pub(crate) fn prepare(module: &Module<'_>, floats: FloatOptions) {
    let convergent = module.enum_attribute("convergent");
    for function in module.functions() {
        if module.is_declaration(function) {
            continue;
        }
        module.add_attribute(function, convergent);
        // The target machine decides; one bitcode serves all architectures.
        module.remove_string_attribute(function, "target-cpu");
        module.remove_string_attribute(function, "target-features");
        let floats = match promises_bits(module, function) {
            true => FloatOptions::NONE,
            false => floats,
        };
        if floats.ftz {
            module.add_string_attribute(
                function,
                "denormal-fp-math-f32",
                "preserve-sign,preserve-sign",
            );
        }

        if module.is_kernel(function) {
            for param in module.generic_pointer_params(function) {
                module.cast_param(function, param, GLOBAL);
            }
        }

        for instruction in module.instructions(function) {
            match module.opcode(instruction) {
                OP_CALL => {
                    let callee = module.callee(instruction);
                    let indirect = !module.is_function(callee) && !module.is_asm(callee);
                    if indirect || module.is_impure_asm(callee) {
                        module.add_call_attribute(instruction, convergent);
                    } else if floats.fast_sqrt && module.name(callee).starts_with("llvm.sqrt.f32") {
                        module.add_fast_math(instruction, FAST_MATH_APPROX_FUNC);
                    }
                }
                OP_FADD | OP_FSUB | OP_FMUL if floats.fma_contraction => {
                    module.add_fast_math(instruction, FAST_MATH_CONTRACT);
                }
                OP_FDIV if floats.fast_div => {
                    module.add_fast_math(instruction, FAST_MATH_APPROX_FUNC)
                }
                OP_ATOMIC_RMW => spell_out_ordering(module, instruction),
                _ => {}
            }
        }
    }
}

/// The function that `cuda_std`'s panic handler calls. It prints a message without values, or a fixed text
/// for one with values.
const PANIC_WITHOUT_VALUES: &str = "__cuda_std_panic";

/// The functions through which panics with a message reach the handler. A `fmt::Arguments` is two pointers,
/// here the first parameters: the text's pieces, and the values with their formatting functions.
const PANICS: [&str; 2] = [
    "core::panicking::panic_fmt",
    "core::panicking::panic_nounwind_fmt",
];

/// `core`'s function for an index out of bounds, and `cuda_std`'s, which prints index and length without
/// formatting. Both have index, length and location as parameters.
const PANIC_BOUNDS: (&str, &str, u32) = (
    "core::panicking::panic_bounds_check",
    "__cuda_std_panic_bounds",
    3,
);

/// Declares that the values of messages are not read, if the module's panic handler is `cuda_std`'s.
/// Formatting is then dead code. Otherwise it would be called indirectly, and ptxas gives a kernel with
/// indirect calls as many registers as any function whose address is taken: 255.
pub(crate) fn drop_panic_values(module: &Module<'_>) {
    const VALUES: u32 = 1;
    if module.function_named(PANIC_WITHOUT_VALUES).is_none() {
        return;
    }
    for function in module.functions() {
        let name = demangle(&module.name(function));
        if PANICS.iter().any(|panic| name.starts_with(panic)) {
            module.only_compares_param(function, VALUES);
        }
    }
    let (bounds, own, params) = PANIC_BOUNDS;
    let Some(own) = module.function_named(own) else {
        return;
    };
    for function in module.functions() {
        if demangle(&module.name(function)) == bounds {
            module.replace_function(function, own, params);
        }
    }
    module.make_internal(own);
}

/// Code with the same bits on CPU and GPU: the crate `libm`, and the part of `cuda_std` that calls it.
const SAME_BITS: [&str; 2] = ["libm::", "cuda_std::float::exact::"];

fn promises_bits(module: &Module<'_>, function: Value) -> bool {
    has_same_bits(&demangle(&module.name(function)))
}

/// Whether a demangled name belongs to [`SAME_BITS`]: `libm::math::exp::exp` or `<f64 as
/// libm::math::support::Float>::fma`, but not `kernels::libm::exp`.
fn has_same_bits(name: &str) -> bool {
    let starts_path = |at: usize| {
        let before = name[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
    };
    SAME_BITS
        .iter()
        .any(|path| name.match_indices(path).any(|(at, _)| starts_path(at)))
}

/// Inlines the arithmetic of the functions in [`SAME_BITS`]. `core`'s `<f32 as Add>::add` is also called by
/// other code, which may be contracted. Runs before [`prepare`].
pub(crate) fn separate_same_bits(module: &Module<'_>, machine: &Machine<'_>) -> Result<(), String> {
    let functions = module.functions().into_iter();
    let (same_bits, others): (Vec<_>, Vec<_>) = functions
        .filter(|&function| !module.is_declaration(function))
        .partition(|&function| promises_bits(module, function));
    if same_bits.is_empty() {
        return Ok(());
    }
    let computes = |function: &Value| {
        let instructions = module.instructions(*function);
        let opcodes = instructions.iter().map(|&i| module.opcode(i));
        let arithmetic = [OP_FADD, OP_FSUB, OP_FMUL, OP_FDIV];
        opcodes
            .into_iter()
            .any(|opcode| arithmetic.contains(&opcode))
    };
    let others: HashSet<Value> = others.into_iter().filter(computes).collect();
    let inline = module.enum_attribute("alwaysinline");
    for function in same_bits {
        for instruction in module.instructions(function) {
            if module.opcode(instruction) == OP_CALL && others.contains(&module.callee(instruction))
            {
                module.add_call_attribute(instruction, inline);
            }
        }
    }
    module.run_passes("always-inline", machine)
}

/// Gives each instruction its innermost source line for which `is_wanted` holds, so that inlined code counts
/// for its caller. Runs after [`optimise`].
pub(crate) fn credit_callers(module: &Module<'_>, is_wanted: impl Fn(&Path) -> bool) {
    for function in module.functions() {
        for instruction in module.instructions(function) {
            let locations = module.locations(instruction);
            let wanted = |location: &&Location| location.line != 0 && is_wanted(&location.file);
            if let Some(location) = locations.iter().find(wanted) {
                module.set_location(instruction, location);
            }
        }
    }
}

/// The third step.
pub(crate) fn move_shared_statics(module: &Module<'_>) -> Result<(), CudaBuilderError> {
    for global in module.globals() {
        if module.section(global) == SHARED_SECTION {
            if !module.is_uninitialised(global) {
                return Err(CudaBuilderError::InitialisedShared {
                    name: demangle(&module.name(global)),
                });
            }
            module.move_global(global, SHARED, 1, false);
        } else if module.name(global) == DYNAMIC_SHARED {
            module.move_global(global, SHARED, DYNAMIC_SHARED_ALIGN, true);
        }
    }
    Ok(())
}

/// NVPTX emits `atomicrmw` as relaxed, regardless of its ordering. Fences of the same scope around a relaxed
/// operation are at least as strong.
fn spell_out_ordering(module: &Module<'_>, rmw: Value) {
    let ordering = module.ordering(rmw);
    let before = match ordering {
        ORDERING_RELEASE | ORDERING_ACQ_REL => Some(ORDERING_RELEASE),
        ORDERING_SEQ_CST => Some(ORDERING_SEQ_CST),
        _ => None,
    };
    let after = matches!(
        ordering,
        ORDERING_ACQUIRE | ORDERING_ACQ_REL | ORDERING_SEQ_CST
    );
    if let Some(before) = before {
        module.add_fence(rmw, before, false);
    }
    if after {
        module.add_fence(rmw, ORDERING_ACQUIRE, true);
    }
    module.set_ordering(rmw, ORDERING_MONOTONIC);
}

/// Operations whose code depends on the architecture: the architecture's number, and operations that are
/// single instructions only on some.
const ARCHITECTURES: [&str; 3] = ["__nvvm_reflect", "llvm.minimum.", "llvm.maximum."];

/// Whether the module's code may depend on the architecture.
pub(crate) fn depends_on_architecture(module: &Module<'_>) -> bool {
    let asks = |name: String| ARCHITECTURES.iter().any(|known| name.starts_with(known));
    let functions = module.functions().into_iter();
    functions
        .filter(|&function| module.is_declaration(function))
        .any(|function| asks(module.name(function)))
}

/// Rust's spelling of a symbol. LLVM's linker may have appended a number.
pub(crate) fn demangle(symbol: &str) -> String {
    let digits = symbol.len() - symbol.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let shorter = (0..=digits).map(|less| &symbol[..symbol.len() - less]);
    match shorter
        .filter_map(|s| rustc_demangle::try_demangle(s).ok())
        .next()
    {
        Some(name) => format!("{name:#}"),
        None => symbol.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{demangle, has_same_bits};

    #[test]
    fn a_number_of_the_linkers_is_no_part_of_the_name() {
        let symbol = "_RNvNtNtCsk4idu9fuy1S_4libm4math4exp24exp2";
        for number in ["", "9", "24"] {
            assert_eq!(
                demangle(&format!("{symbol}{number}")),
                "libm::math::exp2::exp2"
            );
        }
        assert_eq!(demangle("kernel12"), "kernel12");
    }

    #[test]
    fn the_promise_goes_by_crate() {
        for name in [
            "libm::math::expf::expf",
            "<f64 as libm::math::support::float_traits::Float>::fma",
            "core::ops::function::FnOnce::call_once::<libm::math::support::Round>",
            "cuda_std::float::exact::f32::exp",
        ] {
            assert!(has_same_bits(name), "{name}");
        }
        for name in [
            "kernels::libm::exp",
            "mylibm::exp",
            "cuda_std::float::GpuFloat::exp",
            "<f32 as cuda_std::float::GpuFloat>::rsqrt",
            "expf",
        ] {
            assert!(!has_same_bits(name), "{name}");
        }
    }
}
