//! What was wrong with a launch.

use std::fmt;

use crate::{Kind, Site, Space};

/// A thread of a launch, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// The index of its block, in x, y and z.
    pub block: [u32; 3],
    /// Its index in the block, in x, y and z.
    pub thread: [u32; 3],
    /// Its warp in the block.
    pub warp: u32,
    /// Its lane in the warp.
    pub lane: u32,
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            block,
            thread,
            warp,
            lane,
        } = self;
        write!(
            f,
            "block {} thread {} (warp {warp} lane {lane})",
            Index(*block),
            Index(*thread)
        )
    }
}

/// An index as short as it goes: `3`, `(3, 1)`, `(3, 1, 2)`.
struct Index([u32; 3]);

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [x, 0, 0] => write!(f, "{x}"),
            [x, y, 0] => write!(f, "({x}, {y})"),
            [x, y, z] => write!(f, "({x}, {y}, {z})"),
        }
    }
}

/// One access of a [`Bug::Race`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// Load, store or atomic operation.
    pub kind: Kind,
    /// Of global memory the address, of shared memory the offset from its start.
    pub address: usize,
    /// How many bytes.
    pub size: u32,
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} bytes", verb(self.kind), self.size)
    }
}

/// The kinds of bugs, with what is particular to each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bug {
    /// The launch asks for what no device has.
    Refused {
        /// What, and the limit.
        reason: String,
    },
    /// A thread waits at a block barrier that another has not come to before it exited.
    BarrierMissed {
        /// How many barriers the waiting thread has come to, this one included.
        barriers: u32,
        /// How many the other had come to when it exited.
        others: u32,
    },
    /// Threads of one block wait at different barriers.
    BarrierSites,
    /// Nobody can go on: threads wait for each other.
    Deadlock {
        /// Who waits where, and what for, one group of threads a line.
        waiting: Vec<String>,
    },
    /// Threads run without end: each only looks at memory that nobody changes.
    Livelock {
        /// How many blocks the launch has still to run.
        blocks_left: u32,
    },
    /// The member mask names a lane that has exited.
    MaskExited {
        /// The lane.
        lane: u32,
        /// The member mask.
        mask: u32,
    },
    /// The member mask names a lane that the block does not have.
    MaskAbsent {
        /// The lane.
        lane: u32,
        /// The member mask.
        mask: u32,
    },
    /// The member mask does not name the caller.
    MaskWithoutCaller {
        /// The member mask.
        mask: u32,
    },
    /// A shuffle reads a lane that is not in its member mask: the value is undefined.
    ShuffleOutside {
        /// The lane that it reads.
        lane: u32,
        /// The member mask.
        mask: u32,
    },
    /// An access beyond an array.
    OutOfBounds {
        /// Load, store or atomic operation.
        kind: Kind,
        /// Which memory.
        space: Space,
        /// What of it was meant.
        what: String,
    },
    /// An access to global memory at an address that its instruction does not take.
    Misaligned {
        /// The address.
        address: usize,
        /// What it has to be a multiple of, in bytes.
        alignment: usize,
    },
    /// A read of memory that nobody has written.
    Uninitialised {
        /// Which memory.
        space: Space,
        /// The read.
        touch: Touch,
        /// The first of its bytes that nobody has written, counted as the touch's address is.
        first: usize,
    },
    /// Two accesses of the same bytes, one of them not only a read, in no order.
    Race {
        /// Which memory.
        space: Space,
        /// The later one in this run.
        touch: Touch,
        /// The earlier one in this run.
        other: Touch,
        /// Both are atomic, but one has too narrow a scope for the other's thread.
        scope: bool,
    },
    /// The block needs more shared memory than there is.
    SharedMemory {
        /// Bytes asked for, together.
        bytes: usize,
        /// Bytes there are.
        limit: usize,
    },
    /// A kernel's panic.
    Panic {
        /// Its message.
        message: String,
    },
    /// A thread's stack has overflowed.
    StackOverflow,
}

/// A bug that a launch showed: which kernel, which thread, where in the source, and the other side
/// where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub bug: Bug,
    /// The kernel, as the simulator was told.
    pub kernel: String,
    /// Who found itself in it.
    pub thread: Option<Thread>,
    /// Where that thread was.
    pub site: Option<Site>,
    /// The other thread and where it was.
    pub other: Option<(Thread, Option<Site>)>,
}

impl Finding {
    /// Whether it says what `other` says, of other threads perhaps.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.bug) == std::mem::discriminant(&other.bug)
            && self.site == other.site
            && self.other.map(|(_, site)| site) == other.other.map(|(_, site)| site)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: ", self.kernel)?;
        if let Some(thread) = self.thread {
            write!(f, "{thread}: ")?;
        }
        self.explain(f)?;
        if let Some(site) = self.site {
            write!(f, "\n    at {site}")?;
        }
        if let Some((thread, site)) = self.other {
            write!(f, "\n    the other: {thread}")?;
            if let Some(site) = site {
                write!(f, "\n    at {site}")?;
            }
        }
        if let Bug::Deadlock { waiting } = &self.bug {
            for line in waiting {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

impl Finding {
    fn explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bug {
            Bug::Refused { reason } => write!(f, "the launch is refused: {reason}"),
            Bug::BarrierMissed { barriers, others } => write!(
                f,
                "waits at a barrier, its number {barriers}, that another thread of the block never \
                 comes to: it has exited after {others}"
            ),
            Bug::BarrierSites => write!(
                f,
                "waits at one barrier while another thread of the block waits at another"
            ),
            Bug::Deadlock { .. } => write!(f, "deadlock, nobody in the block can go on"),
            Bug::Livelock { blocks_left } => {
                write!(f, "livelock, looks again and again at memory that nobody ")?;
                match blocks_left {
                    0 => write!(f, "changes"),
                    1 => write!(f, "changes before one more block runs"),
                    n => write!(f, "changes before {n} more blocks run"),
                }
            }
            Bug::MaskExited { lane, mask } => {
                write!(
                    f,
                    "the member mask {mask:#010x} names lane {lane}, which has exited"
                )
            }
            Bug::MaskAbsent { lane, mask } => write!(
                f,
                "the member mask {mask:#010x} names lane {lane}, which the block does not have"
            ),
            Bug::MaskWithoutCaller { mask } => {
                write!(f, "the member mask {mask:#010x} lacks the calling lane")
            }
            Bug::ShuffleOutside { lane, mask } => write!(
                f,
                "the shuffle reads lane {lane}, which is not in the member mask {mask:#010x}"
            ),
            Bug::OutOfBounds { kind, what, .. } => {
                write!(f, "out of bounds: {} {what}", verb(*kind))
            }
            Bug::Misaligned { address, alignment } => write!(
                f,
                "misaligned: the address lies {} bytes behind a multiple of {alignment}",
                address % alignment
            ),
            Bug::Uninitialised {
                space,
                touch,
                first,
            } => {
                write!(f, "{touch} of {} memory", name(*space))?;
                place(f, *space, touch.address)?;
                write!(
                    f,
                    " that nobody has written (from its byte {} on)",
                    first - touch.address
                )
            }
            Bug::Race {
                space,
                touch,
                other,
                scope,
            } => {
                write!(f, "race in {} memory: {touch}", name(*space))?;
                place(f, *space, touch.address)?;
                write!(f, ", another thread {other}")?;
                if other.address != touch.address {
                    place(f, *space, other.address)?;
                }
                if *scope {
                    write!(f, ", and a scope is too narrow for both")
                } else {
                    write!(f, ", and nothing orders the two")
                }
            }
            Bug::SharedMemory { bytes, limit } => write!(
                f,
                "the block needs {bytes} bytes of shared memory, there are {limit}"
            ),
            Bug::Panic { message } => write!(f, "panicked: {message}"),
            Bug::StackOverflow => write!(f, "its stack has overflowed"),
        }
    }
}

fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Load => "loads",
        Kind::Store => "stores",
        Kind::Atomic => "changes atomically",
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
    }
}

fn place(f: &mut fmt::Formatter<'_>, space: Space, address: usize) -> fmt::Result {
    match space {
        Space::Global => write!(f, " at {address:#x}"),
        Space::Shared => write!(f, " at offset {address}"),
    }
}

/// Why a launch is not what it should be: its findings, in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// At least one. One for each pair of places in the source.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
