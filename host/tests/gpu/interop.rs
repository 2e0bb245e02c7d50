//! Memory and streams of other code: input, output, and capture.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::sys::{self, CUresult, CUstream, CUstreamCaptureMode};
use libtest_mimic::{Completion, Failed, Trial};
use rand::RngExt;
use warpfold::{Determinism, Device, Error, Max, Sum};

use crate::lab::Lab;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    vec![
        lab.trial("interop: addresses in", addresses_in),
        lab.trial("interop: addresses out", addresses_out),
        lab.trial("interop: invalid addresses", refused),
        lab.trial("interop: buffers from cust and back", cust_buffers),
        lab.trial("interop: a captured stream on new data", captured),
        lab.trial(
            "interop: captured segments, with bad offsets",
            captured_segments,
        ),
        lab.trial("interop: captured axes on new data", captured_axes),
        lab.trial("interop: runs and groups cannot be captured", not_captured),
        lab.trial(
            "interop: graphs are recorded while others wait",
            while_others_wait,
        ),
    ]
}

fn check<T: PartialEq + std::fmt::Debug>(got: T, right: T, what: &str) -> Result<(), Failed> {
    match got == right {
        true => Ok(()),
        false => Err(format!("{what}: {got:?} instead of {right:?}").into()),
    }
}

fn addresses_in(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data: Vec<i32> = (0..10_000).map(|_| rand::rng().random()).collect();
    let x = device.upload(&data)?;
    for (start, len) in [(0, 10_000), (1, 9_999), (37, 33), (9_999, 1), (5, 0)] {
        let address = x.as_device_ptr() + 4 * start as u64;
        // SAFETY: a part of `x`, which lives until the end and is not written.
        let view = unsafe { device.view_ptr::<i32>(address, len) }?;
        let sum = data[start..start + len]
            .iter()
            .fold(0, |a: i32, b| a.wrapping_add(*b));
        check(device.sum(view)?, sum, "the sum")?;
    }
    Ok(Completion::Completed)
}

fn addresses_out(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    const SENTINEL: i64 = 0x5A5A_5A5A_5A5A_5A5A;
    let theirs = device.upload(&[SENTINEL; 3])?;
    let x = device.upload(&[1i64, 2, 39])?;
    {
        // SAFETY: the second element of `theirs`, which lives longer and is not used by other code meanwhile.
        let mut cell = unsafe { device.buffer_ptr::<i64>(theirs.as_device_ptr() + 8, 1) }?;
        device.reduce_into(&x, Sum, &mut cell, 0, &mut device.scratch()?)?;
        let Err(refused) = cell.into_cust() else {
            return Err("ownership of borrowed memory was given away".into());
        };
        check(
            matches!(refused.error, Error::NotDeviceMemory { .. }),
            true,
            "other code owns the memory",
        )?;
    }
    check(
        theirs.download()?,
        vec![SENTINEL, 42, SENTINEL],
        "their memory",
    )?;
    Ok(Completion::Completed)
}

fn refused(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let x = device.upload(&[1.0f64; 8])?;
    let on_stack = 0u64;
    let cases = [
        (0, "null"),
        (x.as_device_ptr() + 4, "not a multiple of 8"),
        ((&raw const on_stack).addr() as u64, "knows no memory"),
        (8, "knows no memory"),
    ];
    for (address, why) in cases {
        // SAFETY: the call returns an error.
        let refused = unsafe { device.view_ptr::<f64>(address, 1) }.map(|view| view.len());
        match refused {
            Err(error @ Error::NotDeviceMemory { .. }) if error.to_string().contains(why) => {}
            other => return Err(format!("{address:#x} ({why}): {other:?}").into()),
        }
    }
    // Any address is valid for an empty array.
    // SAFETY: no elements.
    check(unsafe { device.view_ptr::<f64>(0, 0) }?.len(), 0, "empty")?;
    let cpu = Device::cpu();
    // SAFETY: the call returns an error.
    let on_cpu = unsafe { cpu.view_ptr::<f64>(x.as_device_ptr(), 1) }.map(|_| ());
    let what = "device memory";
    check(on_cpu, Err(Error::NeedsGpu { what }), "on the CPU")?;
    Ok(Completion::Completed)
}

fn cust_buffers(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let data: Vec<u32> = (0..1000).collect();
    // Makes the context current, as `cust` requires.
    device.synchronize()?;
    let theirs = DeviceBuffer::from_slice(&data)?;
    let address = theirs.as_device_ptr().as_raw();
    let mut x = device.buffer_from_cust(theirs)?;
    check(x.as_device_ptr(), address, "the address from cust")?;
    check(device.sum(&x)?, 499_500, "the sum")?;
    x.write(0, &[7])?;
    let theirs = x.into_cust()?;
    check(
        theirs.as_device_ptr().as_raw(),
        address,
        "the address back in cust",
    )?;
    let mut back = vec![0; 1000];
    theirs.copy_to(&mut back)?;
    check(&back[..3], &[7, 1, 2], "the elements back in cust")?;

    let none = device.buffer_from_cust(DeviceBuffer::<u32>::from_slice(&[])?)?;
    check(device.max(&none)?, None, "for empty input")?;
    drop(none.into_cust()?);

    let theirs = DeviceBuffer::from_slice(&data)?;
    let Err(refused) = Device::cpu().buffer_from_cust(theirs) else {
        return Err("the CPU took a device's memory".into());
    };
    check(refused.given.len(), 1000, "the returned buffer")?;
    Ok(Completion::Completed)
}

fn ok(result: CUresult) -> Result<(), Failed> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        failed => Err(format!("{failed:?}").into()),
    }
}

/// Like a program with its own stream and graph.
fn captured(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let mut x = device.alloc::<i32>(100_003)?;
    let mut cells = device.alloc::<i32>(2)?;
    device.synchronize()?;
    let (x, cells) = (&mut x, &mut cells);
    let prepare = move |ours: &Device| {
        let mut scratch = ours.scratch()?;
        // Run once before the capture, because a module cannot be loaded during it.
        ours.reduce_into(&*x, Sum, &mut *cells, 0, &mut scratch)?;
        ours.reduce_into(&*x, Max, &mut *cells, 1, &mut scratch)?;
        ours.synchronize()?;
        Ok((x, cells, scratch))
    };
    capture(
        device,
        prepare,
        |ours, (x, cells, scratch)| {
            ours.reduce_into(&**x, Sum, &mut **cells, 0, scratch)?;
            // Freed after a wait, which must not invalidate the capture.
            drop(device.upload(&[1, 2, 3])?);
            ours.reduce_into(&**x, Max, &mut **cells, 1, scratch)
        },
        |ours, (x, cells, _), launch| {
            for _ in 0..20 {
                let data: Vec<i32> = (0..x.len()).map(|_| rand::rng().random()).collect();
                x.write(0, &data)?;
                launch()?;
                ours.synchronize()?;
                let sum = data.iter().fold(0, |a: i32, b| a.wrapping_add(*b));
                let max = *data.iter().max().expect("there are some");
                check(cells.download()?, vec![sum, max], "sum and maximum")?;
            }
            Ok(())
        },
    )
}

/// Launches with bad offsets must leave nothing that makes a later one wrong.
fn captured_segments(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    const N: usize = 200_003;
    let (good, bad) = (
        [0u32, 60_000, 60_000, N as u32],
        [0, 150_000, 20_000, N as u32],
    );
    let right = vec![60_000, 0, N as i32 - 60_000];
    let (x, mut offsets) = (device.upload(&vec![1i32; N])?, device.upload(&good)?);
    let mut sums = device.alloc::<i32>(3)?;
    device.synchronize()?;
    let (x, offsets, sums) = (&x, &mut offsets, &mut sums);
    let prepare = move |ours: &Device| {
        let mut scratch = ours.segment_scratch()?;
        ours.reduce_segments_into(x, &*offsets, Sum, &mut *sums, &mut scratch)?;
        ours.synchronize()?;
        Ok((offsets, sums, scratch))
    };
    capture(
        device,
        prepare,
        |ours, (offsets, sums, scratch)| {
            ours.reduce_segments_into(x, &**offsets, Sum, &mut **sums, scratch)
        },
        |ours, (offsets, sums, scratch), launch| {
            for turn in 0..600 {
                let is_bad = turn % 3 == 1;
                offsets.write(0, if is_bad { &bad } else { &good })?;
                // More calls than there are epochs, also without the graph.
                match turn % 4 {
                    0 => launch()?,
                    _ => ours.reduce_segments_into(x, &**offsets, Sum, &mut **sums, scratch)?,
                }
                ours.synchronize()?;
                if !is_bad {
                    check(sums.download()?, right.clone(), "sums of segments")?;
                    sums.write(0, &[-1; 3])?;
                }
            }
            match scratch.check(&**offsets) {
                Err(Error::Offset { index: 2, .. }) => Ok(()),
                other => Err(format!("no error of offset 2: {other:?}").into()),
            }
        },
    )
}

/// Rows, and columns in many blocks and in few.
fn captured_axes(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    const SHAPES: [[usize; 2]; 3] = [[60, 3001], [60_017, 3], [3, 60_017]];
    const LEN: usize = 1 + 60 * 3001;
    for (shape, axis) in SHAPES
        .into_iter()
        .flat_map(|shape| [(shape, 0), (shape, 1)])
    {
        let [rows, columns] = shape;
        let results = shape[1 - axis];
        let mut x = device.alloc::<i32>(LEN)?;
        let mut sums = device.upload(&vec![-1i32; results])?;
        device.synchronize()?;
        let (x, sums) = (&mut x, &mut sums);
        let prepare = move |ours: &Device| {
            let mut scratch = ours.axis_scratch()?;
            let part = x.view(1..=rows * columns)?;
            ours.reduce_axis_into(part, &shape, &[axis], Sum, &mut *sums, &mut scratch)?;
            ours.synchronize()?;
            Ok((x, sums, scratch))
        };
        capture(
            device,
            prepare,
            |ours, (x, sums, scratch)| {
                let part = x.view(1..=rows * columns)?;
                ours.reduce_axis_into(part, &shape, &[axis], Sum, &mut **sums, scratch)
            },
            |ours, (x, sums, _), launch| {
                for _ in 0..5 {
                    let data: Vec<i32> = (0..LEN).map(|_| rand::rng().random()).collect();
                    x.write(0, &data)?;
                    sums.write(0, &vec![-1; results])?;
                    launch()?;
                    ours.synchronize()?;
                    let mut right = vec![0i32; results];
                    for (i, item) in data[1..=rows * columns].iter().enumerate() {
                        let sum = &mut right[[i % columns, i / columns][axis]];
                        *sum = sum.wrapping_add(*item);
                    }
                    let what = format!("sums of {shape:?} along axis {axis}");
                    check(sums.download()?, right, &what)?;
                }
                Ok(())
            },
        )?;
    }
    Ok(Completion::Completed)
}

/// Calls that wait for the number of runs or groups return an error in a capture, and their results afterwards.
fn not_captured(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let keys = device.upload(&[7u32, 7, 3, 7])?;
    let values = device.upload(&[1i32, 2, 4, 8])?;
    let fast = Determinism::Fast;
    let fast_groups = |ours: &Device| ours.clone().determinism(fast).group_by(&keys, &values, Sum);
    type Call<'a> = &'a dyn Fn(&Device) -> Result<Vec<i32>, Error>;
    let calls: [(&str, Call<'_>, &[i32]); 4] = [
        (
            "lengths of runs",
            &|ours| {
                let lengths = ours.count_runs(&keys)?.lengths;
                Ok(lengths.into_iter().map(|length| length as i32).collect())
            },
            &[2, 1, 1],
        ),
        (
            "sums of runs",
            &|ours| Ok(ours.reduce_runs(&keys, &values, Sum)?.results),
            &[3, 4, 8],
        ),
        (
            "sums of groups",
            &|ours| Ok(ours.group_by(&keys, &values, Sum)?.sort().results),
            &[4, 11],
        ),
        (
            "sums of groups by atomics",
            &|ours| Ok(fast_groups(ours)?.sort().results),
            &[4, 11],
        ),
    ];
    for (what, call, right) in calls {
        let mut stream: CUstream = null_mut();
        let mut graph = null_mut();
        // SAFETY: `stream` can store a handle.
        ok(unsafe { sys::cuStreamCreateWithPriority(&mut stream, 1, 0) })?;
        {
            // SAFETY: the stream outlives everything made with it, which is dropped at the end of this block.
            let ours = unsafe { device.on_stream_ptr(stream.cast()) }?;
            check(call(&ours)?, right.to_vec(), what)?;
            ours.synchronize()?;
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            // SAFETY: the stream is alive.
            ok(unsafe { sys::cuStreamBeginCapture_v2(stream, mode) })?;
            let captured = call(&ours);
            // SAFETY: as above; `graph` can store a handle. The error ended the capture, so there is no graph.
            let ended = unsafe { sys::cuStreamEndCapture(stream, &mut graph) };
            let invalidated = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
            check(ended, invalidated, "the end of a capture")?;
            if !matches!(captured, Err(Error::Cuda { .. })) {
                return Err(format!("{what} in a capture: {captured:?}").into());
            }
            check(call(&ours)?, right.to_vec(), what)?;
        }
        // SAFETY: it is not used any more.
        ok(unsafe { sys::cuStreamDestroy_v2(stream) })?;
    }
    Ok(Completion::Completed)
}

/// Captures `calls` on a stream of other code, and gives what launches them to `launched`.
fn capture<T>(
    device: &Device,
    prepare: impl FnOnce(&Device) -> Result<T, Error>,
    calls: impl FnOnce(&Device, &mut T) -> Result<(), Error>,
    launched: impl FnOnce(&Device, &mut T, &dyn Fn() -> Result<(), Failed>) -> Result<(), Failed>,
) -> Result<Completion, Failed> {
    let mut stream: CUstream = null_mut();
    let (mut graph, mut launchable) = (null_mut(), null_mut());
    // SAFETY: `stream` can store a handle.
    ok(unsafe { sys::cuStreamCreateWithPriority(&mut stream, 1, 0) })?;
    {
        // SAFETY: the stream outlives everything made with it, which is dropped at the end of this block.
        let ours = unsafe { device.on_stream_ptr(stream.cast()) }?;
        let mut prepared = prepare(&ours)?;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive.
        ok(unsafe { sys::cuStreamBeginCapture_v2(stream, mode) })?;
        calls(&ours, &mut prepared)?;
        // SAFETY: as above; `graph` can store a handle.
        ok(unsafe { sys::cuStreamEndCapture(stream, &mut graph) })?;
        device.synchronize()?;
        // SAFETY: the graph has just been made; `launchable` can store a handle.
        ok(unsafe { sys::cuGraphInstantiateWithFlags(&mut launchable, graph, 0) })?;
        launched(&ours, &mut prepared, &|| {
            // SAFETY: both are alive, and so is all captured memory.
            ok(unsafe { sys::cuGraphLaunch(launchable, stream) })
        })?;
    }
    // SAFETY: they are not used any more.
    unsafe {
        ok(sys::cuGraphExecDestroy(launchable))?;
        ok(sys::cuGraphDestroy(graph))?;
        ok(sys::cuStreamDestroy_v2(stream))?;
    }
    Ok(Completion::Completed)
}

/// The driver refuses to wait for all streams while one is captured.
fn while_others_wait(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let graphs = if lab.light { 5 } else { 200 };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let dropper = scope.spawn(|| -> Result<(), Error> {
            while !done.load(Ordering::Relaxed) {
                drop(device.upload(&[1, 2, 3])?);
            }
            Ok(())
        });
        let recorded = (0..graphs).try_for_each(|turn| {
            let mut graph = device.graph(device.upload(&[turn, 1])?, Sum)?;
            graph.launch()?;
            match graph.result()? {
                sum if sum == turn + 1 => Ok(()),
                sum => Err(Failed::from(format!("{sum} instead of {}", turn + 1))),
            }
        });
        done.store(true, Ordering::Relaxed);
        dropper.join().expect("it does not panic")?;
        recorded
    })?;
    Ok(Completion::Completed)
}
