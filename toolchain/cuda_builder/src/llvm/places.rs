//! Where instructions come from.

use super::api::{Metadata, Value};
use super::{Module, chain};
use std::ffi::c_char;
use std::path::{Path, PathBuf};

/// A function that gives a part of a file's path.
type DIFilePart = unsafe extern "C" fn(Metadata, *mut u32) -> *const c_char;

/// A line of source, in one of the functions that are inlined into each other.
pub(crate) struct Place {
    location: Metadata,
    pub(crate) file: PathBuf,
    /// 0 of what the compiler made up.
    pub(crate) line: u32,
}

// SAFETY (of all blocks below): as of those of `Module`'s other functions; locations, scopes and files are
// LLVM's own, which its context keeps.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all of them, stated above"
)]
impl Module<'_> {
    /// Where an instruction comes from, innermost inlined function first; empty without debug information.
    pub(crate) fn places(&self, instruction: Value) -> Vec<Place> {
        let api = self.api();
        let locations = unsafe {
            let innermost = (api.LLVMInstructionGetDebugLoc)(instruction);
            chain(innermost, |l| (api.LLVMDILocationGetInlinedAt)(l))
        };
        let place = |&location: &Metadata| unsafe {
            Place {
                location,
                file: self.file((api.LLVMDILocationGetScope)(location)),
                line: (api.LLVMDILocationGetLine)(location),
            }
        };
        locations.iter().map(place).collect()
    }

    /// Makes one of the instruction's own [`places`](Self::places) its innermost.
    pub(crate) fn set_place(&self, instruction: Value, place: &Place) {
        unsafe { (self.api().LLVMInstructionSetDebugLoc)(instruction, place.location) }
    }

    /// A scope's file.
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
