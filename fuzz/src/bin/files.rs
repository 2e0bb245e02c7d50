//! The libFuzzer program of [`warpfold_fuzz::files`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpfold_fuzz::files(bytes));
