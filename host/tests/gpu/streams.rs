//! Several streams, results that stay on the device, and the same bits on every run.

use std::sync::Arc;
use std::{env, thread};

use cust::memory::mem_get_info;
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Device, Error, Max, Predicate, Sum};

use crate::lab::Lab;
use crate::sizes::{around, start};

/// Threads of the host, and streams of each.
const THREADS: usize = 8;
const STREAMS: usize = 4;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    vec![
        lab.trial("streams: results stay on the device", results_stay),
        lab.trial(
            "streams: scratch belongs to one stream",
            scratch_belongs_to_one_stream,
        ),
        lab.trial("streams: one waits for another", waits),
        lab.trial("streams: floats are bit-equal from run to run", bit_equal),
        lab.trial("streams: many threads, many streams", many),
    ]
}

/// Reduces on two streams alternately; the cells next to the result must not change.
fn results_stay(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    const SENTINEL: i32 = 0x5A5A_5A5A;
    let data = lab.data::<i32>()?;
    let other = device.new_stream()?;
    let (mut scratch, mut other_scratch) = (device.scratch()?, other.scratch()?);
    for (turn, n) in around(512 * 16)
        .into_iter()
        .chain([0, 1_000_003])
        .enumerate()
    {
        let from = start(n);
        let view = data.rough.device.view(from..from + n)?;
        let mut cells = device.upload(&[SENTINEL; 3])?;
        let got = if turn % 2 == 0 {
            device.reduce_into(view, Sum, &mut cells, 1, &mut scratch)?;
            device.download(&cells)?
        } else {
            other.reduce_into(view, Sum, &mut cells, 1, &mut other_scratch)?;
            other.download(&cells)?
        };
        let sum = data.rough.answer::<Sum>(from, n).value;
        if got != [SENTINEL, sum, SENTINEL] {
            return Err(format!("{n} from {from}: {got:?} instead of {sum}").into());
        }
    }
    // An empty buffer has no address.
    let mut cells = device.upload(&[SENTINEL])?;
    device.reduce_into(&device.alloc::<i32>(0)?, Sum, &mut cells, 0, &mut scratch)?;
    match cells.download()?[0] {
        0 => Ok(Completion::Completed),
        got => Err(format!("{got} for empty input").into()),
    }
}

fn scratch_belongs_to_one_stream(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let (other, x) = (device.new_stream()?, device.upload(&[1, 2])?);
    let (mut cells, mut scratch) = (device.alloc::<i32>(1)?, other.scratch()?);
    let refused = device.reduce_into(&x, Sum, &mut cells, 0, &mut scratch);
    if refused != Err(Error::OtherStream) {
        return Err(format!("{refused:?}").into());
    }
    let end = device.reduce_into(&x, Sum, &mut cells, 1, &mut device.scratch()?);
    match end {
        Err(Error::ViewRange { start: 1, .. }) => Ok(Completion::Completed),
        other => Err(format!("{other:?}").into()),
    }
}

/// One stream reduces the results of another.
fn waits(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data = lab.data::<i32>()?;
    let n = 3_000_000;
    let view = data.rough.device.view(..n)?;
    let expected = data.rough.answer::<Sum>(0, n).value;
    let other = device.new_stream()?;
    let (mut scratch, mut other_scratch) = (device.scratch()?, other.scratch()?);
    for run in 0..100 {
        let (mut first, mut second) = (device.alloc::<i32>(2)?, device.alloc::<i32>(1)?);
        device.reduce_into(view, Sum, &mut first, 0, &mut scratch)?;
        device.reduce_into(view, Sum, &mut first, 1, &mut scratch)?;
        other.wait_for(device)?;
        other.reduce_into(&first, Sum, &mut second, 0, &mut other_scratch)?;
        let got = other.download(&second)?[0];
        if got != expected.wrapping_mul(2) {
            return Err(format!("run {run}: {got} instead of twice {expected}").into());
        }
    }
    Ok(Completion::Completed)
}

/// With any number of threads per block, whose blocks arrive in a different order each time, as on the CPU.
fn bit_equal(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data = lab.data::<f32>()?;
    let view = data.rough.device.view(3..2_000_003)?;
    let other = device.new_stream()?;
    let cpu = Device::cpu();
    let on_cpu = cpu.upload(&data.rough.host[3..2_000_003])?;
    let right = cpu.reduce(&on_cpu, Sum).run()?.to_bits();
    for threads in [None, Some(32), Some(64), Some(256), Some(512)] {
        for run in 0..100 {
            let device = if run % 3 == 0 { &other } else { device };
            let mut sum = device.reduce(view, Sum);
            if let Some(threads) = threads {
                sum = sum.threads(threads);
            }
            let got = sum.run()?.to_bits();
            if got != right {
                return Err(format!(
                    "{threads:?} threads, run {run}: {got:#x}, on the CPU {right:#x}"
                )
                .into());
            }
        }
    }
    Ok(Completion::Completed)
}

/// Mixed calls of many threads, each with its own streams; every result is checked. `WARPFOLD_CALLS` sets the
/// number of calls per thread. If no other trial runs, the device must have as much free memory afterwards as
/// before.
fn many(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let calls = env::var("WARPFOLD_CALLS").ok();
    let calls: usize = calls.and_then(|calls| calls.parse().ok()).unwrap_or(200);
    let data = lab.data::<i32>()?;
    let (host, x) = (&data.rough.host[..70_000], &data.rough.device);
    let work = |thread: usize, calls: usize| -> Result<(), Failed> {
        let streams = (0..STREAMS).map(|_| device.new_stream());
        let streams = streams.collect::<Result<Vec<_>, _>>()?;
        for call in 0..calls {
            let on = &streams[call % STREAMS];
            let from = (call * 7 + thread) % 13;
            let n = [1, 1000, 17_000, 60_000][(call / STREAMS + thread) % 4];
            let (view, values) = (x.view(from..from + n)?, &host[from..from + n]);
            let right = match call % 8 {
                0 => on.sum(view)? == values.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x)),
                1 => on.min(view)? == values.iter().copied().min(),
                2 => on.sum_wide(view)? == values.iter().map(|x| i64::from(*x)).sum::<i64>(),
                3 => {
                    let found = on.argmax(view)?;
                    let most = values.iter().copied().max();
                    found == values.iter().position(|x| Some(*x) == most)
                }
                4 => {
                    let squares = values.iter().map(|x| i64::from(*x) * i64::from(*x));
                    on.dot(view, view)? == squares.fold(0, i64::wrapping_add)
                }
                // With newly allocated memory.
                5 => {
                    let most = values.len().min(100);
                    let copy = on.upload(&values[..most])?;
                    on.max(&copy)? == values[..most].iter().copied().max()
                }
                6 if call % 128 == 6 => {
                    let mut graph = on.graph(on.upload(values)?, Max)?;
                    graph.launch()?;
                    graph.result()? == values.iter().copied().max()
                }
                7 if call % 128 == 7 => {
                    let keys: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
                    let (keys, mut right) = (on.upload(&keys)?, vec![0i32; 3]);
                    for (i, value) in values.iter().enumerate() {
                        right[i % 3] = right[i % 3].wrapping_add(*value);
                    }
                    on.reduce_by_key(&keys, view, 3, Sum)?.cells == right
                }
                _ => {
                    let below = values.iter().filter(|x| **x < 77).count();
                    on.count(view, Predicate::Less(77))? == below as u64
                }
            };
            if !right {
                return Err(format!("thread {thread}, call {call}: {n} from {from}").into());
            }
        }
        Ok(())
    };
    let all = |calls: usize| {
        thread::scope(|scope| -> Result<(), Failed> {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| scope.spawn(move || work(thread, calls)))
                .collect();
            for thread in threads {
                thread.join().map_err(|_| "a thread panicked")??;
            }
            Ok(())
        })
    };
    // A first round, because the driver keeps some memory for streams that have been used.
    all(calls.min(200))?;
    // Makes the context current on this thread.
    device.synchronize()?;
    let (before, _) = mem_get_info()?;
    all(calls)?;
    let (after, _) = mem_get_info()?;
    match before == after {
        false if lab.alone => Err(format!("{before} bytes free, then {after}").into()),
        _ => Ok(Completion::Completed),
    }
}
