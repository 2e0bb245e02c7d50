//! The output of kernels, byte for byte: the text of the driver's `vprintf`.

use cuda_sim::{Bug, Printed, Schedule, Simulator};
use cuda_std::{bf16, f16, print, println, thread};
use std::ptr::{self, NonNull};

/// The output of one thread.
fn printed(kernel: impl Fn()) -> String {
    let printed = Printed::new();
    Simulator::new()
        .print_to(&printed)
        .run(kernel)
        .expect("the kernel only prints");
    printed.take()
}

macro_rules! assert_prints {
    ($expected:expr, $($print:tt)*) => {
        assert_eq!(printed(|| print!($($print)*)), $expected)
    };
}

/// Asserts the same text as Rust's `format!`.
macro_rules! assert_as_rust {
    ($($format:literal: $($value:expr),+;)*) => { $(
        $(
            let value = $value;
            assert_eq!(printed(|| print!($format, value)), format!($format, value), "{}", $format);
        )+
    )* };
}

#[test]
fn integers_are_printed_as_by_rust() {
    assert_as_rust! {
        "{}": i8::MIN, i16::MIN, i32::MIN, i64::MIN, isize::MIN, 0, -1, 7;
        "{}": u8::MAX, u16::MAX, u32::MAX, u64::MAX, usize::MAX;
        "{:5}|": -42i8, 123_456u32, 7u64;
        "{:<5}|": -42i16, 7usize;
        "{:>5}|": -42i32, 7u8;
        "{: >5}|": -42i32;
        "{:05}|": -42i64, 7u16, 123_456;
        "{:<05}|": -42;
        "{:0}|": 3;
        "{:+}": 5i8, -5i64, 0i32;
        "{:+05}|": 5i32, -5isize;
        "{:x}": -1i8, -1i16, -1i32, -1i64, 0xABCDu16, 0u32;
        "{:X}": -2i8, 0xABCDu32;
        "{:o}": 8u8, -1i8;
        "{:8x}|": 0xABu8;
        "{:<8x}|": 0xABu8;
        "{:08x}|": -1i16;
        "{:#x}": 0u32, 255u8, -1i8;
        "{:#X}": 0xABu64;
        "{:#o}": 8u8, 0u8;
        "{:#010x}|": 0xABu8, 0u8;
        "{:#01x}|": 0xABu8;
        "{:<#10x}|": 0xABu8;
    }
}

#[test]
fn floats_have_enough_digits_to_round_trip() {
    assert_as_rust! {
        "{}": 0.5f32, -2.0f64, 0.0f64, -0.0f32, 1e8f32, f32::INFINITY, f64::NEG_INFINITY;
        "{:.3}": 0.1f32, 2.5f64, -1e10f64, f32::MAX, f64::INFINITY;
        "{:.0}": 0.5f32, 1.5f32, 2.5f64;
        "{:9.2}|": 2.75123f32, -0.001f64;
        "{:<9.2}|": 2.75123f32;
        "{:09.2}|": -2.75123f32, 0.0f64;
        "{:+.1}": 1.25f32, -1.25f64;
        "{:+}": 1.5f32;
        "{:6}|": 1.5f64;
        "{:06}|": -1.5f64;
    }
    assert_prints!("0.100000001 0.10000000000000001", "{} {}", 0.1f32, 0.1f64);
    assert_prints!(
        "1e+20 9.99999975e-06 nan nan",
        "{} {} {} {}",
        1e20f64,
        1e-5f32,
        f32::NAN,
        -f64::NAN
    );
    assert_prints!(
        "0.099976 0.1001 1.5",
        "{} {} {}",
        f16::from_f32(0.1),
        bf16::from_f32(0.1),
        bf16::from_f32(1.5)
    );
    assert_prints!(
        "     -inf     +nan",
        "{:09.2}{:+09}",
        f64::NEG_INFINITY,
        f32::NAN
    );
    assert_prints!("1.500e+02 -2.5E-07", "{:.3e} {:.1E}", 150.0f32, -2.5e-7f64);
    for bits in (0..=u32::MAX).step_by(0x0001_2345) {
        let x = f32::from_bits(bits);
        let back = printed(|| print!("{x}")).parse::<f32>().unwrap();
        assert!(
            back.to_bits() == bits || x.is_nan() && back.is_nan(),
            "{bits:#x}"
        );
    }
}

#[test]
fn texts_are_printed_as_by_rust() {
    assert_as_rust! {
        "{}": true, false, 'a', 'ß', '∑', '🦀';
        "{:6}|": true, 'a';
        "{:>6}|": false, 'a';
        "{:<6}|": true;
    }
    let c = c"from C";
    assert_prints!("from C warp  |  lane|", "{c} {:6}|{:>6}|", "warp", "lane");
    assert_prints!(
        "a \"quoted\"\n\tline 100%d {}",
        "a \"quoted\"\n\tline 100%d {{}}"
    );
}

#[test]
fn pointers_are_addresses() {
    let word = 7u32;
    let raw = &raw const word;
    let nowhere = ptr::null_mut::<u8>();
    assert_eq!(
        printed(|| print!("{raw:p} {:p} {:p} {nowhere:p}", &word, NonNull::from(&word))),
        format!("{raw:p} {raw:p} {raw:p} 0x0")
    );
    assert_eq!(printed(|| print!("{raw:#p}")), format!("{raw:#p}"));
}

#[test]
fn arguments_are_found_as_by_rust() {
    let (x, y) = (1, &&2.5f32);
    let z = &mut 3u8;
    assert_prints!("1 2.5 3", "{x} {y} {z}");
    assert_prints!("1 2 1 9 2 2", "{} {} {0} {w} {1} {w2}", 1, 2, w = 9, w2 = 2,);
    let mut calls = std::cell::Cell::new(0);
    let call = || {
        calls.set(calls.get() + 1);
        calls.get()
    };
    assert_prints!("1 1 2", "{0} {0} {1}", call(), call());
    assert_eq!(*calls.get_mut(), 2);
    macro_rules! both {
        ($format:literal, $($value:expr),*) => { print!($format, $($value),*) };
    }
    assert_eq!(printed(|| both!("{}{x}", 1 + 1)), "21");
    assert_eq!(printed(|| println!()), "\n");
    assert_eq!(printed(|| print!("")), "");
}

/// The driver's limit of values, of every size.
#[test]
fn thirty_two_values_are_printed() {
    let (a, b, c, d) = (-1i8, 2u16, 0.5f32, 'd');
    let text = printed(|| {
        println!(
            "{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}{a}{b}{c}{d}"
        )
    });
    assert_eq!(text, "-120.5d".repeat(8) + "\n");
}

#[test]
fn every_thread_prints_in_the_order_of_the_schedule() {
    let lines = |schedule| {
        let printed = Printed::new();
        let simulator = Simulator::new().grid(3).block(64).schedule(schedule);
        let run = simulator.print_to(&printed).run(|| {
            println!(
                "block {} thread {}",
                thread::block_idx_x(),
                thread::thread_idx_x()
            );
        });
        run.unwrap();
        let text = printed.take();
        assert_eq!(printed.take(), "", "it is taken");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..3)
        .flat_map(|block| (0..64).map(move |thread| format!("block {block} thread {thread}")))
        .collect();
    assert_eq!(lines(Schedule::Forward), all);
    let mut random = lines(Schedule::Random(7));
    assert_ne!(random, all);
    random.sort_by_key(|line| all.iter().position(|known| known == line));
    assert_eq!(random, all);
}

#[test]
fn what_a_failing_launch_printed_is_kept() {
    let printed = Printed::new();
    let simulator = Simulator::new()
        .grid(2)
        .block(4)
        .kernel("k")
        .print_to(&printed);
    let failure = simulator
        .run(|| {
            let i = thread::index_1d();
            println!("{i} is here");
            assert!(i != 5, "{i} fails");
        })
        .unwrap_err();
    let line = line!() - 3;
    assert_eq!(
        printed.take(),
        (0..6).map(|i| format!("{i} is here\n")).collect::<String>()
    );
    let [finding] = &failure.findings[..] else {
        panic!("{failure}")
    };
    assert!(matches!(&finding.bug, Bug::Panic { message } if message == "5 fails"));
    // Thread, block, message, file and line, as a GPU prints them in a build with `panic_messages`.
    let text = finding.to_string();
    let said = "kernel `k`: block 1 thread 1 (warp 0 lane 1): panicked: 5 fails\n    at ";
    assert!(text.starts_with(said), "{text}");
    assert!(text.contains(&format!("tests/print.rs:{line}:")), "{text}");
}

/// To standard output, like other text of the program.
#[test]
fn the_host_prints_outside_of_a_launch() {
    println!("{}", 1);
}
