//! Output of threads, line by line. The reference is Rust's formatting where `cuda_std::io` has the same, and
//! the C standard where it has C's form.

use conformance_kernels::print as kernel;
use half::{bf16, f16};
use rand::{RngExt, rngs::StdRng};

use super::generator;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// A case and its output. On a device the driver prints, so it requires its own process.
pub struct Print {
    /// `print/...`
    pub name: &'static str,
    /// The launch, and its output in memory.
    pub case: Case,
    lines: Vec<String>,
}

impl Print {
    /// Compares the printed lines with the expected ones, in any order.
    ///
    /// # Errors
    /// A text with the first missing or additional lines.
    pub fn check(&self, printed: &str) -> Result<(), String> {
        const SHOWN: usize = 8;
        let sorted = |lines: Vec<&str>| {
            let mut lines = lines;
            lines.sort_unstable();
            lines.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        if !printed.ends_with('\n') {
            return Err(format!(
                "{}: the last line is incomplete: {printed:?}",
                self.name
            ));
        }
        let expected = sorted(self.lines.iter().map(String::as_str).collect());
        let got = sorted(printed.lines().collect());
        if expected == got {
            return Ok(());
        }
        let mut text = format!(
            "{}: {} lines, expected {}",
            self.name,
            got.len(),
            expected.len()
        );
        let not_in = |lines: &[String], others: &[String], what: &str| {
            let lines = lines.iter().filter(|line| !others.contains(line));
            lines
                .take(SHOWN)
                .map(|line| format!("\n  {what}: {line}"))
                .collect::<String>()
        };
        text += &not_in(&expected, &got, "missing");
        text += &not_in(&got, &expected, "unexpected");
        Err(text)
    }
}

/// All printing cases. They depend only on the seed.
pub fn prints(seed: u64) -> Vec<Print> {
    let rng = &mut generator(seed, "print");
    vec![formats(rng), threads(rng)]
}

fn case(rng: &mut StdRng, name: &str, launch: Launch, input: Vec<u64>) -> Case {
    Case {
        name: name.into(),
        launches: vec![launch],
        output: sentinels(rng, input.len()),
        scratch_bytes: 0,
        expectation: Expectation::words(input.iter().copied().map(Word::Is).collect(), |i| {
            format!("word {i}")
        }),
        input,
    }
}

fn threads(rng: &mut StdRng) -> Print {
    const BLOCKS: usize = 8;
    const THREADS: usize = 256;
    let input: Vec<u64> = (0..BLOCKS * THREADS).map(|_| rng.random()).collect();
    let line = |(thread, &word): (usize, &u64)| {
        let (block, even, x) = (
            thread / THREADS,
            word.is_multiple_of(2),
            (word >> 40) as f32 / 256.0,
        );
        format!("thread {thread:5} of block {block}: {word:#018x}, {even}, {x:.3}")
    };
    let lines = input.iter().enumerate().map(line).collect();
    let launch = Launch::new("print_threads", BLOCKS as u32, THREADS as u32);
    let name = "print/threads";
    let case = case(rng, name, launch, input);
    Print { name, case, lines }
}

fn formats(rng: &mut StdRng) -> Print {
    let word: u64 = rng.random();
    let double = rng.random_range(-1e15..1e15f64);
    let single = rng.random_range(-1e6..1e6f32);
    let half = f16::from_f32(rng.random_range(-100.0..100.0));
    let brain = bf16::from_f32(rng.random_range(-100.0..100.0));
    let character = rng.random_range('!'..='\u{1F9FF}');
    let input = vec![
        word,
        double.to_bits(),
        single.to_bits().into(),
        half.to_bits().into(),
        brain.to_bits().into(),
        u32::from(character).into(),
        1,
        0,
    ];
    assert_eq!(input.len(), kernel::WORDS);

    let mut lines = Vec::new();
    macro_rules! integers {
        ($($ty:ident)*) => { $(
            let x = word as $ty;
            let name = stringify!($ty);
            lines.push(format!("{name}: {x} {x:22}| {x:<22}| {x:>22}| {x:022}|"));
            lines.push(format!("{name}: {x:x} {x:X} {x:o} {x:18x}| {x:<18x}| {x:018X}|"));
            lines.push(format!("{name}: {x:#x} {x:#X} {x:#o} {x:#020x}| {x:<#20x}|"));
        )* };
    }
    integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    let (a, b, c) = (word as i8, word as i32, word as i16);
    lines.push(format!("signs: {a:+} {b:+8}| {c:+08}|"));
    macro_rules! floats {
        ($($x:ident $name:literal;)*) => { $(
            lines.push(format!("{}: {:.3} {:24.6}| {:<24.1}| {:024.2}| {:+.0}", $name, $x, $x, $x, $x, $x));
            let (short, long) = (exponential(format!("{:.3e}", $x)), exponential(format!("{:.10E}", $x)));
            lines.push(format!("{}: {short} {long}", $name));
        )* };
    }
    floats! {
        double "f64";
        single "f32";
    }
    let (wide, short) = (half.to_f32(), exponential(format!("{:.2e}", half.to_f32())));
    lines.push(format!("16 bits: {wide:.5} {:.5} {short}", brain.to_f32()));
    lines.extend(
        [
            "%g: 1 0.100000001 1.00000002e+20 -9.99999975e-06",
            "%g: 0 0.10000000000000001 1e+20 -1.0000000000000001e-05",
            "%g:          0.5| 0.5         | -000000000.5| +0.5",
            "%g: 0.099976 0.1001",
            "special: inf -inf nan +inf",
            &format!("text: true false {character} a literal, 100% one of C"),
            "text: true    |    false| left    |    right|",
            &format!("pointers: 0x0 {word:#018x}"),
            "arguments: 1 1 2 1 3 {} %d",
            "",
        ]
        .map(String::from),
    );
    let name = "print/formats";
    let case = case(rng, name, Launch::new("print_formats", 1, 1), input);
    Print { name, case, lines }
}

/// Rust's exponent in C's form: with a sign, and at least two digits.
fn exponential(text: String) -> String {
    let at = text.find(['e', 'E']).expect("the number has an exponent");
    let (mantissa, exponent) = text.split_at(at + 1);
    let number: i32 = exponent.parse().expect("it is a number");
    let sign = if number < 0 { '-' } else { '+' };
    format!("{mantissa}{sign}{:02}", number.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_in_any_order() {
        let threads = &prints(3)[1];
        let mut lines = threads.lines.clone();
        lines.reverse();
        assert_eq!(threads.check(&(lines.join("\n") + "\n")), Ok(()));
        lines[7] = "torn".into();
        let error = threads.check(&(lines.join("\n") + "\n")).unwrap_err();
        assert!(error.contains("unexpected: torn"), "{error}");
        assert!(error.contains("missing: thread  2040"), "{error}");
        lines.remove(7);
        let error = threads.check(&(lines.join("\n") + "\n")).unwrap_err();
        assert!(error.contains("2047 lines, expected 2048"), "{error}");
        assert!(threads.check("").is_err());
    }

    #[test]
    fn exponents_are_those_of_c() {
        assert_eq!(exponential("1.5e2".into()), "1.5e+02");
        assert_eq!(exponential("-1.5E-7".into()), "-1.5E-07");
        assert_eq!(exponential("1e100".into()), "1e+100");
    }
}
