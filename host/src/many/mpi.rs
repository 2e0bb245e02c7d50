//! Ranks whose bytes MPI moves, between processes.

mod library;

use std::ffi::c_int;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::TIME_LIMIT;
use super::communicator::{Communicator, check_ranks, copy};
use crate::error::{Error, RanksError};
use library::{Calls, Pending};

/// A process of an MPI job: on CPUs, and on GPUs by way of host memory.
///
/// MPI is opened when it is first needed, as `libmpi.so.40`, `libmpi.so.12`, `libmpich.so.12` or `libmpi.so`, or as the file
/// that `WARPFOLD_MPI` names: Open MPI, MPICH and its relatives (Intel MPI, MVAPICH, Cray MPI). The library sends and receives
/// only; each rank sends to each other. A call waits at most the time limit, and then names the ranks that are missing.
///
/// [`Distributed::from_env`](super::Distributed::from_env) makes one for a process that `mpirun` has started.
pub struct Mpi {
    rank: usize,
    size: usize,
    limit: Duration,
    /// `None` after a failure.
    calls: Mutex<Option<Box<dyn Calls>>>,
}

/// The tag of messages of a gather, and of an exchange.
const GATHER: c_int = 1;
const EXCHANGE: c_int = 2;

/// The most bytes of one message, whose length is a C `int`.
const MOST: usize = 1 << 30;

/// How long a wait spins before it sleeps now and then.
const SPIN: Duration = Duration::from_millis(1);

impl Mpi {
    /// The rank of this process in `MPI_COMM_WORLD`. MPI is started unless the program has done so, and then ends with this
    /// value: a process can make one.
    ///
    /// # Errors
    ///
    /// [`StartError::NoMpi`](crate::StartError::NoMpi); [`RanksError::Engine`].
    pub fn world() -> Result<Self, Error> {
        let calls = library::start()?;
        Ok(Self {
            rank: calls.rank(),
            size: calls.size(),
            limit: TIME_LIMIT,
            calls: Mutex::new(Some(calls)),
        })
    }

    /// The same rank, which waits at most this long for others.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sends and receives; returns the received messages, which have these lengths.
    fn transfer(
        &self,
        call: &'static str,
        tag: c_int,
        sends: &[(usize, &[u8])],
        receives: &[(usize, usize)],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut guard = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(calls) = &*guard else {
            let text = "an earlier call failed, so MPI is not used any more".into();
            return Err(RanksError::Engine {
                engine: "MPI",
                call,
                text,
            }
            .into());
        };
        let mut transfer = Transfer::begin(&**calls, tag, sends, receives);
        let result = transfer.wait(call, self.limit, self.size);
        match result {
            Ok(()) => Ok(std::mem::take(&mut transfer.received)),
            Err(error) => {
                // MPI may still read and write the memory, so it stays.
                std::mem::forget(transfer);
                *guard = None;
                Err(error.into())
            }
        }
    }
}

/// Messages on their way, with their memory. It may be dropped only after all of them are done.
struct Transfer {
    /// The requests with the rank that each waits for, if it receives.
    pending: Vec<(Option<usize>, Box<dyn Pending>)>,
    failure: Option<RanksError>,
    _sent: Vec<Vec<u8>>,
    received: Vec<Vec<u8>>,
}

impl Transfer {
    fn begin(
        calls: &dyn Calls,
        tag: c_int,
        sends: &[(usize, &[u8])],
        receives: &[(usize, usize)],
    ) -> Self {
        let mut this = Self {
            pending: vec![],
            failure: None,
            _sent: sends.iter().map(|(_, bytes)| bytes.to_vec()).collect(),
            received: receives.iter().map(|(_, len)| vec![0; *len]).collect(),
        };
        // Receives first, so that messages need not be stored on their way.
        for ((from, _), to) in receives.iter().zip(&mut this.received) {
            for piece in to.chunks_mut(MOST) {
                // SAFETY: the memory is on the heap, and stays until the message is done, or for ever (`Mpi::transfer`); it is
                // not used before.
                match unsafe { calls.receive(*from, tag, piece) } {
                    Ok(pending) => this.pending.push((Some(*from), pending)),
                    Err(error) => drop(this.failure.get_or_insert(error)),
                }
            }
        }
        for ((to, _), from) in sends.iter().zip(&this._sent) {
            for piece in from.chunks(MOST) {
                // SAFETY: as above.
                match unsafe { calls.send(*to, tag, piece) } {
                    Ok(pending) => this.pending.push((None, pending)),
                    Err(error) => drop(this.failure.get_or_insert(error)),
                }
            }
        }
        this
    }

    /// Waits until all messages are done.
    fn wait(&mut self, call: &'static str, limit: Duration, size: usize) -> Result<(), RanksError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let start = Instant::now();
        loop {
            let mut waiting = vec![];
            for (from, mut message) in self.pending.drain(..) {
                if !message.is_done()? {
                    waiting.push((from, message));
                }
            }
            self.pending = waiting;
            let waited = start.elapsed();
            if self.pending.is_empty() {
                return Ok(());
            }
            if waited >= limit {
                let mut missing: Vec<usize> = { self.pending.iter() }
                    .filter_map(|(from, _)| *from)
                    .collect();
                missing.dedup();
                return Err(RanksError::TimedOut {
                    call,
                    missing,
                    size,
                    limit,
                });
            }
            if waited > SPIN {
                thread::sleep(Duration::from_micros(20));
            }
        }
    }
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let others = || (0..self.size).filter(|rank| *rank != self.rank);
        let sends: Vec<(usize, &[u8])> = others().map(|rank| (rank, bytes)).collect();
        let receives: Vec<(usize, usize)> = others().map(|rank| (rank, bytes.len())).collect();
        let received = self.transfer("all_gather", GATHER, &sends, &receives)?;
        let mut all = Vec::with_capacity(bytes.len() * self.size);
        let mut received = received.into_iter();
        for rank in 0..self.size {
            match rank == self.rank {
                true => all.extend_from_slice(bytes),
                false => all.extend(received.next().expect("one of each other rank")),
            }
        }
        Ok(all)
    }

    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error> {
        let ranks = sends.iter().map(|send| send.0);
        check_ranks(
            ranks.chain(receives.iter().map(|receive| receive.0)),
            self.size,
        )?;
        let lens: Vec<(usize, usize)> = receives
            .iter()
            .map(|(from, to)| (*from, to.len()))
            .collect();
        let received = self.transfer("exchange", EXCHANGE, sends, &lens)?;
        for ((from, to), bytes) in receives.iter_mut().zip(received) {
            copy(*from, &bytes, self.rank, to)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mpi(rank {} of {})", self.rank, self.size)
    }
}

/// Ends MPI. After a failure it does not, because that would wait for the other ranks: `mpirun` then ends them.
impl Drop for Mpi {
    fn drop(&mut self) {
        let calls = self.calls.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = calls {
            calls.end();
        }
    }
}
