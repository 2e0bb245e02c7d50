//! The text of a panic, in builds with `cuda_builder`'s `panic_messages`. In other builds a panic is a `trap`
//! at its site; the handler is not called and not in the PTX.

use core::ffi::CStr;
#[cfg(target_arch = "nvptx64")]
use core::panic::{Location, PanicInfo};

/// The size of a message in bytes, including the zero at its end.
const SIZE: usize = 128;

/// The end of a truncated message.
const CUT: &[u8] = b"...";

/// The text for other messages with values. `core::fmt` uses indirect calls. With them, ptxas cannot
/// determine registers and stack of the kernels. It gives them 255 registers, too many for blocks of more
/// than 256 threads, and the driver's stack is too small for floats.
#[cfg(target_arch = "nvptx64")]
const FORMATTED: &str = "a message with values, which a GPU cannot format";

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let message = info.message().as_str().unwrap_or(FORMATTED);
    __cuda_std_panic(&Message::new(message), info.location())
}

/// Passes message and location to the driver. The driver adds block and thread, prints the text, and ends the
/// launch with `CUDA_ERROR_ASSERT`.
///
/// `cuda_builder` recognises this function by its name (`passes`): it does not read a message's values, so
/// their formatting code can be removed from the module.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
fn __cuda_std_panic(message: &Message, location: Option<&Location<'_>>) -> ! {
    let (file, line) = match location {
        Some(location) => (location.file_as_c_str(), location.line()),
        None => (c"", 0),
    };
    crate::arch::fail(message.text(), file, line, c"panicked")
}

/// The panic of an index out of bounds: `cuda_builder` uses it in place of
/// `core::panicking::panic_bounds_check`, which has the same parameters (`passes`). It is the only panic
/// whose values are printed, because it is the most frequent.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
fn __cuda_std_panic_bounds(index: usize, len: usize, location: &Location<'_>) -> ! {
    __cuda_std_panic(&Message::of_index(index, len), Some(location))
}

/// A C string.
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

    /// The text of `core`.
    fn of_index(index: usize, len: usize) -> Self {
        let mut message = Self::new("index out of bounds: the len is ");
        message.number(len);
        message.push(b" but the index is ");
        message.number(index);
        message
    }

    /// No access here can panic: a panic in a panic would look like recursion to ptxas.
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

    /// Up to the first zero, if the message contains one.
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

    /// The text of `core`, as the simulator prints it.
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
