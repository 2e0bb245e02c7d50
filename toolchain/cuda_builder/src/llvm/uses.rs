//! Uses of values, definitions of functions, and types.

use super::api::{self, Value};
use super::{Module, chain};
use std::path::PathBuf;

// SAFETY (of all blocks below): as for `Module`'s other functions. Users, parents and operands of a value
// belong to the same module.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all blocks, stated above"
)]
impl Module<'_> {
    /// The instructions that use `value`, including through constant expressions and initial values of
    /// statics.
    pub(crate) fn using_instructions(&self, value: Value) -> Vec<Value> {
        let api = self.api();
        let (mut found, mut seen, mut queue) = (Vec::new(), vec![value], vec![value]);
        while let Some(value) = queue.pop() {
            let uses = unsafe { chain((api.LLVMGetFirstUse)(value), |u| (api.LLVMGetNextUse)(u)) };
            for user in uses.into_iter().map(|u| unsafe { (api.LLVMGetUser)(u) }) {
                if seen.contains(&user) {
                    continue;
                }
                seen.push(user);
                match unsafe { (api.LLVMIsAInstruction)(user).is_null() } {
                    true => queue.push(user),
                    false => found.push(user),
                }
            }
        }
        found
    }

    /// The function that contains an instruction.
    pub(crate) fn function_of(&self, instruction: Value) -> Value {
        let api = self.api();
        unsafe { (api.LLVMGetBasicBlockParent)((api.LLVMGetInstructionParent)(instruction)) }
    }

    /// File and line of a function; `None` without debug information.
    pub(crate) fn definition(&self, function: Value) -> Option<(PathBuf, u32)> {
        let api = self.api();
        unsafe {
            let subprogram = (api.LLVMGetSubprogram)(function);
            let line = |of| (api.LLVMDISubprogramGetLine)(of);
            (!subprogram.is_null()).then(|| (self.file(subprogram), line(subprogram)))
        }
    }

    pub(crate) fn operands(&self, user: Value) -> Vec<Value> {
        let api = self.api();
        unsafe {
            let count = (api.LLVMGetNumOperands)(user).max(0) as u32;
            (0..count).map(|i| (api.LLVMGetOperand)(user, i)).collect()
        }
    }

    /// The globals and functions that `user` refers to, including in constant expressions.
    pub(crate) fn mentioned(&self, user: Value) -> Vec<Value> {
        let api = self.api();
        let (mut found, mut queue) = (Vec::new(), self.operands(user));
        while let Some(operand) = queue.pop() {
            unsafe {
                if operand.is_null() || (api.LLVMIsAConstant)(operand).is_null() {
                    continue;
                }
                match (api.LLVMIsAGlobalValue)(operand).is_null() {
                    true => queue.extend(self.operands(operand)),
                    false => found.push(operand),
                }
            }
        }
        found
    }

    /// The size of a global variable in bytes.
    pub(crate) fn bytes_of_global(&self, global: Value) -> u64 {
        let api = self.api();
        unsafe { self.bytes((api.LLVMGlobalGetValueType)(global)) }
    }

    /// The size of a value in memory, in bytes.
    pub(crate) fn bytes_of(&self, value: Value) -> u64 {
        unsafe { self.bytes((self.api().LLVMTypeOf)(value)) }
    }

    fn bytes(&self, ty: api::Type) -> u64 {
        let api = self.api();
        unsafe { (api.LLVMABISizeOfType)((api.LLVMGetModuleDataLayout)(self.module), ty) }
    }

    pub(crate) fn is_fp128(&self, value: Value) -> bool {
        let api = self.api();
        unsafe { (api.LLVMGetTypeKind)((api.LLVMTypeOf)(value)) == api::TYPE_KIND_FP128 }
    }

    pub(crate) fn address_space(&self, global: Value) -> u32 {
        let api = self.api();
        unsafe { (api.LLVMGetPointerAddressSpace)((api.LLVMTypeOf)(global)) }
    }

    pub(crate) fn is_thread_local(&self, global: Value) -> bool {
        unsafe { (self.api().LLVMIsThreadLocal)(global) != 0 }
    }

    /// Whether a function is variadic.
    pub(crate) fn is_variadic(&self, function: Value) -> bool {
        let api = self.api();
        unsafe { (api.LLVMIsFunctionVarArg)((api.LLVMGlobalGetValueType)(function)) != 0 }
    }

    /// The text of inline assembly.
    pub(crate) fn asm_text(&self, asm: Value) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetInlineAsmAsmString)(asm, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }
}
