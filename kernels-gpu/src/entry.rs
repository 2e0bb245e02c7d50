//! Entry points: how generic bodies become kernels that the host launches.
//!
//! [`kernels!`](crate::kernels) takes a list of families, operators and items. For each it calls the macro of
//! the family, in a file of this folder, which makes
//!
//! - on the device, the entry points: [`#[kernel]`](cuda_std::kernel) functions that call the generic body;
//! - on the host, a row of a table for each ([`Entry`]), and an `impl` of the family's trait that ties
//!   operator and items to the row ([`SinglePass`]), so that what has no kernel does not compile.
//!
//! | family | an entry | the operator then implements |
//! |---|---|---|
//! | `single_pass` | `single_pass_<operator>_<items>` | [`SinglePass`] |
//! | `keyed`, `keyed_all` | `<kernel>_<operator>_<element>_by_<key>` | [`Keyed`] |
//! | `ladder`, `ladder_redux` | `<kernel>_<operator>_<element>` | [`Ladder`] |
//! | `ceiling` | `read_ceiling_<operator>_<element>` | [`Ceiling`] |
//! | `triple` | `<kernel>_<operator>_<element>` | [`Triple`] |
//!
//! The library's own lists are `library` and `teaching`, behind features of these names. Entry points are
//! functions of the host only with the feature `simulator`.
//!
//! # Parameters
//!
//! A slice is two scalars, address and length, as Rust-CUDA's `#[kernel]` makes it; the operator is a
//! parameter where it holds something. Each row lists its parameters ([`Entry::parameters`]).

#[macro_use]
mod ladder;
#[macro_use]
mod keyed;
#[macro_use]
mod single_pass;
#[macro_use]
mod triple;

#[cfg(feature = "teaching")]
pub mod copy;
// The bodies alone are wanted by other crates' kernels.
#[cfg(feature = "library")]
pub mod library;
#[cfg(feature = "teaching")]
pub mod teaching;

#[doc(hidden)]
pub mod parts {
    //! What the families' macros use; no interface.

    #[cfg(not(target_arch = "nvptx64"))]
    pub use super::single_pass::{Sizes, sizes};
    #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
    pub use super::single_pass::{storage, threads_of};
    pub use crate::items::Items;
    pub use crate::keyed::Task;
    pub use crate::mem::{Global, MOST_BYTES, Shared};
    pub use crate::needs::{Load, Needs, Scratch};
    pub use crate::op::Op;
    pub use crate::single_pass::single_pass;
    pub use cuda_std::kernel;
}

#[doc(hidden)]
pub mod ladder_parts {
    //! What the families of reductions in several launches use; no interface.

    pub use super::parts::*;
    pub use crate::ceiling;
    pub use crate::harris::*;
    pub use crate::kepler::*;
}

#[doc(hidden)]
pub mod keyed_parts {
    //! What the families of reductions by key use; no interface.

    pub use super::parts::*;
    pub use crate::keyed::atomic::keyed_atomic;
    pub use crate::keyed::bins::{self, BINS, keyed_bins};
    pub use crate::keyed::peers::{Ballot, Match};
    pub use crate::keyed::runs::{self, keyed_runs};
    pub use crate::keyed::warp::keyed_warp;
    pub use crate::op::ByCas;
    pub use crate::shared_array;
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host;

/// Items that are functions: on the device, and on the host for simulators.
#[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! compiled {
    ($($items:item)*) => { $($items)* };
}

/// Items that are functions: none, since nothing runs them.
#[cfg(not(any(feature = "simulator", target_arch = "nvptx64")))]
#[doc(hidden)]
#[macro_export]
macro_rules! compiled {
    ($($items:item)*) => {};
}

/// What says to `cuda_builder` in which module of PTX a kernel goes, and how many threads its blocks have
/// at most.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[macro_export]
macro_rules! note {
    ($kernel:ident in $module:ident) => {
        ::core::arch::global_asm!(concat!(
            "//!cuda ", stringify!($kernel), " module=", stringify!($module)
        ));
    };
    ($kernel:ident in $module:ident, $threads:expr) => {
        ::core::arch::global_asm!(
            concat!(
                "//!cuda ", stringify!($kernel), " module=", stringify!($module),
                " nvvm.maxntid={},1,1 nvvm.minctasm=1"
            ),
            const $threads
        );
    };
}

/// On the host: nothing, since no module is built.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! note {
    ($($any:tt)*) => {};
}

/// The function of a row, for simulators.
#[cfg(feature = "simulator")]
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    (|$values:ident| $call:expr) => {
        Some(|values| {
            #[allow(unused_mut, reason = "every entry reads some")]
            let mut $values = $crate::entry::Values(values);
            // SAFETY: whoever calls a row's function vouches for its arguments.
            unsafe { $call }
        })
    };
}

/// The function of a row: none, since there is no simulator.
#[cfg(not(feature = "simulator"))]
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    ($($any:tt)*) => {
        None
    };
}
