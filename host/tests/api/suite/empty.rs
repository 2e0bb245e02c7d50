//! Empty input: the results of every call, and accumulators that stay on the device.

use std::fmt::Debug;

use libtest_mimic::Failed;
use warpfold::{
    Algorithm, And, ArgMax, ArgMin, Buffer, Determinism, Device, Element, Error, Ladder, Max,
    MeanVariance, Min, MinMax, NanArgMin, NanMax, NanMeanVariance, NanSum, Product, SinglePass,
    Sum, SumAbs, SumWide,
};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("empty: sums and products", sums),
        Test::new("empty: calls without a result", none),
        Test::new("empty: the ladder's algorithms", ladder),
        Test::new("empty: triples", triples),
        Test::new("empty: accumulators on the device", accumulators),
        Test::new("empty: a plan that gets elements", grows),
    ]
}

/// Reduces empty input in every way. Compares results as text, so that `-0.0` differs from `0.0`.
fn every_way<T: Element, O: SinglePass<T, Output: Debug>>(
    device: &Device,
    op: O,
    right: &str,
) -> Result<(), Failed> {
    let empty: Buffer<T> = device.alloc(0)?;
    let some: Buffer<T> = device.alloc(3)?;
    let mut plan = device.reduce(some.view(1..1)?, op).plan()?;
    plan.enqueue()?;
    let mut graph = device.graph(device.alloc::<T>(0)?, op)?;
    graph.launch()?;
    let mut owned = device.owned_plan(device.alloc::<T>(0)?, op)?;
    owned.enqueue()?;
    let mut turns = 3;
    let of_empty_chunks = device.reduce_chunks(op, 4, |_: &mut [T]| {
        turns -= 1;
        Ok((turns > 0).then_some(0))
    })?;
    let results = [
        device.reduce(&empty, op).threads(64).run()?,
        plan.result()?,
        graph.result()?,
        owned.result()?,
        of_empty_chunks,
        device.reduce_iter(op, [Ok::<Vec<T>, Error>(vec![])])?,
        device.reduce_iter(op, [(); 0].map(|()| Ok::<Vec<T>, Error>(vec![])))?,
    ];
    for (i, result) in results.into_iter().enumerate() {
        is(
            format!("{result:?}"),
            right.into(),
            &format!("{}, way {i}", O::ENTRY.name),
        )?;
    }
    Ok(())
}

fn sums(device: &Device) -> Result<(), Failed> {
    every_way::<f32, _>(device, Sum, "0.0")?;
    every_way::<warpfold::bf16, _>(device, Sum, "0.0")?;
    every_way::<f64, _>(device, NanSum, "0.0")?;
    every_way::<f32, _>(device, SumWide, "0.0")?;
    every_way::<f64, _>(device, SumAbs, "0.0")?;
    every_way::<i32, _>(device, Sum, "0")?;
    every_way::<f32, _>(device, Product, "1.0")?;
    every_way::<i16, _>(device, And, "-1")?;
    let empty: Buffer<f32> = device.alloc(0)?;
    for got in [
        device.sum(&empty)?.into(),
        device.sum_wide(&empty)?,
        device.norm_l1(&empty)?,
        device.norm_l2(&empty)?,
        device.dot(&empty, &empty)?,
    ] {
        is(got.to_bits(), 0, "a sum by name")?;
    }
    // The sum of negative zeros keeps its sign.
    let zeros = device.upload(&[-0.0f32, -0.0])?;
    is(
        device.sum(&zeros)?.to_bits(),
        (-0.0f32).to_bits(),
        "two zeros",
    )
}

fn none(device: &Device) -> Result<(), Failed> {
    every_way::<f32, _>(device, Min, "None")?;
    every_way::<u8, _>(device, Max, "None")?;
    every_way::<f64, _>(device, NanMax, "None")?;
    every_way::<i64, _>(device, MinMax, "None")?;
    every_way::<i32, _>(device, ArgMin, "None")?;
    every_way::<f32, _>(device, ArgMax, "None")?;
    every_way::<f32, _>(device, NanArgMin, "None")?;
    every_way::<f32, _>(device, MeanVariance, "None")?;
    every_way::<f64, _>(device, NanMeanVariance, "None")?;
    let empty: Buffer<f32> = device.alloc(0)?;
    is(device.mean(&empty)?, None, "the mean")?;
    is(device.norm_inf(&empty)?, None, "the maximum norm")?;
    is(
        device.weighted_mean(&empty, &empty)?,
        None,
        "the weighted mean",
    )
}

fn ladder(device: &Device) -> Result<(), Failed> {
    fn by<O: SinglePass<f32, Output: Debug> + Ladder<f32>>(
        device: &Device,
        op: O,
        right: &str,
    ) -> Result<(), Failed> {
        let empty: Buffer<f32> = device.alloc(0)?;
        for algorithm in Algorithm::all() {
            let result = match device.reduce(&empty, op).algorithm(algorithm).run() {
                Err(Error::NotAvailable { .. }) => continue,
                result => format!("{:?}", result?),
            };
            is(result, right.into(), &format!("{algorithm:?}"))?;
        }
        Ok(())
    }
    by(device, Sum, "0.0")?;
    by(device, Min, "None")?;
    let empty: Buffer<f32> = device.alloc(0)?;
    let ceiling = device.read_ceiling(&empty)?.run()?;
    is(ceiling.to_bits(), 0, "the ceiling's sum")
}

fn triples(device: &Device) -> Result<(), Failed> {
    for order in [
        warpfold::TripleOrder::Interleaved,
        warpfold::TripleOrder::InTurn,
    ] {
        let empty: Buffer<f32> = device.alloc(0)?;
        let sums = device.sum_triples(&empty, order)?.run()?;
        is(sums.map(f32::to_bits), [0; 3], "three sums")?;
    }
    Ok(())
}

/// Results that are not finished: the identity, and the initial value of cells.
fn accumulators(device: &Device) -> Result<(), Failed> {
    let empty: Buffer<f32> = device.alloc(0)?;
    let mut cells = device.upload(&[7.0f32; 2])?;
    let mut scratch = device.scratch()?;
    device.reduce_into(&empty, Sum, &mut cells, 0, &mut scratch)?;
    device.reduce_into(&empty, Min, &mut cells, 1, &mut scratch)?;
    let bits: Vec<u32> = device
        .download(&cells)?
        .into_iter()
        .map(f32::to_bits)
        .collect();
    let right = vec![(-0.0f32).to_bits(), f32::INFINITY.to_bits()];
    is(bits, right, "cells of reduce_into")?;

    let keys = device.upload(&[1u32, 1])?;
    let values = device.upload(&[2.0f32, -3.0])?;
    let device = &device.determinism(Determinism::Fast);
    let sums = device.reduce_by_key(&keys, &values, 3, Sum)?;
    is(
        format!("{:?}", sums.cells),
        "[0.0, -1.0, 0.0]".into(),
        "sums by key",
    )?;
    let least = device.reduce_by_key(&keys, &values, 3, Min)?;
    is(
        format!("{:?}", least.cells),
        "[inf, -3.0, inf]".into(),
        "minima by key",
    )?;
    let mut cells = device.cells::<f32, _>(2, Sum)?;
    cells.combine(&keys, &values)?;
    cells.clear()?;
    is(
        format!("{:?}", cells.download()?),
        "[0.0, 0.0]".into(),
        "cleared cells",
    )
}

/// The result belongs to the input of the last enqueue.
fn grows(device: &Device) -> Result<(), Failed> {
    let mut plan = device.owned_plan(device.alloc::<i32>(0)?, Max)?;
    plan.enqueue()?;
    *plan.input_mut() = device.upload(&[4, 9])?;
    is(plan.result()?, None, "for empty input")?;
    plan.enqueue()?;
    *plan.input_mut() = device.alloc(0)?;
    is(plan.result()?, Some(9), "for two elements")
}
