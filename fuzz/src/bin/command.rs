//! The libFuzzer program of [`warpfold_fuzz::command`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpfold_fuzz::command(bytes));
