//! Ways to combine values before the atomics.

/// How values are combined before the atomics on the cells.
///
/// Every algorithm gives the right result for any keys. The fastest one depends on the order of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyedAlgorithm {
    /// Not combined: one atomic per value. For random keys.
    Atomic,
    /// Not combined, and the atomic is a loop around a compare-and-swap, as before compute capability 6.0.
    /// For comparison only; exists only for some sums, such as those of `f32` and `f64`.
    Cas,
    /// Within a warp; ballots find the lanes with equal keys.
    Ballot,
    /// Within a warp; `match.any` finds the lanes with equal keys.
    Match,
    /// Within a block, in a hash table in shared memory.
    Bins,
    /// Runs of neighbours with equal keys: four values per thread, then within a warp. For sorted keys.
    Runs,
}

impl KeyedAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] = [
        Self::Atomic,
        Self::Cas,
        Self::Ballot,
        Self::Match,
        Self::Bins,
        Self::Runs,
    ];

    /// The name of the kernel for one array of values, such as `"keyed_match"`.
    pub fn kernel_name(self) -> &'static str {
        match self {
            Self::Atomic => "keyed_atomic",
            Self::Cas => "keyed_cas",
            Self::Ballot => "keyed_ballot",
            Self::Match => "keyed_match",
            Self::Bins => "keyed_bins",
            Self::Runs => "keyed_runs",
        }
    }
}
