//! What the functions of panics are told.

use super::Module;
use super::api::{self, Value};

// SAFETY (of all blocks below): as of those of `Module`'s other functions.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all of them, stated above"
)]
impl Module<'_> {
    /// Says that `function` neither loads from its pointer parameter number `index` nor keeps it, if it has one.
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
            // Attribute 0 is that of the returned value.
            for name in ["readnone", "captures"] {
                let attribute = self.enum_attribute(name);
                (api.LLVMAddAttributeAtIndex)(function, 1 + index, attribute);
            }
        }
    }

    /// Calls `new` wherever `old` is called, if both have so many parameters.
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
