//! Source locations of instructions.

use super::api::{Metadata, Value};
use super::{Module, chain};
use std::ffi::c_char;
use std::path::{Path, PathBuf};

/// A function that returns a part of a file's path.
type DIFilePart = unsafe extern "C" fn(Metadata, *mut u32) -> *const c_char;

/// A source line in one of the functions that are inlined into each other.
pub(crate) struct Location {
    location: Metadata,
    pub(crate) file: PathBuf,
    /// 0 for code that the compiler generated.
    pub(crate) line: u32,
}

// SAFETY (of all blocks below): as for `Module`'s other functions. LLVM's context owns locations, scopes and
// files.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all blocks, stated above"
)]
impl Module<'_> {
    /// The locations of an instruction, innermost inlined function first; empty without debug information.
    pub(crate) fn locations(&self, instruction: Value) -> Vec<Location> {
        let api = self.api();
        let locations = unsafe {
            let innermost = (api.LLVMInstructionGetDebugLoc)(instruction);
            chain(innermost, |l| (api.LLVMDILocationGetInlinedAt)(l))
        };
        let location = |&location: &Metadata| unsafe {
            Location {
                location,
                file: self.file((api.LLVMDILocationGetScope)(location)),
                line: (api.LLVMDILocationGetLine)(location),
            }
        };
        locations.iter().map(location).collect()
    }

    /// Makes one of the instruction's [`locations`](Self::locations) its innermost location.
    pub(crate) fn set_location(&self, instruction: Value, location: &Location) {
        unsafe { (self.api().LLVMInstructionSetDebugLoc)(instruction, location.location) }
    }

    /// The file of a scope.
    pub(super) fn file(&self, scope: Metadata) -> PathBuf {
        let api = self.api();
        let text = |part: DIFilePart, file: Metadata| unsafe {
            let mut len = 0u32;
            let start = part(file, &mut len);
            if start.is_null() {
                return String::new();
            }
            let bytes = std::slice::from_raw_parts(start.cast(), len as usize);
            String::from_utf8_lossy(bytes).into_owned()
        };
        let file = unsafe { (api.LLVMDIScopeGetFile)(scope) };
        if file.is_null() {
            return PathBuf::new();
        }
        Path::new(&text(api.LLVMDIFileGetDirectory, file))
            .join(text(api.LLVMDIFileGetFilename, file))
    }
}
