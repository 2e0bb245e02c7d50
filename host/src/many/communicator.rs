//! What an engine does for ranks: it moves bytes between them.

use super::nccl::Nccl;
use crate::error::{Error, RanksError};

/// Ranks that work together: each has a number from 0 to `size() - 1`, and they exchange bytes.
///
/// An implementation has a time limit: a call returns an error if another rank ends, or does not arrive in time. All
/// ranks make the same calls in the same order; only those of [`exchange`](Self::exchange) concern just the ranks that it
/// names.
///
/// ```
/// use warpfold::many::{Communicator, Threads};
///
/// Threads::run(3, |ranks| {
///     let rank = ranks.rank() as u8;
///     assert_eq!(ranks.all_gather(&[rank, 9])?, [0, 9, 1, 9, 2, 9]);
///     // Round the ring.
///     let mut from_left = [0];
///     let (left, right) = ((rank + 2) % 3, (rank + 1) % 3);
///     ranks.exchange(&[(right.into(), &[rank])], &mut [(left.into(), &mut from_left)])?;
///     assert_eq!(from_left, [left]);
///     Ok(())
/// })?;
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Communicator: Send + Sync {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The bytes of all ranks, rank after rank. Each passes as many.
    ///
    /// # Errors
    ///
    /// [`RanksError::Lost`], [`RanksError::TimedOut`]; [`RanksError::Bytes`], where the engine notices it; those of the engine.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error>;

    /// Sends and receives at once, so that no rank waits for a send before it receives. A message is received as long
    /// as it was sent; messages between two ranks keep their order.
    ///
    /// # Errors
    ///
    /// [`RanksError::NoSuchRank`]; otherwise as [`all_gather`](Self::all_gather).
    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error>;

    /// Sends one message.
    ///
    /// # Errors
    ///
    /// As [`exchange`](Self::exchange).
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        self.exchange(&[(to, bytes)], &mut [])
    }

    /// Receives one message.
    ///
    /// # Errors
    ///
    /// As [`exchange`](Self::exchange).
    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.exchange(&[], &mut [(from, bytes)])
    }

    /// Waits until all ranks have arrived here.
    ///
    /// # Errors
    ///
    /// As [`all_gather`](Self::all_gather).
    fn barrier(&self) -> Result<(), Error> {
        self.all_gather(&[0]).map(drop)
    }

    /// NCCL, whose gathers can follow kernels without a wait of the host.
    #[doc(hidden)]
    fn nccl(&self) -> Option<&Nccl> {
        None
    }
}

/// An error unless all these ranks exist.
pub(super) fn check_ranks(ranks: impl Iterator<Item = usize>, size: usize) -> Result<(), Error> {
    match { ranks }.find(|rank| *rank >= size) {
        Some(rank) => Err(RanksError::NoSuchRank { rank, size }.into()),
        None => Ok(()),
    }
}

/// The only rank of a program that runs alone, so that the program is written once.
///
/// ```
/// use warpfold::many::{Communicator, Single};
///
/// assert_eq!((Single.rank(), Single.size()), (0, 1));
/// assert_eq!(Single.all_gather(&[1, 2])?, [1, 2]);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Single;

impl Communicator for Single {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(bytes.to_vec())
    }

    /// Sends to itself are received in their order.
    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error> {
        let ranks = sends.iter().map(|send| send.0);
        check_ranks(ranks.chain(receives.iter().map(|receive| receive.0)), 1)?;
        let mut sends = sends.iter();
        for (_, to) in receives {
            match sends.next() {
                Some((_, bytes)) => copy(0, bytes, 0, to)?,
                None => return Err(nothing_sent()),
            }
        }
        sends.next().map_or(Ok(()), |_| Err(nothing_sent()))
    }
}

/// A lone rank that waits for itself would wait for ever.
fn nothing_sent() -> Error {
    let text = "a lone rank must receive what it sends in the same call";
    Error::other(text)
}

/// Copies a received message, which must have the expected length.
pub(super) fn copy(from: usize, bytes: &[u8], rank: usize, to: &mut [u8]) -> Result<(), Error> {
    if bytes.len() != to.len() {
        return Err(RanksError::Bytes {
            rank,
            ours: to.len(),
            other: from,
            theirs: bytes.len(),
        }
        .into());
    }
    to.copy_from_slice(bytes);
    Ok(())
}
