//! Output of threads: every format that `cuda_std::io` supports, and many threads at the same time.

use cuda_std::{bf16, f16, println};

use crate::io::{Io, block, global_thread};

/// Input words of [`formats`].
pub const WORDS: usize = 8;

/// One thread prints the input words. Word 0 is printed as every integer, word 1 as the bits of an `f64`,
/// word 2 of an `f32`, word 3 of an `f16`, word 4 of a `bf16`, and word 5 as a `char`. Word 6 is 1, word 7 is
/// 0. The output is the input.
///
/// # Safety
/// One thread; [`WORDS`] input and output words.
#[inline(always)]
pub unsafe fn formats(io: Io) {
    let word = io.read(0);
    macro_rules! integers {
        ($($ty:ident)*) => { $(
            let x = word as $ty;
            println!("{}: {x} {x:22}| {x:<22}| {x:>22}| {x:022}|", integers!(@name $ty));
            println!("{}: {x:x} {x:X} {x:o} {x:18x}| {x:<18x}| {x:018X}|", integers!(@name $ty));
            println!("{}: {x:#x} {x:#X} {x:#o} {x:#020x}| {x:<#20x}|", integers!(@name $ty));
        )* };
        (@name i8) => { c"i8" };
        (@name i16) => { c"i16" };
        (@name i32) => { c"i32" };
        (@name i64) => { c"i64" };
        (@name isize) => { c"isize" };
        (@name u8) => { c"u8" };
        (@name u16) => { c"u16" };
        (@name u32) => { c"u32" };
        (@name u64) => { c"u64" };
        (@name usize) => { c"usize" };
    }
    integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    println!(
        "signs: {:+} {:+8}| {:+08}|",
        word as i8, word as i32, word as i16
    );

    let double = f64::from_bits(io.read(1));
    println!("f64: {double:.3} {double:24.6}| {double:<24.1}| {double:024.2}| {double:+.0}");
    println!("f64: {double:.3e} {double:.10E}");
    let single = f32::from_bits(io.read_u32(2));
    println!("f32: {single:.3} {single:24.6}| {single:<24.1}| {single:024.2}| {single:+.0}");
    println!("f32: {single:.3e} {single:.10E}");
    let half = f16::from_bits(io.read(3) as u16);
    let brain = bf16::from_bits(io.read(4) as u16);
    println!("16 bits: {half:.5} {brain:.5} {half:.2e}");

    let (one, zero) = (io.read(6), io.read(7));
    let (x, y) = (one as f32, zero as f64);
    println!("%g: {} {} {} {}", x, 0.1 * x, 1e20 * x, -1e-5 * x);
    println!("%g: {} {} {} {}", y, 0.1 + y, 1e20 + y, y - 1e-5);
    println!(
        "%g: {:12}| {:<12}| {:012}| {:+}",
        x / 2.0,
        x / 2.0,
        -x / 2.0,
        y + 0.5
    );
    println!("%g: {} {}", f16::from_f32(0.1 * x), bf16::from_f32(0.1 * x));
    println!(
        "special: {} {} {} {:+}",
        x / 0.0,
        -1.0 / y,
        y / 0.0,
        x / 0.0
    );

    let character = char::from_u32(io.read_u32(5)).unwrap_or('?');
    let (yes, no) = (one == 1, zero == 1);
    println!(
        "text: {yes} {no} {character} {} {}",
        "a literal, 100%", c"one of C"
    );
    println!("text: {yes:8}| {no:>8}| {:<8}| {:>8}|", "left", c"right");

    println!(
        "pointers: {:p} {:#p}",
        zero as *const u8, word as *const u64
    );
    println!(
        "arguments: {0} {one} {1} {0} {name} {{}} %d",
        &&one,
        &mut 2u8,
        name = 3i64
    );
    println!();
    io.write(0, word);
    for i in 1..WORDS {
        io.write(i, io.read(i));
    }
}

/// Every thread prints a line with its index, its block and its input word, and copies the word.
///
/// # Safety
/// One dimension; one input and one output word a thread.
#[inline(always)]
pub unsafe fn threads(io: Io) {
    let thread = global_thread();
    let word = io.read(thread);
    println!(
        "thread {thread:5} of block {}: {word:#018x}, {}, {:.3}",
        block(),
        word.is_multiple_of(2),
        (word >> 40) as f32 / 256.0
    );
    io.write(thread, word);
}
