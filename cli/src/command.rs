//! Opens the file and the device, and answers.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use warpfold::file::{DType, Elements, NpyHeader};
use warpfold::{Device, Element, Error};

use crate::answer::{Answer, Report};
use crate::failure::Failure;
use crate::options::{Choice, Cli, Command, Input};
use crate::reading::Reading;
use crate::{by_key, reduce};

/// An answer, and what it took.
pub struct Done {
    pub n: usize,
    pub result: Answer,
    pub device: Device,
    pub reading: Reading,
    pub chunk_bytes: usize,
}

pub fn run(cli: &Cli, stderr: &mut dyn Write) -> Result<Report, Failure> {
    let started = Instant::now();
    let input = cli.command.input();
    let dtype = dtype(input)?;
    let done = match &cli.command {
        Command::ReduceByKey(options) => by_key::run(options, dtype, stderr),
        command => reduce::run(command, dtype, stderr),
    }?;
    if let Answer::Cells { rejected, .. } | Answer::Written { rejected, .. } = done.result
        && rejected > 0
    {
        let n = done.n;
        let _ = writeln!(stderr, "warpfold: {rejected} of {n} keys name no cell");
    }
    Ok(Report {
        op: cli.command.name(),
        file: input.file.display().to_string(),
        dtype: dtype.name(),
        n: done.n,
        result: done.result,
        device: done.device.name().into(),
        seconds: started.elapsed().as_secs_f64(),
        seconds_reading: done.reading.seconds(),
        bytes: done.reading.bytes(),
        chunk_bytes: done.chunk_bytes as u64,
    })
}

fn is_npy(file: &Path) -> bool {
    let extension = file.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

fn dtype(input: &Input) -> Result<DType, Failure> {
    match input.dtype {
        Some(dtype) => Ok(dtype),
        None if is_npy(&input.file) => Ok(NpyHeader::of_file(&input.file)?.dtype()?),
        None => Err(Failure::Usage(format!(
            "{}: raw elements, whose type no file says: it takes --dtype",
            input.file.display()
        ))),
    }
}

/// The elements of a file of either kind.
pub fn open<T: Element>(file: &Path) -> Result<Elements<T>, Error> {
    match is_npy(file) {
        true => Elements::open_npy(file),
        false => Elements::open_raw(file),
    }
}

/// The device asked for. Where there is no GPU, it says so.
pub fn device(choice: Choice, stderr: &mut dyn Write) -> Result<Device, Error> {
    let device = match choice {
        Choice::Auto => Device::auto(),
        Choice::Cuda(index) => Device::nth(index),
        Choice::Cpu => Ok(Device::cpu()),
    }?;
    if let Some(reason) = device.fallback_reason() {
        let _ = writeln!(stderr, "warpfold: no GPU: {reason}; computing on the CPU");
    }
    Ok(device)
}
