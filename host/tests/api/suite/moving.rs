//! Transfers to a device: pinned memory, chunks, and graphs that are launched on new data.

use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, ArgMin, Device, Dot, Element, Error, Max, MeanVariance, Min, MinMax, Moments,
    SinglePass, Sum, SumWide, View,
};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("moving: pinned memory, copies in both directions", pinned),
        Test::new("moving: pinned memory, errors", pinned_errors),
        Test::new("moving: chunks are one array", chunks),
        Test::new("moving: chunks of floats", chunks_of_floats),
        Test::new("moving: chunks by hand", chunks_by_hand),
        Test::new("moving: chunks, errors", chunk_errors),
        Test::new("moving: pieces of an iterator", pieces_of_an_iterator),
        Test::new("moving: devices and streams have identities", identities),
        Test::new("moving: plans that own their buffers", owned_plans),
        Test::new("moving: a graph on new data", graph),
        Test::new("moving: graphs, errors", graph_errors),
    ]
}

fn random<T: From<i8>>(n: usize) -> Vec<T> {
    let mut random = StdRng::from_rng(&mut rand::rng());
    (0..n).map(|_| T::from(random.random::<i8>())).collect()
}

fn pinned(device: &Device) -> Result<(), Failed> {
    const SENTINEL: i16 = 0x5A5A;
    for n in [0, 1, 31, 1000] {
        let data = random::<i16>(n);
        let mut source = device.pinned(n)?;
        is(source.wait()?.to_vec(), vec![0; n], "new")?;
        source.wait()?.copy_from_slice(&data);
        let mut x = device.upload(&vec![SENTINEL; n + 7])?;
        device.enqueue_write(&mut source, n, &mut x, 3)?;
        // After the copy.
        source.wait()?.fill(SENTINEL);
        let mut back = device.pinned(n + 7)?;
        device.enqueue_read(&x, &mut back)?;
        let right = [&[SENTINEL; 3][..], &data, &[SENTINEL; 4]].concat();
        is(back.wait()?.to_vec(), right, "copied in both directions")?;
        // A part, over the existing elements.
        device.enqueue_read(x.view(3..3 + n / 2)?, &mut back)?;
        is(&back.wait()?[..n / 2], &data[..n / 2], "a part")?;
    }
    Ok(())
}

fn pinned_errors(device: &Device) -> Result<(), Failed> {
    let mut x = device.alloc::<f64>(4)?;
    let mut pinned = device.pinned::<f64>(3)?;
    let range = |start, end, len| Err(Error::ViewRange { start, end, len });
    is(
        device.enqueue_write(&mut pinned, 4, &mut x, 0),
        range(0, 4, 3),
        "too many",
    )?;
    is(
        device.enqueue_write(&mut pinned, 3, &mut x, 2),
        range(2, 5, 4),
        "past the end",
    )?;
    let end = usize::MAX;
    is(
        device.enqueue_write(&mut pinned, 3, &mut x, end),
        range(end, end, 4),
        "far past the end",
    )?;
    is(
        device.enqueue_read(&x, &mut pinned),
        range(0, 4, 3),
        "too small",
    )?;
    // Another device, also on the CPU.
    let mut of_host = Device::cpu().pinned::<f64>(3)?;
    let refused = device.enqueue_write(&mut of_host, 3, &mut x, 0);
    is(
        matches!(refused, Err(Error::OtherDevice { .. })),
        true,
        "pinned memory of another device",
    )
}

fn owned_plans(device: &Device) -> Result<(), Failed> {
    let (a, b) = (random::<i32>(100_001), random::<i32>(100_001));
    let right = |a: &[i32], b: &[i32]| {
        let products = a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b));
        products.sum::<i64>()
    };
    let mut plan = device.owned_plan((device.upload(&a)?, device.upload(&b)?), Dot)?;
    let early = plan.is_done().map(drop);
    let not_enqueued = Error::NotEnqueued {
        kernel: "single_pass",
    };
    is(
        early,
        Err(not_enqueued.clone()),
        "is_done before the first enqueue",
    )?;
    is(
        plan.result(),
        Err(not_enqueued),
        "the result before the first enqueue",
    )?;
    plan.enqueue()?;
    while !plan.is_done()? {
        std::thread::yield_now();
    }
    is(plan.result()?, right(&a, &b), "the first result")?;
    let mut changed = b.clone();
    changed[7] = 1000;
    plan.input_mut().1.write(7, &[1000])?;
    plan.enqueue()?;
    is(
        plan.result()?,
        right(&a, &changed),
        "the result of new data",
    )?;
    // Each enqueue checks the current buffers.
    plan.input_mut().0 = device.upload(&a[1..])?;
    let refused = matches!(plan.enqueue(), Err(Error::Lengths { .. }));
    is(refused, true, "another length")?;
    plan.input_mut().0 = Device::cpu().upload(&a)?;
    let refused = matches!(plan.enqueue(), Err(Error::OtherDevice { .. }));
    is(refused, true, "another device")?;
    is(
        plan.into_input().1.download()?,
        changed,
        "the returned buffer",
    )?;
    // A plan that borrows its input.
    let x = device.upload(&a)?;
    let mut plan = device.reduce(&x, SumWide).plan()?;
    plan.enqueue()?;
    while !plan.is_done()? {
        std::thread::yield_now();
    }
    device.synchronize()?;
    is(device.is_idle()?, true, "a device after a wait")?;
    let sum = a.iter().map(|x| i64::from(*x)).sum::<i64>();
    is(plan.result()?, sum, "the sum")
}

/// A device or stream rejects objects of other devices and streams, on the CPU as on a GPU.
fn identities(device: &Device) -> Result<(), Failed> {
    let (clone, stream, other) = (device.clone(), device.new_stream()?, Device::cpu());
    let (x, of_other) = (device.upload(&[1, 2, 3])?, other.upload(&[4])?);
    is(clone.sum(&x)?, 6, "a clone")?;
    is(stream.sum(&x)?, 6, "another stream")?;
    for refused in [device.sum(&of_other), other.sum(&x)] {
        let is_other = matches!(refused, Err(Error::OtherDevice { .. }));
        is(is_other, true, "another device")?;
    }
    let waited = stream.wait_for(&other);
    let is_other = matches!(waited, Err(Error::OtherDevice { .. }));
    is(is_other, true, "another device's stream")?;
    let (mut cells, mut scratch) = (device.alloc::<i32>(1)?, device.scratch()?);
    device.reduce_into(&x, Sum, &mut cells, 0, &mut scratch)?;
    clone.reduce_into(&x, Sum, &mut cells, 0, &mut scratch)?;
    let refused = stream.reduce_into(&x, Sum, &mut cells, 0, &mut scratch);
    is(refused, Err(Error::OtherStream), "another stream's scratch")?;
    is(cells.download()?, vec![6], "the sum")
}

/// The bits do not depend on how an array is cut into pieces.
fn pieces_of_an_iterator(device: &Device) -> Result<(), Failed> {
    let mut random = StdRng::from_rng(&mut rand::rng());
    // More than one chunk of 4 MiB.
    let n = 1_500_000;
    let data: Vec<f32> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
    let whole = device.reduce_iter(Sum, [Ok::<_, Error>(&data)])?;
    let exact: f64 = data.iter().map(|value| f64::from(*value)).sum();
    is((f64::from(whole) - exact).abs() < 0.1, true, "the sum")?;
    for _ in 0..3 {
        let mut cuts: Vec<usize> = (0..20).map(|_| random.random_range(0..=n)).collect();
        // Equal cuts give an empty piece.
        cuts.extend([0, 0, 7, 7, n, n]);
        cuts.sort();
        let pieces = cuts
            .windows(2)
            .map(|cut| Ok::<_, Error>(&data[cut[0]..cut[1]]));
        let cut = device.reduce_iter(Sum, pieces)?;
        is(cut.to_bits(), whole.to_bits(), "the sum of pieces")?;
    }
    let pieces = [vec![1, 5], vec![], vec![2]].map(Ok::<_, Error>);
    is(device.reduce_iter(Sum, pieces)?, 8, "an empty piece")?;
    let found = device.reduce_iter(
        ArgMax,
        [vec![], vec![1, 2], vec![], vec![9]].map(Ok::<_, Error>),
    )?;
    is(
        found.map(|found| found.index()),
        Some(2),
        "the largest's index",
    )?;
    is(
        device.reduce_iter(Sum, [Ok::<[i32; 0], Error>([])])?,
        0,
        "empty input",
    )?;

    let failing = [
        Ok(vec![1]),
        Err("abc".parse::<i32>().unwrap_err()),
        Ok(vec![2]),
    ];
    let error = device.reduce_iter(Sum, failing).unwrap_err();
    is(
        error.to_string(),
        "invalid digit found in string".into(),
        "the caller's error",
    )?;
    let Error::Other(inner) = &error else {
        return Err(format!("{error:?}").into());
    };
    is(inner.is::<std::num::ParseIntError>(), true, "its type")?;
    is(error.clone(), error, "a clone")?;
    let unchanged = device.reduce_iter(Sum, [Err::<[i32; 1], _>(Error::OtherStream)]);
    is(
        unchanged,
        Err(Error::OtherStream),
        "an error of the library",
    )
}

/// Returns the elements piece by piece; most pieces have the requested length.
fn pieces<T: Copy>(data: &[T]) -> impl FnMut(&mut [T]) -> Result<Option<usize>, Error> {
    let (mut left, mut turn) = (data, 0);
    move |chunk| {
        turn += 1;
        // An empty chunk is not the end.
        let most = match turn % 4 {
            1 => 0,
            3 => chunk.len().div_ceil(2),
            _ => chunk.len(),
        };
        let n = left.len().min(most);
        chunk[..n].copy_from_slice(&left[..n]);
        let end = left.is_empty();
        left = &left[n..];
        Ok((!end).then_some(n))
    }
}

fn chunks(device: &Device) -> Result<(), Failed> {
    fn of<T: Element, O: SinglePass<T, Output: PartialEq + std::fmt::Debug>>(
        device: &Device,
        data: &[T],
        op: O,
        len: usize,
    ) -> Result<(), Failed> {
        let got = device.reduce_chunks(op, len, pieces(data))?;
        let right = device.reduce(&device.upload(data)?, op).run()?;
        let what = format!("{} of {} in chunks of {len}", O::ENTRY.op, data.len());
        is(got, right, &what)
    }
    for (n, len) in [
        (0, 5),
        (1, 1),
        (64, 64),
        (65, 64),
        (1000, 7),
        (1003, 333),
        (700, 2),
    ] {
        let data = random::<i32>(n);
        of(device, &data, Sum, len)?;
        of(device, &data, SumWide, len)?;
        of(device, &data, Min, len)?;
        of(device, &data, MinMax, len)?;
        // Values from -128 to 127: of a thousand, many are equal to the smallest. The result is the first.
        of(device, &data, ArgMin, len)?;
        of(device, &data, ArgMax, len)?;
    }
    Ok(())
}

/// Floats in chunks of any length have the bits of one array.
fn chunks_of_floats(device: &Device) -> Result<(), Failed> {
    let mut random = StdRng::from_rng(&mut rand::rng());
    let n = random.random_range(40_000..60_000);
    let data: Vec<f32> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
    let on_device = device.upload(&data)?;
    let sum = device.reduce(&on_device, Sum).run()?;
    let moments = device.reduce(&on_device, MeanVariance).run()?;
    let bits =
        |moments: Option<Moments>| moments.map(|m| (m.mean().to_bits(), m.squares().to_bits()));
    let any = random.random_range(1..n);
    for len in [13, 1023, 1024, 1025, 5000, 16_384, 100_000, any] {
        let what = format!("{n} in chunks of {len}");
        let got = device.reduce_chunks(Sum, len, pieces(&data))?;
        is(got.to_bits(), sum.to_bits(), &what)?;
        let got = device.reduce_chunks(MeanVariance, len, pieces(&data))?;
        is(bits(got), bits(moments), &what)?;
    }
    let mut data = data;
    data[4321] = f32::NAN;
    let max = device.reduce_chunks(Max, 500, pieces(&data))?;
    is(max.map(f32::is_nan), Some(true), "the maximum with a NaN")?;
    let found = device.reduce_chunks(ArgMax, 500, pieces(&data))?;
    is(
        found.map(|found| found.index()),
        Some(4321),
        "the NaN's index",
    )
}

/// The work that uses a chunk is done before its memory is filled again.
fn chunks_by_hand(device: &Device) -> Result<(), Failed> {
    let data = random::<i32>(9 * 512 + 100);
    let mut chunks = device.chunks::<i32>(512)?;
    let mut sums = device.alloc::<i32>(10)?;
    let mut scratch = device.scratch()?;
    let mut fill = {
        let mut parts = data.chunks(512);
        move |chunk: &mut [i32]| {
            Ok(parts.next().map(|part| {
                chunk[..part.len()].copy_from_slice(part);
                part.len()
            }))
        }
    };
    for at in 0..10 {
        let chunk: View<'_, i32> = chunks.load(&mut fill)?.ok_or("another chunk")?;
        device.reduce_into(chunk, Sum, &mut sums, at, &mut scratch)?;
    }
    let end = chunks.load(&mut fill)?.is_none();
    is(end, true, "past the end")?;
    let right: Vec<i32> = data.chunks(512).map(|part| part.iter().sum()).collect();
    is(device.download(&sums)?, right, "sums of chunks")
}

fn chunk_errors(device: &Device) -> Result<(), Failed> {
    let none = device.chunks::<u8>(0).map(drop);
    is(
        none,
        Err(Error::ChunkLength { len: 0 }),
        "chunks without elements",
    )?;
    let mut chunks = device.chunks::<u8>(10)?;
    let too_many = chunks.load(|_| Ok(Some(11))).map(drop);
    let range = Error::ViewRange {
        start: 0,
        end: 11,
        len: 10,
    };
    is(too_many, Err(range), "more elements than the chunk has")?;
    let failed = chunks.load(|_| Err(Error::OtherStream)).map(drop);
    is(failed, Err(Error::OtherStream), "an error of the caller")?;
    is(
        chunks
            .load(|chunk| Ok(Some(chunk.len())))?
            .map(|view| view.len()),
        Some(10),
        "after errors",
    )?;
    // More memory than any machine has.
    let huge = device.chunks::<f64>(usize::MAX / 4).map(drop);
    let refused = matches!(
        huge,
        Err(Error::OutOfHostMemory { .. } | Error::OutOfMemory { .. })
    );
    is(refused, true, "chunks larger than memory")
}

fn graph(device: &Device) -> Result<(), Failed> {
    for n in [0, 1, 33, 5000] {
        let mut graph = device.graph(device.upload(&random::<i32>(n))?, SumWide)?;
        for _ in 0..5 {
            let data = random::<i32>(n);
            graph.write(0, &data)?;
            graph.launch()?;
            let right = data.iter().map(|value| i64::from(*value)).sum();
            is(graph.result()?, right, "the sum")?;
            // Unchanged data can be reduced any number of times.
            graph.launch()?;
            graph.launch()?;
            is(graph.result()?, right, "the sum again")?;
            is(graph.input().download()?, data, "the input")?;
        }
        is(graph.into_input().len(), n, "the input's length")?;
    }
    Ok(())
}

fn graph_errors(device: &Device) -> Result<(), Failed> {
    let mut graph = device.graph(device.upload(&[1.5f32, 2.5])?, Max)?;
    let early = graph.result();
    let kernel = "single_pass";
    is(
        early,
        Err(Error::NotEnqueued { kernel }),
        "before the first launch",
    )?;
    let range = Error::ViewRange {
        start: 1,
        end: 3,
        len: 2,
    };
    is(graph.write(1, &[0.0; 2]), Err(range), "past the end")?;
    graph.launch()?;
    is(graph.result()?, Some(2.5), "after errors")?;
    if device.is_gpu() {
        let refused = device
            .graph(Device::cpu().upload(&[1, 2])?, Sum)
            .unwrap_err();
        is(refused.given.download()?, vec![1, 2], "the returned input")?;
        is(
            matches!(refused.error, Error::OtherDevice { .. }),
            true,
            "the reason",
        )?;
    }
    Ok(())
}
