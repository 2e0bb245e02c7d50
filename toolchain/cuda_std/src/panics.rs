//! What a panic prints, in builds that ask for it (`cuda_builder`'s `panic_messages`). In other builds a panic is
//! a `trap` where it happens, nothing calls the handler, and it is not in the PTX.

use core::ffi::CStr;
#[cfg(target_arch = "nvptx64")]
use core::panic::{Location, PanicInfo};

/// Bytes of a message, with the zero at its end.
const SIZE: usize = 128;

/// What stands at the end of a message that has been cut.
const CUT: &[u8] = b"...";

/// What is printed of another message with values. `core::fmt` calls by address: ptxas then knows neither
/// registers nor stack of the kernels, gives them 255 registers, which blocks of more than 256 threads do not
/// have, and the driver's stack is too small for floats.
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

/// What an index out of bounds calls: `cuda_builder` puts it in place of `core::panicking::panic_bounds_check`,
/// whose parameters it has (`passes`). The one panic whose values are printed, since it is the most frequent.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
fn __cuda_std_panic_bounds(index: usize, len: usize, location: &Location<'_>) -> ! {
    __cuda_std_panic(&Message::of_index(index, len), Some(location))
}

/// A text of C.
struct Message {
    bytes: [u8; SIZE],
    len: usize,
}

impl Message {
    fn new(text: &str) -> Self {
        let mut message = Self {
            bytes: [0; SIZE],
            len: 0,
        };
        message.push(text.as_bytes());
        message
    }

    /// The words of `core`.
    fn of_index(index: usize, len: usize) -> Self {
        let mut message = Self::new("index out of bounds: the len is ");
        message.number(len);
        message.push(b" but the index is ");
        message.number(index);
        message
    }

    /// No access here can panic: that would be a panic in a panic, and to ptxas a recursion.
    fn push(&mut self, text: &[u8]) {
        const END: usize = SIZE - 1;
        for &byte in text {
            match self.bytes[..END].get_mut(self.len) {
                Some(end) => *end = byte,
                None => {
                    self.bytes[END - CUT.len()..END].copy_from_slice(CUT);
                    return;
                }
            }
            self.len += 1;
        }
    }

    fn number(&mut self, number: usize) {
        const DIGITS: usize = usize::MAX.ilog10() as usize + 1;
        let mut digits = [b'0'; DIGITS];
        let (mut used, mut rest) = (0, number);
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
            used += 1;
            if rest == 0 {
                break;
            }
        }
        self.push(digits.get(DIGITS - used..).unwrap_or_default());
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

    fn text(message: &Message) -> String {
        message.text().to_str().unwrap().into()
    }

    #[test]
    fn a_message_is_cut_at_its_end() {
        let message = |words: &str| text(&Message::new(words));
        let longest = "x".repeat(SIZE - 1);
        assert_eq!(message(""), "");
        assert_eq!(message("short"), "short");
        assert_eq!(message(&longest), longest);
        let cut = "x".repeat(SIZE - 4) + "...";
        assert_eq!(message(&(longest + "y")), cut);
        assert_eq!(message("a\0b"), "a");
    }

    /// The words of `core`, as the simulator prints them.
    #[test]
    fn an_index_is_said_as_core_says_it() {
        for (len, index) in [(0, 0), (3, 10), (64, usize::MAX)] {
            let array = std::vec![0u8; len];
            let caught = std::panic::catch_unwind(|| array[std::hint::black_box(index)]);
            let said = *caught.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(text(&Message::of_index(index, len)), said);
        }
    }
}
