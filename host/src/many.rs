//! One array on many GPUs, processes and machines.
//!
//! Each *rank*, a thread or a process with a device of its own, has a part of the array. All ranks make the same call; each
//! reduces its part, and all have the result. The parts follow one another in the order of the ranks.
//!
//! ```
//! use warpfold::Device;
//! use warpfold::many::{Distributed, Single};
//!
//! let all = Distributed::new(Device::auto()?, Single);
//! let data: Vec<f32> = (0..1000).map(|i| i as f32).collect();
//! let share = all.share(1000);
//! let x = all.device().upload(&data[share.start as usize..share.end as usize])?;
//! assert_eq!(all.sum(&x)?, 499_500.0);
//! assert_eq!(all.argmax(&x)?, Some(999));
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! | communicator | the ranks are |
//! |---|---|
//! | [`Single`] | one: so a program is written once |
//! | [`Threads`] | threads of one process, with any devices |
//! | [`Nccl`] | processes or threads with a GPU each, of one host or of several; the library is opened at run time |
//! | [`Mpi`] | processes that `mpirun` has started; the library is opened at run time |
//!
//! [`Distributed::from_env`] chooses one by what the launcher (`torchrun`, `srun`, `mpirun`) says.
//!
//! # Determinism
//!
//! A result has the bits of one device that has the whole array: for any number of ranks and any split, also where a rank has
//! no items. Each rank combines whole subtrees of the canonical order's tree of tiles (`docs/order.md`), all ranks gather
//! these partials, and each combines them in the order of the tree. Exact sums are merged without rounding.
//!
//! [`Distributed::reduce_segments`], [`Distributed::reduce_rows`] and [`Distributed::group_by`] do the same for parts.
//!
//! # Cost
//!
//! A call gathers 1 KiB of each rank. A sum or another float result gathers twice in the first call and whenever the number
//! of items of a rank has changed. [`Distributed::share`] cuts between tiles; with another split up to 4 KiB (8 KiB of two
//! arrays) of each rank's items travel to another rank in each call, because a tile is combined in one place.
//!
//! # Errors
//!
//! If one rank fails, all have an error ([`RanksError`](crate::RanksError)): [`Failed`](crate::RanksError::Failed) with the
//! rank's text, [`Lost`](crate::RanksError::Lost) if it has ended, [`TimedOut`](crate::RanksError::TimedOut) if it does not
//! arrive within the time limit, which is [`TIME_LIMIT`] unless the communicator has another.

mod calls;
mod chunks;
mod communicator;
mod distributed;
mod from_env;
mod groups;
mod keyed;
mod launch;
mod layout;
mod message;
mod mpi;
mod nccl;
mod partials;
mod parts;
mod pieces;
mod start;
mod threads;
mod watch;

use std::time::Duration;

pub use communicator::{Communicator, Single};
pub use distributed::Distributed;
pub use launch::Launch;
pub use mpi::Mpi;
pub use nccl::{Nccl, NcclId};
pub use threads::Threads;

/// How long a rank waits for others, unless its communicator has another limit: long enough for a rank that reads its part
/// from a slow disk.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);
