//! Processes that meet, here as threads: those that agree, and those that do not.

use super::*;
use crate::error::RanksError;

const LIMIT: Duration = Duration::from_secs(20);

/// A port on which nobody listens.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn launch(rank: usize, size: usize, port: u16) -> Launch {
    Launch {
        launcher: "test",
        rank,
        size,
        local_rank: rank,
        address: Some(("127.0.0.1".into(), port)),
        token: "secret".into(),
        limit: LIMIT,
    }
}

/// The results of processes that meet.
fn all(launches: Vec<(Launch, &str)>) -> Vec<Result<Vec<u8>, StartError>> {
    thread::scope(|scope| {
        let meet = |(launch, place): (Launch, _)| {
            scope.spawn(move || {
                // The watch ends with the process: keep it until all have met.
                let place = match place {
                    "broken" => Err(Error::other("it is broken")),
                    place => Ok(format!("{place} {}", launch.rank)),
                };
                let (message, _watch) = meet(&launch, place, || Ok(b"id".to_vec()))?;
                thread::sleep(PAUSE);
                Ok(message)
            })
        };
        let threads: Vec<_> = launches.into_iter().map(meet).collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined
            .map(|result| {
                result.map_err(|error| match error {
                    Error::Ranks(RanksError::Start(error)) => error,
                    own => StartError::Failed {
                        rank: 9,
                        text: own.to_string(),
                    },
                })
            })
            .collect()
    })
}

#[test]
fn ranks_meet_in_any_order() {
    for size in [1, 2, 5] {
        let port = free_port();
        let launches = (0..size).rev().map(|rank| (launch(rank, size, port), ""));
        assert_eq!(all(launches.collect()), vec![Ok(b"id".to_vec()); size]);
    }
}

#[test]
fn a_stranger_stops_nobody() {
    let port = free_port();
    let mut stranger = launch(1, 2, port);
    stranger.token = "guess".into();
    let results = thread::scope(|scope| {
        // Says nothing, says nonsense, and has another token.
        let silent = scope.spawn(move || (connect_to(port), thread::sleep(PAUSE * 5)));
        let nonsense = scope.spawn(move || connect_to(port).write_all(&[0xff; 100]));
        let ranks = scope.spawn(move || all(vec![(launch(0, 2, port), "a"), (stranger, "b")]));
        thread::sleep(PAUSE * 5);
        let rank = scope.spawn(move || all(vec![(launch(1, 2, port), "b")]));
        let _ = (silent.join().unwrap(), nonsense.join().unwrap());
        [ranks.join().unwrap(), rank.join().unwrap()].concat()
    });
    assert_eq!(results[0], Ok(b"id".to_vec()));
    assert_eq!(results[2], Ok(b"id".to_vec()));
    let text = results[1].as_ref().unwrap_err().to_string();
    assert!(
        text.contains("rank 0 refuses rank 1: its token is another one"),
        "{text}"
    );
}

fn connect_to(port: u16) -> TcpStream {
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

#[test]
fn ranks_that_do_not_agree() {
    let port = free_port();
    let results = all(vec![(launch(0, 2, port), ""), (launch(1, 3, port), "")]);
    let error = StartError::Size {
        rank: 1,
        theirs: 3,
        ours: 2,
    };
    let refused = |error: &StartError| {
        Err(StartError::Refused {
            text: error.to_string(),
        })
    };
    assert_eq!(results, [Err(error.clone()), refused(&error)]);

    // Of two processes with one rank, rank 0 and the second are told; the first is told too.
    let port = free_port();
    let results = all(vec![
        (launch(0, 3, port), ""),
        (launch(1, 3, port), ""),
        (launch(1, 3, port), ""),
    ]);
    let error = StartError::RankTwice { rank: 1, size: 3 };
    assert_eq!(
        results,
        [Err(error.clone()), refused(&error), refused(&error)]
    );
}

#[test]
fn two_ranks_on_one_gpu() {
    let port = free_port();
    let results: Vec<String> = thread::scope(|scope| {
        let rank = |rank| {
            scope.spawn(move || {
                let place = Ok("GPU 0 of a host".into());
                let met = meet(&launch(rank, 2, port), place, || Ok(vec![]));
                met.unwrap_err().to_string()
            })
        };
        let threads = [rank(0), rank(1)];
        threads.map(|thread| thread.join().unwrap()).to_vec()
    });
    let text =
        "ranks 0 and 1 use the same GPU, GPU 0 of a host; start at most one rank for each GPU";
    assert_eq!(results, [text.to_string(), format!("rank 0 says: {text}")]);
}

/// A rank that cannot start is known to all at once, whichever it is.
#[test]
fn a_rank_that_cannot_start() {
    for broken in 0..3 {
        let (port, start) = (free_port(), Instant::now());
        let place = |rank| if rank == broken { "broken" } else { "" };
        let launches = (0..3).map(|rank| (launch(rank, 3, port), place(rank)));
        for (rank, result) in all(launches.collect()).into_iter().enumerate() {
            let text = result.unwrap_err().to_string();
            let expected = format!("rank {broken} could not start, so no rank can: it is broken");
            match rank {
                // Its own error, marked by `all`.
                _ if rank == broken => {
                    assert_eq!(text, "rank 9 could not start, so no rank can: it is broken");
                }
                0 => assert_eq!(text, expected),
                _ => assert_eq!(text, format!("rank 0 says: {expected}")),
            }
        }
        assert!(start.elapsed() < LIMIT);
    }
}

#[test]
fn ranks_that_never_come() {
    let limit = Duration::from_millis(100);
    let port = free_port();
    let (mut zero, mut one) = (launch(0, 4, port), launch(1, 4, port));
    (zero.limit, one.limit) = (limit, LIMIT);
    let results = all(vec![(zero, ""), (one, "")]);
    let error = StartError::Missing {
        missing: vec![2, 3],
        size: 4,
        limit,
    };
    let text = error.to_string();
    assert!(
        text.starts_with("ranks 2, 3 of 4 did not come within 100ms"),
        "{text}"
    );
    assert_eq!(results, [Err(error), Err(StartError::Refused { text })]);

    let mut alone = launch(1, 2, free_port());
    alone.limit = limit;
    let text = all(vec![(alone, "")])[0].as_ref().unwrap_err().to_string();
    assert!(
        text.starts_with("rank 1 cannot meet rank 0 at 127.0.0.1:"),
        "{text}"
    );
}

#[test]
fn a_port_in_use() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = all(vec![(launch(0, 2, port), "")])[0]
        .as_ref()
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with(&format!("rank 0 cannot listen on port {port}: ")),
        "{text}"
    );
    assert!(text.contains("set WARPFOLD_PORT"), "{text}");

    // A program that is no rank 0 listens there.
    let other = thread::spawn(move || {
        listener
            .accept()
            .map(|(mut stream, _)| stream.write_all(b"HTTP/1.1 400"))
    });
    let text = all(vec![(launch(1, 2, port), "")])[0]
        .as_ref()
        .unwrap_err()
        .to_string();
    assert!(text.contains("another program listens there"), "{text}");
    other.join().unwrap().unwrap().unwrap();

    let mut nowhere = launch(0, 2, port);
    nowhere.address = None;
    let text = all(vec![(nowhere, "")])[0]
        .as_ref()
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("set MASTER_ADDR to the host of rank 0"),
        "{text}"
    );
}

/// Each rank learns which one has ended.
#[test]
fn a_rank_that_ends_is_known_to_all() {
    let port = free_port();
    let found: Vec<Option<usize>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|rank| {
                scope.spawn(move || {
                    let (_, watch) =
                        meet(&launch(rank, 3, port), Ok(rank.to_string()), || Ok(vec![])).unwrap();
                    if rank == 2 {
                        return None;
                    }
                    let deadline = Instant::now() + LIMIT;
                    while watch.lost().is_none() && Instant::now() < deadline {
                        thread::sleep(PAUSE);
                    }
                    // Long enough for rank 1 to be told.
                    thread::sleep(PAUSE * 10);
                    watch.lost()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(found, [Some(2), Some(2), None]);
}

#[test]
fn rank_zero_that_ends_is_known() {
    let port = free_port();
    thread::scope(|scope| {
        scope.spawn(move || meet(&launch(0, 2, port), Ok("a".into()), || Ok(vec![])).unwrap());
        let (_, watch) = meet(&launch(1, 2, port), Ok("b".into()), || Ok(vec![])).unwrap();
        let deadline = Instant::now() + LIMIT;
        while watch.lost().is_none() && Instant::now() < deadline {
            thread::sleep(PAUSE);
        }
        assert_eq!(watch.lost(), Some(0));
    });
}

#[test]
fn threads_that_leave_are_known() {
    let [one, other] = Watch::of_threads(2).try_into().unwrap();
    assert_eq!(one.lost(), None);
    drop(other);
    assert_eq!(one.lost(), Some(1));
}
