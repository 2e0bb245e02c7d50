//! Ranks: processes that a launcher has started, or threads with a GPU each. Every rank reads its part of the array.

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};

use warpfold::many::{Distributed, Launch, Nccl, Threads};
use warpfold::{Determinism, Device, Error, RanksError};

use crate::answer::Report;
use crate::command::Session;
use crate::devices;
use crate::failure::Failure;
use crate::options::{Choice, Cli, Command, Input};
use crate::reduce::Share;
use crate::sources::Sources;

/// The rank of this process, if a launcher has started several; an error for a command that one process must do.
pub fn of_launcher(command: &Command, input: &Input) -> Result<Option<Distributed>, Failure> {
    let Some(launch) = Launch::from_env()?.filter(|launch| launch.size() > 1) else {
        return Ok(None);
    };
    check(command)?;
    if input.gpus.is_some() {
        return Err(Failure::Usage(
            "--gpus is for one process; here a launcher has started several, each with a GPU"
                .into(),
        ));
    }
    let device = match input.device {
        Choice::Auto => launch.device(),
        Choice::Cuda(index) => Device::nth(index),
        Choice::Cpu => Ok(Device::cpu()),
    };
    let all = Distributed::of_launch(&launch, device)?;
    Ok(Some(at_level(all, input)))
}

/// A rank for each of `gpus` GPUs, whose bytes NCCL moves; or this program, if there is no NCCL.
pub fn of_gpus(command: &Command, input: &Input, gpus: u32) -> Result<Vec<Distributed>, Failure> {
    check(command)?;
    let devices: Result<Vec<Device>, Error> = (0..gpus).map(Device::nth).collect();
    let devices = devices.map_err(|error| Failure::Device(devices::reason(&error)))?;
    let size = devices.len();
    let all: Vec<Distributed> = match Nccl::version() {
        Ok(_) => {
            let ranks = Nccl::of_devices(&devices)?.into_iter();
            ranks
                .zip(devices)
                .map(|(rank, device)| Distributed::new(device, rank))
                .collect()
        }
        Err(_) => {
            let ranks = Threads::new(size).into_iter();
            ranks
                .zip(devices)
                .map(|(rank, device)| Distributed::new(device, rank))
                .collect()
        }
    };
    Ok(all.into_iter().map(|all| at_level(all, input)).collect())
}

fn at_level(all: Distributed, input: &Input) -> Distributed {
    match input.exact {
        true => all.determinism(Determinism::Exact),
        false => all,
    }
}

/// An error unless several ranks can do the command.
fn check(command: &Command) -> Result<(), Failure> {
    let is_whole = !matches!(
        command,
        Command::Dot(_) | Command::ReduceByKey(_) | Command::CountByKey(_) | Command::GroupBy(_)
    );
    match is_whole && command.parts().is_none() {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{} of several ranks is not supported: only reductions of a whole array to one result are; start it without \
             a launcher and --gpus",
            match command.parts() {
                Some(_) => "a result for each part",
                None => command.name(),
            }
        ))),
    }
}

/// Runs the command on a thread for each rank, and returns the report of rank 0.
pub fn report(
    all: &[Distributed],
    cli: &Cli,
    input: &Input,
    files: &[PathBuf],
) -> Result<Report, Failure> {
    let mut reports: Vec<Result<Report, Failure>> = thread::scope(|scope| {
        let run = |rank: &Distributed| {
            let rank = rank.clone();
            scope.spawn(move || {
                let mut stderr = io::sink();
                Session::of_rank(rank, &mut stderr).report(cli, input, files)
            })
        };
        let threads: Vec<_> = all.iter().map(run).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let own =
        |report: &Result<Report, Failure>| report.as_ref().is_err_and(|failure| !is_told(failure));
    let rank = reports.iter().position(own).unwrap_or(0);
    reports.swap_remove(rank)
}

/// Whether another rank has failed, and prints its failure itself.
pub fn is_told(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Library(Error::Ranks(RanksError::Failed { .. }))
    )
}

/// What this rank knows of the files, which all ranks must see alike. A rank that cannot open them tells the others.
pub fn agree<'a>(
    all: &Distributed,
    sources: Result<Sources<'a>, Failure>,
) -> Result<Sources<'a>, Failure> {
    let seen = sources.as_ref().map(|sources| {
        let len = sources.len.map_or("unknown".into(), |len| len.to_string());
        format!("{len} elements of type {}", sources.dtype)
    });
    let seen = seen.map_err(|failure| Error::other(failure.to_string()));
    let all_seen = all.gather("the files", seen.map(String::into_bytes));
    let (sources, all_seen) = (sources?, all_seen?);
    if let Some(rank) = all_seen.iter().position(|seen| *seen != all_seen[0]) {
        let text = |rank: usize| String::from_utf8_lossy(&all_seen[rank]).into_owned();
        return Err(Failure::RanksFiles {
            file: sources.name(),
            rank,
            sees: text(rank),
            first: text(0),
        });
    }
    Ok(sources)
}

/// What this rank reads.
pub fn share<'a>(all: &'a Distributed, sources: &Sources<'_>) -> Result<Share<'a>, Failure> {
    let n = match (sources.pipe(), sources.len) {
        (None, Some(len)) => len as u64,
        _ => {
            return Err(Failure::Usage(format!(
                "{}: several ranks cannot read from one pipe; save it to a file",
                sources.name()
            )));
        }
    };
    Ok(Share { ranks: all, n })
}
