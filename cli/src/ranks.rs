//! Ranks: processes that a launcher has started, or threads with a GPU each. Every rank reads its part of the array.

use std::io::Write;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};

use warpfold::many::{Distributed, Launch, Nccl, Threads};
use warpfold::{Determinism, Device, Element, Error, RanksError};

use crate::answer::Report;
use crate::command::Session;
use crate::devices;
use crate::failure::Failure;
use crate::options::{Choice, Cli, Input};
use crate::sources::{Elements, Sources};

/// The rank of this process, if a launcher has started several.
pub fn of_launcher(input: &Input) -> Result<Option<Distributed>, Failure> {
    let Some(launch) = Launch::from_env()?.filter(|launch| launch.size() > 1) else {
        return Ok(None);
    };
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
pub fn of_gpus(input: &Input, gpus: u32) -> Result<Vec<Distributed>, Failure> {
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

/// Runs the command on a thread for each rank, and returns the report of rank 0. `stderr` gets its messages.
pub fn report(
    all: &[Distributed],
    cli: &Cli,
    input: &Input,
    files: &[PathBuf],
    stderr: &mut dyn Write,
) -> Result<Report, Failure> {
    let mut reports: Vec<(Result<Report, Failure>, Vec<u8>)> = thread::scope(|scope| {
        let run = |rank: &Distributed| {
            let rank = rank.clone();
            scope.spawn(move || {
                let mut messages = vec![];
                let report = Session::of_rank(rank, &mut messages).report(cli, input, files);
                (report, messages)
            })
        };
        let threads: Vec<_> = all.iter().map(run).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let _ = stderr.write_all(&reports[0].1);
    let own =
        |report: &Result<Report, Failure>| report.as_ref().is_err_and(|failure| !is_told(failure));
    let rank = reports.iter().position(|(report, _)| own(report));
    reports.swap_remove(rank.unwrap_or(0)).0
}

/// Whether another rank has failed, and prints its failure itself.
pub fn is_told(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Library(Error::Ranks(RanksError::Failed { .. }))
    )
}

/// What this rank has, unless a rank has failed: one that has tells the others here. All ranks make the same calls; `call`
/// names them.
pub fn together<T>(
    all: Option<&Distributed>,
    call: &str,
    own: Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(all) = all else {
        return own;
    };
    let told = all.gather(call, own.as_ref().map(|_| vec![]).map_err(Failure::told));
    let own = own?;
    told?;
    Ok(own)
}

/// What this rank knows of the files, which all ranks must see alike. A rank that cannot open them tells the others.
pub fn agree<'a>(
    all: &Distributed,
    sources: Result<Sources<'a>, Failure>,
) -> Result<Sources<'a>, Failure> {
    let sources = sources.and_then(|sources| match sources.pipe() {
        None => Ok(sources),
        Some(pipe) => Err(Failure::Usage(format!(
            "{}: several ranks cannot read from one pipe; save it to a file",
            pipe.display()
        ))),
    });
    let seen = sources.as_ref().map(Sources::seen).map_err(Failure::told);
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

/// A rank, and the number of elements of all ranks.
#[derive(Clone)]
pub struct Share {
    pub ranks: Distributed,
    pub n: u64,
}

impl Share {
    /// The elements that this rank reads.
    pub fn items(&self) -> Range<usize> {
        let items = self.ranks.share(self.n);
        items.start as usize..items.end as usize
    }
}

/// The elements that this rank reads: all, if there is only one.
pub fn own_part<'a, T: Element + Default>(
    mut elements: Elements<'a, T>,
    share: Option<&Share>,
) -> Result<Elements<'a, T>, Error> {
    if let Some(share) = share {
        elements.only(share.items().into())?;
    }
    Ok(elements)
}

#[cfg(test)]
mod tests;
