//! Ranks as threads, and splits of an array.

use std::ops::Range;
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::many::{Distributed, Threads};
use warpfold::{Device, Error};

/// Numbers of ranks.
pub const SIZES: [usize; 5] = [1, 2, 3, 5, 8];

/// A limit that only a bug reaches.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Runs `run` on each of `size` ranks; returns the results in the order of the ranks.
pub fn on_ranks<R: Send>(
    size: usize,
    device: impl Fn() -> Device + Sync,
    run: impl Fn(&Distributed) -> R + Sync,
) -> Vec<R> {
    let (device, run) = (&device, &run);
    thread::scope(|scope| {
        let ranks = Threads::new(size).into_iter();
        let threads: Vec<_> = ranks
            .map(|rank| scope.spawn(move || run(&Distributed::new(device(), rank.limit(LIMIT)))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// The result, which all ranks have.
pub fn common<R: PartialEq + std::fmt::Debug>(results: Vec<Result<R, Error>>) -> R {
    let mut results = results.into_iter().map(|result| result.unwrap());
    let first = results.next().unwrap();
    results.for_each(|other| assert_eq!(other, first));
    first
}

/// A way of cutting an array.
#[derive(Clone, Copy, Debug)]
pub enum Split {
    /// As [`Distributed::share`].
    Shares,
    /// All items on this rank.
    All(usize),
    /// Anywhere, also twice at one place.
    Random(u64),
}

/// The parts of `n` items.
pub fn parts(split: Split, n: usize, size: usize) -> Vec<Range<usize>> {
    let cuts: Vec<usize> = match split {
        Split::Shares => {
            let shares = on_ranks(size, Device::cpu, |all| all.share(n as u64));
            return shares
                .into_iter()
                .map(|share| share.start as usize..share.end as usize)
                .collect();
        }
        Split::All(rank) => (0..=size)
            .map(|cut| if cut <= rank { 0 } else { n })
            .collect(),
        Split::Random(seed) => {
            let mut random = StdRng::seed_from_u64(seed);
            let mut cuts: Vec<usize> = (1..size).map(|_| random.random_range(0..=n)).collect();
            if size > 3 {
                // An empty rank, and several in one tile.
                cuts[0] = cuts[1];
                cuts[2] = (cuts[1] + 3).min(n);
            }
            cuts.extend([0, n]);
            cuts.sort_unstable();
            cuts
        }
    };
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}
