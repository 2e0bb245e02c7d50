//! Runs a command: finds the files, opens the device, and prints the results.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

use warpfold::many::Distributed;
use warpfold::{Determinism, Device, Error, ORDER_VERSION};

use crate::answer::{Answer, FileNames, Report};
use crate::devices::{self, Devices};
use crate::failure::Failure;
use crate::options::{Choice, Cli, Command, Input};
use crate::ranks::Share;
use crate::reading::Reading;
use crate::source::{DefaultFormat, Stdin};
use crate::sources::Sources;
use crate::{by_key, count_by_key, dot, group_by, manual, parts, print_message, ranks, reduce};

/// A result with its statistics.
pub struct Done {
    pub n: usize,
    pub result: Answer,
    pub device: Device,
    pub reading: Reading,
    pub chunk_bytes: usize,
}

/// The state of one command.
pub struct Session<'a> {
    stdin: Stdin<'a>,
    stderr: &'a mut dyn Write,
    device: Option<Device>,
    /// This rank, if there are several.
    all: Option<Distributed>,
    /// The ranks of this process, if it has several.
    gpus: Vec<Distributed>,
}

impl<'a> Session<'a> {
    /// The session of one of several ranks.
    pub fn of_rank(all: Distributed, stderr: &'a mut dyn Write) -> Self {
        Self {
            stdin: None,
            stderr,
            device: Some(all.device().clone()),
            all: Some(all),
            gpus: vec![],
        }
    }
}

pub fn run(
    cli: &Cli,
    stdin: &mut dyn Read,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), Failure> {
    let input = match (&cli.command, cli.command.input()) {
        (_, Some(input)) => input,
        (Command::Devices(options), None) => {
            let devices = Devices::list();
            return print(stdout, |to| devices.write(options.json, to)).map(drop);
        }
        (Command::Completions { shell }, None) => {
            let script = manual::completions(*shell);
            return print(stdout, |to| to.write_all(&script)).map(drop);
        }
        (Command::Man { command }, None) => {
            let page = manual::page(command.as_deref())?;
            return print(stdout, |to| to.write_all(&page)).map(drop);
        }
        (_, None) => unreachable!("all other commands have an input"),
    };
    let mut session = match ranks::of_launcher(input)? {
        Some(all) => Session::of_rank(all, stderr),
        None => Session {
            stdin: Some(stdin),
            stderr,
            device: None,
            all: None,
            gpus: match input.gpus {
                Some(gpus) => ranks::of_gpus(input, gpus)?,
                None => vec![],
            },
        },
    };
    // Rank 0 prints for all.
    let mut nowhere = io::sink();
    let stdout: &mut dyn Write = match session.rank() {
        0 => stdout,
        _ => &mut nowhere,
    };
    let Input { each, json, .. } = input;
    let files = &expanded(&input.files)?;
    if !each {
        let report = session.report(cli, input, files)?;
        return print(stdout, |to| report.write(*json, false, to)).map(drop);
    }
    let mut failed = 0;
    for file in files {
        let report = session.report(cli, input, slice::from_ref(file));
        match report {
            Ok(report) => {
                if !print(stdout, |to| report.write(*json, true, to))? {
                    break;
                }
            }
            // The results of the other files do not depend on this file.
            Err(failure) if files.len() > 1 => {
                failed += 1;
                session.message(&failure.to_string());
            }
            Err(failure) => return Err(failure),
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Files {
            failed,
            files: files.len(),
        }),
    }
}

/// The files, with those that a pattern names in its place, in the order of their names.
fn expanded(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = vec![];
    for file in files {
        let is_pattern = |text: &&str| text.contains(['*', '?']) && !Path::new(text).exists();
        let Some(pattern) = file.to_str().filter(is_pattern) else {
            all.push(file.clone());
            continue;
        };
        let found =
            glob::glob(pattern).map_err(|error| Failure::Usage(format!("{pattern}: {error}")))?;
        let found = found.filter_map(Result::ok).filter(|path| path.is_file());
        let before = all.len();
        all.extend(found);
        if all.len() == before {
            return Err(Failure::io(
                file,
                io::Error::other("no file has such a name"),
            ));
        }
        all[before..].sort();
    }
    Ok(all)
}

/// Writes to `stdout`. Returns `false` if the reader has closed the pipe (`| head`), which is not a failure.
fn print(
    stdout: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<bool, Failure> {
    let mut stdout = BufWriter::new(stdout);
    let written = write(&mut stdout).and_then(|()| stdout.flush());
    // Dropping the `BufWriter` would try again to write its buffer.
    let _ = stdout.into_parts();
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Output(error)),
    }
}

impl<'a> Session<'a> {
    fn message(&mut self, text: &str) {
        print_message(self.stderr, text);
    }

    /// The number of this rank.
    fn rank(&self) -> usize {
        self.all.as_ref().map_or(0, Distributed::rank)
    }

    /// Whether this rank writes the results, as one process does and rank 0 of several.
    pub fn writes(&self) -> bool {
        self.rank() == 0
    }

    /// The ranks, if there are several.
    pub fn all(&self) -> Option<&Distributed> {
        self.all.as_ref()
    }

    /// An array in files, which all ranks must see alike.
    pub fn find(
        &mut self,
        files: &[PathBuf],
        default: DefaultFormat,
    ) -> Result<Sources<'a>, Failure> {
        let sources = Sources::find(files, default, &mut self.stdin);
        match &self.all {
            Some(all) => ranks::agree(all, sources),
            None => sources,
        }
    }

    /// What this rank reads of an array, if there are several.
    pub fn share(&self, sources: &Sources<'_>) -> Result<Option<Share>, Failure> {
        let Some(all) = &self.all else {
            return Ok(None);
        };
        let len = sources.len.ok_or_else(|| {
            let text = "its length is unknown, so several ranks cannot share it";
            Failure::Usage(format!("{}: {text}", sources.name()))
        })?;
        Ok(Some(Share {
            ranks: all.clone(),
            n: len as u64,
        }))
    }

    /// Counts the bytes that are read, of `total` if that is known. One of several ranks shows no progress.
    pub fn reading(&self, total: Option<u64>) -> Reading {
        match self.all {
            None => Reading::new(total),
            Some(_) => Reading::without_bar(),
        }
    }

    /// What this rank has, unless a rank has failed.
    pub fn together<T>(&self, call: &str, own: Result<T, Failure>) -> Result<T, Failure> {
        ranks::together(self.all(), call, own)
    }

    /// The result for the array in `files`.
    pub fn report(
        &mut self,
        cli: &Cli,
        input: &Input,
        files: &[PathBuf],
    ) -> Result<Report, Failure> {
        if !self.gpus.is_empty() {
            return ranks::report(&self.gpus, cli, input, files, self.stderr);
        }
        let started = Instant::now();
        // The second file of a dot product is another array.
        let of_array = match (&cli.command, files) {
            (Command::Dot(_), [first, _]) => slice::from_ref(first),
            (Command::Dot(_), _) => return Err(Failure::Usage(dot::USAGE.into())),
            // Nor is the second file of keys and values.
            (Command::GroupBy(_), [keys, _]) => slice::from_ref(keys),
            (Command::GroupBy(_), _) => return Err(Failure::Usage(group_by::USAGE.into())),
            _ => files,
        };
        let default = DefaultFormat::Raw(input.dtype);
        let sources = self.find(of_array, default)?;
        let dtype = sources.dtype;
        let done = match &cli.command {
            Command::ReduceByKey(options) => by_key::run(options, sources, self),
            Command::CountByKey(options) => count_by_key::run(options, of_array, sources, self),
            Command::GroupBy(options) => group_by::run(options, sources, self),
            Command::Dot(_) => dot::run(input, sources, self),
            command => match command.parts() {
                Some(options) => parts::run(command, input, options, sources, self),
                None => reduce::run(command, input, sources, self),
            },
        }?;
        if let Answer::Cells { rejected, .. } | Answer::Written { rejected, .. } = done.result
            && rejected > 0
            && self.writes()
        {
            let n = done.n;
            self.message(&format!("{rejected} of {n} keys have no cell"));
        }
        if let Answer::Parts(results) = &done.result
            && !input.json
            && results.left_out() > 0
            && self.writes()
        {
            let (left_out, all) = (results.left_out(), results.len());
            let text = "--json prints all, and --output writes them to a file";
            self.message(&format!(
                "{left_out} of {all} results are not shown; {text}"
            ));
        }
        let names = files.iter().map(|file| file.display().to_string());
        Ok(Report {
            op: cli.command.name(),
            file: match &files {
                [file] => FileNames::File(file.display().to_string()),
                _ => FileNames::Files(names.collect()),
            },
            dtype: dtype.name(),
            n: done.n,
            result: done.result,
            determinism: match done.device.level() {
                Determinism::Fast => "fast",
                Determinism::Reproducible => "reproducible",
                Determinism::Exact => "exact",
            },
            order_version: ORDER_VERSION,
            device: done.device.name().into(),
            ranks: self.all.as_ref().map(Distributed::size),
            seconds: started.elapsed().as_secs_f64(),
            seconds_reading: done.reading.seconds(),
            bytes: done.reading.bytes(),
            chunk_bytes: done.chunk_bytes as u64,
        })
    }

    /// The device that `--device` names, opened once. Prints a message if it is the CPU for lack of a GPU.
    pub fn device(&mut self, input: &Input) -> Result<Device, Failure> {
        if let Some(device) = &self.device {
            return Ok(device.clone());
        }
        let device = match input.device {
            Choice::Auto => Device::auto(),
            Choice::Cuda(index) => Device::nth(index),
            Choice::Cpu => Ok(Device::cpu()),
        }
        .map_err(|error| Failure::Device(devices::reason(&error)))?;
        match (device.fallback_reason(), input.verbose) {
            (Some(reason), false) => self.message(&format!("on the CPU: {}", summary(reason))),
            (Some(reason), true) => {
                self.message(&format!("on the CPU: {}", devices::reason(reason)))
            }
            (None, true) => self.message(&format!("on {}", device.name())),
            (None, false) => {}
        }
        let device = match input.exact {
            true => device.determinism(Determinism::Exact),
            false => device,
        };
        self.device = Some(device.clone());
        Ok(device)
    }
}

/// Why there is no GPU, without advice.
fn summary(reason: &Error) -> &'static str {
    match reason {
        Error::NoDriver { .. } => "no CUDA driver",
        Error::NoDevice { .. } => "no CUDA device",
        Error::NoKernelForDevice { .. } => "no kernels for this CUDA device",
        Error::ModuleRejected { .. } => "the CUDA driver rejects the kernels",
        _ => "no usable CUDA device",
    }
}
