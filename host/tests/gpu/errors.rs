//! Bad input on a real device is a typed error with the values, and the device still works afterwards.

use std::sync::Arc;
use std::{env, process};

use kernels_gpu::prelude::{Element, Op, Value, kernels};
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Algorithm, Device, Dot, Error, Ladder, Max, SinglePass, Sum};

use crate::lab::Lab;

/// Set for a child process, which opens a device, or causes a fault on it, and prints the result.
const CHILD: &str = "WARPFOLD_TEST_OPEN_A_DEVICE";

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let trial = |name: &str, test: fn(&Device) -> Result<(), Failed>| {
        lab.trial(format!("errors {name}"), move |_, device| {
            test(device)?;
            let x = device.upload(&[1, 2, 3])?;
            match device.sum(&x)? {
                6 => Ok(Completion::Completed),
                other => Err(format!("1 + 2 + 3 is {other} on the device afterwards").into()),
            }
        })
    };
    vec![
        trial("device index", device_index),
        trial("hidden devices", hidden_devices),
        trial("block size", block_size),
        trial("chunks", chunks),
        trial("no such kernel", no_such_kernel),
        trial("kernels that are not registered", not_registered),
        trial("arrays of different lengths or devices", side_by_side),
        trial("too little memory", too_little_memory),
        trial("module newer than the driver", newer_module),
        trial("module that does not compile", broken_module),
        trial("view range", view_range),
        trial("misaligned", misaligned),
        trial("a buffer of another device", other_device),
        trial("empty input", empty_input),
        trial("not enqueued", not_enqueued),
        trial("a fault in a kernel", lost_device),
    ]
}

/// The work of the child process; returns in other processes.
pub fn child() {
    match env::var(CHILD).as_deref() {
        Ok("fault") => match fault() {
            Ok(()) => println!("lost"),
            Err(error) => println!("{error:?}"),
        },
        Ok(_) => match Device::first() {
            Ok(device) => println!("{device}"),
            Err(error) => println!("{error:?}"),
        },
        Err(_) => return,
    }
    process::exit(0);
}

/// Reads far past the end of an allocation; all later calls must fail.
fn fault() -> Result<(), Failed> {
    let device = Device::first()?;
    let x = device.upload(&[1, 2, 3])?;
    let mut graph = device.graph(device.upload(&[1])?, Sum)?;
    // SAFETY: none; the read must cause a fault.
    let wild = unsafe { device.view_ptr::<i32>(x.as_device_ptr(), 1 << 38) }?;
    let sticky = |result: Result<(), Error>| match result {
        Err(error) if error.is_sticky() => {
            let text = error.to_string();
            match text
                .contains("the CUDA context is unusable after this error: restart the process")
            {
                true => Ok(()),
                false => Err(Failed::from(text)),
            }
        }
        other => Err(format!("{other:?}").into()),
    };
    sticky(device.sum(wild).map(drop))?;
    // Every later call on every stream fails.
    sticky(device.sum(&x).map(drop))?;
    sticky(device.upload(&[1]).map(drop))?;
    sticky(x.download().map(drop))?;
    sticky(device.new_stream().map(drop))?;
    sticky(graph.launch().and_then(|()| graph.result()).map(drop))?;
    sticky(device.synchronize())?;
    // The next call returns the failure of the drop.
    drop(x);
    sticky(device.synchronize())
}

fn lost_device(_: &Device) -> Result<(), Failed> {
    let output = process::Command::new(env::current_exe()?)
        .env(CHILD, "fault")
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    match stdout.trim() {
        "lost" if output.status.success() => Ok(()),
        other => Err(format!("{other:?}, {}", output.status).into()),
    }
}

/// Fails unless `result` is an error that matches the pattern and whose text contains all of `words`.
macro_rules! expect {
    ($result:expr, $pattern:pat, $($words:expr),*) => {
        match $result.map(drop) {
            Err(error @ $pattern) => {
                let text = error.to_string();
                for words in [$($words.to_string()),*] {
                    if !text.contains(&words) {
                        return Err(format!("{words:?} is not in {text:?}").into());
                    }
                }
            }
            other => return Err(format!("{other:?} from {}", stringify!($result)).into()),
        }
    };
}

fn device_index(_: &Device) -> Result<(), Failed> {
    expect!(
        Device::nth(99),
        Error::DeviceIndex { index: 99, .. },
        "device 99"
    );
    expect!(Device::nth(u32::MAX), Error::DeviceIndex { .. }, u32::MAX);
    Ok(())
}

fn hidden_devices(_: &Device) -> Result<(), Failed> {
    let output = process::Command::new(env::current_exe()?)
        .env(CHILD, "1")
        .env("CUDA_VISIBLE_DEVICES", "-1")
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    match stdout.trim() {
        r#"NoDevice { visible: Some("-1") }"# => Ok(()),
        other => Err(format!("{other:?} when all devices are hidden").into()),
    }
}

fn block_size(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1; 1000])?;
    for algorithm in Algorithm::all() {
        for threads in [0, 1, 16, 33, 48, 96, 1000, 2048, u32::MAX] {
            let reduction = device.reduce(&x, Sum).algorithm(algorithm).threads(threads);
            let kernel = algorithm.kernel_name();
            let limit = match algorithm {
                Algorithm::SinglePass => "512",
                _ => "1024",
            };
            expect!(
                reduction.run(),
                Error::BlockSize { .. },
                kernel,
                threads,
                limit
            );
        }
    }
    Ok(())
}

fn chunks(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1; 1000])?;
    let run = |algorithm| device.reduce(&x, Sum).algorithm(algorithm).run();
    expect!(
        run(Algorithm::Reduce5Loop { chunks: 0 }),
        Error::Chunks { .. },
        "0 chunks",
        "reduce_5"
    );
    for chunks in [0, 3, 32, u32::MAX] {
        expect!(
            run(Algorithm::Reduce5 { chunks }),
            Error::Chunks { .. },
            chunks,
            "8 or 16"
        );
    }
    for vector in [0, 3, 8, u32::MAX] {
        expect!(
            run(Algorithm::Stable { vector }),
            Error::Vector { .. },
            vector,
            "1, 2 or 4"
        );
    }
    Ok(())
}

fn no_such_kernel(device: &Device) -> Result<(), Failed> {
    fn redux<T: Element>(device: &Device, one: T) -> Result<T, Error>
    where
        Sum: SinglePass<T, Output = T> + Ladder<T>,
    {
        let x = device.upload(&[one])?;
        let reduction = device.reduce(&x, Sum);
        reduction.algorithm(Algorithm::Reduce4Redux).run()
    }
    expect!(
        redux(device, 1.0f32),
        Error::NotAvailable { .. },
        "reduce_4_redux for the sum of f32"
    );
    expect!(redux(device, 1u64), Error::NotAvailable { .. }, "u64");
    match redux(device, 7i32)? {
        7 => Ok(()),
        other => Err(format!("{other} instead of 7").into()),
    }
}

/// The largest remainder: an operator of this program, without kernels.
#[derive(Clone, Copy, Debug, Value)]
#[repr(C)]
struct LargestRemainder {
    modulus: u32,
}

impl Op<u32> for LargestRemainder {
    type Acc = u32;
    type Output = u32;

    fn identity(&self) -> u32 {
        0
    }

    fn lift(&self, x: u32, _: u64) -> u32 {
        x % self.modulus
    }

    fn combine(&self, a: u32, b: u32) -> u32 {
        a.max(b)
    }

    fn finish(&self, acc: u32) -> u32 {
        acc
    }
}

kernels! {
    /// Rows without PTX.
    static KERNELS:
    single_pass {
        LargestRemainder: u32;
    }
}

fn not_registered(device: &Device) -> Result<(), Failed> {
    let op = LargestRemainder { modulus: 7 };
    let x = device.upload(&[1u32, 9, 4])?;
    let name = "single_pass_largest_remainder_u32";
    let (mut cells, mut scratch) = (device.alloc::<u32>(1)?, device.scratch()?);
    expect!(
        device.reduce(&x, op).run(),
        Error::NotRegistered { .. },
        name,
        KERNELS.name,
        "Device::with"
    );
    expect!(
        device.reduce(&x, op).plan(),
        Error::NotRegistered { .. },
        name
    );
    let into = device.reduce_into(&x, op, &mut cells, 0, &mut scratch);
    expect!(into, Error::NotRegistered { .. }, name);
    let graph = device.graph(device.upload(&[1u32])?, op);
    expect!(
        graph.map_err(|refused| refused.error),
        Error::NotRegistered { .. },
        name
    );
    // For empty input too, so that a test with an empty array detects the error.
    let empty = device.alloc::<u32>(0)?;
    expect!(
        device.reduce(&empty, op).run(),
        Error::NotRegistered { .. },
        name
    );
    Ok(())
}

/// Arrays of different lengths, and on different devices.
fn side_by_side(device: &Device) -> Result<(), Failed> {
    let (x, y) = (device.upload(&[1, 2, 3])?, device.upload(&[1, 2])?);
    expect!(
        device.reduce((&x, &y), Dot).run(),
        Error::Lengths { a: 3, b: 2 },
        "3 and 2"
    );
    expect!(
        device.reduce((&x, x.view(..2)?), Dot).plan(),
        Error::Lengths { a: 3, b: 2 },
        "3 and 2"
    );
    let refused = device
        .graph((device.upload(&[1, 2])?, device.upload(&[1])?), Dot)
        .map(drop)
        .expect_err("the lengths differ");
    let (a, b) = refused.given;
    if (a.len(), b.len(), refused.error) != (2, 1, Error::Lengths { a: 2, b: 1 }) {
        return Err("a graph of two lengths was not refused".into());
    }
    let on_cpu = Device::cpu().upload(&[1, 2, 3])?;
    expect!(
        device.reduce((&x, &on_cpu), Dot).run(),
        Error::OtherDevice { .. },
        "the CPU"
    );
    Ok(())
}

fn too_little_memory(device: &Device) -> Result<(), Failed> {
    let total = device.info().ok_or("a GPU has an info")?.total_memory;
    // All of the device's memory, of which some is always in use.
    expect!(
        device.alloc::<i32>((total / 4) as usize),
        Error::OutOfMemory { .. },
        total / 4 * 4,
        "free"
    );
    // More than the device has, and more than 2^64 bytes.
    expect!(
        device.alloc::<i32>(total as usize),
        Error::OutOfMemory { .. },
        total * 4
    );
    expect!(
        device.alloc::<f64>(usize::MAX),
        Error::OutOfMemory { .. },
        u64::MAX
    );
    Ok(())
}

fn newer_module(device: &Device) -> Result<(), Failed> {
    let ptx = c".version 99.9\n.target sm_75\n.address_size 64\n";
    expect!(
        device.try_module(ptx),
        Error::ModuleRejected { code: 222, .. },
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "222"
    );
    Ok(())
}

fn broken_module(device: &Device) -> Result<(), Failed> {
    let ptx = c".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry f() { nonsense; }\n";
    match device.try_module(ptx) {
        Err(Error::ModuleRejected { code: 218, log, .. }) if !log.is_empty() => Ok(()),
        other => Err(format!("{other:?} for PTX that does not compile").into()),
    }
}

fn view_range(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1; 100])?;
    expect!(x.view(..101), Error::ViewRange { .. }, "0..101", "100");
    expect!(x.view(101..), Error::ViewRange { .. }, "101..100");
    expect!(x.view(..=usize::MAX), Error::ViewRange { .. }, "100");
    let (late, early) = (60, 50);
    expect!(x.view(late..early), Error::ViewRange { .. }, "60..50");
    let part = x.view(40..60)?;
    expect!(part.view(..21), Error::ViewRange { .. }, "0..21", "20");
    if device.sum(part.view(5..)?)? != 15 || device.sum(x.view(100..)?)? != 0 {
        return Err("a view of a view has other elements".into());
    }
    Ok(())
}

fn misaligned(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1i32; 100])?;
    expect!(
        device.read_ceiling(x.view(1..)?),
        Error::Misaligned { .. },
        "16"
    );
    let mut plan = device.read_ceiling(x.view(4..)?)?;
    plan.enqueue()?;
    match plan.result()? {
        96 => Ok(()),
        other => Err(format!("{other} instead of 96").into()),
    }
}

fn other_device(device: &Device) -> Result<(), Failed> {
    let (same_gpu, cpu) = (Device::first()?, Device::cpu());
    let x = same_gpu.upload(&[1, 2])?;
    let y = cpu.upload(&[1, 2])?;
    expect!(
        device.sum(&x),
        Error::OtherDevice { .. },
        device.name(),
        "opened separately",
        "clone that `Device`"
    );
    if device.clone().sum(&device.upload(&[1, 2])?)? != 3 {
        return Err("a clone counts as another device".into());
    }
    expect!(
        device.sum(&y),
        Error::OtherDevice { .. },
        "the CPU",
        device.name()
    );
    expect!(
        cpu.sum(&x),
        Error::OtherDevice { .. },
        "the CPU",
        device.name()
    );
    expect!(
        device.read_ceiling(&y),
        Error::OtherDevice { .. },
        "the CPU"
    );
    Ok(())
}

fn empty_input(device: &Device) -> Result<(), Failed> {
    let (ints, floats) = (device.upload::<i32>(&[])?, device.alloc::<f32>(0)?);
    if !ints.is_empty() || !ints.download()?.is_empty() || ints.as_device_ptr() != 0 {
        return Err("an empty buffer has elements or an address".into());
    }
    for algorithm in Algorithm::all() {
        let plan = device.reduce(&ints, Sum).algorithm(algorithm).plan()?;
        let max = device.reduce(&ints, Max).algorithm(algorithm).run()?;
        if !plan.passes().is_empty() || max.is_some() {
            return Err(format!("{algorithm:?}: {plan:?}, maximum {max:?}").into());
        }
    }
    if device.sum(&ints)? != 0 || device.min(&ints)?.is_some() || device.max(&floats)?.is_some() {
        return Err("empty input has a wrong sum or an extremum".into());
    }
    let mut ceiling = device.read_ceiling(&floats)?;
    ceiling.enqueue()?;
    if ceiling.result()?.to_bits() != 0.0f32.to_bits() {
        return Err("the read ceiling of empty input is not 0.0".into());
    }
    Ok(())
}

fn not_enqueued(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1, 2])?;
    let plan = device
        .reduce(&x, Sum)
        .algorithm(Algorithm::Reduce1)
        .plan()?;
    expect!(plan.result(), Error::NotEnqueued { .. }, "reduce_1");
    Ok(())
}
