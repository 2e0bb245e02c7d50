//! Hides local variables from a pass.

use super::Module;
use super::api::Value;
use super::numbers::OP_ALLOCA;
use std::ffi::CStr;

/// The function between a hidden local variable and its uses.
const HIDES: &CStr = c"__cuda_builder_hides";

/// What [`Module::hide_locals`] has inserted.
pub(crate) struct Hidden {
    /// Each local variable, and the call whose result replaces it.
    calls: Vec<(Value, Value)>,
    function: Value,
}

// SAFETY (of all blocks below): as for `Module`'s other functions.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all blocks, stated above"
)]
impl Module<'_> {
    /// Replaces all uses of local variables by the result of a call of an unknown function, until
    /// [`show_locals`](Self::show_locals). Passes in between must not remove calls.
    pub(crate) fn hide_locals(&self) -> Hidden {
        let api = self.api();
        let functions = self.functions();
        // All local variables of rustc's are generic pointers.
        let (ty, hides) = unsafe {
            let mut pointer = (api.LLVMPointerTypeInContext)(self.context, 0);
            let ty = (api.LLVMFunctionType)(pointer, &mut pointer, 1, 0);
            (ty, (api.LLVMAddFunction)(self.module, HIDES.as_ptr(), ty))
        };
        let locals = functions
            .into_iter()
            .flat_map(|function| self.instructions(function))
            .filter(|&instruction| self.opcode(instruction) == OP_ALLOCA)
            .filter(|&local| unsafe {
                (api.LLVMGetPointerAddressSpace)((api.LLVMTypeOf)(local)) == 0
            });
        let hide = |mut local: Value| unsafe {
            let next = (api.LLVMGetNextInstruction)(local);
            (api.LLVMPositionBuilderBefore)(self.builder, next);
            let call = (api.LLVMBuildCall2)(self.builder, ty, hides, &mut local, 1, c"".as_ptr());
            (api.LLVMReplaceAllUsesWith)(local, call);
            // This also replaced the argument of the call itself.
            (api.LLVMSetOperand)(call, 0, local);
            (local, call)
        };
        Hidden {
            calls: locals.map(hide).collect(),
            function: hides,
        }
    }

    /// Removes the calls.
    pub(crate) fn show_locals(&self, hidden: Hidden) {
        let api = self.api();
        unsafe {
            for (local, call) in hidden.calls {
                (api.LLVMReplaceAllUsesWith)(call, local);
                (api.LLVMInstructionEraseFromParent)(call);
            }
            (api.LLVMDeleteFunction)(hidden.function);
        }
    }
}
