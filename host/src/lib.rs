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
//! // The same by any operator, prepared once and run again and again.
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
//! | `&mut [T]` | [`ViewMut<T>`](ViewMut) | [`Buffer::view_mut`]; parts of it for several threads |
//! | a file | | [`file`](mod@file): `.npy` and raw, read, mapped, or piece by piece |
//! | `iter().sum()` | [`sum`](Device::sum), [`sum_wide`](Device::sum_wide), [`product`](Device::product) | these wait, as all calls up to `norm_inf` |
//! | `iter().min()`, `position_min` | [`min`](Device::min), [`max`](Device::max), [`min_max`](Device::min_max), [`argmin`](Device::argmin), [`argmax`](Device::argmax) | `None` for empty input |
//! | `iter().all(..)`, `filter(..).count()` | [`all`](Device::all), [`any`](Device::any), [`count`](Device::count) | by a [`Predicate`] |
//! | statistics | [`mean`](Device::mean), [`mean_variance`](Device::mean_variance), [`weighted_mean`](Device::weighted_mean) | one pass |
//! | `filter(..)` of NaN | [`nan_sum`](Device::nan_sum), [`nan_min`](Device::nan_min), [`nan_max`](Device::nan_max), [`nan_argmin`](Device::nan_argmin), [`nan_argmax`](Device::nan_argmax), [`nan_mean_variance`](Device::nan_mean_variance) | floats only |
//! | `zip(..).map(..).sum()` | [`dot`](Device::dot), [`norm_l1`](Device::norm_l1), [`norm_l2`](Device::norm_l2), [`norm_inf`](Device::norm_inf) | in 64 bits |
//! | `iter().fold(..)` | [`Device::reduce`] by an operator of the library or your own | one array, or several side by side |
//! | a closure to call later | [`Plan`] | [`Device::reduce`] then [`plan`](Reduction::plan); [`OwnedPlan`] owns its buffers |
//! | the same on new data | [`Graph`] | [`Device::graph`] |
//! | a loop that adds into `cells[key]` | [`Cells`] | [`Device::cells`], [`Device::reduce_by_key`] |
//! | an iterator of more than memory holds | [`Chunks`] | [`Device::reduce_iter`], [`Device::reduce_chunks`]; of several arrays [`Device::reduce_chunks_of`] |
//! | a thread | [`Device::new_stream`] | [`Device::reduce_into`] leaves results on the device |
//! | memory that is copied meanwhile | [`Pinned`] | [`Device::enqueue_write`], [`Device::enqueue_read`] |
//! | a raw pointer | [`Device::view_ptr`], [`Device::buffer_ptr`] | and `cust`'s buffers: [`Device::buffer_from_cust`], [`Buffer::into_cust`] |
//!
//! | layer, each knowing only those below | does |
//! |---|---|
//! | `reduce`, `single_pass`, `plan` | empty input, policy, the passes |
//! | `launch` | the one launch, whose arguments are checked against the row of the kernel |
//! | [`Device`], [`Buffer`], streams | owning types |
//! | `driver` | what `cust` lacks |
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
//! What has no kernel does not compile; `kernels_gpu::entry::library::KERNELS` documents every operator with its
//! elements.
//!
//! Your own operators and elements are types with `kernels_gpu`'s traits [`Op`] and [`Element`], in a crate of
//! kernels: `kernels!` lists which operator reduces which elements. The program's build script compiles that
//! crate to PTX (`warpfold_build::embed`), [`embedded!`] puts the PTX into the program, and [`Device::with`]
//! gives a device that knows these kernels. Other devices answer [`Error::NotRegistered`], the CPU too.
//! The feature `laws` adds `laws::check`, which tests an operator of your own with random items.
//!
//! # The feature `teaching`
//!
//! It adds kernels that show how reductions became fast, and what they are measured against. `Algorithm`
//! chooses one of them for sums of numbers of 32 and 64 bits, and for minima and maxima of `i32` and `f32`;
//! there are also `Device::sum_triples`, `Device::copy` and `Device::read_ceiling`.
//!
//! | `Algorithm` | launches | floats bit-equal from run to run | temporary storage |
//! |---|---|---|---|
//! | `SinglePass`, the default without the feature too | one | yes | a partial per block, and an arrival counter |
//! | `Stable` | two | yes | a partial per block |
//! | `WarpAtomic`, `BlockAtomic`, `Naive`, `SharedMemory` | a copy and one | not sums | one value |
//! | `Reduce0` to `Reduce5` | one per level of partials | yes | a partial per block of the first two |
//!
//! # What to expect
//!
//! - **Empty input.** Sums, counts and norms are 0, products 1; extrema, means and their places are `None`, by
//!   name and by [`Device::reduce`]. Nothing is launched. What stays on the device is not finished: in
//!   [`Device::reduce_into`]'s cells is the operator's identity, in [`Cells`] its [`initial`](Op::initial) value.
//! - **Numbers.** Integers wrap in their own type, in [`SumWide`] in 64 bits. 16-bit floats are added
//!   in `f32`, others in their own type. A NaN anywhere is the result, except of [`NanMin`] and
//!   [`NanMax`]; -0.0 is smaller than 0.0. Of equal elements, [`ArgMin`] and [`ArgMax`] give the first.
//! - **Determinism.** The same bits on every run on the same device, except for float sums by atomics:
//!   [`Cells`], and with the feature `teaching` triples and the algorithms of the table. The CPU adds in another
//!   order than the GPU: the same bits on any number of threads.
//! - **Accuracy on the CPU.** Floats are added pairwise. The sum of n `f32` is wrong by at most
//!   d u / (1 - d u) times the sum of the magnitudes, where d = 18 + ceil(log2(n / 2048)), at least 18, and
//!   u = 2^-24; that of n `f64` likewise with 17 + ceil(log2(n / 1024)) and 2^-53. 16-bit floats are added
//!   in `f32`, with 26 + ceil(log2(n / 4096)), and rounded once more at the end.
//! - **Errors.** One enum, [`Error`], with the values in the text. Nothing panics on bad input. After a
//!   fault of a kernel the driver refuses the process everything on that device: the error says so
//!   ([`Error::is_sticky`]), and another process must go on.
//! - **Cost of a call that waits.** On an H200 3.7 to 4.3 µs more than the same launch between two events
//!   on an idle stream, 4.1 in the median (`benches/records/h200/2026-11-22/bench`), and no allocation, on
//!   the host or on the device, after a stream's first call. [`Device::reduce_into`] and [`Graph::launch`]
//!   do not wait.
//! - **Memory.** Calls that wait share 200 KB of their stream, made by its first; a [`Plan`] and
//!   [`Device::scratch`] have their own.
//! - **Streams.** All work of a [`Device`] and its clones is done in the order of the calls. Memory is
//!   freed after a wait for all streams.
//!
//! # One binary everywhere
//!
//! The kernels are Rust, compiled to PTX when this crate is built and embedded, for sm_75 and sm_80, in
//! modules of one family and one element type each. The driver compiles a module for the device when it is first
//! used: later devices run the PTX for sm_80, of which ptxas makes the same machine code for sm_90 as of PTX for
//! sm_90. No CUDA installation is needed to build, no driver to start. Linux
//! only for now.

mod backend;
mod buffer;
mod calls;
mod chunks;
mod cpu;
mod device;
mod driver;
mod element;
mod error;
pub mod file;
mod gpu;
mod graph;
mod host;
mod info;
mod input;
mod interop;
mod keyed;
mod launch;
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
mod single_pass;
mod stream;
#[cfg(feature = "teaching")]
mod teaching;
mod temp;
mod view_mut;
mod workspace;

pub use buffer::{Buffer, View};
pub use chunks::{ChunkSource, Chunks};
pub use device::Device;
pub use element::Element;
pub use error::{Error, OtherError};
pub use graph::Graph;
pub use info::DeviceInfo;
pub use input::{Input, Inputs, Items};
pub use interop::Refused;
pub use kernels_gpu::element::{Extrema, Indexed, Moments, ScaledSquares, bf16, f16};
#[cfg(feature = "teaching")]
pub use kernels_gpu::entry::{Ceiling, Ladder, Triple};
pub use kernels_gpu::entry::{Keyed, SinglePass};
#[cfg(feature = "laws")]
pub use kernels_gpu::laws;
pub use kernels_gpu::op::{
    And, ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, IsNan, Less, Max, MeanVariance, Min,
    MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin, NanSum, Op, Or, Product, Sum,
    SumAbs, SumSquares, SumWide, WeightedMean, Xor,
};
pub use keyed::{ByKey, Cells, Key, KeyedAlgorithm};
pub use module::Embedded;
pub use number::{Float, Mean, Norm, Number, Predicate};
pub use owned_plan::OwnedPlan;
pub use pass::Pass;
pub use pinned::Pinned;
pub use plan::Plan;
pub use policy::Policy;
pub use reduce::Reduction;
pub use reduced_by::ReducedBy;
#[cfg(feature = "teaching")]
pub use teaching::{Algorithm, CopyWidth, LadderReduction, TripleOrder};
pub use temp::Scratch;
pub use view_mut::{Target, ViewMut};

/// The README's example, compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
