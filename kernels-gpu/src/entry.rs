//! Entry points: how generic bodies become kernels that the host launches.
//!
//! [`kernels!`](crate::kernels) takes a list of families, operators and items. For each of them it calls the
//! family's macro, in a file of this folder, which makes
//!
//! - on the device, the entry points: [`#[kernel]`](cuda_std::kernel) functions that call the generic body;
//! - on the host, a table row for each entry point ([`Entry`]), and an `impl` of the family's trait that
//!   connects operator and items with the row ([`SinglePass`]). So a combination without a kernel does not
//!   compile.
//!
//! | family | entry points | trait of the operator |
//! |---|---|---|
//! | `single_pass` | `single_pass_<operator>_<items>` | [`SinglePass`] |
//! | `exact` | `exact_<operator>_<items>` | none: [`exact_of`] finds the row |
//! | `segments` | `segments_<operator>_<items>`, `segments_combine_<operator>_<items>`, `segments_by_part_<operator>_<items>` | [`Segments`] |
//! | `runs` | `find_runs_<key>` | [`RunKey`], of the key |
//! | `groups` | `group_combine_<operator>_<element>_by_<key>` | none: [`groups::combine_of`] finds the row |
//! | `axes` | `axes_<operator>_<items>`, `axes_combine_<operator>_<items>` | [`Axes`] |
//! | `keyed`, `keyed_all` | `<kernel>_<operator>_<element>_by_<key>` | [`Keyed`] |
//! | `ladder`, `ladder_redux` | `<kernel>_<operator>_<element>` | [`Ladder`] |
//! | `ceiling` | `read_ceiling_<operator>_<element>` | [`Ceiling`] |
//! | `groups_in_parts` | `group_collect_<operator>_<element>_by_u32` | none: [`groups::collect_of`] finds the row |
//! | none: [`groups`] | `<kernel>_by_<key>`, `<kernel>_<word>` | none: [`groups::of`] finds the row |
//! | none: [`count`] | `<kernel>_by_<key>` | none: [`count::of`] finds the row |
//! | `triple` | `<kernel>_<operator>_<element>` | [`Triple`] |
//!
//! The library's own lists are `library` and `teaching`, behind features with these names. On the host, entry
//! points are functions only with the feature `simulator`.
//!
//! # Parameters
//!
//! A slice is two scalars, address and length, as in Rust-CUDA's `#[kernel]`. The operator is a parameter only
//! if it has fields. Each row lists its parameters ([`Entry::parameters`]).

#[macro_use]
mod axes;
#[macro_use]
mod exact;
#[macro_use]
pub mod groups;
#[macro_use]
mod ladder;
#[macro_use]
mod keyed;
#[macro_use]
mod runs;
#[macro_use]
pub mod segments;
#[macro_use]
mod single_pass;
#[macro_use]
mod triple;

#[cfg(feature = "teaching")]
pub mod copy;
#[cfg(feature = "library")]
pub mod count;
// Kernels in other crates may use only the generic bodies.
#[cfg(feature = "library")]
pub mod library;
#[cfg(feature = "teaching")]
pub mod teaching;

#[doc(hidden)]
pub mod parts {
    //! Names for the families' macros; not a public interface.

    #[cfg(not(target_arch = "nvptx64"))]
    pub use super::single_pass::{Sizes, sizes};
    #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
    pub use super::single_pass::{blocks_of, storage};
    pub use crate::exact_sum::{Layout, exact_sum, rows_of};
    pub use crate::items::Items;
    pub use crate::mem::{Global, MOST_BYTES, Shared};
    pub use crate::needs::{Load, Needs, ResultIn, Scratch};
    pub use crate::op::Op;
    pub use crate::single_pass::{most_threads, single_pass};
    pub use cuda_std::kernel;
}

#[doc(hidden)]
pub mod ladder_parts {
    //! Names for the families of reductions in several launches; not a public interface.

    pub use super::parts::*;
    pub use crate::ceiling;
    pub use crate::harris::*;
    pub use crate::kepler::*;
}

#[doc(hidden)]
pub mod segments_parts {
    //! Names for the family of segmented reductions; not a public interface.

    pub use super::parts::*;
    #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
    pub use super::segments::{by_part_blocks_of, most_blocks_of, offsets_of, storage_of};
    pub use crate::segments::by_part::{self, Storage, by_part};
    pub use crate::segments::combine::combine;
    pub use crate::segments::window::window;
    pub use crate::segments::{Reports, Shape, shared_bytes};
}

#[doc(hidden)]
pub mod runs_parts {
    //! Names for the family that finds runs; not a public interface.

    pub use super::parts::*;
    pub use crate::element::Element;
    pub use crate::runs::{
        BLOCKS, Starts, THREADS, Work, find_runs, keys_of_row, keys_of_thread, rows_of,
        shared_bytes,
    };
}

#[doc(hidden)]
pub mod groups_parts {
    //! Names for the family of groups; not a public interface.

    pub use super::parts::*;
    pub use crate::groups::parts::Pairs;
    pub use crate::groups::parts::collect::{self, Collected, collect};
    pub use crate::groups::{Table, insert};
    pub use crate::shared_array;
}

#[doc(hidden)]
pub mod axes_parts {
    //! Names for the family of reductions along axes; not a public interface.

    pub use super::parts::*;
    pub use crate::axes::columns::columns;
    pub use crate::axes::combine::combine;
    pub use crate::axes::{Shape, shared_bytes, width_of};
}

#[doc(hidden)]
pub mod keyed_parts {
    //! Names for the families of reductions by key; not a public interface.

    pub use super::parts::*;
    pub use crate::keyed::atomic::keyed_atomic;
    pub use crate::keyed::bins::{self, BINS, keyed_bins};
    pub use crate::keyed::peers::{Ballot, Match};
    pub use crate::keyed::runs::{self, keyed_runs};
    pub use crate::keyed::warp::keyed_warp;
    pub use crate::keyed::{Keys, Rejected, Task};
    pub use crate::op::ByCas;
    pub use crate::shared_array;
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host;

// `not(test)`: the unit tests of this crate launch nothing, and compiling its entry points takes minutes.

/// Functions that exist on the device, and on the host for the simulator.
#[cfg(any(all(feature = "simulator", not(test)), target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! compiled {
    ($($items:item)*) => { $($items)* };
}

/// Functions that do not exist on the host without the simulator, because nothing runs them.
#[cfg(not(any(all(feature = "simulator", not(test)), target_arch = "nvptx64")))]
#[doc(hidden)]
#[macro_export]
macro_rules! compiled {
    ($($items:item)*) => {};
}

/// The note that tells `cuda_builder` the PTX module of a kernel, the maximum number of threads of its blocks, and how
/// many of these a multiprocessor must be able to hold at the same time.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[macro_export]
macro_rules! note {
    ($kernel:ident in $module:ident) => {
        ::core::arch::global_asm!(concat!(
            "//!cuda ", stringify!($kernel), " module=", stringify!($module)
        ));
    };
    ($kernel:ident in $module:ident, $threads:expr, $blocks:expr) => {
        ::core::arch::global_asm!(
            concat!(
                "//!cuda ", stringify!($kernel), " module=", stringify!($module),
                " nvvm.maxntid={},1,1 nvvm.minctasm={}"
            ),
            const $threads,
            const $blocks
        );
    };
}

/// Nothing on the host, where no module is built.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! note {
    ($($any:tt)*) => {};
}

/// The function of a row, for the simulator.
#[cfg(all(feature = "simulator", not(test)))]
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    (|$values:ident| $call:expr) => {
        Some(|values| {
            #[allow(unused_mut, reason = "every entry reads some")]
            let mut $values = $crate::entry::Values(values);
            // SAFETY: the caller of a row's function guarantees its arguments.
            unsafe { $call }
        })
    };
}

/// No function, because there is no simulator.
#[cfg(not(all(feature = "simulator", not(test))))]
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    ($($any:tt)*) => {
        None
    };
}
