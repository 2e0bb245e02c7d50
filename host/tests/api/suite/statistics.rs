//! Counts, means, norms and products: calls whose result has a different type than the elements.

use warpfold::{Device, Error, Extrema, Moments, Predicate, ReducedBy, SumAbs, View, bf16, f16};

use super::answers::{Array, Part, arrays};
use super::calls::{extremum, magnitude, test};
use super::compare::{close, context, equal, same};
use super::number::Number;
use super::{Test, differences};

pub fn tests() -> Vec<Test> {
    let mut tests = vec![];
    macro_rules! integers {
        ($($number:ident in $wide:ident),*) => { $(
            of::<$number, u64>(&mut tests);
            tests.push(test::<$number, $wide>("dot", reversed_dot, |got, _, part| {
                same(got, part.number("dot").expect("never null"))
            }));
        )* };
    }
    integers!(i8 in i64, i16 in i64, i32 in i64, i64 in i64, u8 in u64, u16 in u64, u32 in u64, u64 in u64);
    macro_rules! floats {
        ($($number:ident),*) => { $(
            of::<$number, f64>(&mut tests);
            tests.push(test::<$number, f64>("dot", reversed_dot, float_dot));
            tests.push(test::<$number, u64>(
                "count_nan",
                |device, x| device.count(x, Predicate::Nan),
                |got, _, part| equal(Some(got as usize), part.count("nan")),
            ));
            tests.push(test::<$number, Option<Moments>>(
                "nan_mean_variance",
                |device, x| device.nan_mean_variance(x),
                nan_moments,
            ));
            tests.push(test::<$number, Option<f64>>(
                "weighted_mean",
                |device, x| {
                    let weights: Vec<_> = (0..x.len()).map(|i| $number::from_f64((i % 5) as f64)).collect();
                    device.weighted_mean(x, &device.upload(&weights)?)
                },
                weighted_mean,
            ));
        )* };
    }
    floats!(f16, bf16, f32, f64);
    tests
}

/// Tests for all types; `W` is the type in which absolute values are added.
fn of<T, W>(tests: &mut Vec<Test>)
where
    T: Number + warpfold::Number + ReducedBy<SumAbs, Output = W>,
    W: Number,
{
    tests.extend([
        test::<T, Option<Extrema<T>>>(
            "min_max",
            |device, x| device.min_max(x),
            |got, array, part| {
                let (min, max) = (got.map(Extrema::min), got.map(Extrema::max));
                extremum(min, part.number("min"), array.of(part), true)?;
                extremum(max, part.number("max"), array.of(part), false)
            },
        ),
        test::<T, [bool; 2]>(
            "all_any",
            |device, x| Ok([device.all(x)?, device.any(x)?]),
            |got, _, part| equal(got, [part.truth("all"), part.truth("any")]),
        ),
        test::<T, f64>(
            "norm_l2",
            |device, x| device.norm_l2(x),
            |got, _, part| {
                match part.number::<f64>("norm_2_exact") {
                    Some(exact) => close(got, exact, part.n + 4, exact, f64::ROUNDOFF),
                    // The sum of the squares overflows f64; the norm may not.
                    None => Ok(()),
                }
            },
        ),
        test::<T, Option<f64>>(
            "norm_inf",
            |device, x| device.norm_inf(x),
            |got, _, part| match got {
                Some(got) => same(got, part.number("norm_inf").expect("never null")),
                None => equal(part.n, 0),
            },
        ),
        test::<T, W>(
            "norm_l1",
            |device, x| device.norm_l1(x),
            |got, array, part| {
                if T::ROUNDOFF > 0.0 {
                    let Some(exact) = part.number::<f64>("norm_1_exact") else {
                        return Ok(()); // the sum overflows f64
                    };
                    if part.n == 0 {
                        return same(got, W::from_f64(0.0));
                    }
                    return close(Number::to_f64(got), exact, part.n, exact, f64::ROUNDOFF);
                }
                // The sum of 64-bit integers wraps, unlike NumPy's float.
                let sizes = array.of(part).iter().map(|x| differences::size(*x));
                let wrapped = sizes.fold(0u64, u64::wrapping_add);
                equal(got.bits(), wrapped)
            },
        ),
        test::<T, Option<f64>>(
            "mean",
            |device, x| device.mean(x),
            |got, array, part| match (got, part.number::<f64>("mean_exact")) {
                (Some(got), Some(exact)) => {
                    let size = magnitude(array.of(part)) / part.n as f64;
                    close(got, exact, 4 * part.n + 8, size, f64::ROUNDOFF)
                }
                (None, None) => Ok(()),
                other => Err(format!("{other:?}")),
            },
        ),
        test::<T, Option<Moments>>(
            "mean_variance",
            |device, x| device.mean_variance(x),
            moments,
        ),
    ]);
    // Each count compares with one of the elements.
    tests.push(Test::new(
        format!("count/{}", <T as Number>::NAME),
        |device| {
            for array in arrays::<T>() {
                let buffer = array.upload(device)?;
                for part in &array.parts {
                    let x = part.view(&buffer)?;
                    let value: T = part.number("value").expect("never null");
                    let least: T = part.number("least").expect("never null");
                    for (name, predicate) in [
                        ("equal", Predicate::Equal(value)),
                        ("less", Predicate::Less(value)),
                        ("greater", Predicate::Greater(value)),
                        ("in_range", Predicate::InRange(least, value)),
                        ("nonzero", Predicate::Nonzero),
                    ] {
                        let got = device.count(x, predicate)? as usize;
                        equal(Some(got), part.count(name)).map_err(|wrong| {
                            format!("{}, {name}: {wrong}", context::<T>(array.name, part))
                        })?;
                    }
                }
            }
            Ok(())
        },
    ));
}

/// The dot product with the reversed part, as in NumPy's answers.
fn reversed_dot<T: warpfold::Number>(device: &Device, x: View<'_, T>) -> Result<T::Dot, Error> {
    let mut reversed = x.download()?;
    reversed.reverse();
    let reversed = device.upload(&reversed)?;
    device.dot(x, &reversed)
}

fn float_dot<T: Number>(got: f64, array: &Array<T>, part: &Part) -> Result<(), String> {
    let Some(exact) = part.number::<f64>("dot_exact") else {
        return Ok(()); // the squares overflow f64
    };
    let elements = array.of(part);
    let pairs = elements.iter().zip(elements.iter().rev());
    let size: f64 = pairs.map(|(a, b)| (a.to_f64() * b.to_f64()).abs()).sum();
    if part.n == 0 {
        return same(got, 0.0);
    }
    // A product may also underflow.
    close(
        got,
        exact,
        part.n + 1,
        size * (1.0 + 1e-9) + 1e-300,
        f64::ROUNDOFF,
    )
}

/// The weights are 0, 1, 2, 3, 4, 0, ...
fn weighted_mean<T: Number>(got: Option<f64>, array: &Array<T>, part: &Part) -> Result<(), String> {
    let weighted = (0..)
        .zip(array.of(part))
        .map(|(i, x)| (i % 5) as f64 * x.to_f64());
    let weights: f64 = (0..part.n).map(|i| (i % 5) as f64).sum();
    let size = weighted.map(f64::abs).sum::<f64>() / weights;
    if array.of(part).iter().all(|x| x.to_f64().is_finite()) && size.is_infinite() {
        return Ok(()); // the sum of the products overflows f64
    }
    match (got, part.number::<f64>("weighted_mean_exact")) {
        (Some(got), Some(exact)) => close(got, exact, 4 * part.n + 8, size, f64::ROUNDOFF),
        (None, None) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn nan_moments<T: Number>(
    got: Option<Moments>,
    array: &Array<T>,
    part: &Part,
) -> Result<(), String> {
    let elements = array.of(part).iter().map(|x| x.to_f64());
    let numbers: Vec<f64> = elements.filter(|x| !x.is_nan()).collect();
    let Some(got) = got else {
        equal(part.number::<f64>("nan_mean_exact"), None)?;
        return equal(numbers.len(), 0);
    };
    equal(got.count(), numbers.len() as f64)?;
    let squares: f64 = numbers.iter().map(|x| x * x).sum();
    if differences::has_no_moments(squares) {
        return equal((got.mean().is_nan(), got.variance().is_nan()), (true, true));
    }
    let (n, k) = (got.count(), 8 * part.n + 64);
    let mean = part
        .number("nan_mean_exact")
        .expect("null only without elements");
    let variance = part
        .number("nan_var_exact")
        .expect("null only without elements");
    close(got.mean(), mean, k, (squares / n).sqrt(), f64::ROUNDOFF)?;
    close(got.variance(), variance, k, squares / n, f64::ROUNDOFF)
}

fn moments<T: Number>(got: Option<Moments>, array: &Array<T>, part: &Part) -> Result<(), String> {
    let Some(got) = got else {
        return equal(part.n, 0);
    };
    equal(got.count(), part.n as f64)?;
    let values: Vec<f64> = array.of(part).iter().map(|x| x.to_f64()).collect();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    if differences::has_no_moments(squares) {
        return equal((got.mean().is_nan(), got.variance().is_nan()), (true, true));
    }
    let n = part.n as f64;
    let exact = part
        .number::<f64>("mean_exact")
        .expect("null only without elements");
    close(
        got.mean(),
        exact,
        8 * part.n + 64,
        (squares / n).sqrt(),
        f64::ROUNDOFF,
    )?;
    for (name, got, n) in [
        ("var0_exact", got.variance(), n),
        ("var1_exact", got.sample_variance(), n - 1.0),
    ] {
        match part.number::<f64>(name) {
            Some(exact) => close(got, exact, 8 * part.n + 64, squares / n, f64::ROUNDOFF)
                .map_err(|wrong| format!("{name}: {wrong}"))?,
            None => equal(got.is_nan(), true)?,
        }
    }
    Ok(())
}
