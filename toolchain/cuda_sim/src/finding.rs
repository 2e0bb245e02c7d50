//! Bugs that a launch showed, and their texts.

use std::fmt;

use crate::{Kind, Site, Space};

/// A thread of a launch.
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

/// An index without trailing zeros: `3`, `(3, 1)`, `(3, 1, 2)`.
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

/// One access to memory, as a finding names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Load, store or atomic operation.
    pub kind: Kind,
    /// The address in global memory; in shared memory, the offset from its start.
    pub address: usize,
    /// The size in bytes.
    pub size: u32,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} bytes", verb(self.kind), self.size)
    }
}

/// The kinds of bugs, each with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bug {
    /// No device accepts the launch's grid or block.
    Refused {
        /// The value and its limit.
        reason: String,
    },
    /// A thread waits at a block barrier, and another thread exited before it reached that barrier.
    BarrierMissed {
        /// How many barriers the waiting thread has reached, this one included.
        barriers: u32,
        /// How many barriers the other thread had reached when it exited.
        others: u32,
    },
    /// Threads of one block wait at different barriers.
    BarrierSites,
    /// No thread of the block can continue: the threads wait for each other.
    Deadlock {
        /// One line for each group of threads that wait at the same synchronisation point.
        waiting: Vec<String>,
    },
    /// Threads run without end: each polls memory that no running thread changes.
    Livelock {
        /// How many blocks of the launch have not finished.
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
    /// A shuffle reads a lane outside its member mask: the value is undefined.
    ShuffleOutside {
        /// The lane that it reads.
        lane: u32,
        /// The member mask.
        mask: u32,
    },
    /// An access outside an array.
    OutOfBounds {
        /// Load, store or atomic operation.
        kind: Kind,
        /// Which memory.
        space: Space,
        /// The element or the bytes that were accessed.
        what: String,
    },
    /// An access to global memory at an address that is not aligned for its instruction.
    Misaligned {
        /// The address.
        address: usize,
        /// The alignment that the instruction requires, in bytes.
        alignment: usize,
    },
    /// A load of memory that was never written.
    Uninitialised {
        /// Which memory.
        space: Space,
        /// The load.
        access: Access,
        /// Its first uninitialised byte: an address or offset, as in [`Access::address`].
        first: usize,
    },
    /// A data race: two unordered accesses to the same bytes, at least one of which writes.
    Race {
        /// Which memory.
        space: Space,
        /// The later access in this run.
        access: Access,
        /// The earlier access in this run.
        other: Access,
        /// Both accesses are atomic, but the scope of one does not include the other's thread.
        scope: bool,
    },
    /// The block needs more shared memory than its limit.
    SharedMemory {
        /// The bytes that all its arrays need together.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The kernel panicked.
    Panic {
        /// The panic's message.
        message: String,
    },
    /// A thread's stack overflowed.
    StackOverflow,
}

/// A bug that a launch showed: kernel, thread, source line, and the other thread if one is involved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The bug.
    pub bug: Bug,
    /// The kernel's name, from [`Simulator::kernel`](crate::Simulator::kernel).
    pub kernel: String,
    /// The thread that the bug was found in.
    pub thread: Option<Thread>,
    /// Where that thread was in the source.
    pub site: Option<Site>,
    /// The other thread, and where it was.
    pub other: Option<(Thread, Option<Site>)>,
}

impl Finding {
    /// Whether it is the same bug at the same source lines as `other`, possibly in other threads.
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
            write!(f, "\n    other thread: {thread}")?;
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
            Bug::Refused { reason } => write!(f, "launch refused: {reason}"),
            Bug::BarrierMissed { barriers, others } => write!(
                f,
                "waits at its block barrier number {barriers}; another thread of the block exited after \
                 reaching {others}"
            ),
            Bug::BarrierSites => write!(
                f,
                "waits at a block barrier while another thread of the block waits at a different one"
            ),
            Bug::Deadlock { .. } => write!(f, "deadlock: no thread of the block can continue"),
            Bug::Livelock { blocks_left } => {
                write!(f, "livelock: polls memory that no running thread changes")?;
                match blocks_left {
                    0 => Ok(()),
                    1 => write!(f, "; 1 more block has not finished"),
                    n => write!(f, "; {n} more blocks have not finished"),
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
                write!(
                    f,
                    "the member mask {mask:#010x} does not contain the calling lane"
                )
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
                "misaligned: the address is {} bytes past a multiple of {alignment}",
                address % alignment
            ),
            Bug::Uninitialised {
                space,
                access,
                first,
            } => {
                write!(f, "{access} of {} memory", name(*space))?;
                place(f, *space, access.address)?;
                write!(
                    f,
                    "; byte {} of them was never written",
                    first - access.address
                )
            }
            Bug::Race {
                space,
                access,
                other,
                scope,
            } => {
                write!(f, "race in {} memory: {access}", name(*space))?;
                place(f, *space, access.address)?;
                write!(f, ", another thread {other}")?;
                if other.address != access.address {
                    place(f, *space, other.address)?;
                }
                if *scope {
                    write!(
                        f,
                        "; both are atomic, but one scope does not include the other thread"
                    )
                } else {
                    write!(f, "; the two are not ordered")
                }
            }
            Bug::SharedMemory { bytes, limit } => write!(
                f,
                "the block needs {bytes} bytes of shared memory; the limit is {limit}"
            ),
            Bug::Panic { message } => write!(f, "panicked: {message}"),
            Bug::StackOverflow => write!(f, "stack overflow"),
        }
    }
}

fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Load => "loads",
        Kind::Store => "stores",
        Kind::Atomic => "atomically accesses",
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

/// The error of a launch with bugs: its findings, in the order in which they were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// At least one; at most one for each pair of source lines.
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
