//! What a panic prints, in builds that ask for it (`cuda_builder`'s `panic_messages`). In other builds a panic is
//! a `trap` where it happens, nothing calls the handler, and it is not in the PTX.

use core::ffi::CStr;
#[cfg(target_arch = "nvptx64")]
use core::panic::{Location, PanicInfo};

/// Bytes of a message, with the zero at its end.
const SIZE: usize = 128;

/// What stands at the end of a message that has been cut.
const CUT: &[u8] = b"...";

/// What is printed of a message with values. `core::fmt` calls by address: ptxas then knows neither registers nor
/// stack of the kernels, gives them 255 registers, which blocks of more than 256 threads do not have, and the
/// driver's stack is too small for floats.
#[cfg(target_arch = "nvptx64")]
const FORMATTED: &str = "a message with values, which a GPU does not format";

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let message = info.message().as_str().unwrap_or(FORMATTED);
    __cuda_std_panic(&Message::new(message), info.location())
}

/// Hands message and place to the driver, which adds block and thread, prints, and ends the launch with
/// `CUDA_ERROR_ASSERT`.
///
/// By its name `cuda_builder` knows that nobody reads the values of a message (`passes`), so that what formats them
/// need not be in the module.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
fn __cuda_std_panic(message: &Message, location: Option<&Location<'_>>) -> ! {
    let (file, line) = match location {
        Some(location) => (location.file_as_c_str(), location.line()),
        None => (c"", 0),
    };
    crate::arch::fail(message.text(), file, line, c"panicked")
}

/// A text of C.
struct Message {
    bytes: [u8; SIZE],
}

impl Message {
    fn new(text: &str) -> Self {
        const END: usize = SIZE - 1;
        let text = text.as_bytes();
        let mut bytes = [0; SIZE];
        let mut i = 0;
        while i < END && i < text.len() {
            bytes[i] = text[i];
            i += 1;
        }
        if text.len() > END {
            bytes[END - CUT.len()..END].copy_from_slice(CUT);
        }
        Self { bytes }
    }

    /// Up to the first zero, if the message itself has one.
    fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn message(text: &str) -> String {
        Message::new(text).text().to_str().unwrap().into()
    }

    #[test]
    fn a_message_is_cut_at_its_end() {
        let longest = "x".repeat(SIZE - 1);
        assert_eq!(message(""), "");
        assert_eq!(message("short"), "short");
        assert_eq!(message(&longest), longest);
        let cut = longest[..SIZE - 4].to_owned() + "...";
        assert_eq!(message(&(longest + "y")), cut);
        assert_eq!(message("a\0b"), "a");
    }
}
