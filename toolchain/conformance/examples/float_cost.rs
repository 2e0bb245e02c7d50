//! Measures each function of `cuda_std::float` on the device, and nvcc's function if nvcc is installed.
//! Prints a table in Markdown.
//!
//! ```text
//! cargo run --release -p conformance --example float_cost
//! ```
//!
//! Each kernel calls its function 255 times for each of 2^20 arguments in the usual range, so nearly all of
//! its time is the function's. Times are the minimum of ten launches.

use std::error::Error;
use std::ffi::c_void;
use std::path::PathBuf;
use std::process::Command;
use std::ptr::from_mut;
use std::{env, fs};

use conformance::cuda;
use conformance::float::{Float, approximations};
use conformance::module::MODULES;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::prelude::{Context, CudaFlags, Stream, StreamFlags};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const ARGUMENTS: usize = 1 << 20;
/// Odd, because equal results cancel each other.
const CALLS: u64 = 255;
const LAUNCHES: usize = 10;
const BLOCKS: u32 = 4096;
const THREADS: u32 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let device = cuda::describe()?;
    cust::init(CudaFlags::empty())?;
    let _context = Context::new(cust::device::Device::get_device(0)?)?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let newest = MODULES
        .iter()
        .rfind(|module| module.capability <= device.capability)
        .ok_or("no module runs on this device")?;
    let ours = Module::from_ptx(newest.ptx(), &[])?;
    let (major, minor) = device.capability;
    let theirs = match nvcc(&format!("sm_{major}{minor}")) {
        Ok(cubin) => Some(Module::from_cubin(cubin, &[])?),
        Err(why) => {
            eprintln!("nvcc's functions are not measured: {why}");
            None
        }
    };
    println!("{}, picoseconds per call", device.name);
    println!("| function | ours | nvcc's | ratio |\n|---|---|---|---|");
    let mut rows = all::<f32>();
    rows.extend(all::<f64>());
    let approximated = approximations().into_iter();
    rows.extend(approximated.map(|f| row::<f32>(f.name, f.arguments, f.range())));
    for (kernel, input, outputs) in rows {
        let input = DeviceBuffer::from_slice(&input)?;
        let output = DeviceBuffer::<u64>::zeroed(outputs)?;
        let time = |module: &Module| least(module, &stream, &kernel, &input, &output);
        let ours = time(&ours)?;
        // nvcc's module lacks functions that nvcc does not have.
        match theirs
            .as_ref()
            .filter(|module| module.get_function(&kernel).is_ok())
        {
            Some(module) => {
                let theirs = time(module)?;
                println!(
                    "| {kernel} | {ours:.2} | {theirs:.2} | {:.2} |",
                    ours / theirs
                );
            }
            None => println!("| {kernel} | {ours:.2} | | |"),
        }
    }
    Ok(())
}

/// A kernel, its input, and the number of results.
type Row = (String, Vec<u64>, usize);

fn all<T: Float>() -> Vec<Row> {
    let functions = T::functions().into_iter();
    functions
        .map(|f| row::<T>(f.name, f.arguments, f.range()))
        .collect()
}

/// First arguments within a range; the others between 1 and 4.
fn row<T: Float>(name: &str, arguments: usize, (low, high): (f64, f64)) -> Row {
    let mut rng = StdRng::seed_from_u64(1);
    let input = (0..ARGUMENTS * arguments).map(|i| {
        let (low, high) = match i % arguments {
            0 => (low.max(-10.0), high.min(10.0)),
            _ => (1.0, 4.0),
        };
        T::nearest(low + (high - low) * rng.random::<f64>()).word()
    });
    let kernel = format!("float_{name}_{}", T::ELEMENT.name());
    (kernel, input.collect(), ARGUMENTS)
}

/// The minimum time of a call in picoseconds.
fn least(
    module: &Module,
    stream: &Stream,
    kernel: &str,
    input: &DeviceBuffer<u64>,
    output: &DeviceBuffer<u64>,
) -> Result<f64, Box<dyn Error>> {
    let function = module.get_function(kernel)?;
    let mut arguments = [
        input.as_device_ptr().as_raw(),
        input.len() as u64,
        output.as_device_ptr().as_raw(),
        output.len() as u64,
        output.as_device_ptr().as_raw(),
        0,
        CALLS,
        1,
        0,
        0,
    ];
    let pointers = arguments
        .each_mut()
        .map(|word| from_mut(word).cast::<c_void>());
    let [begin, end] = [
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    ];
    let mut least = f64::INFINITY;
    for _ in 0..LAUNCHES {
        begin.record(stream)?;
        // SAFETY: every entry, including nvcc's, has these ten 64-bit parameters. The buffers have the given
        // lengths and outlive the launch, which is waited for below. No kernel writes to the scratch buffer.
        unsafe { stream.launch(&function, BLOCKS, THREADS, 0, &pointers) }?;
        end.record(stream)?;
        end.synchronize()?;
        least = least.min(end.elapsed_time_f32(&begin)?.into());
    }
    let mut results = vec![0; output.len()];
    output.copy_to(&mut results)?;
    if results.iter().all(|&word| word == 0) {
        return Err(format!("{kernel} has written no result").into());
    }
    Ok(least * 1e9 / (ARGUMENTS as f64 * CALLS as f64))
}

/// The functions of `float_cost.cu`, compiled by nvcc.
fn nvcc(arch: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let toolkit = env::var_os("CUDA_PATH").map(|root| PathBuf::from(root).join("bin"));
    let on_path = env::var_os("PATH").unwrap_or_default();
    let nvcc = toolkit
        .into_iter()
        .chain(env::split_paths(&on_path))
        .chain(["/usr/local/cuda/bin".into()])
        .map(|folder| folder.join("nvcc"))
        .find(|program| program.is_file())
        .ok_or("nvcc was not found on PATH, in CUDA_PATH/bin, or in /usr/local/cuda/bin")?;
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/float_cost.cu");
    let cubin = env::temp_dir().join(format!("float_cost.{}.cubin", std::process::id()));
    let output = Command::new(nvcc)
        .args(["-O3", "-cubin", &format!("-arch={arch}"), "-o"])
        .args([&cubin, &source])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let bytes = fs::read(&cubin)?;
    fs::remove_file(&cubin)?;
    Ok(bytes)
}
