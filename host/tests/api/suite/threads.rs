//! Several threads that write to one buffer, each with its own stream.

use std::thread;

use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Device, Error, Max, Sum, ViewMut};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("threads: one buffer in parts", one_buffer),
        Test::new("threads: parts of a buffer", parts),
        Test::new("threads: errors", errors),
    ]
}

/// The sums and the maxima of rows; each thread computes some of the rows.
fn one_buffer(device: &Device) -> Result<(), Failed> {
    const THREADS: usize = 4;
    const ROWS: usize = 22;
    const COLUMNS: usize = 67;
    let mut random = StdRng::from_rng(&mut rand::rng());
    let data: Vec<i32> = (0..ROWS * COLUMNS).map(|_| random.random()).collect();
    let x = device.upload(&data)?;
    let mut results = device.upload(&[-1; 2 * ROWS])?;
    // Six rows for each thread, and four for the last.
    let parts = results.view_mut(..)?.chunks(2 * ROWS.div_ceil(THREADS))?;
    let work = |thread: usize, mut part: ViewMut<'_, i32>| -> Result<(), Error> {
        let stream = device.new_stream()?;
        let mut scratch = stream.scratch()?;
        for row in 0..part.len() / 2 {
            let start = (thread * ROWS.div_ceil(THREADS) + row) * COLUMNS;
            let row_of_x = x.view(start..start + COLUMNS)?;
            stream.reduce_into(row_of_x, Sum, &mut part, 2 * row, &mut scratch)?;
            stream.reduce_into(row_of_x, Max, &mut part, 2 * row + 1, &mut scratch)?;
        }
        stream.synchronize()
    };
    let threads = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..)
            .zip(parts)
            .map(|(thread, part)| scope.spawn(move || work(thread, part)))
            .collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        joined.collect::<Result<Vec<()>, Error>>()
    })?;
    is(threads.len(), THREADS, "threads")?;
    let rows = data.chunks(COLUMNS);
    let right = rows.flat_map(|row| {
        let sum = row.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
        [sum, *row.iter().max().expect("a row has elements")]
    });
    is(
        results.download()?,
        right.collect(),
        "sums and maxima of rows",
    )
}

fn parts(device: &Device) -> Result<(), Failed> {
    let mut x = device.upload(&[0i16; 7])?;
    let mut all = x.view_mut(..)?;
    is((all.len(), all.is_empty()), (7, false), "all")?;
    all.write(6, &[6])?;
    all.view_mut(1..3)?.write(1, &[2])?;
    let (mut low, mut high) = all.split_at(4)?;
    low.write(0, &[10])?;
    high.write(0, &[14])?;
    is(
        low.view(..)?.download()?,
        vec![10, 0, 2, 0],
        "the lower part",
    )?;
    is(
        device.max(high.view(..)?)?,
        Some(14),
        "the higher part's maximum",
    )?;
    let mut pinned = device.pinned(2)?;
    pinned.wait()?.copy_from_slice(&[8, 9]);
    device.enqueue_write(&mut pinned, 2, high, 1)?;
    device.synchronize()?;
    is(x.download()?, vec![10, 0, 2, 0, 14, 8, 9], "all of it")?;
    let lengths = |len| -> Result<Vec<usize>, Error> {
        let mut x = device.alloc::<u8>(7)?;
        let parts = x.view_mut(..)?.chunks(len)?;
        Ok(parts.map(|part| part.len()).collect())
    };
    is(lengths(3)?, vec![3, 3, 1], "by threes")?;
    is(lengths(7)?, vec![7], "at once")?;
    is(lengths(100)?, vec![7], "fewer than requested")?;
    let mut none = device.alloc::<u8>(0)?;
    is(
        none.view_mut(..)?.chunks(3)?.count(),
        0,
        "parts of an empty buffer",
    )
}

fn errors(device: &Device) -> Result<(), Failed> {
    let mut x = device.alloc::<i32>(5)?;
    let range = |start, end, len| Error::ViewRange { start, end, len };
    is(
        x.view_mut(2..7).map(drop),
        Err(range(2, 7, 5)),
        "past the end",
    )?;
    let split = x.view_mut(1..)?.split_at(5).map(drop);
    is(split, Err(range(0, 5, 4)), "split past the end")?;
    let none = x.view_mut(..)?.chunks(0).map(drop);
    is(none, Err(Error::ChunkLength { len: 0 }), "parts of 0")?;
    is(
        x.view_mut(3..)?.write(1, &[1, 2]),
        Err(range(1, 3, 2)),
        "too many",
    )?;
    let y = device.upload(&[1, 2])?;
    let mut scratch = device.scratch()?;
    let (low, _) = x.view_mut(..)?.split_at(2)?;
    let outside = device.reduce_into(&y, Sum, low, 2, &mut scratch);
    is(outside, Err(range(2, 3, 2)), "an element of another part")?;
    let mut of_other = Device::cpu().alloc::<i32>(1)?;
    let other = device.reduce_into(&y, Sum, of_other.view_mut(..)?, 0, &mut scratch);
    is(
        matches!(other, Err(Error::OtherDevice { .. })),
        true,
        "a buffer of another device",
    )
}
