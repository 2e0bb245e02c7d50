//! What each rank does.

use std::fmt::Debug;
use std::ops::Range;
use std::process::{self, ExitCode};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::many::{Communicator, Distributed, Launch, Mpi};
use warpfold::{Determinism, Device, Dot, Error, RanksError, Sum};

pub fn run(program: &str) -> ExitCode {
    let result = match program {
        "bits" => bits(),
        "messages" => messages(),
        "fails" => fails(),
        "stalls" => stalls(),
        "killed before" => killed(0),
        "killed in" => killed(1),
        "killed after" => killed(2),
        _ => Err(Error::other(format!("no program {program}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// This rank on a device.
fn rank(device: Device) -> Result<Distributed, Error> {
    match Launch::from_env()? {
        Some(launch) => Distributed::of_launch(&launch, Ok(device)),
        None => Err(Error::other("no launcher")),
    }
}

fn text(result: impl Debug) -> String {
    format!("{result:?}")
}

/// The same on all ranks, because they have the same seed: shares, all items on one rank, and anywhere.
fn splits(all: &Distributed, n: usize, random: &mut StdRng) -> Vec<Range<usize>> {
    let share = all.share(n as u64);
    let mut cuts: Vec<usize> = (1..all.size())
        .map(|_| random.random_range(0..=n))
        .collect();
    cuts.extend([0, n]);
    cuts.sort_unstable();
    let last = if all.rank() + 1 == all.size() {
        0..n
    } else {
        0..0
    };
    vec![
        share.start as usize..share.end as usize,
        last,
        cuts[all.rank()]..cuts[all.rank() + 1],
    ]
}

fn bits() -> Result<(), Error> {
    let cpu = Device::cpu();
    let all = rank(cpu.clone())?;
    compare(&all, &[0, 1, 1023, 1025, 4097, 50_000])?;
    #[cfg(feature = "simulator")]
    compare(&all.on(Device::simulated()?), &[0, 1025, 3000])?;
    println!("all bits are right");
    Ok(())
}

fn compare(all: &Distributed, lengths: &[usize]) -> Result<(), Error> {
    let cpu = Device::cpu();
    let mut random = StdRng::seed_from_u64(7);
    for n in lengths {
        let data: Vec<f32> = (0..*n).map(|_| random.random_range(-1e3..1e3)).collect();
        let whole = cpu.upload(&data)?;
        let exact = cpu.determinism(Determinism::Exact);
        let expected = [
            text(cpu.sum(&whole)?),
            text(cpu.argmin(&whole)?.map(|index| index as u64)),
            text(cpu.mean_variance(&whole)?),
            text(cpu.reduce((&whole, &whole), Dot).run()?),
            text(exact.sum(&whole)?),
        ];
        for part in splits(all, *n, &mut random) {
            let x = all.device().upload(&data[part.clone()])?;
            for _ in 0..2 {
                let got = [
                    text(all.sum(&x)?),
                    text(all.argmin(&x)?),
                    text(all.mean_variance(&x)?),
                    text(all.reduce((&x, &x), Dot)?),
                    text(all.determinism(Determinism::Exact).sum(&x)?),
                ];
                if got != expected {
                    let text = format!("{n} items, {part:?} here: {got:?}, not {expected:?}");
                    return Err(Error::other(text));
                }
            }
        }
    }
    Ok(())
}

fn messages() -> Result<(), Error> {
    let mpi = Mpi::world()?;
    let (rank, size) = (mpi.rank(), mpi.size());
    let all = mpi.all_gather(&[rank as u8, 9])?;
    assert_eq!(all, [0, 9, 1, 9, 2, 9]);
    assert_eq!(mpi.all_gather(&[])?, []);
    // Long messages to all, also to itself, in both directions at once.
    let message = |from: usize, to: usize| vec![(10 * from + to) as u8; 100_000 + from];
    let sent: Vec<Vec<u8>> = (0..size).map(|to| message(rank, to)).collect();
    let mut received: Vec<Vec<u8>> = (0..size).map(|from| vec![0; 100_000 + from]).collect();
    let sends: Vec<(usize, &[u8])> = sent
        .iter()
        .enumerate()
        .map(|(to, bytes)| (to, &bytes[..]))
        .collect();
    let mut receives: Vec<(usize, &mut [u8])> = received
        .iter_mut()
        .enumerate()
        .map(|(from, bytes)| (from, &mut bytes[..]))
        .collect();
    mpi.exchange(&sends, &mut receives)?;
    for (from, bytes) in received.iter().enumerate() {
        assert_eq!(*bytes, message(from, rank));
    }
    mpi.barrier()?;
    assert!(mpi.send(size, &[1]).is_err());
    // MPI has been started; another rank of this process is the same process.
    let again = Mpi::world()?;
    assert_eq!(again.all_gather(&[rank as u8])?, [0, 1, 2]);
    Ok(())
}

fn fails() -> Result<(), Error> {
    let all = rank(Device::cpu())?;
    let x = all.device().upload(&[1.0f32])?;
    let foreign = Device::cpu().upload(&[1.0f32])?;
    let error = all
        .sum(if all.rank() == 1 { &foreign } else { &x })
        .unwrap_err();
    match (all.rank(), error) {
        (1, Error::OtherDevice { .. }) => {}
        (_, Error::Ranks(RanksError::Failed { rank: 1, .. })) => {}
        (_, error) => return Err(error),
    }
    assert_eq!(all.sum(&x)?, 3.0);
    Ok(())
}

fn stalls() -> Result<(), Error> {
    let all = rank(Device::cpu())?;
    let x = all.device().upload(&[1.0f32])?;
    assert_eq!(all.sum(&x)?, 3.0);
    if all.rank() == 1 {
        std::thread::sleep(Duration::from_secs(20));
    }
    match all.sum(&x) {
        Ok(_) => Ok(()),
        Err(error) => {
            println!("error: {error}");
            // The other ranks that wait have time to say so too.
            std::thread::sleep(Duration::from_millis(300));
            process::exit(1)
        }
    }
}

/// Rank 1 is killed before its gather number `gathers`.
fn killed(gathers: usize) -> Result<(), Error> {
    let all = rank(Device::cpu())?;
    let x = all.device().upload(&[1.0f32; 5])?;
    for gather in 0..3 {
        if all.rank() == 1 && gather == gathers {
            process::abort();
        }
        all.reduce(&x, Sum)?;
    }
    Ok(())
}
