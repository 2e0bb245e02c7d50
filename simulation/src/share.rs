//! The part of a test's launches that runs, because all of them take minutes.

use std::env;

/// The launches of a test that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All launches.
    All,
    /// A fourth of the launches, scattered over all nested loops. The seed selects which fourth, so repeated
    /// runs cover all launches.
    Fourth {
        /// Which fourth, 0 to 3.
        which: u64,
    },
}

impl Share {
    /// All with `WARPFOLD_TESTS=all`, which `cargo xtask test --all` sets; otherwise a fourth.
    pub fn of_environment(seed: u64) -> Self {
        match env::var_os("WARPFOLD_TESTS") {
            Some(tests) if tests == "all" => Self::All,
            _ => Self::Fourth { which: seed % 4 },
        }
    }

    /// Whether the launch with this index runs.
    pub fn has(self, launch: usize) -> bool {
        match self {
            Self::All => true,
            // The high bits of a product depend on all bits of the index (Fibonacci hashing).
            Self::Fourth { which } => {
                (launch as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 == which
            }
        }
    }
}
