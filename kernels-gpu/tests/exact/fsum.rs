//! Compares sums with Python's `math.fsum`, which rounds the exact sum of `f64` too, for lists that are random in
//! every run.

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use kernels_gpu::exact::Accumulator;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use rand::RngExt;
use rand::rngs::ThreadRng;
use rand::seq::SliceRandom;

/// Reads lists of `f64`, one in each line, and prints their sums. All numbers are 16 hexadecimal digits.
const SCRIPT: &str = "
import math, struct, sys
for line in sys.stdin:
    data = bytes.fromhex(line)
    items = struct.unpack('>%dd' % (len(data) // 8), data)
    print(struct.pack('>d', math.fsum(items)).hex())
";

/// The number of lists.
const LISTS: usize = 2_000;

fn main() -> ExitCode {
    let trial = Trial::ignorable_test("sums are those of math.fsum", compare);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn compare() -> Result<Completion, Failed> {
    let version = Command::new("python3").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        return Ok(Completion::ignored_with("there is no python3"));
    }
    let rng = &mut rand::rng();
    let lists: Vec<_> = (0..LISTS).map(|_| list(rng)).collect();
    let mut python = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = python.stdin.take().expect("piped");
    let text: String = lists.iter().map(|list| digits(list) + "\n").collect();
    // In a thread of its own, because the script writes while it reads.
    let write = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = python.wait_with_output()?;
    write.join().expect("no panic")?;
    let answers = String::from_utf8(output.stdout)?;
    if !output.status.success() || answers.lines().count() != LISTS {
        let lines = answers.lines().count();
        return Err(format!("math.fsum: {}, {lines} lines", output.status).into());
    }
    for (list, answer) in lists.iter().zip(answers.lines()) {
        let answer = f64::from_bits(u64::from_str_radix(answer, 16)?);
        let mut sum = Accumulator::new();
        sum.add_all(list);
        let got: f64 = sum.sum();
        // `==`, because the sign of a zero depends on Python's version.
        if got != answer {
            let list = digits(list);
            return Err(format!("{got:?}, but {answer:?} by math.fsum, of {list}").into());
        }
    }
    Ok(Completion::Completed)
}

/// Up to 1,024 numbers below 2^1000, with exponents near each other or not, of which many may cancel.
fn list(rng: &mut ThreadRng) -> Vec<f64> {
    let first = rng.random_range(0..2000);
    let fields = rng.random_range(1..=2023 - first);
    let longest = 1 << rng.random_range(0..10);
    let length = rng.random_range(0..=longest);
    let mut list: Vec<f64> = (0..length)
        .map(|_| {
            let field = rng.random_range(first..first + fields);
            let fraction = rng.random_range(0..1 << 52);
            f64::from_bits(rng.random_range(0..2) << 63 | field << 52 | fraction)
        })
        .collect();
    if rng.random() {
        let kept = rng.random_range(0..=length);
        let negated: Vec<_> = list[kept..].iter().map(|x| -x).collect();
        list.extend(negated);
        list.shuffle(rng);
    }
    list
}

fn digits(list: &[f64]) -> String {
    list.iter()
        .map(|x| format!("{:016x}", x.to_bits()))
        .collect()
}
