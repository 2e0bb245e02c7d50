//! Ranks as threads of one process.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::TIME_LIMIT;
use super::communicator::{Communicator, check_ranks, copy};
use crate::error::{Error, RanksError};

/// Ranks as threads of one process: for several GPUs of one host, and for tests.
///
/// Each rank belongs to one thread. When it is dropped, also by a panic, the ranks that wait for it return
/// [`RanksError::Lost`].
///
/// ```
/// use warpfold::Device;
/// use warpfold::many::{Distributed, Threads};
///
/// let sums = Threads::run(2, |ranks| {
///     let all = Distributed::new(Device::cpu(), ranks);
///     let x = all.device().upload(&[[1, 2, 3].as_slice(), &[4]][all.rank()])?;
///     all.sum(&x)
/// })?;
/// assert_eq!(sums, [10, 10]);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub struct Threads {
    hub: Arc<Hub>,
    rank: usize,
    limit: Duration,
}

impl Threads {
    /// The ranks of a group of `size` threads, at least one.
    #[allow(clippy::new_ret_no_self, reason = "one for each thread")]
    pub fn new(size: usize) -> Vec<Self> {
        let size = size.max(1);
        let state = State {
            left: vec![false; size],
            messages: HashMap::new(),
        };
        let hub = Arc::new(Hub {
            size,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let rank = |rank| Self {
            hub: Arc::clone(&hub),
            rank,
            limit: TIME_LIMIT,
        };
        (0..size).map(rank).collect()
    }

    /// Runs `run` on `size` threads, each with its rank, and returns the results in the order of the ranks.
    ///
    /// # Errors
    ///
    /// The error of a rank that failed by itself, not because of another.
    ///
    /// # Panics
    ///
    /// If `run` panics.
    pub fn run<R: Send>(
        size: usize,
        run: impl Fn(Self) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let run = &run;
        let results: Vec<Result<R, Error>> = thread::scope(|scope| {
            let ranks = Self::new(size).into_iter();
            let threads: Vec<_> = ranks.map(|rank| scope.spawn(move || run(rank))).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let is_own = |result: &Result<R, Error>| matches!(result, Err(error) if !matches!(error, Error::Ranks(_)));
        match results.iter().position(is_own) {
            Some(rank) => results.into_iter().skip(rank).take(1).collect(),
            None => results.into_iter().collect(),
        }
    }

    /// The same rank, which waits at most this long for others.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Leaves messages for others.
    fn post<'a>(&self, kind: Kind, messages: impl Iterator<Item = (usize, &'a Arc<[u8]>)>) {
        let mut state = self.hub.lock();
        for (to, bytes) in messages {
            let queue = state.messages.entry((kind, self.rank, to)).or_default();
            queue.push_back(Arc::clone(bytes));
        }
        drop(state);
        self.hub.changed.notify_all();
    }

    /// Waits for a message from each of these ranks.
    fn wait(
        &self,
        kind: Kind,
        call: &'static str,
        from: impl Iterator<Item = usize> + Clone,
    ) -> Result<Vec<Arc<[u8]>>, Error> {
        let deadline = Instant::now() + self.limit;
        let mut messages = vec![];
        let mut state = self.hub.lock();
        for rank in from.clone() {
            loop {
                let queue = state.messages.get_mut(&(kind, rank, self.rank));
                if let Some(message) = queue.and_then(Queue::pop_front) {
                    messages.push(message);
                    break;
                }
                let size = self.hub.size;
                if state.left[rank] {
                    return Err(RanksError::Lost { rank, size, call }.into());
                }
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let has = |rank: usize| state.has(kind, rank, self.rank);
                    let waited = from.clone().skip(messages.len());
                    return Err(RanksError::TimedOut {
                        call,
                        missing: waited.filter(|rank| !has(*rank)).collect(),
                        size,
                        limit: self.limit,
                    }
                    .into());
                }
                let waited = self.hub.changed.wait_timeout(state, left);
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        Ok(messages)
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.hub.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let ours: Arc<[u8]> = bytes.into();
        self.post(Kind::Gather, (0..self.size()).map(|to| (to, &ours)));
        let messages = self.wait(Kind::Gather, "all_gather", 0..self.size())?;
        let mut all = vec![0; bytes.len() * self.size()];
        for (rank, message) in messages.iter().enumerate() {
            let to = &mut all[rank * bytes.len()..][..bytes.len()];
            copy(rank, message, self.rank, to)?;
        }
        Ok(all)
    }

    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error> {
        let from = receives.iter().map(|receive| receive.0);
        let to = sends.iter().map(|send| send.0);
        check_ranks(to.chain(from), self.size())?;
        let messages: Vec<(usize, Arc<[u8]>)> = sends
            .iter()
            .map(|(to, bytes)| (*to, (*bytes).into()))
            .collect();
        self.post(
            Kind::Exchange,
            messages.iter().map(|(to, bytes)| (*to, bytes)),
        );
        let from: Vec<usize> = receives.iter().map(|receive| receive.0).collect();
        let messages = self.wait(Kind::Exchange, "exchange", from.into_iter())?;
        for ((from, to), message) in receives.iter_mut().zip(messages) {
            copy(*from, &message, self.rank, to)?;
        }
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.hub.lock().left[self.rank] = true;
        self.hub.changed.notify_all();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads(rank {} of {})", self.rank, self.hub.size)
    }
}

/// What the ranks share.
struct Hub {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct State {
    /// The ranks that have been dropped. What they have sent can still be received.
    left: Vec<bool>,
    /// The messages that have not been received, by kind, sender and receiver.
    messages: HashMap<(Kind, usize, usize), Queue>,
}

/// Messages in the order in which they were sent.
type Queue = VecDeque<Arc<[u8]>>;

impl State {
    fn has(&self, kind: Kind, from: usize, to: usize) -> bool {
        let queue = self.messages.get(&(kind, from, to));
        queue.is_some_and(|queue| !queue.is_empty())
    }
}

/// The call of a message: those of one call must not be taken for those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Gather,
    Exchange,
}
