//! The right answers of single passes: naive loops, and how far a rounded one may be from them.

use cuda_sim::Simulator;
use kernels_gpu::element::{
    Element, Extrema, Moments, Number, ScaledSquares, bf16, f16, indexed_f32, indexed_f64,
    indexed_i32, indexed_i64, indexed_u32, indexed_u64,
};
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Magnitude, Max, MeanVariance, Min, NanMax, NanMin, Op, Or, Product,
    Squares, Sum, SumWide, Wide, Xor,
};

use super::{Given, Launched, SinglePass, WrongPass};
use crate::for_all_pairs;
use crate::oracle::{Drawn, Oracle, Subject, Total, Value, close};

type Verdict = Result<(), String>;

/// Runs a launch by the judge of its operator and type.
pub(super) fn run(pass: &SinglePass, simulator: Simulator) -> Result<Launched, WrongPass> {
    let (op, element) = (pass.entry.op, pass.entry.element);
    macro_rules! operator {
        ($op:ident $element:ident) => {
            if (op, element) == (<$op as Op<$element>>::NAME, $element::NAME) {
                return pass.launch(simulator, reduction::<$element, $op>);
            }
        };
    }
    for_all_pairs!(operator);
    macro_rules! numbers {
        ($($element:ident in $acc:ident)*) => {
            match (op, element) {
                $(
                    ("min_max", stringify!($element)) => pass.launch(simulator, min_max::<$element>),
                    ("sum_abs", stringify!($element)) => pass.launch(simulator, sum_abs::<$element>),
                    ("sum_squares", stringify!($element)) => {
                        pass.launch(simulator, $acc::sum_squares::<$element>)
                    }
                    ("mean_variance", stringify!($element)) => {
                        pass.launch(simulator, mean_variance::<$element>)
                    }
                    ("dot", stringify!($element)) => pass.launch(simulator, dot::<$element>),
                    ("count_equal", stringify!($element)) => {
                        pass.launch(simulator, count::<$element>(|x, value| x == value))
                    }
                    ("count_less", stringify!($element)) => {
                        pass.launch(simulator, count::<$element>(|x, value| x < value))
                    }
                    ("count_greater", stringify!($element)) => {
                        pass.launch(simulator, count::<$element>(|x, value| x > value))
                    }
                    #[allow(clippy::eq_op, reason = "a NaN differs from itself")]
                    ("count_is_nan", stringify!($element)) => {
                        pass.launch(simulator, count::<$element>(|x, _| x != x))
                    }
                )*
                _ => Err(WrongPass::NoOracle { op, element }),
            }
        };
    }
    numbers! {
        i8 in narrow i16 in narrow i32 in narrow i64 in narrow
        u8 in narrow u16 in narrow u32 in narrow u64 in narrow
        f16 in narrow bf16 in narrow f32 in narrow f64 in scaled
    }
}

/// By an operator that the other families have.
fn reduction<T, O>(given: Given<'_, T>, got: <O as Op<T>>::Acc) -> Verdict
where
    T: Drawn,
    O: Op<T, Acc: Value> + Oracle<<O as Op<T>>::Acc>,
{
    let lifted = (0..).zip(given.input);
    let lifted: Vec<_> = lifted
        .map(|(i, value)| <O as Op<T>>::lift(*value, i))
        .collect();
    let exact = given.whole && O::EXACT_ON_WHOLE;
    close(
        got,
        &O::expected(&lifted),
        if exact { 0.0 } else { given.chain },
    )
}

fn min_max<T>(given: Given<'_, T>, got: Extrema<T::Acc>) -> Verdict
where
    T: Drawn + Number<Acc: Subject>,
    Min: Oracle<T::Acc>,
    Max: Oracle<T::Acc>,
{
    let wide: Vec<T::Acc> = given.input.iter().map(|value| value.widen()).collect();
    close(got.min(), &<Min as Oracle<T::Acc>>::expected(&wide), 0.0)?;
    close(got.max(), &<Max as Oracle<T::Acc>>::expected(&wide), 0.0)
}

fn sum_abs<T>(given: Given<'_, T>, got: <T::Acc as Magnitude>::Magnitude) -> Verdict
where
    T: Drawn + Number<Acc: Magnitude<Magnitude: Total>>,
{
    let sizes = given.input.iter().map(|value| value.widen().magnitude());
    close(got, &Total::sum(&sizes.collect::<Vec<_>>()), given.chain)
}

/// Of all types but `f64`.
mod narrow {
    use super::*;

    pub fn sum_squares<T>(given: Given<'_, T>, got: f64) -> Verdict
    where
        T: Drawn + Number<Acc: Squares<Squares = f64>>,
    {
        let squares = given
            .input
            .iter()
            .map(|value| value.widen().to_f64().powi(2));
        close(got, &Total::sum(&squares.collect::<Vec<_>>()), given.chain)
    }
}

/// Of `f64`.
mod scaled {
    use super::*;

    pub fn sum_squares<T>(given: Given<'_, T>, got: ScaledSquares) -> Verdict
    where
        T: Drawn + Number,
    {
        let squares: Vec<_> = given
            .input
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

/// Within the error that [`MeanVariance`] has for elements that are not much larger than they are
/// spread.
fn mean_variance<T: Drawn + Number>(given: Given<'_, T>, got: Moments) -> Verdict {
    let got = <MeanVariance as Op<T>>::finish(got);
    let values: Vec<f64> = given
        .input
        .iter()
        .map(|value| Number::to_f64(*value))
        .collect();
    let n = values.len() as f64;
    if got.count() != n {
        return Err(format!("{} elements instead of {n}", got.count()));
    }
    if values.is_empty() {
        return match (got.mean(), got.squares()) {
            (0.0, 0.0) => Ok(()),
            _ => Err(format!("{got:?} of nothing")),
        };
    }
    // From the distances to one of them, whose sum is finite where their squares are.
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
    let rounding = 8.0 * (given.chain + 8.0) * f64::EPSILON;
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

fn dot<T>(given: Given<'_, T>, got: <T::Acc as Wide>::Wide) -> Verdict
where
    T: Drawn + Number<Acc: Wide<Wide: Total>>,
{
    let pairs = given.input.iter().zip(given.other);
    let products = pairs.map(|(a, b)| Wide::product(a.widen(), b.widen()));
    close(got, &Total::sum(&products.collect::<Vec<_>>()), given.chain)
}

fn count<T: Drawn>(holds: fn(T, T) -> bool) -> impl FnOnce(Given<'_, T>, u64) -> Verdict {
    move |given, got| {
        let yes = given.input.iter().filter(|x| holds(**x, given.value));
        match yes.count() as u64 {
            right if right == got => Ok(()),
            right => Err(format!("{got} instead of {right}")),
        }
    }
}
