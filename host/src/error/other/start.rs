//! Errors of the start of ranks that are processes.

use std::time::Duration;

/// The ranks of a program could not be started together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A variable of the environment is missing or wrong.
    #[error("{launcher}: the environment variable {name} {}; must be {needs}", shown(.value))]
    Variable {
        /// The launcher whose variables are there.
        launcher: &'static str,
        /// The variable.
        name: &'static str,
        /// Its value, if it is set.
        value: Option<String>,
        /// What is valid.
        needs: &'static str,
    },

    /// The launcher does not say where the ranks can meet.
    #[error(
        "{launcher}: the ranks have no address to meet; set MASTER_ADDR to the host of rank 0 and MASTER_PORT to a \
         free port, the same for all ranks"
    )]
    NoAddress {
        /// The launcher.
        launcher: &'static str,
    },

    /// Rank 0 cannot listen.
    #[error(
        "rank 0 cannot listen on port {port}: {reason}; set WARPFOLD_PORT to a free port, the same for all ranks"
    )]
    Listen {
        /// The port.
        port: u16,
        /// The system's message.
        reason: String,
    },

    /// A rank does not reach rank 0.
    #[error("rank {rank} cannot meet rank 0 at {address} within {limit:?}: {reason}")]
    NoRankZero {
        /// The rank.
        rank: usize,
        /// Where rank 0 should be.
        address: String,
        /// The limit.
        limit: Duration,
        /// The last reason.
        reason: String,
    },

    /// Some ranks never came.
    #[error("{} of {size} did not come within {limit:?}; see what they print, or whether they reach rank 0", super::ranks::ranks(.missing, None))]
    Missing {
        /// The ranks.
        missing: Vec<usize>,
        /// The number of ranks.
        size: usize,
        /// The limit.
        limit: Duration,
    },

    /// A rank of another job, or a stranger.
    #[error(
        "rank 0 refuses rank {rank}: its token is another one; all ranks of a job must have the same WARPFOLD_TOKEN, or \
         must be started by one launcher"
    )]
    Token {
        /// The rank that was refused.
        rank: usize,
    },

    /// Ranks that do not agree.
    #[error("rank {rank} says that there are {theirs} ranks, but rank 0 that there are {ours}")]
    Size {
        /// The rank.
        rank: usize,
        /// What it says.
        theirs: usize,
        /// What rank 0 says.
        ours: usize,
    },

    /// Two processes with the same rank.
    #[error("two processes are rank {rank} of {size}")]
    RankTwice {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },

    /// Two ranks on one GPU.
    #[error(
        "ranks {first} and {second} use the same GPU, {gpu}; start at most one rank for each GPU"
    )]
    SameGpu {
        /// A rank.
        first: usize,
        /// Another rank.
        second: usize,
        /// Host and address of the GPU.
        gpu: String,
    },

    /// A rank could not start, and so none can.
    #[error("rank {rank} could not start, so no rank can: {text}")]
    Failed {
        /// The rank.
        rank: usize,
        /// Its error.
        text: String,
    },

    /// Rank 0 says why the ranks cannot start.
    #[error("rank 0 says: {text}")]
    Refused {
        /// The error of rank 0.
        text: String,
    },

    /// There is no GPU for a rank of this host.
    #[error(
        "local rank {local_rank} has no GPU: the CUDA driver finds {count}; start at most {count} rank(s) on this host"
    )]
    NoGpu {
        /// The number of the rank on its host.
        local_rank: usize,
        /// The number of devices.
        count: u32,
    },

    /// NCCL cannot be opened.
    #[error("NCCL cannot be opened: {}; it comes with PyTorch (the package nvidia-nccl-cu12, file nvidia/nccl/lib/libnccl.so.2) \
             or as libnccl2; set WARPFOLD_NCCL to its file", files(.tried))]
    NoNccl {
        /// The files that were tried, each with the loader's message.
        tried: Vec<(String, String)>,
    },

    /// NCCL is too old.
    #[error("{library} is NCCL {}; must be 2.14 or later", dotted(*.version))]
    OldNccl {
        /// The library.
        library: String,
        /// Its version, as 21403 for 2.14.3.
        version: i32,
    },

    /// MPI cannot be opened.
    #[error(
        "MPI cannot be opened: {}; install Open MPI (libopenmpi3) or MPICH (libmpich12), or set WARPFOLD_MPI to its file",
        files(.tried)
    )]
    NoMpi {
        /// The files that were tried, each with the loader's message.
        tried: Vec<(String, String)>,
    },

    /// MPI has started other ranks than the launcher says.
    #[error(
        "MPI says that this is rank {rank} of {size}, but {launcher} says {expected}; start the program by the mpirun of the \
         MPI that it opens, or set WARPFOLD_MPI to the library of that mpirun"
    )]
    OtherMpi {
        /// The launcher.
        launcher: &'static str,
        /// What MPI says.
        rank: usize,
        /// What MPI says.
        size: usize,
        /// What the launcher says.
        expected: String,
    },

    /// Several processes, but nothing that moves bytes between them.
    #[error(
        "{size} ranks on CPUs must be started by mpirun, because MPI moves their bytes: {reason}"
    )]
    NoEngine {
        /// The number of ranks.
        size: usize,
        /// Why there is no GPU.
        reason: String,
    },
}

fn shown(value: &Option<String>) -> String {
    match value {
        Some(value) => format!("is {value:?}"),
        None => "is not set".into(),
    }
}

fn files(tried: &[(String, String)]) -> String {
    let tried: Vec<String> = { tried.iter() }
        .map(|(file, reason)| format!("{file} ({reason})"))
        .collect();
    tried.join(", ")
}

/// `2.14.3`; before 2.9 a version was `2804` for 2.8.4.
fn dotted(code: i32) -> String {
    let (major, rest) = match code {
        ..10_000 => (code / 1000, code % 1000),
        _ => (code / 10_000, code % 10_000),
    };
    format!("{major}.{}.{}", rest / 100, rest % 100)
}

#[cfg(test)]
mod tests {
    use super::dotted;

    #[test]
    fn versions_of_nccl() {
        assert_eq!(
            [21403, 22703, 2804].map(dotted),
            ["2.14.3", "2.27.3", "2.8.4"]
        );
    }
}
