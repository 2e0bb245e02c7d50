//! The canonical order: the bits of float results are those of `tests/data/order/bits.txt`, which `order.py` has written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use kernels_gpu::element::NumberMut;
use libtest_mimic::{Completion, Failed, Trial};
use rand::RngExt;
use warpfold::{
    ArgMin, Device, Dot, Element, Input, Items, MeanVariance, NanSum, Product, SinglePass, Sum,
    SumAbs, SumSquares, SumWide, WeightedMean, bf16, f16,
};

use super::Test;

const BITS: &str = include_str!("../../data/order/bits.txt");

/// A test for each operator and element, of all its lines.
pub(super) fn tests() -> Vec<Test> {
    let mut groups: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in BITS.lines() {
        let line = Line::read(line);
        groups
            .entry(format!("order: {} {}", line.op, line.element))
            .or_default()
            .push(line);
    }
    let test = |(name, lines): (String, Vec<Line>)| {
        Test::new(name, move |device| {
            lines
                .iter()
                .enumerate()
                .try_for_each(|(i, line)| line.check(device, STARTS[i % STARTS.len()]))
        })
    };
    let mut tests: Vec<Test> = groups.into_iter().map(test).collect();
    // Several, so that they run on all cores.
    let random = (0..RANDOM_TESTS).map(|number| {
        let name = format!("order: random cases as on the CPU, {number} of {RANDOM_TESTS}");
        Test::new(name, random_cases)
    });
    tests.extend(random);
    tests
}

/// The tests of random cases; on a GPU they have ten thousand cases together.
const RANDOM_TESTS: usize = 16;

/// Random operators, elements, lengths and starts: the bits of the CPU, at any start.
fn random_cases(device: &Device) -> Result<(), Failed> {
    let (cases, longest) = match device.info() {
        Some(info) if info.multiprocessors > 32 => (625, 18.0),
        Some(_) => (4, 12.0),
        None => (8, 14.0),
    };
    let lines: Vec<Line> = BITS.lines().map(Line::read).collect();
    let cpu = Device::cpu();
    for _ in 0..cases {
        let mut random = rand::rng();
        let like = &lines[random.random_range(0..lines.len())];
        let mut line = Line {
            op: like.op.clone(),
            element: like.element.clone(),
            n: 2f64.powf(random.random_range(0.0..longest)) as usize,
            seed: random.random_range(0..1 << 32),
            bits: String::new(),
        };
        line.bits = line.bits_on(&cpu, 0)?;
        line.check(device, random.random_range(0..32))?;
    }
    Ok(())
}

/// Devices with other numbers of multiprocessors, and so with other grids: the bits of the CPU.
#[allow(dead_code, reason = "not for GPUs: a GPU has the number that it has")]
pub fn on_devices_of(multiprocessors: u32, device: &Device) -> Result<(), Failed> {
    let info = device.info().ok_or("a simulated GPU has an info")?;
    if info.multiprocessors != multiprocessors {
        return Err(format!(
            "{} multiprocessors, not {multiprocessors}",
            info.multiprocessors
        )
        .into());
    }
    let (cpu, mut random) = (Device::cpu(), rand::rng());
    let mut line = |op: &str, element: &str, n| Line {
        op: op.into(),
        element: element.into(),
        n,
        seed: random.random_range(0..1 << 32),
        bits: String::new(),
    };
    for n in LENGTHS {
        for (op, element) in [
            ("sum", "f32"),
            ("sum", "f64"),
            ("dot", "f32"),
            ("dot", "f64"),
            ("mean_variance", "f32"),
            ("mean_variance", "f64"),
        ] {
            let mut line = line(op, element, n);
            line.bits = line.bits_on(&cpu, 0)?;
            line.check(device, n % 8)?;
        }
        let line = line("arg_min", "f32", n);
        let x = line.draw::<f32>(0, 0, false);
        let on = |device: &Device| {
            let least = device.reduce(&device.upload(&x)?, ArgMin).run()?;
            Ok::<_, Failed>(least.map(|least| (least.value().to_bits(), least.index())))
        };
        let (got, expected) = (on(device)?, on(&cpu)?);
        if got != expected {
            let seed = line.seed;
            return Err(
                format!("arg_min of {n} f32 of seed {seed}: {got:?}, not {expected:?}").into(),
            );
        }
    }
    Ok(())
}

/// Around a tile, around several, and so many tiles that small devices have more than one for each block.
const LENGTHS: [usize; 6] = [1, 1023, 1025, 4097, 33_000, 70_001];

/// Random cases, whose bits NumPy computes now, on the CPU.
#[allow(dead_code, reason = "not for GPUs: there may be no Python")]
pub fn with_numpy() -> Trial {
    Trial::ignorable_test("cpu/order: random cases by NumPy", || {
        let numpy = Command::new("python3")
            .args(["-c", "import numpy"])
            .stderr(Stdio::null())
            .status();
        if !numpy.is_ok_and(|status| status.success()) {
            return Ok(Completion::ignored_with("python3 has no numpy"));
        }
        let random = &mut rand::rng();
        let mut cases = String::new();
        for line in BITS.lines().map(Line::read) {
            let n = 2f64.powf(random.random_range(0.0..18.0)) as usize;
            writeln!(
                cases,
                "{} {} {n} {}",
                line.op,
                line.element,
                random.random::<u32>()
            )?;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/order/order.py");
        let mut python = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdin = python.stdin.take().expect("piped");
        // In a thread of its own, because the script writes while it reads.
        let write = std::thread::spawn(move || stdin.write_all(cases.as_bytes()));
        let output = python.wait_with_output()?;
        write.join().expect("no panic")?;
        let lines = String::from_utf8(output.stdout)?;
        if !output.status.success() || lines.lines().count() != BITS.lines().count() {
            return Err(format!(
                "order.py: {}, {} lines",
                output.status,
                lines.lines().count()
            )
            .into());
        }
        let device = Device::cpu();
        lines
            .lines()
            .try_for_each(|line| Line::read(line).check(&device, 0))?;
        Ok(Completion::Completed)
    })
}

/// The first element in its memory: aligned, and not.
const STARTS: [usize; 6] = [0, 1, 0, 3, 2, 7];

/// A case, and the bits of its accumulator.
struct Line {
    op: String,
    element: String,
    n: usize,
    seed: u64,
    bits: String,
}

impl Line {
    fn read(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut word = || {
            words
                .next()
                .expect("operator, element, number of elements, seed")
        };
        let (op, element) = (word().to_owned(), word().to_owned());
        let number = |word: &str| word.parse().expect("a number");
        let (n, seed) = (number(word()) as usize, number(word()));
        let bits = words.collect::<Vec<_>>().join(" ");
        Self {
            op,
            element,
            n,
            seed,
            bits,
        }
    }

    fn check(&self, device: &Device, start: usize) -> Result<(), Failed> {
        let got = self.bits_on(device, start)?;
        let Self {
            op,
            element,
            n,
            seed,
            bits,
        } = self;
        match got == *bits {
            true => Ok(()),
            false => Err(format!(
                "{op} of {n} {element} of seed {seed} from {start}: {got}, not {bits}"
            )
            .into()),
        }
    }

    fn bits_on(&self, device: &Device, start: usize) -> Result<String, Failed> {
        match &*self.element {
            "f16" => self.bits_of::<f16>(device, start),
            "bf16" => self.bits_of::<bf16>(device, start),
            "f32" => self.bits_of::<f32>(device, start),
            "f64" => self.bits_of::<f64>(device, start),
            other => unreachable!("{other}"),
        }
    }

    fn bits_of<T: Float>(&self, device: &Device, start: usize) -> Result<String, Failed>
    where
        Sum: SinglePass<T>,
        NanSum: SinglePass<T>,
        Product: SinglePass<T>,
        SumWide: SinglePass<T>,
        SumAbs: SinglePass<T>,
        SumSquares: SinglePass<T>,
        MeanVariance: SinglePass<T>,
        Dot: SinglePass<(T, T)>,
        WeightedMean: SinglePass<(T, T)>,
    {
        let near_one = self.op == "product";
        // The second array starts elsewhere.
        let (x, y) = (
            self.draw::<T>(0, start, near_one),
            self.draw::<T>(1, start / 2, false),
        );
        let (x, y) = (device.upload(&x)?, device.upload(&y)?);
        let (x, y) = (x.view(start..)?, y.view(start / 2..)?);
        match &*self.op {
            "sum" => accumulated(device, x, Sum),
            "nan_sum" => accumulated(device, x, NanSum),
            "product" => accumulated(device, x, Product),
            "sum_wide" => accumulated(device, x, SumWide),
            "sum_abs" => accumulated(device, x, SumAbs),
            "sum_squares" => accumulated(device, x, SumSquares),
            "mean_variance" => accumulated(device, x, MeanVariance),
            "dot" => accumulated(device, (x, y), Dot),
            "weighted_mean" => accumulated(device, (x, y), WeightedMean),
            other => unreachable!("{other}"),
        }
    }

    /// The elements of array `number`, behind `start` others.
    fn draw<T: Float>(&self, number: u64, start: usize, near_one: bool) -> Vec<T> {
        let element = |i: usize| match (i.checked_sub(start), near_one) {
            (None, _) => T::of(f64::NAN),
            (Some(i), false) => T::float(split_mix(self.seed + number, i)),
            (Some(i), true) => T::near_one(split_mix(self.seed + number, i)),
        };
        (0..start + self.n).map(element).collect()
    }
}

/// Word `i` of SplitMix64.
fn split_mix(seed: u64, i: usize) -> u64 {
    let z = seed.wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// A float from a random word, as `order.py` makes it.
trait Float: Element {
    /// The bits of the significand.
    const BITS: u32;
    /// The number of powers of two.
    const SPREAD: u64;

    /// The value, which is exact.
    fn of(value: f64) -> Self;

    fn float(word: u64) -> Self {
        let integer = (word >> (64 - Self::BITS)) as i64 - (1 << (Self::BITS - 1));
        Self::of(integer as f64 * 0.5f64.powi((word % Self::SPREAD) as i32))
    }

    fn near_one(word: u64) -> Self {
        let bits = Self::BITS - 1;
        Self::of(0.5 + (word >> (64 - bits)) as f64 * 0.5f64.powi(bits as i32))
    }
}

macro_rules! floats {
    ($($float:ident $bits:literal $spread:literal |$value:ident| $of:expr;)*) => { $(
        impl Float for $float {
            const BITS: u32 = $bits;
            const SPREAD: u64 = $spread;

            fn of($value: f64) -> Self {
                $of
            }
        }
    )* };
}

floats! {
    f16 11 8 |value| f16::from_f64(value);
    bf16 8 16 |value| bf16::from_f64(value);
    f32 24 32 |value| value as f32;
    f64 53 64 |value| value;
}

/// The bits of the accumulator's numbers in hexadecimal.
fn accumulated<'a, I: Items, O: SinglePass<I>>(
    device: &Device,
    input: impl Input<'a, I>,
    op: O,
) -> Result<String, Failed> {
    let mut cell = device.alloc::<O::Acc>(1)?;
    device.reduce_into(input, op, &mut cell, 0, &mut device.scratch()?)?;
    let mut bits = vec![];
    device.download(&cell)?[0].numbers(&mut |number| {
        bits.push(match number {
            NumberMut::F32(value) => format!("{:08x}", value.to_bits()),
            NumberMut::F64(value) => format!("{:016x}", value.to_bits()),
            other => unreachable!("{other:?} in a float's accumulator"),
        });
    });
    Ok(bits.join(" "))
}
