//! The smallest of many floats, on one core, on all cores, and on the GPU.
//!
//! ```text
//! min_of_array              # 100 million random floats
//! min_of_array data.npy     # a NumPy file: f32, C order, any shape
//! ```
//!
//! It requires the feature `teaching`, which has the post's kernel.
//!
//! After the post "Parallel Reduction with CUDA" (shreeraman karikalan, 2020). Its kernel is a tree with
//! sequential addressing in blocks of 256 threads, with the last warp unrolled; the host combines the partial
//! minima. The post states a speed-up of 18 over one core, and not whether it includes the copy to the GPU: here
//! both are measured. The table compares them with `Device::min`.
//!
//! If any element is a NaN, the minimum is a NaN, as in `numpy.min`; -0.0 is smaller than 0.0. All methods must
//! return the same bits, except for the bits of a NaN.
//!
//! Exit code 0: all methods agree. 1: they differ, or one failed. 2: wrong arguments, or a file that cannot be
//! used.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fmt};

use npyz::{DType, NpyHeader, Order, TypeChar};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Algorithm, Buffer, Device, Min};

/// The number of generated elements, without a file.
const GENERATED: usize = 100_000_000;

/// The number of runs of each method; the table shows the median.
const RUNS: usize = 5;

const USAGE: &str = "usage: min_of_array [FILE.npy]";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let done = match (arguments.next(), arguments.next()) {
        (None, None) => run(None),
        (Some(word), None) if word == "-h" || word == "--help" => {
            return say(&format!("{USAGE}\n")).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
        }
        (Some(file), None) => run(Some(file.into())),
        _ => Err(Failure::Usage),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.code()
        }
    }
}

fn run(file: Option<PathBuf>) -> Result<(), Failure> {
    let (values, what) = match &file {
        Some(file) => (read(file)?, file.display().to_string()),
        None => (generate(GENERATED), "random".into()),
    };
    if values.is_empty() {
        return Err(Failure::Unusable(
            what,
            "an empty array has no minimum".into(),
        ));
    }
    let device = Device::auto()?;
    say(&format!("{what}: {} f32\n", values.len()))?;
    match device.fallback_reason() {
        Some(reason) => say(&format!("no GPU: {reason}\n"))?,
        None => say(&format!("GPU: {device}\n"))?,
    }

    let one_core = Way::measure("CPU, one core", || Ok(Some(serial(&values))))?;
    let mut ways = vec![one_core, all_cores(&values)?];
    if device.is_gpu() {
        ways.extend(on_gpu(&device, &values)?);
    }
    say(&table(&ways))?;
    let agreed = ways[0].minima[0];
    for way in &ways {
        if let Some(other) = way.minima.iter().find(|minimum| !same(**minimum, agreed)) {
            return Err(Failure::Disagree(way.name, *other, agreed));
        }
    }
    Ok(say(&format!("minimum {agreed:?}: all agree\n"))?)
}

/// A method to find the minimum.
struct Way {
    name: &'static str,
    /// The result of every run.
    minima: [f32; RUNS],
    /// The time of the median run.
    milliseconds: f64,
}

impl Way {
    fn measure(
        name: &'static str,
        mut minimum: impl FnMut() -> Result<Option<f32>, warpfold::Error>,
    ) -> Result<Self, warpfold::Error> {
        let (mut minima, mut times) = ([0.0; RUNS], [0.0; RUNS]);
        for run in 0..RUNS {
            let start = Instant::now();
            minima[run] = minimum()?.expect("the array has elements");
            times[run] = start.elapsed().as_secs_f64() * 1e3;
        }
        times.sort_by(f64::total_cmp);
        Ok(Self {
            name,
            minima,
            milliseconds: times[RUNS / 2],
        })
    }
}

/// A plain loop, in the total order of floats, in which -0.0 is below 0.0.
fn serial(values: &[f32]) -> f32 {
    let mut least = f32::INFINITY;
    for &value in values {
        if value.is_nan() {
            return value;
        }
        if value.total_cmp(&least).is_lt() {
            least = value;
        }
    }
    least
}

/// The library's CPU device.
fn all_cores(values: &[f32]) -> Result<Way, warpfold::Error> {
    let cpu = Device::cpu();
    let x = cpu.upload(values)?;
    Way::measure("CPU, all cores", || cpu.reduce(&x, Min).run())
}

fn on_gpu(gpu: &Device, values: &[f32]) -> Result<[Way; 4], warpfold::Error> {
    let x = gpu.upload(values)?;
    let posts = |x: &Buffer<f32>| {
        let reduction = gpu.reduce(x, Min).algorithm(Algorithm::Reduce2Warp);
        reduction.threads(256).finish_on_host().run()
    };
    let own = |x: &Buffer<f32>| gpu.reduce(x, Min).run();
    // One run without timing, because the first launch loads the kernel.
    posts(&x)?;
    own(&x)?;
    Ok([
        Way::measure("GPU, as in the post", || posts(&x))?,
        Way::measure("  with the copy to it", || posts(&gpu.upload(values)?))?,
        Way::measure("GPU, warpfold's choice", || own(&x))?,
        Way::measure("  with the copy to it", || own(&gpu.upload(values)?))?,
    ])
}

fn table(ways: &[Way]) -> String {
    let mut text = format!("{:<24} {:>12} {:>10}   minimum\n", "", "ms", "speed-up");
    for way in ways {
        let (name, minimum) = (way.name, way.minima[0]);
        let speed_up = ways[0].milliseconds / way.milliseconds;
        text += &format!(
            "{name:<24} {:>12.3} {speed_up:>9.1}x   {minimum:?}\n",
            way.milliseconds
        );
    }
    text
}

/// The same bits, or both NaN.
fn same(one: f32, other: f32) -> bool {
    (one.is_nan() && other.is_nan()) || one.to_bits() == other.to_bits()
}

/// Reproducible random floats from -1000 to 1000.
fn generate(n: usize) -> Vec<f32> {
    let mut rng = SmallRng::seed_from_u64(1);
    (0..n).map(|_| rng.random_range(-1000.0..1000.0)).collect()
}

/// Streams the elements of a NumPy file into memory.
fn read(file: &Path) -> Result<Vec<f32>, Failure> {
    let unusable = |why: String| Failure::Unusable(file.display().to_string(), why);
    let opened = File::open(file).map_err(|error| unusable(error.to_string()))?;
    let mut reader = BufReader::new(opened);
    let header =
        NpyHeader::from_reader(&mut reader).map_err(|error| unusable(error.to_string()))?;
    let f32s = |dtype: &DType| match dtype {
        DType::Plain(dtype) => dtype.type_char() == TypeChar::Float && dtype.size_field() == 4,
        _ => false,
    };
    if !f32s(&header.dtype()) {
        return Err(unusable(format!("{}, not f32", header.dtype().descr())));
    }
    if header.order() != Order::C {
        return Err(unusable("in Fortran's order, not C's".into()));
    }
    let big_endian = header.dtype().descr().contains('>');
    let len = usize::try_from(header.len()).map_err(|error| unusable(error.to_string()))?;
    let mut values = Vec::new();
    values
        .try_reserve_exact(len)
        .map_err(|error| unusable(format!("{len} elements: {error}")))?;
    values.resize(len, 0f32);
    reader
        .read_exact(bytemuck::cast_slice_mut(&mut values))
        .map_err(|error| unusable(format!("{len} elements: {error}")))?;
    for value in &mut values {
        let bytes = value.to_ne_bytes();
        *value = if big_endian {
            f32::from_be_bytes(bytes)
        } else {
            f32::from_le_bytes(bytes)
        };
    }
    Ok(values)
}

/// Prints the text. It is not an error if the reader has closed the pipe (`| head`).
fn say(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// An error of this program.
#[derive(Debug)]
enum Failure {
    Usage,
    /// A file, and the reason.
    Unusable(String, String),
    Reduction(warpfold::Error),
    Output(io::Error),
    /// The method, its result, and the result of the first method.
    Disagree(&'static str, f32, f32),
}

impl Failure {
    fn code(&self) -> ExitCode {
        match self {
            Self::Usage | Self::Unusable(..) => ExitCode::from(2),
            Self::Reduction(_) | Self::Output(_) | Self::Disagree(..) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str(USAGE),
            Self::Unusable(file, why) => write!(f, "{file}: {why}"),
            Self::Reduction(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot print: {error}"),
            Self::Disagree(way, got, expected) => {
                write!(f, "{}: {got:?}, one core: {expected:?}", way.trim())
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<warpfold::Error> for Failure {
    fn from(error: warpfold::Error) -> Self {
        Self::Reduction(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
