//! Checks of reductions' results: naive loops, and error bounds for rounded results.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cuda_sim::Simulator;
use kernels_gpu::element::{Extrema, Indexed, Moments, Number, ScaledSquares, bf16, f16};
use kernels_gpu::entry::{Entry, SinglePass};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Count, Dot, Equal, Greater, InRange, IsNan, Less, Magnitude, Max,
    MeanVariance, Min, MinMax, NanArgMax, NanArgMin, NanMax, NanMeanVariance, NanMin, NanSum, Op,
    Or, Product, Squares, Sum, SumAbs, SumSquares, SumWide, WeightedMean, Wide, Xor,
};

use crate::case::{Case, Launched, Wrong};
use crate::data::DrawnItems;
use crate::for_all_pairs;
use crate::kernels::{Coefficient, Histogram, Horner, Parity, Part, Point, Spread, Volume};
use crate::oracle::{Drawn, Oracle, Subject, Total, Value, close};

pub type Verdict = Result<(), String>;

/// The input of a launch, for a checker.
#[derive(Clone, Copy)]
pub struct Given<'a, I> {
    pub items: &'a [I],
    /// The largest number of additions between an item and the result.
    pub chain: f64,
    /// Whether float sums are exact in every order.
    pub whole: bool,
}

/// Compares the result of a launch with the right one.
pub type Checker<I, O> = fn(&O, Given<'_, I>, <O as Op<I>>::Acc) -> Verdict;

/// Launches a case with an operator and items.
type Run = Box<dyn Fn(&Case, Simulator) -> Result<Launched, Wrong> + Send + Sync>;

/// By the names of operator and items.
#[derive(Default)]
struct Checkers(BTreeMap<(&'static str, &'static str), Run>);

static CHECKERS: LazyLock<Checkers> = LazyLock::new(Checkers::all);

/// Runs a launch with the checker of its operator and items.
pub fn run(case: &Case, simulator: Simulator) -> Result<Launched, Wrong> {
    match CHECKERS.0.get(&(case.entry.op, case.entry.items)) {
        Some(run) => run(case, simulator),
        None => Err(Wrong::NoOracle {
            entry: case.entry.name,
        }),
    }
}

/// Whether an entry's results have a checker.
pub fn has(entry: &Entry) -> bool {
    CHECKERS.0.contains_key(&(entry.op, entry.items))
}

impl Checkers {
    fn all() -> Self {
        let mut all = Self::default();
        macro_rules! pair {
            ($op:ident $element:ty) => {
                all.add::<$element, $op>(
                    |_| $op,
                    |_, given, got| reduction::<_, $op>($op, given, got),
                )
            };
        }
        for_all_pairs!(pair);
        macro_rules! numbers {
            ($($number:ident in $squares:ident)*) => { $(
                all.add::<$number, _>(|_| MinMax, min_max);
                all.add::<$number, _>(|_| SumAbs, sum_abs);
                all.add::<$number, _>(|_| SumSquares, $squares::sum_squares);
                all.add::<$number, _>(|_| MeanVariance, |_, given, got| {
                    moments(given.items.iter().copied(), given.chain, got)
                });
                all.add::<($number, $number), _>(|_| Dot, dot);
                all.add::<$number, _>(|x| Count(Equal(some(x))), |op, given, got| {
                    count(given, got, |x| x == op.0.0)
                });
                all.add::<$number, _>(|x| Count(Less(some(x))), |op, given, got| {
                    count(given, got, |x| x < op.0.0)
                });
                all.add::<$number, _>(|x| Count(Greater(some(x))), |op, given, got| {
                    count(given, got, |x| x > op.0.0)
                });
                all.add::<$number, _>(|x| Count(range(x)), |op, given, got| {
                    count(given, got, |x| op.0.0 <= x && x < op.0.1)
                });
            )* };
        }
        numbers! {
            i8 in narrow i16 in narrow i32 in narrow i64 in narrow
            u8 in narrow u16 in narrow u32 in narrow u64 in narrow
            f16 in narrow bf16 in narrow f32 in narrow f64 in scaled
        }
        macro_rules! floats {
            ($($float:ident)*) => { $(
                all.add::<$float, _>(|_| Count(IsNan), |_, given, got| {
                    count(given, got, |x: $float| x.is_nan())
                });
                all.add::<$float, _>(|_| NanMeanVariance, |_, given, got| {
                    let numbers = given.items.iter().copied().filter(|x| !x.is_nan());
                    moments(numbers, given.chain, got)
                });
                all.add::<($float, $float), _>(|_| WeightedMean, weighted_mean);
            )* };
        }
        floats!(f16 bf16 f32 f64);
        all.add::<u32, _>(odd, horner);
        all.add::<[u32; 3], _>(odd, horner);
        all.add::<(u32, u8), _>(odd, horner);
        all.add::<Point, _>(
            |points| Spread {
                centre: some(points),
            },
            spread,
        );
        all.add::<(f32, f64, i8), _>(|_| Volume, volume);
        all.add::<[u8; 3], _>(|_| Parity, parity);
        all.add::<[u8; 5], _>(|_| Parity, parity);
        all.add::<[u16; 3], _>(|_| Parity, parity);
        all.add::<[u16; 4], _>(|_| Parity, parity);
        all.add::<[u64; 4], _>(|_| Parity, parity);
        all.add::<u8, _>(|_| Histogram, histogram);
        all.add::<u32, _>(|_| Histogram, histogram);
        all
    }

    /// Adds an operator that is constructed from the items that it reduces.
    fn add<I: DrawnItems, O: SinglePass<I>>(
        &mut self,
        operator: fn(&[I]) -> O,
        checker: Checker<I, O>,
    ) {
        let names = (O::ENTRY.op, O::ENTRY.items);
        let run: Run =
            Box::new(move |case, simulator| case.launch_as(simulator, operator, checker));
        assert!(self.0.insert(names, run).is_none(), "{names:?} twice");
    }
}

/// One of the elements, if there are any, so that some are equal to it.
fn some<T: Drawn>(elements: &[T]) -> T {
    let one = elements.get(elements.len() / 2);
    one.copied().unwrap_or(T::ZEROES[0])
}

/// A range between two of the elements, so that some are inside, and some equal to its ends.
fn range<T: Drawn>(elements: &[T]) -> InRange<T> {
    let other = elements.get(elements.len() / 3);
    InRange(some(elements), other.copied().unwrap_or(T::ZEROES[0]))
}

/// An operator with a naive loop over accumulators.
fn reduction<T, O>(op: O, given: Given<'_, T>, got: <O as Op<T>>::Acc) -> Verdict
where
    T: Drawn,
    O: Op<T, Acc: Value> + Oracle<<O as Op<T>>::Acc>,
{
    let lifted = (0..).zip(given.items);
    let lifted: Vec<_> = lifted
        .map(|(i, value)| <O as Op<T>>::lift(&op, *value, i))
        .collect();
    let exact = given.whole && O::EXACT_ON_WHOLE;
    close(
        got,
        &O::expected(&lifted),
        if exact { 0.0 } else { given.chain },
    )
}

fn min_max<T>(_: &MinMax, given: Given<'_, T>, got: Extrema<T::Acc>) -> Verdict
where
    T: Drawn + Number<Acc: Subject>,
    Min: Oracle<T::Acc>,
    Max: Oracle<T::Acc>,
{
    let wide: Vec<T::Acc> = given.items.iter().map(|value| value.widen()).collect();
    close(got.min(), &<Min as Oracle<T::Acc>>::expected(&wide), 0.0)?;
    close(got.max(), &<Max as Oracle<T::Acc>>::expected(&wide), 0.0)
}

fn sum_abs<T>(_: &SumAbs, given: Given<'_, T>, got: <T::Acc as Magnitude>::Magnitude) -> Verdict
where
    T: Drawn + Number<Acc: Magnitude<Magnitude: Total>>,
{
    let sizes = given.items.iter().map(|value| value.widen().magnitude());
    close(got, &Total::sum(&sizes.collect::<Vec<_>>()), given.chain)
}

/// All types except `f64`.
mod narrow {
    use super::*;

    pub fn sum_squares<T>(_: &SumSquares, given: Given<'_, T>, got: f64) -> Verdict
    where
        T: Drawn + Number<Acc: Squares<Squares = f64>>,
    {
        let squares = given
            .items
            .iter()
            .map(|value| value.widen().to_f64().powi(2));
        close(got, &Total::sum(&squares.collect::<Vec<_>>()), given.chain)
    }
}

/// For `f64`.
mod scaled {
    use super::*;

    pub fn sum_squares<T>(_: &SumSquares, given: Given<'_, T>, got: ScaledSquares) -> Verdict
    where
        T: Drawn + Number,
    {
        let squares: Vec<_> = given
            .items
            .iter()
            .map(|value| ScaledSquares::of(Number::to_f64(*value)))
            .collect();
        for part in [
            ScaledSquares::large,
            ScaledSquares::medium,
            ScaledSquares::small,
        ] {
            let parts: Vec<f64> = squares.iter().map(|square| part(*square)).collect();
            close(part(got), &Total::sum(&parts), given.chain)?;
        }
        Ok(())
    }
}

/// Within the error bound of [`MeanVariance`] for elements that are not much larger than their standard
/// deviation.
fn moments<T: Drawn + Number>(
    numbers: impl Iterator<Item = T>,
    chain: f64,
    got: Moments,
) -> Verdict {
    let values: Vec<f64> = numbers.map(Number::to_f64).collect();
    let Some(got) = Op::<f64>::finish(&MeanVariance, got) else {
        return equal(values.len(), 0);
    };
    let n = values.len() as f64;
    if got.count() != n {
        return Err(format!("{} elements instead of {n}", got.count()));
    }
    // Computed from the distances to one element, whose sum is finite if their squares are.
    let distances: Vec<f64> = values.iter().map(|value| value - values[0]).collect();
    let shift = Total::sum(&distances).value / n;
    let mean = values[0] + shift;
    let squares: Vec<f64> = distances.iter().map(|d| (d - shift).powi(2)).collect();
    let squares = Total::sum(&squares).value;
    if !squares.is_finite() {
        return match got.mean().is_nan() && got.squares().is_nan() {
            true => Ok(()),
            false => Err(format!("{got:?} of squares that are no f64")),
        };
    }
    let rounding = 8.0 * (chain + 8.0) * f64::EPSILON;
    let near = |got: f64, right: f64, scale: f64| (got - right).abs() <= rounding * scale;
    let largest = values
        .iter()
        .fold(0.0, |size: f64, value| size.max(value.abs()));
    let size: f64 = squares + n * largest * largest;
    // Written so that a NaN fails.
    if near(got.mean(), mean, largest) && near(got.squares(), squares, size) {
        return Ok(());
    }
    Err(format!("{got:?} instead of mean {mean}, squares {squares}"))
}

fn dot<T>(_: &Dot, given: Given<'_, (T, T)>, got: <T::Acc as Wide>::Wide) -> Verdict
where
    T: Drawn + Number<Acc: Wide<Wide: Total>>,
{
    let pairs = given.items.iter();
    let products = pairs.map(|(a, b)| Wide::product(a.widen(), b.widen()));
    close(got, &Total::sum(&products.collect::<Vec<_>>()), given.chain)
}

fn weighted_mean<T>(_: &WeightedMean, given: Given<'_, (T, T)>, got: [f64; 2]) -> Verdict
where
    T: Drawn + Number,
{
    let pairs = given.items.iter();
    let pairs = pairs.map(|(x, w)| (Number::to_f64(*x), Number::to_f64(*w)));
    let (products, weights): (Vec<f64>, Vec<f64>) = pairs.map(|(x, w)| (x * w, w)).unzip();
    close(got[0], &Total::sum(&products), given.chain)?;
    close(got[1], &Total::sum(&weights), given.chain)
}

fn count<T: Drawn>(given: Given<'_, T>, got: u64, holds: impl Fn(T) -> bool) -> Verdict {
    let yes = given.items.iter().filter(|x| holds(**x));
    equal(got, yes.count() as u64)
}

fn equal<T: PartialEq + std::fmt::Debug>(got: T, right: T) -> Verdict {
    match got == right {
        true => Ok(()),
        false => Err(format!("{got:?} instead of {right:?}")),
    }
}

/// The point at which a polynomial is evaluated, by the polynomial's length.
fn odd<I>(coefficients: &[I]) -> Horner {
    let x = 0x9E37_79B1 ^ ((coefficients.len() as u32) << 1);
    Horner { x }
}

/// Horner's rule.
fn horner<I: Coefficient>(op: &Horner, given: Given<'_, I>, got: Part) -> Verdict {
    let (mut value, mut power) = (0u32, 1u32);
    for (i, item) in (0..).zip(given.items) {
        let coefficient = item.coefficient().wrapping_add(i);
        value = value.wrapping_mul(op.x).wrapping_add(coefficient);
        power = power.wrapping_mul(op.x);
    }
    equal(got, Part { value, power })
}

fn spread(op: &Spread, given: Given<'_, Point>, got: f64) -> Verdict {
    let centre = op.centre.x.map(f64::from);
    let mut squares = vec![];
    for Point { x } in given.items {
        squares.extend([0, 1, 2].map(|i| (f64::from(x[i]) - centre[i]).powi(2)));
    }
    // Two more additions for each point.
    close(got, &Total::sum(&squares), given.chain + 2.0)
}

fn volume(_: &Volume, given: Given<'_, (f32, f64, i8)>, got: f64) -> Verdict {
    let products = given.items.iter();
    let products = products.map(|(x, y, z)| f64::from(*x) * y * f64::from(*z));
    close(got, &Total::sum(&products.collect::<Vec<_>>()), given.chain)
}

fn parity<T, const N: usize>(_: &Parity, given: Given<'_, [T; N]>, got: [T; N]) -> Verdict
where
    T: Copy + Into<u64> + std::fmt::Debug,
{
    let mut right = [0; N];
    for array in given.items {
        for (right, number) in right.iter_mut().zip(array) {
            *right ^= (*number).into();
        }
    }
    equal(got.map(Into::into), right)
}

fn histogram<I: Copy + Into<u32>>(_: &Histogram, given: Given<'_, I>, got: [u64; 16]) -> Verdict {
    let mut counts = [0; 16];
    for item in given.items {
        counts[(*item).into() as usize % 16] += 1;
    }
    equal(got, counts)
}
