//! Errors of calls that several ranks make together.

use std::time::Duration;

use super::StartError;

/// An error of ranks that work together: threads, processes or GPUs.
///
/// After [`Lost`](Self::Lost), [`TimedOut`](Self::TimedOut) and [`Engine`](Self::Engine) every further call returns the same
/// error. After all others the ranks can go on, because each of them has the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RanksError {
    /// The work of another rank failed.
    #[error("rank {rank} failed, so no rank has a result: {text}")]
    Failed {
        /// The rank.
        rank: usize,
        /// Its error.
        text: String,
    },

    /// A rank has ended, or its process was killed.
    #[error("rank {rank} of {size} has ended, and {call} needs all ranks")]
    Lost {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// What the other ranks waited for.
        call: &'static str,
    },

    /// Some ranks did not arrive within the time limit.
    #[error(
        "{call}: nothing from {} within {limit:?}; such a rank has stopped, or needs a longer limit",
        ranks(.missing, Some(*.size))
    )]
    TimedOut {
        /// What this rank waited for.
        call: &'static str,
        /// The ranks that did not arrive; empty if the engine does not know them.
        missing: Vec<usize>,
        /// The number of ranks.
        size: usize,
        /// The limit.
        limit: Duration,
    },

    /// Two ranks make different calls.
    #[error(
        "rank {other} calls {theirs}, but rank {rank} calls {ours}; all ranks must make the same calls, in the \
         same order"
    )]
    Calls {
        /// This rank.
        rank: usize,
        /// Its call.
        ours: String,
        /// The first other rank with another call.
        other: usize,
        /// The call of that rank.
        theirs: String,
    },

    /// Ranks gather different numbers of bytes.
    #[error(
        "rank {other} gathers {theirs} bytes, but rank {rank} gathers {ours}; must be the same number on all ranks"
    )]
    Bytes {
        /// This rank.
        rank: usize,
        /// Its bytes.
        ours: usize,
        /// A rank with another number.
        other: usize,
        /// The bytes of that rank.
        theirs: usize,
    },

    /// There is no such rank.
    #[error("there is no rank {rank}: there are {size}, counted from 0")]
    NoSuchRank {
        /// The requested rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },

    /// The array of all ranks together has more items than a 64-bit number can count.
    #[error("the array of all {size} ranks has more than 2^64 - 1 items")]
    TooLong {
        /// The number of ranks.
        size: usize,
    },

    /// The piece of this rank has another length than its share of the array.
    #[error("rank {rank} has {has} items, but its share of the array has {share}")]
    Share {
        /// The rank.
        rank: usize,
        /// The items that came.
        has: u64,
        /// The items of its share.
        share: u64,
    },

    /// The communication library failed.
    #[error("{engine}: {call}: {text}")]
    Engine {
        /// The library.
        engine: &'static str,
        /// Its function.
        call: &'static str,
        /// Its message.
        text: String,
    },

    /// The ranks could not be started together.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// `ranks 1, 2 of 4`, or without the number of ranks.
pub(super) fn ranks(missing: &[usize], size: Option<usize>) -> String {
    let of = size.map_or(String::new(), |size| format!(" of {size}"));
    match missing {
        [] => format!("a rank{of}"),
        [rank] => format!("rank {rank}{of}"),
        all => {
            let all: Vec<String> = all.iter().map(usize::to_string).collect();
            format!("ranks {}{of}", all.join(", "))
        }
    }
}

impl RanksError {
    /// Whether the ranks cannot go on.
    pub(crate) fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. } | Self::TimedOut { .. } | Self::Engine { .. }
        )
    }
}
