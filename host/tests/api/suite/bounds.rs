//! Generic functions over numbers: one bound is enough for every call.

use libtest_mimic::Failed;
use warpfold::{ArgMax, Device, Error, Float, Mean, Min, Number, Predicate, Sum, bf16};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    vec![Test::new("bounds: one bound for every call", |device| {
        every_call(device, &[1u8, 2, 3], 6)?;
        let mean = device
            .reduce_iter(i32::MEAN_BY, [Ok::<_, Error>([1i32, 2])])?
            .mean(2);
        is(mean, Some(1.5), "the mean of an array")?;
        let mean = device
            .reduce_iter(i64::MEAN_BY, [Ok::<_, Error>(vec![1i64, 2])])?
            .mean(2);
        is(mean, Some(1.5), "the mean of a vector")?;
        every_call(device, &[-1i64, 2, 3], 4)?;
        every_call_of_floats(device, &[1.5f32, -2.0], -0.5)?;
        let one = bf16::from_f32(1.0);
        every_call_of_floats(device, &[one], one)
    })]
}

/// Makes every call for numbers of which only the bound is known.
fn every_call<T: Number + PartialEq>(device: &Device, x: &[T], sum: T) -> Result<(), Failed> {
    let x = device.upload(x)?;
    is(device.sum(&x)?, sum, "the sum")?;
    device.sum_wide(&x)?;
    device.product(&x)?;
    is(
        device.reduce(&x, Sum).run()?,
        sum,
        "the sum by the operator",
    )?;
    let min = device.reduce(x.view(..)?, Min).threads(64).plan()?.run()?;
    is(min, device.min(&x)?, "the smallest by the operator")?;
    let argmax = device.reduce(&x, ArgMax).run()?;
    is(
        argmax.map(|found| found.index() as usize),
        device.argmax(&x)?,
        "the largest's index",
    )?;
    let pieces = x.download()?;
    let of_pieces = device.reduce_iter(T::MEAN_BY, [Ok::<_, Error>(&pieces)])?;
    is(
        of_pieces.mean(x.len()),
        device.mean(&x)?,
        "the mean of pieces",
    )?;
    let (min, max) = (device.min(&x)?, device.max(&x)?);
    let extrema = device.min_max(&x)?.ok_or("extrema")?;
    is(
        (min, max),
        (Some(extrema.min()), Some(extrema.max())),
        "extrema",
    )?;
    let (argmin, argmax) = (device.argmin(&x)?, device.argmax(&x)?);
    let download = x.download()?;
    let at = |index: Option<usize>| index.map(|index| download[index]);
    is((at(argmin), at(argmax)), (min, max), "their indices")?;
    let moments = device.mean_variance(&x)?.ok_or("moments")?;
    is(
        moments.std_dev(),
        moments.variance().sqrt(),
        "the standard deviation",
    )?;
    is(device.mean(&x)?, Some(moments.mean()), "the mean")?;
    device.norm_l1(&x)?;
    device.norm_l2(&x)?;
    device.norm_inf(&x)?;
    device.dot(&x, &x)?;
    let count = device.count(&x, Predicate::Nonzero)?;
    is(count, x.len() as u64, "the count")?;
    is(
        (device.any(&x)?, device.all(&x)?),
        (true, true),
        "any and all",
    )
}

fn every_call_of_floats<T: Float + PartialEq>(
    device: &Device,
    x: &[T],
    sum: T,
) -> Result<(), Failed> {
    every_call(device, x, sum)?;
    let x = device.upload(x)?;
    is(device.nan_sum(&x)?, sum, "the sum of the numbers")?;
    is(
        device.nan_argmin(&x)?,
        device.argmin(&x)?,
        "the smallest number's index",
    )?;
    is(
        device.nan_argmax(&x)?,
        device.argmax(&x)?,
        "the largest number's index",
    )?;
    is(
        device.nan_mean_variance(&x)?,
        device.mean_variance(&x)?,
        "moments of the numbers",
    )?;
    device.weighted_mean(&x, &x)?;
    is(device.nan_min(&x)?, device.min(&x)?, "the smallest number")?;
    is(device.nan_max(&x)?, device.max(&x)?, "the largest number")
}
