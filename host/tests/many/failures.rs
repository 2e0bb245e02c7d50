//! Ranks that fail, end, or do not arrive: all ranks have an error, and none waits for ever.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use warpfold::many::{Communicator, Distributed, Single, Threads};
use warpfold::{Device, Error, Max, Min, RanksError, Sum};

use crate::ranks::on_ranks;

/// The error of ranks.
fn ranks_error(error: Error) -> RanksError {
    match error {
        Error::Ranks(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn all_ranks_have_the_error_of_one_and_can_go_on() {
    let other = Device::cpu();
    let foreign = other.upload(&[1.0f32]).unwrap();
    let results = on_ranks(3, Device::cpu, |all| {
        let x = all.device().upload(&[1.0f32]).unwrap();
        let mut errors = vec![];
        for failing in [1, 2] {
            let x = if all.rank() == failing { &foreign } else { &x };
            errors.push(all.sum(x).unwrap_err());
            errors.push(all.min(x).unwrap_err());
            errors.push(all.accumulate(x, Sum).unwrap_err());
        }
        assert_eq!(all.sum(&x), Ok(3.0));
        errors
    });
    for (rank, errors) in results.into_iter().enumerate() {
        for (i, error) in errors.into_iter().enumerate() {
            let failing = 1 + i / 3;
            if rank == failing {
                assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
                continue;
            }
            let text = error.to_string();
            let RanksError::Failed { rank, .. } = ranks_error(error) else {
                panic!("{text}");
            };
            assert_eq!(rank, failing);
            assert!(text.contains("the buffer is on the CPU"), "{text}");
        }
    }
}

/// A rank that ends itself instead of its call number `ends`.
struct Ends {
    ranks: Mutex<Option<Threads>>,
    rank: usize,
    size: usize,
    calls_left: Mutex<usize>,
}

impl Ends {
    fn of(ranks: Threads, calls: usize) -> Self {
        Self {
            rank: ranks.rank(),
            size: ranks.size(),
            ranks: Mutex::new(Some(ranks)),
            calls_left: Mutex::new(calls),
        }
    }

    fn before_call<R>(&self, call: impl FnOnce(&Threads) -> Result<R, Error>) -> Result<R, Error> {
        let mut left = self.calls_left.lock().unwrap();
        let mut ranks = self.ranks.lock().unwrap();
        match (*left).checked_sub(1) {
            Some(fewer) => *left = fewer,
            // As if its process had been killed.
            None => drop(ranks.take()),
        }
        ranks
            .as_ref()
            .map_or_else(|| Err(Error::other("killed")), call)
    }
}

impl Communicator for Ends {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        self.before_call(|ranks| ranks.all_gather(bytes))
    }

    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error> {
        self.before_call(|ranks| ranks.exchange(sends, receives))
    }
}

/// Rank 1 of 3 ends before the first gather, before its items travel, before the second gather, and after that.
#[test]
fn a_rank_that_ends_is_named() {
    for calls in 0..4 {
        let start = Instant::now();
        let results: Vec<Vec<Result<f32, Error>>> = thread::scope(|scope| {
            let threads: Vec<_> = Threads::new(3)
                .into_iter()
                .map(|ranks| {
                    scope.spawn(move || {
                        let all = match ranks.rank() {
                            1 => Distributed::new(Device::cpu(), Ends::of(ranks, calls)),
                            _ => Distributed::new(Device::cpu(), ranks),
                        };
                        // All items are in one tile: those of ranks 1 and 2 travel to rank 0.
                        let x = all.device().upload(&[1.0f32; 5]).unwrap();
                        vec![all.sum(&x), all.sum(&x)]
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(start.elapsed() < Duration::from_secs(30));
        for (rank, results) in results.into_iter().enumerate() {
            let [first, second] = results.try_into().unwrap();
            if calls == 3 {
                assert_eq!(first, Ok(15.0));
            } else if rank != 1 {
                // Rank 2 may see rank 0 end, which has seen rank 1 end.
                let lost = ranks_error(first.unwrap_err());
                let RanksError::Lost {
                    rank: lost,
                    size: 3,
                    ..
                } = lost
                else {
                    panic!("{lost}")
                };
                assert!(lost == 1 || rank == 2 && lost == 0, "rank {rank}: {lost}");
            }
            if rank != 1 {
                let text = second.clone().unwrap_err().to_string();
                assert!(
                    matches!(ranks_error(second.unwrap_err()), RanksError::Lost { .. }),
                    "{text}"
                );
                assert!(
                    text.contains("of 3 has ended, and all_gather needs all ranks")
                        || text.contains("and exchange needs"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn a_panic_of_a_rank_does_not_stop_the_others_for_ever() {
    let [one, other] = Threads::new(2).try_into().unwrap();
    let panics = thread::spawn(move || {
        let _rank = other;
        panic!("intended");
    });
    let all = Distributed::new(Device::cpu(), one);
    let x = all.device().upload(&[1]).unwrap();
    let lost = RanksError::Lost {
        rank: 1,
        size: 2,
        call: "all_gather",
    };
    assert_eq!(all.sum(&x), Err(lost.into()));
    assert!(panics.join().is_err());
}

#[test]
fn ranks_that_do_not_arrive_are_named() {
    let [first, _second, third] = Threads::new(3).try_into().unwrap();
    let limit = Duration::from_millis(50);
    let (start, third) = (Instant::now(), third.limit(limit));
    let all = Distributed::new(Device::cpu(), first.limit(limit));
    let x = all.device().upload(&[1]).unwrap();
    let error = all.sum(&x).unwrap_err();
    assert!(start.elapsed() >= limit && start.elapsed() < Duration::from_secs(20));
    assert_eq!(
        error.to_string(),
        "all_gather: nothing from ranks 1, 2 of 3 within 50ms; such a rank has stopped, or needs a longer limit"
    );
    // The first rank has arrived, but no longer waits.
    let error = third.all_gather(&[0; 1024]).unwrap_err();
    assert!(
        error.to_string().contains("nothing from rank 1 of 3"),
        "{error}"
    );
    // The next call does not wait again.
    let start = Instant::now();
    assert_eq!(all.sum(&x).unwrap_err(), all.max(&x).unwrap_err());
    assert!(start.elapsed() < limit);
}

#[test]
fn different_calls_are_an_error_of_all() {
    let errors = on_ranks(2, Device::cpu, |all| {
        let x = all.device().upload(&[1i32]).unwrap();
        let error = match all.rank() {
            0 => all.reduce(&x, Min).unwrap_err(),
            _ => all.reduce(&x, Max).unwrap_err(),
        };
        assert_eq!(all.sum(&x), Ok(2));
        error.to_string()
    });
    assert!(errors[0].starts_with("rank 1 calls `"), "{}", errors[0]);
    assert!(errors[0].contains("but rank 0 calls `"), "{}", errors[0]);
    assert!(errors[1].starts_with("rank 0 calls `"), "{}", errors[1]);
}

#[test]
fn other_messages_are_an_error() {
    let [one, other] = Threads::new(2).try_into().unwrap();
    let results = thread::scope(|scope| {
        let one = scope.spawn(|| one.all_gather(&[1]).unwrap_err());
        let other = scope.spawn(|| other.all_gather(&[1, 2]).unwrap_err());
        [one.join().unwrap(), other.join().unwrap()].map(|error| error.to_string())
    });
    assert!(
        results[0].starts_with("rank 1 gathers 2 bytes, but rank 0 gathers 1"),
        "{results:?}"
    );
    let [one, _other] = Threads::new(2).try_into().unwrap();
    let error = one.send(2, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no rank 2: there are 2, counted from 0"
    );
    assert!(Single.send(0, &[1]).is_err());
    assert!(Single.receive(0, &mut [1]).is_err());
    assert!(Single.receive(1, &mut [1]).is_err());
    let mut to = [0; 2];
    Single
        .exchange(&[(0, &[1, 2])], &mut [(0, &mut to)])
        .unwrap();
    assert_eq!(to, [1, 2]);
    Single.barrier().unwrap();
}

#[test]
fn a_share_that_ends_too_early_is_an_error_of_all() {
    let errors = on_ranks(2, Device::cpu, |all| {
        let n = 10_000u64;
        let share = all.share(n);
        // Rank 1 has one item too few.
        let mut left = (share.end - share.start) as usize - all.rank();
        let chunks = all.device().chunks::<f32>(1000).unwrap();
        let all_of_it = all.reduce_chunks_of(Sum, n, chunks, |chunk| {
            let n = chunk.len().min(left);
            left -= n;
            Ok((n > 0).then_some(n))
        });
        all_of_it.unwrap_err().to_string()
    });
    let text = "rank 1 has 5903 items, but its share of the array has 5904";
    assert_eq!(errors[1], text);
    assert_eq!(
        errors[0],
        format!("rank 1 failed, so no rank has a result: {text}")
    );
}
