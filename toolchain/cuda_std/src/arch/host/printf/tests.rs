//! Compared with the C library's `snprintf`.

use super::*;
use std::ffi::CString;
use std::vec;
use std::vec::Vec;

/// The text of one value.
fn ours(format: &str, bits: u64) -> String {
    let format = CString::new(format).unwrap();
    // SAFETY: the formats of these tests have one conversion of 64 bits.
    unsafe { text(&format, &bits) }
}

enum Value {
    Integer(u64),
    Float(f64),
    Text(&'static CStr),
}

impl Value {
    fn bits(&self) -> u64 {
        match self {
            Self::Integer(bits) => *bits,
            Self::Float(x) => x.to_bits(),
            Self::Text(text) => text.as_ptr().expose_provenance() as u64,
        }
    }

    fn by_c(&self, format: &CStr) -> String {
        let mut buffer = vec![0u8; 2048];
        let (to, size) = (buffer.as_mut_ptr().cast(), buffer.len());
        // SAFETY: the buffer has that many bytes; the format has one conversion, for this value's type.
        let length = unsafe {
            match self {
                Self::Integer(x) => libc::snprintf(to, size, format.as_ptr(), *x),
                Self::Float(x) => libc::snprintf(to, size, format.as_ptr(), *x),
                Self::Text(x) => libc::snprintf(to, size, format.as_ptr(), x.as_ptr()),
            }
        };
        buffer.truncate(length as usize);
        String::from_utf8(buffer).unwrap()
    }
}

/// All combinations of flags, widths and precisions that `io::format` emits.
fn formats(precisions: &[&str], letters: &[&str]) -> Vec<CString> {
    let mut formats = Vec::new();
    for flags in ["", "-", "+", "0", "-+", "+0"] {
        for width in ["", "1", "7", "12", "30"] {
            if flags.contains('0') && width.is_empty() {
                continue;
            }
            for precision in precisions {
                for letter in letters {
                    let format = format!("<%{flags}{width}{precision}{letter}>%%");
                    formats.push(CString::new(format).unwrap());
                }
            }
        }
    }
    formats
}

fn compare(formats: &[CString], values: &[Value]) {
    for format in formats {
        for value in values {
            let ours = ours(format.to_str().unwrap(), value.bits());
            let bits = value.bits();
            assert_eq!(ours, value.by_c(format), "{format:?} of {bits:#x}");
        }
    }
}

/// A generator with a fixed sequence: bits of every kind of float.
fn random(count: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    core::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(count)
}

#[test]
fn integers_are_those_of_c() {
    let edges = [0, 1, 9, 10, 255, u64::MAX, i64::MAX as u64, i64::MIN as u64];
    let values: Vec<_> = edges
        .into_iter()
        .chain(random(20))
        .map(Value::Integer)
        .collect();
    compare(&formats(&[""], &["lld"]), &values);
    let no_plus: Vec<_> = formats(&[""], &["llu", "llx", "llX", "llo"])
        .into_iter()
        .filter(|format| !format.to_str().unwrap().contains('+'))
        .collect();
    compare(&no_plus, &values);
}

#[test]
fn floats_are_those_of_c() {
    let edges = [
        0.0,
        -0.0,
        1.0,
        0.1,
        0.5,
        1.5,
        2.5,
        0.125,
        9.5,
        99.5,
        999_999.5,
        0.0001,
        0.000_099_999_99,
        1e-5,
        123_456_789.0,
        1e9,
        1e17,
        1e20,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let singles = random(100).map(|bits| f32::from_bits(bits as u32).into());
    let usual = random(100).map(|bits| (bits as i64 as f64) / 1e12);
    let values: Vec<_> = edges
        .into_iter()
        .chain(random(100).map(f64::from_bits))
        .chain(singles)
        .chain(usual)
        // The sign of a NaN is never printed: `io::format` removes it.
        .map(|x| Value::Float(if x.is_nan() { f64::NAN } else { x }))
        .collect();
    compare(&formats(&[".4", ".5", ".9", ".17"], &["g"]), &values);
    compare(
        &formats(&[".0", ".1", ".3", ".20"], &["f", "e", "E"]),
        &values,
    );
}

#[test]
fn texts_are_those_of_c() {
    let values = [c"", c"warp", c"a longer text than any width here"].map(Value::Text);
    let formats: Vec<_> = formats(&[""], &["s"])
        .into_iter()
        .filter(|format| !format.to_str().unwrap().contains(['+', '0']))
        .collect();
    assert!(!formats.is_empty());
    compare(&formats, &values);
}
