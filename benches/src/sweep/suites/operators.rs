//! User-defined operators and elements (`examples/kernels`), and CUB with the same functors.
//!
//! | operator | items | the expected answer |
//! |---|---|---|
//! | `sum` | `complex` | exact: both parts are multiples of 1/128 whose sums fit an `f32` |
//! | `squares_about` | `f32` | exact: the squares are 0 and 1, and fewer than 2^24 of them are 1 |
//! | `bounding_box` | `point` | exact: no rounding; each of the six extremes is planted once |
//! | `best` | `scored` | exact: no rounding and no NaN; the largest score is planted twice, with two ids |
//! | `mat_product` | `mat2` | exact: triangular matrices of small integers, with 1 or -1 on the diagonal |
//! | `dot3` | three arrays of `f32` | exact: products and sums are multiples of 2^-21 that fit an `f64` |
//! | `log_sum_exp` | `f32` | computed in `f64`, and compared with a tolerance |
//!
//! CUB cannot multiply matrices: `DeviceReduce` requires a commutative operator.

mod arrays;
mod cases;
mod group;
mod peers;

use std::iter;

use anyhow::Result;
use warpfold::{Buffer, Device, Items, SinglePass};
use warpfold_results::schema::By;

use self::arrays::{Arrays, ItemsOf};
use self::cases::{Best, BoundingBox, Case, ComplexSum, Dot3, LogSumExp, MatProduct, SquaresAbout};
use self::group::Group;
use super::Bench;
use crate::KERNELS;
use crate::peers::Peers;
use crate::sweep::copies::{Copies, launches};
use crate::sweep::data::draw;
use crate::sweep::options::SweepOptions;
use crate::sweep::run::Sweep;

/// The input size in bytes at which all operators are timed.
const COMMON_BYTES: usize = 1 << 30;

/// Times every operator and size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let gpu = bench.gpu.with(&KERNELS)?;
    let requested: Vec<_> = CASES
        .iter()
        .filter(|case| bench.options.wants_kernel((case.op)()))
        .collect();
    let groups = requested
        .iter()
        .map(|case| sizes(bench.options, case.bytes).len());
    sweep.announce(groups.sum());
    let functors = bench.options.wants(By::Cub).then(|| {
        let functors = peers::build(bench.info.compute_capability);
        sweep.peer_built(By::Cub, functors.as_ref().map(|functors| &functors.built));
        functors
    });
    let functors = functors.and_then(Result::ok);
    // The ceiling reads its own input of the same size.
    let largest = |case: &&AnyCase| {
        sizes(bench.options, case.bytes)
            .last()
            .map(|n| n * case.bytes)
    };
    let bytes = requested.iter().filter_map(largest).max();
    let words_on_host = draw::<i32>(
        bytes.unwrap_or(0).div_ceil(size_of::<i32>()),
        sweep.seed() + 1,
    )?;
    let mut words = bench.gpu.upload(&words_on_host)?;
    let suite = Operators {
        bench,
        gpu: &gpu,
        functors: functors.as_ref(),
        words_on_host: &words_on_host,
    };
    let mut requested = requested.iter();
    requested.try_for_each(|case| (case.run)(&suite, &mut words, sweep))
}

/// The device, the peers and the ceiling's input of all operators.
struct Operators<'a> {
    bench: &'a Bench<'a>,
    /// The device with the operators' kernels.
    gpu: &'a Device,
    functors: Option<&'a Peers>,
    /// The ceiling's input, on the host.
    words_on_host: &'a [i32],
}

/// A case of any type.
struct AnyCase {
    op: fn() -> &'static str,
    /// The size of an item.
    bytes: usize,
    run: fn(&Operators, &mut Buffer<i32>, &mut Sweep) -> Result<()>,
}

const CASES: [AnyCase; 7] = [
    any_case::<ComplexSum>(),
    any_case::<SquaresAbout>(),
    any_case::<BoundingBox>(),
    any_case::<Best>(),
    any_case::<MatProduct>(),
    any_case::<Dot3>(),
    any_case::<LogSumExp>(),
];

const fn any_case<C: Case>() -> AnyCase {
    AnyCase {
        op: || <C::Op as SinglePass<ItemsOf<C>>>::ENTRY.op,
        bytes: <ItemsOf<C> as Items>::BYTES,
        run: sizes_of::<C>,
    }
}

/// The requested numbers of items, sorted; by default powers of two and one that fills [`COMMON_BYTES`].
fn sizes(options: &SweepOptions, bytes: usize) -> Vec<usize> {
    let mut sizes = options.sizes(16..=28, 4);
    if options.sizes.is_empty() && !options.quick {
        sizes.push(COMMON_BYTES / bytes);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Times all sizes of one operator, the smallest first.
fn sizes_of<C: Case>(suite: &Operators, words: &mut Buffer<i32>, sweep: &mut Sweep) -> Result<()> {
    let sizes = sizes(suite.bench.options, <ItemsOf<C> as Items>::BYTES);
    let longest = sizes.last().copied().unwrap_or(1);
    if sweep.is_over() {
        return Ok(());
    }
    let mut arrays = C::draw(longest, sweep.seed())?;
    let mut buffers = arrays.upload(suite.gpu)?;
    for (rank, n) in sizes.into_iter().enumerate() {
        if sweep.is_over() {
            return Ok(());
        }
        C::plant(&mut arrays, &mut buffers, n, rank, sweep.seed())?;
        let bytes = n * <ItemsOf<C> as Items>::BYTES;
        let count = launches(bytes);
        let more = (1..count).map(|_| arrays.upload_first(suite.gpu, n));
        let more = more.collect::<Result<Vec<_>>>()?;
        let words_on_host = &suite.words_on_host[..bytes.div_ceil(size_of::<i32>())];
        let group = Group::<C> {
            suite,
            copies: iter::once(&buffers).chain(&more).collect(),
            expected: C::expected(&arrays, n)?,
            words: Copies::with_count(suite.bench.gpu, words, words_on_host, count)?,
            n,
        };
        group.time(sweep)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
