//! GPU reductions in pure Rust.
//!
//! ```
//! use warpfold::{Device, Sum};
//!
//! let device = Device::auto()?;              // the first CUDA device, or else the CPU
//! if let Some(reason) = device.fallback_reason() {
//!     println!("no GPU: {reason}");
//! }
//! let data: Vec<i32> = (1..=1000).collect();
//! let x = device.upload(&data)?;             // Buffer<i32>
//! assert_eq!(device.sum(&x)?, 500_500);
//! assert_eq!(device.max(x.view(..10)?)?, Some(10));
//!
//! // The same with an operator: prepared once, run many times.
//! let mut plan = device.reduce(&x, Sum).plan()?;
//! plan.enqueue()?;                           // no allocation, no wait
//! assert_eq!(plan.result()?, 500_500);
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! | on the host | on the device | |
//! |---|---|---|
//! | `Vec<T>` | [`Buffer<T>`] | [`Device::upload`], [`Buffer::write`], [`Buffer::download`] |
//! | `&[T]` | [`View<T>`](View) | [`Buffer::view`]; any start, no copy |
//! | `&mut [T]` | [`ViewMut<T>`](ViewMut) | [`Buffer::view_mut`]; several threads can write disjoint parts |
//! | a file | | [`file`](mod@file): `.npy` and raw; read at once, mapped, or in pieces |
//! | `iter().sum()` | [`sum`](Device::sum), [`sum_wide`](Device::sum_wide), [`product`](Device::product) | this call and all below up to `norm_inf` wait for the result |
//! | `iter().min()`, `position_min` | [`min`](Device::min), [`max`](Device::max), [`min_max`](Device::min_max), [`argmin`](Device::argmin), [`argmax`](Device::argmax) | `None` for empty input |
//! | `iter().all(..)`, `filter(..).count()` | [`all`](Device::all), [`any`](Device::any), [`count`](Device::count) | by a [`Predicate`] |
//! | statistics | [`mean`](Device::mean), [`mean_variance`](Device::mean_variance), [`weighted_mean`](Device::weighted_mean) | one pass |
//! | `filter(..)` of NaN | [`nan_sum`](Device::nan_sum), [`nan_min`](Device::nan_min), [`nan_max`](Device::nan_max), [`nan_argmin`](Device::nan_argmin), [`nan_argmax`](Device::nan_argmax), [`nan_mean_variance`](Device::nan_mean_variance) | floats only |
//! | `zip(..).map(..).sum()` | [`dot`](Device::dot), [`norm_l1`](Device::norm_l1), [`norm_l2`](Device::norm_l2), [`norm_inf`](Device::norm_inf) | in 64 bits |
//! | `iter().fold(..)` | [`Device::reduce`] by an operator of the library or your own | one array, or several side by side |
//! | a closure to call later | [`Plan`] | [`Device::reduce`], then [`plan`](Reduction::plan); an [`OwnedPlan`] owns its buffers |
//! | the same on new data | [`Graph`] | [`Device::graph`] |
//! | a sum without rounding | [`Accumulator`] | [`Reduction::accumulate`], [`Device::accumulate_chunks_of`]; rounded once: [`Device::determinism`] |
//! | a loop that adds into `cells[key]` | [`Cells`] | [`Device::cells`], [`Device::reduce_by_key`] |
//! | a hash map from keys to results | [`Groups`] | [`Device::group_by`], [`Device::group`]; keys of any value, in any order |
//! | a histogram | [`Cells`] | [`Device::count_by_key`], [`Cells::count`] |
//! | an iterator over more data than fits in memory | [`Chunks`] | [`Device::reduce_iter`], [`Device::reduce_chunks`]; several arrays: [`Device::reduce_chunks_of`] |
//! | an array that is spread over devices or machines | | [`many::Distributed`] |
//! | a thread | [`Device::new_stream`] | [`Device::reduce_into`] stores the result on the device |
//! | memory that is copied in the background | [`Pinned`] | [`Device::enqueue_write`], [`Device::enqueue_read`] |
//! | a raw pointer | [`Device::view_ptr`], [`Device::buffer_ptr`] | and `cust`'s buffers: [`Device::buffer_from_cust`], [`Buffer::into_cust`] |
//!
//! | layer (uses only the layers below) | purpose |
//! |---|---|
//! | `reduce`, `single_pass`, `plan` | empty input, launch policy, the passes |
//! | `launch` | the only function that launches a kernel; it checks the arguments against the kernel's parameters |
//! | [`Device`], [`Buffer`], streams | owning types |
//! | `driver` | driver calls that `cust` lacks |
//!
//! # Operators and elements
//!
//! | operators | elements |
//! |---|---|
//! | [`Sum`], [`SumWide`], [`Product`], [`Min`], [`Max`], [`MinMax`], [`ArgMin`], [`ArgMax`], [`SumAbs`], [`SumSquares`], [`MeanVariance`] | all [numbers](Number): integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`], `f32`, `f64` |
//! | [`And`], [`Or`], [`Xor`] | integers |
//! | [`NanSum`], [`NanMin`], [`NanMax`], [`NanArgMin`], [`NanArgMax`], [`NanMeanVariance`] | floats |
//! | [`Count`] of [`Equal`], [`Less`], [`Greater`], [`InRange`], [`IsNan`] | numbers; [`IsNan`]: floats |
//! | [`Dot`], [`WeightedMean`] | pairs of numbers, of two arrays; [`WeightedMean`]: of floats |
//! | [`ArgMin`], [`ArgMax`] | [`Indexed`] numbers of 32 and 64 bits: the extremum of extrema |
//!
//! A combination without a kernel does not compile. `kernels_gpu::entry::library::KERNELS` lists the elements
//! of every operator.
//!
//! You can write your own operators and elements: types that implement `kernels_gpu`'s traits [`Op`] and
//! [`Element`], in a crate of kernels. In that crate `kernels!` lists which operator reduces which elements.
//! The program's build script compiles the crate to PTX (`warpfold_build::embed`), [`embedded!`] includes the
//! PTX in the program, and [`Device::with`] registers the kernels with a device. Every other device, the CPU
//! too, returns [`Error::NotRegistered`]. The feature `laws` adds `laws::check`, which tests an operator with
//! random items.
//!
//! # The feature `teaching`
//!
//! The feature adds the kernels that show, step by step, how GPU reductions became fast. `Algorithm` selects
//! one of them for sums of 32-bit and 64-bit numbers, and for minima and maxima of `i32` and `f32`. The
//! feature also adds `Device::sum_triples`, `Device::copy`, `Device::filter_above`, `Device::find_peers`,
//! `Device::all_reduce_peers` and `Device::read_ceiling`.
//!
//! | `Algorithm` | launches | floats bit-equal from run to run | temporary storage |
//! |---|---|---|---|
//! | `SinglePass` (the default, with and without the feature) | one | yes | a partial per block, and an arrival counter |
//! | `Stable`, `StableAll` | two | yes | a partial per block |
//! | `WarpAtomic`, `BlockAtomic`, `Naive`, `SharedMemory` | a copy and one kernel | not for sums | one value |
//! | `Reduce0` to `Reduce5` | one per level of partials | yes | the partials of the first two launches |
//!
//! # The feature `ndarray`
//!
//! The feature adds `Device::reduce_axis_of` and `Device::reduce_axes_of`, which reduce arrays of the crate `ndarray` along axes
//! and return such arrays.
//!
//! # What to expect
//!
//! - **Empty input.** Sums, counts and norms are 0, products 1. Extrema, means and indices are `None`.
//!   Nothing is launched. A result that stays on the device is not finished: [`Device::reduce_into`] stores
//!   the operator's identity, and [`Cells`] hold its [`initial`](Op::initial) value.
//! - **Numbers.** Integers wrap in their own type, and in 64 bits for [`SumWide`]. 16-bit floats are added in
//!   `f32`, other floats in their own type. If any element is a NaN, the result is a NaN, except for
//!   [`NanMin`] and [`NanMax`]. -0.0 is smaller than 0.0. [`ArgMin`] and [`ArgMax`] return the first of equal
//!   elements.
//! - **Determinism.** A result of floats has the same bits on every GPU, on the CPU and under the simulator, for every
//!   alignment, number of threads and length of chunks: all add in the order of `docs/order.md`, version
//!   [`ORDER_VERSION`]. The exceptions are the sign and payload of a NaN, and with the feature `teaching` triples and the
//!   algorithms of the table. [`Device::determinism`] selects another level: `Exact` for exact sums, rounded once, or
//!   `Fast`, which float sums by key need, because atomics add them in any order.
//! - **Accuracy.** Floats are added pairwise. The error of a sum of n elements is at most d u / (1
//!   - d u) times the sum of the magnitudes:
//!
//!   | elements | d (at least the first number) | u |
//!   |---|---|---|
//!   | `f32` | 14 + ceil(log2(n / 1024)) | 2^-24 |
//!   | `f64` | 13 + ceil(log2(n / 512)) | 2^-53 |
//!   | `f16`, `bf16` | 15 + ceil(log2(n / 2048)) | 2^-24, and one more rounding at the end |
//! - **Errors.** There is one enum, [`Error`], whose texts contain the values. Bad input never panics. After
//!   a fault in a kernel the driver refuses all further work of the process on that device
//!   ([`Error::is_sticky`]); restart the process.
//! - **Cost of a call that waits.** On an H200, about 4 µs more than the same launch between two events on an
//!   idle stream (`benches/records/h200/2026-11-22/bench`). After a stream's first call for an
//!   array of such a length it allocates nothing. [`Device::reduce_into`] and [`Graph::launch`] do not wait.
//! - **Memory.** The calls that wait share 200 KB per stream, which the stream's first call allocates: a partial for each
//!   64 KiB of an array. That is enough for sums of 1.5 GiB in 32 bits; the first call for a longer array allocates more
//!   and keeps it. A [`Plan`] and a [`Device::scratch`] have their own storage.
//! - **Streams.** All work of a [`Device`] and its clones is done in the order of the calls. Memory is freed
//!   after a wait for all streams of the device.
//!
//! # One binary everywhere
//!
//! The kernels are written in Rust. Building this crate compiles them to PTX for sm_75 and sm_80 and embeds
//! it, as one module for each family and element type. The driver compiles a module for the device when it is
//! first used. Later devices run the PTX for sm_80; ptxas makes the same machine code for sm_90 from it as
//! from PTX for sm_90. Building needs no CUDA installation, and a program starts without a driver. Only Linux
//! is supported for now.

mod axes;
mod backend;
mod buffer;
mod calls;
mod chunks;
mod cpu;
mod determinism;
mod device;
mod driver;
mod element;
mod error;
mod exact;
pub mod file;
mod gpu;
mod graph;
mod groups;
mod host;
mod info;
mod input;
mod interop;
mod keyed;
mod launch;
pub mod many;
mod memory;
#[doc(hidden)]
pub mod module;
mod number;
mod owned_plan;
mod pass;
mod pinned;
mod plan;
mod policy;
mod reduce;
mod reduced_by;
mod segments;
mod single_pass;
mod stream;
#[cfg(feature = "teaching")]
mod teaching;
mod temp;
mod view_mut;
mod workspace;

pub use axes::{AxisScratch, Strided};
pub use buffer::{Buffer, View};
pub use chunks::{ChunkSource, Chunks};
pub use determinism::Determinism;
pub use device::Device;
pub use element::Element;
pub use error::{Error, GroupsError, OtherError, RanksError, StartError};
pub use graph::Graph;
pub use groups::{Arranged, GroupBy, GroupKey, Groups};
pub use info::DeviceInfo;
pub use input::{Input, Inputs, Items};
pub use interop::Refused;
pub use kernels_gpu::element::{Extrema, Indexed, Moments, ScaledSquares, bf16, f16};
pub use kernels_gpu::entry::{Axes, Keyed, RunKey, Segments, SinglePass};
#[cfg(feature = "teaching")]
pub use kernels_gpu::entry::{Ceiling, Ladder, Triple};
pub use kernels_gpu::exact::{Accumulator, BytesError};
#[cfg(feature = "laws")]
pub use kernels_gpu::laws;
pub use kernels_gpu::op::{
    And, ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, IsNan, Less, Max, MeanVariance, Min,
    MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin, NanSum, Op, Or, Product, Sum,
    SumAbs, SumSquares, SumWide, WeightedMean, Xor,
};
pub use kernels_gpu::tile::ORDER_VERSION;
pub use keyed::{ByKey, Cells, Key, KeyedAlgorithm, RejectedKey};
pub use module::Embedded;
pub use number::{Float, Mean, Norm, Number, Predicate};
pub use owned_plan::OwnedPlan;
pub use pass::Pass;
pub use pinned::Pinned;
pub use plan::Plan;
pub use policy::Policy;
pub use reduce::Reduction;
pub use reduced_by::ReducedBy;
pub use segments::{Offset, RunLengths, Runs, SegmentScratch};
#[cfg(feature = "teaching")]
pub use teaching::{Algorithm, CopyWidth, Counter, LadderReduction, PeerSearch, TripleOrder};
pub use temp::Scratch;
pub use view_mut::{Target, ViewMut};

/// Compiles and runs the README's example as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The same of the page about segments.
#[cfg(doctest)]
#[doc = include_str!("../../docs/segments.md")]
struct SegmentsPage;

/// The same of the page about groups.
#[cfg(doctest)]
#[doc = include_str!("../../docs/groups.md")]
struct GroupsPage;

/// The same of the page about ranks.
#[cfg(doctest)]
#[doc = include_str!("../../docs/many.md")]
struct ManyPage;
