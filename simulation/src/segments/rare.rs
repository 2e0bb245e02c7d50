//! What random cases seldom have: segments of several runs of tiles or several parts, many windows, and many segments that overlap.

use cuda_sim::{Buffer, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::op::Sum;
use kernels_gpu::segments::by_part::{RUN, WARP_TILES, WARPS, items_of_part};
use kernels_gpu::segments::{Layout, Reports, Shape, THREADS, most_listed, window_of};
use kernels_gpu::tile::items_of_tile;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::{Input, Kernels, Launches, Parts, Wrong, reduce, whole};
use crate::data::{Data, rough, sum_of_tree};
use crate::launch::{Array, launch};

/// Whether the entry combines random partials of `count` rows of so many tiles. It is the one for sums of `f32`.
///
/// # Errors
///
/// What is wrong.
pub fn combines(
    entry: &Entry,
    (count, tiles): (usize, usize),
    seed: u64,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tile = items_of_tile::<f32>();
    let row = tiles * tile - random.random_range(0..tile);
    let layout = Layout::of::<f32>(row * count, count);
    let mut partials = vec![0f32; layout.partials()];
    let mut wanted = vec![];
    for segment in 0..count {
        let cell = (segment * row + segment) / tile;
        let own: Vec<f32> = (0..tiles).map(|_| rough(random)).collect();
        partials[cell] = own[0];
        let others = layout.cells + cell + 1;
        partials[others..][..tiles - 1].copy_from_slice(&own[1..]);
        wanted.push(sum_of_tree(own).to_bits());
    }
    let partials = Buffer::from(&partials);
    let output: Buffer<f32> = Buffer::uninitialised(count);
    let work: Buffer<u64> = Buffer::uninitialised(layout.words());
    let counts: Buffer<u32> = Buffer::from(&vec![0; layout.counters()]);
    let (narrow, wide): (Buffer<u32>, Buffer<u64>) = (Buffer::from(&[]), Buffer::from(&[]));
    let shape = Shape::new::<f32>(row * count, count, row, false);
    let arrays = [
        Array::new("shape", &raw const shape, 1),
        Array::new("narrow", narrow.as_ptr(), 0),
        Array::new("wide", wide.as_ptr(), 0),
        Array::new("output", output.as_ptr(), count),
        Array::new("partials", partials.as_ptr(), layout.partials()),
        Array::new("work", work.as_ptr(), layout.words()),
        Array::new("counts", counts.as_ptr(), counts.len()),
    ];
    // SAFETY: the arrays exist, and have the lengths of the layout.
    unsafe { launch(entry, simulator().grid(3).block(THREADS), Sum, &arrays) }
        .map_err(|failure| Wrong::Findings(entry.name, failure))?;
    if counts.to_vec().iter().any(|count| *count != 0) {
        return Err(Wrong::Results("a counter is not 0 again".into()));
    }
    let got: Vec<u32> = output.to_vec().iter().map(|sum| sum.to_bits()).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(Wrong::Results(format!("{got:?} instead of {wanted:?}"))),
    }
}

/// Whether the kernels find that offsets go back and forth. So many segments overlap that a block has no room for them, or two
/// long ones start in the same cell. The kernels are those for sums of `f32`.
///
/// # Errors
///
/// What is wrong.
pub fn overlaps(kernels: &Kernels, simulator: &dyn Fn() -> Simulator) -> Result<(), Wrong> {
    let many = 2 * most_listed::<f32>() + 2;
    let (long, parts) = (items_of_tile::<f32>() + 500, items_of_part::<f32>(1));
    // Segments for a team, for a warp, long ones, and some of several parts.
    for (segments, len) in [(many, 50), (many, 300), (4, long), (4, 3 * parts)] {
        let mut offsets: Vec<i64> = (0..segments).map(|i| (i % 2 * len) as i64).collect();
        offsets.push(len as i64);
        let input = Input::draw::<f32>(&kernels.window, Data::Rough, [0; 3], len, 0);
        match reduce::<f32, _>(kernels, Sum, &input, &Parts::U32(offsets), simulator) {
            Err(Wrong::BadOffset(2)) => {}
            Err(wrong) => return Err(wrong),
            Ok(_) => return Err(Wrong::Missed(2)),
        }
    }
    Ok(())
}

/// Whether a team for each part gives the sums of segments of several parts among many short ones, and finds that one of their
/// offsets is bad. One in four teams is a block. The kernels are those for sums of `f32`.
///
/// # Errors
///
/// What is wrong.
pub fn parts(kernels: &Kernels, seed: u64, simulator: &dyn Fn() -> Simulator) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(seed);
    let team = if seed.is_multiple_of(4) { WARPS } else { 1 };
    let part = items_of_part::<f32>(team);
    let mut offsets = vec![random.random_range(0..9)];
    for group in 0..random.random_range(2..8) {
        // Many short ones first, so that the segment of a chunk is far from where it would be if all had the same length.
        let kind = if group == 0 {
            0
        } else {
            random.random_range(0..4)
        };
        let (count, len) = match kind {
            0 => (random.random_range(1..300), random.random_range(0..3)),
            1 => (1, random.random_range(0..part)),
            2 => (1, random.random_range(1..4) * part),
            _ => (
                1,
                random.random_range(1..4) * part + random.random_range(0..part),
            ),
        };
        for _ in 0..count {
            offsets.push(offsets[offsets.len() - 1] + len as i64);
        }
    }
    let n = offsets[offsets.len() - 1];
    by_part(kernels, team, seed, n, offsets.clone(), simulator)?;
    // Half of the time the end of a segment of several parts: other warps than that of its first part check it.
    let is_long = |end: &usize| offsets[*end] - offsets[*end - 1] > part as i64;
    let long: Vec<usize> = (1..offsets.len()).filter(is_long).collect();
    let bad = match long.choose(random) {
        Some(end) if random.random() => *end,
        _ => random.random_range(0..offsets.len()),
    };
    let by = random.random_range(1..part as i64);
    offsets[bad] = match bad > 0 && random.random() {
        true => offsets[bad - 1] - by,
        false => n + by,
    };
    let is_bad =
        |i: &usize| !(0..=n).contains(&offsets[*i]) || *i > 0 && offsets[*i] < offsets[*i - 1];
    let first = (0..offsets.len()).find(is_bad).unwrap_or(0) as u64;
    match by_part(kernels, team, seed, n, offsets, simulator) {
        Err(Wrong::BadOffset(index)) if index == first => Ok(()),
        Ok(()) => Err(Wrong::Missed(first)),
        Err(wrong) => Err(wrong),
    }
}

/// The same of a segment of two runs of parts.
///
/// # Errors
///
/// What is wrong.
pub fn runs_of_parts(
    kernels: &Kernels,
    seed: u64,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tiles = RUN * WARP_TILES + random.random_range(1..40);
    let from = random.random_range(0..9);
    let len = tiles * items_of_tile::<f32>() - random.random_range(0..9);
    let end = from + len as i64;
    by_part(kernels, 1, seed, end, vec![0, from, end], simulator)
}

/// Whether a team for each part gives the sums of the segments of `n` items between these offsets.
fn by_part(
    kernels: &Kernels,
    team: usize,
    seed: u64,
    n: i64,
    offsets: Vec<i64>,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let input = Input::draw::<f32>(&kernels.by_part, Data::Rough, [0; 3], n as usize, seed);
    let parts = Parts::Wide(offsets.clone());
    let got = Launches::new(kernels, &input, &parts, simulator).by_part::<f32, Sum>(Sum, team)?;
    for (segment, got) in got.iter().enumerate() {
        let (from, to) = (offsets[segment] as usize, offsets[segment + 1] as usize);
        let wanted = whole::<f32, Sum>(Sum, &input, from, to - from);
        let wanted = wanted.map_err(|failure| Wrong::Findings("single_pass", failure))?;
        if *got != wanted {
            let got = format!("segment {segment}: {got:?} instead of {wanted:?}");
            return Err(Wrong::Results(got));
        }
    }
    Ok(())
}

/// Whether `segments_partition` finds where more windows begin than a block has threads, and empties all cells.
///
/// # Errors
///
/// What is wrong.
pub fn partitions(
    entry: &Entry,
    seed: u64,
    simulator: &dyn Fn() -> Simulator,
) -> Result<(), Wrong> {
    let random = &mut StdRng::seed_from_u64(seed);
    let longest = 4 * window_of::<f32>() as u32;
    let mut offsets = vec![0];
    while offsets.len() < 200 {
        offsets.push(offsets[offsets.len() - 1] + random.random_range(0..longest));
    }
    let (segments, n) = (offsets.len() - 1, offsets[offsets.len() - 1] as usize);
    let layout = Layout::of::<f32>(n, segments);
    let mut work: Buffer<u64> = Buffer::uninitialised(layout.words());
    work.write_from(0, &[Reports::NONE; Reports::WORDS]);
    let counts: Buffer<u32> = Buffer::from(&vec![0; layout.counters()]);
    let (narrow, wide): (Buffer<u32>, Buffer<u64>) = (Buffer::from(&offsets), Buffer::from(&[]));
    let shape = Shape::new::<f32>(n, segments, 0, false);
    let arrays = [
        Array::new("shape", &raw const shape, 1),
        Array::new("narrow", narrow.as_ptr(), narrow.len()),
        Array::new("wide", wide.as_ptr(), 0),
        Array::new("work", work.as_ptr(), layout.words()),
        Array::new("counts", counts.as_ptr(), counts.len()),
    ];
    let blocks = layout.planners().div_ceil(THREADS as usize / 32) as u32;
    // SAFETY: the arrays exist, and have the lengths of the layout; there are as many warps as the plans need.
    unsafe { launch(entry, simulator().grid(blocks).block(THREADS), (), &arrays) }
        .map_err(|failure| Wrong::Findings(entry.name, failure))?;
    // Behind the cells are the numbers of their segments, and the huge ones.
    let first = layout.words() - 2 * layout.cells - (layout.counters() - 1);
    let plans = 6 * layout.windows;
    // SAFETY: the buffer has that many words; the kernel writes those of the plans and of the cells.
    let word = |at: usize| unsafe { work.as_ptr().add(at).read() };
    for window in 0..layout.windows {
        let at = first - plans + 6 * window;
        let begin = window * window_of::<f32>();
        let is_before = |segment: &usize| offsets[*segment] as usize + segment < begin;
        let own = (0..segments).take_while(is_before).count();
        let got = (word(at), word(at + 1));
        if got != (own as u64, u64::from(offsets[own])) {
            return Err(Wrong::Results(format!(
                "window {window} begins with {got:?}, not segment {own}"
            )));
        }
    }
    match (0..layout.cells).find(|cell| word(first + cell) != 0) {
        None => Ok(()),
        Some(cell) => Err(Wrong::Results(format!("cell {cell} is not empty"))),
    }
}
