//! Which rank has ended, by what its process leaves open: the system closes a connection when a process ends, however it
//! ends.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::mpi::Mpi;

/// How often rank 0 looks whether a connection is closed.
const PERIOD: Duration = Duration::from_millis(50);

/// No rank.
const NONE: usize = usize::MAX;

/// Tells which rank has ended.
#[derive(Debug)]
pub(super) struct Watch {
    lost: Arc<AtomicUsize>,
    end: End,
}

#[derive(Debug)]
enum End {
    /// Rank 0: a thread looks at the connections of all others until this is true.
    All(Arc<AtomicBool>),
    /// Another rank: the connection to rank 0.
    RankZero(Mutex<TcpStream>),
    /// A process of an MPI job, whose launcher ends all ranks if one ends; MPI is ended after them.
    Job(#[expect(dead_code, reason = "only to be dropped")] Mpi),
    /// A thread of one process: which threads have left, and its own number.
    Threads(Arc<[AtomicBool]>, usize),
}

impl Watch {
    /// Rank 0 with the connections to all others. It tells each of them which rank has ended first.
    pub(super) fn of_all(mut streams: HashMap<usize, TcpStream>) -> Self {
        let lost = Arc::new(AtomicUsize::new(NONE));
        let stop = Arc::new(AtomicBool::new(false));
        let (to_lost, to_stop) = (Arc::clone(&lost), Arc::clone(&stop));
        thread::spawn(move || {
            streams.retain(|_, stream| stream.set_nonblocking(true).is_ok());
            while !to_stop.load(Ordering::Acquire) && !streams.is_empty() {
                thread::sleep(PERIOD);
                let mut closed = vec![];
                for (rank, stream) in &mut streams {
                    if is_closed(stream) {
                        closed.push(*rank);
                    }
                }
                for rank in closed {
                    streams.remove(&rank);
                    let first =
                        to_lost.compare_exchange(NONE, rank, Ordering::AcqRel, Ordering::Acquire);
                    if first.is_ok() {
                        for stream in streams.values_mut() {
                            // Whoever cannot be told has ended too.
                            let _ = stream.write_all(&(rank as u64).to_le_bytes());
                        }
                    }
                }
            }
        });
        Self {
            lost,
            end: End::All(stop),
        }
    }

    /// Another rank with its connection to rank 0.
    pub(super) fn of_rank_zero(stream: TcpStream) -> Self {
        Self {
            lost: Arc::new(AtomicUsize::new(NONE)),
            end: End::RankZero(Mutex::new(stream)),
        }
    }

    /// A process of an MPI job.
    pub(super) fn of_job(mpi: Mpi) -> Self {
        Self {
            lost: Arc::new(AtomicUsize::new(NONE)),
            end: End::Job(mpi),
        }
    }

    /// Each thread of a group in one process.
    pub(super) fn of_threads(size: usize) -> Vec<Self> {
        let left: Arc<[AtomicBool]> = (0..size).map(|_| AtomicBool::new(false)).collect();
        let one = |rank| Self {
            lost: Arc::new(AtomicUsize::new(NONE)),
            end: End::Threads(Arc::clone(&left), rank),
        };
        (0..size).map(one).collect()
    }

    /// The first rank that is known to have ended. It may have done so after its last message.
    pub(super) fn lost(&self) -> Option<usize> {
        let known = self.lost.load(Ordering::Acquire);
        if known != NONE {
            return Some(known);
        }
        let found = match &self.end {
            End::All(_) | End::Job(_) => None,
            End::RankZero(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                told(&mut stream)
            }
            End::Threads(left, _) => left.iter().position(|left| left.load(Ordering::Acquire)),
        };
        if let Some(rank) = found {
            self.lost.store(rank, Ordering::Release);
        }
        found
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        match &self.end {
            End::All(stop) => stop.store(true, Ordering::Release),
            End::RankZero(_) | End::Job(_) => {}
            End::Threads(left, rank) => left[*rank].store(true, Ordering::Release),
        }
    }
}

/// Whether the other end has closed a connection on which it never sends; the stream does not block.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        Ok(bytes) => bytes == 0,
    }
}

/// The rank that rank 0 says has ended, or rank 0 itself if the connection is closed.
fn told(stream: &mut TcpStream) -> Option<usize> {
    let mut rank = [0; 8];
    stream.set_nonblocking(true).ok()?;
    // Rank 0 writes all bytes at once, and so they arrive.
    match stream.read(&mut rank) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Ok(8) => Some(u64::from_le_bytes(rank) as usize),
        Ok(_) | Err(_) => Some(0),
    }
}
