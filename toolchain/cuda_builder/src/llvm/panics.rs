//! Changes to calls of panic functions.

use super::Module;
use super::api::{self, Value};

// SAFETY (of all blocks below): as for `Module`'s other functions.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all blocks, stated above"
)]
impl Module<'_> {
    /// Declares that `function` does not load from its pointer parameter number `index`, nor store the
    /// pointer.
    pub(crate) fn only_compares_param(&self, function: Value, index: u32) {
        let api = self.api();
        unsafe {
            if index >= (api.LLVMCountParams)(function) {
                return;
            }
            let ty = (api.LLVMTypeOf)((api.LLVMGetParam)(function, index));
            if (api.LLVMGetTypeKind)(ty) != api::TYPE_KIND_POINTER {
                return;
            }
            // Attribute 0 belongs to the return value.
            for name in ["readnone", "captures"] {
                let attribute = self.enum_attribute(name);
                (api.LLVMAddAttributeAtIndex)(function, 1 + index, attribute);
            }
        }
    }

    /// Replaces calls of `old` by calls of `new`, if both have this number of parameters.
    pub(crate) fn replace_function(&self, old: Value, new: Value, params: u32) {
        let api = self.api();
        unsafe {
            let has = |function| (api.LLVMCountParams)(function) == params;
            if has(old) && has(new) {
                (api.LLVMReplaceAllUsesWith)(old, new);
            }
        }
    }
}
