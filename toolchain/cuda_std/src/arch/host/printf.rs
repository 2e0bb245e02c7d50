//! C's `printf` for the formats of `io::format`. A kernel thus prints the same text on the host as through
//! the driver, which uses the host's C library.

use core::ffi::CStr;
use core::ptr;
use std::format;
use std::string::String;

/// Formats the values.
///
/// # Safety
///
/// - The format's conversions are those of `io::format`, and there is a value for each conversion.
/// - The value of `%s` is the exposed address of a zero-terminated text.
pub unsafe fn text(format: &CStr, mut values: *const u64) -> String {
    let format = format.to_str().expect("`print!` writes UTF-8");
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let conversion;
        (conversion, rest) = Conversion::read(after);
        // SAFETY: there is a value for every conversion.
        let bits = unsafe { values.read() };
        // SAFETY: as above; the address is at most that of the end.
        values = unsafe { values.add(1) };
        // SAFETY: the caller's contract for `%s`.
        unsafe { conversion.print(bits, &mut text) };
    }
    text.push_str(rest);
    text
}

/// `%[flags][width][.precision][ll]letter`.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

impl Conversion {
    /// Splits the text after a `%` into a conversion and the rest.
    fn read(format: &str) -> (Self, &str) {
        let mut this = Self::default();
        let mut characters = format.char_indices();
        loop {
            let (at, c) = characters.next().expect("a conversion has a letter");
            match c {
                '-' => this.left = true,
                '+' => this.plus = true,
                '0' if this.width == 0 && this.precision.is_none() => this.zeros = true,
                '.' => this.precision = Some(0),
                '0'..='9' => {
                    let number = this.precision.as_mut().unwrap_or(&mut this.width);
                    *number = *number * 10 + (c as usize - '0' as usize);
                }
                'l' => {}
                letter => {
                    this.letter = letter;
                    return (this, &format[at + letter.len_utf8()..]);
                }
            }
        }
    }

    /// # Safety
    ///
    /// The bits of a `%s` are the exposed address of a zero-terminated text.
    unsafe fn print(&self, bits: u64, text: &mut String) {
        let double = f64::from_bits(bits);
        let digits = self.precision.unwrap_or(6);
        let (is_negative, body) = match self.letter {
            'd' => (
                (bits as i64) < 0,
                format!("{}", (bits as i64).unsigned_abs()),
            ),
            'u' => (false, format!("{bits}")),
            'x' => (false, format!("{bits:x}")),
            'X' => (false, format!("{bits:X}")),
            'o' => (false, format!("{bits:o}")),
            'f' | 'e' | 'E' | 'g' => (
                double.is_sign_negative(),
                float(self.letter, digits, double.abs()),
            ),
            's' => {
                // SAFETY: the caller's contract.
                let text = unsafe { CStr::from_ptr(ptr::with_exposed_provenance(bits as usize)) };
                (false, text.to_string_lossy().into_owned())
            }
            letter => unreachable!("`print!` never emits %{letter}"),
        };
        let sign = match (is_negative, self.plus && self.letter != 'u') {
            (true, _) => "-",
            (false, true) => "+",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + body.len());
        let takes_zeros = match self.letter {
            's' => false,
            'f' | 'e' | 'E' | 'g' => double.is_finite(),
            _ => true,
        };
        let (before, zeros, after) = match self {
            Self { left: true, .. } => (0, 0, missing),
            Self { zeros: true, .. } if takes_zeros => (0, missing, 0),
            _ => (missing, 0, 0),
        };
        text.extend(core::iter::repeat_n(' ', before));
        text.push_str(sign);
        text.extend(core::iter::repeat_n('0', zeros));
        text.push_str(&body);
        text.extend(core::iter::repeat_n(' ', after));
    }
}

/// A non-negative number.
fn float(letter: char, digits: usize, x: f64) -> String {
    if !x.is_finite() {
        let text = if x.is_nan() { "nan" } else { "inf" };
        return match letter.is_uppercase() {
            true => text.to_uppercase(),
            false => text.into(),
        };
    }
    match letter {
        'f' => format!("{x:.digits$}"),
        'e' | 'E' => {
            let (mantissa, exponent) = scientific(digits, x);
            exponential(letter, &mantissa, exponent)
        }
        _ => {
            let digits = digits.max(1);
            let (mantissa, exponent) = scientific(digits - 1, x);
            let trimmed = |text: &str| match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').into(),
                false => String::from(text),
            };
            match exponent < -4 || exponent >= digits as i32 {
                true => exponential('e', &trimmed(&mantissa), exponent),
                false => {
                    let decimals = (digits as i32 - 1 - exponent) as usize;
                    trimmed(&format!("{x:.decimals$}"))
                }
            }
        }
    }
}

/// The mantissa with the given number of digits after its point, and the decimal exponent.
fn scientific(digits: usize, x: f64) -> (String, i32) {
    let text = format!("{x:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').expect("`e` is written");
    (mantissa.into(), exponent.parse().expect("a number follows"))
}

/// C's exponents have a sign and at least two digits.
fn exponential(letter: char, mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{letter}{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(all(test, unix))]
mod tests;
