//! What the simulator draws, counts and finds.

use crate::kernels;
use crate::tables::markdown;
use anyhow::{Context, Result, bail};
use cuda_sim::{
    Buffer, Counters, Failure, InstructionKind, Report, Request, Schedule, Simulator, Space,
};
use cuda_std::thread::block_idx_x;
use cuda_std::warp::lane_id;
use kernels_gpu::element::Element;
use kernels_gpu::mem::{Global, Shared};
use kernels_gpu::op::Sum;
use kernels_gpu::tile::{items_of_tile, reduce_tile};
use kernels_gpu::warp::{all_reduce, reduce_down};
use kernels_gpu::{copy, harris};

/// Requests that a launch keeps.
const KEPT: usize = 1000;

/// Threads of a block of the ladder.
const THREADS: u32 = 256;

fn handle<T: Element>(buffer: &Buffer<T>) -> Global<T> {
    // SAFETY: the buffer outlives the launch, and the simulator checks every access.
    unsafe { Global::new(buffer.as_mut_ptr(), buffer.len()) }
}

/// A warp of one of the book's kernels.
fn warp(kernel: impl Fn(Global<f32>, Global<f32>)) -> Result<Report> {
    let (x, y) = (Buffer::from(&[1.0; 128]), Buffer::uninitialised(128));
    let launch = Simulator::new().block(32).check_all().record(KEPT);
    Ok(launch.run(|| kernel(handle(&x), handle(&y)))?)
}

/// A request of a kernel, to be drawn.
///
/// # Errors
///
/// If there is no drawing with this name.
pub fn drawing(name: &str) -> Result<Request> {
    if let Some(shuffle) = shuffle(name)? {
        return Ok(shuffle);
    }
    // The kernel's loads, of which the drawing shows the one with this number among those of so many lanes.
    let (report, space, lanes, at) = match name {
        "neighbours" => (warp(kernels::neighbours)?, Space::Global, 32, 0),
        "every-fourth" => (warp(kernels::every_fourth)?, Space::Global, 32, 0),
        "every-second-lane" => (warp(kernels::every_second_lane)?, Space::Global, 16, 0),
        "vectors" => (warp(kernels::vectors)?, Space::Global, 32, 0),
        "same-word" => (warp(|_, y| kernels::tile(y))?, Space::Shared, 32, 0),
        "row" => (warp(|_, y| kernels::tile(y))?, Space::Shared, 32, 1),
        "column" => (warp(|_, y| kernels::tile(y))?, Space::Shared, 32, 2),
        "padded-column" => (warp(|_, y| kernels::tile(y))?, Space::Shared, 32, 3),
        // The third step of the tree: a quarter of the lanes of reduce_0's warps, all lanes of one warp of reduce_1.
        "reduce_0-step-3" => (rung("reduce_0")?.0, Space::Shared, 4, 0),
        "reduce_1-step-3" => (third_step_of_reduce_1()?, Space::Shared, 32, 0),
        "reduce_2-step-3" => (rung("reduce_2")?.0, Space::Shared, 32, 0),
        _ => bail!("there is no drawing `{name}`"),
    };
    let is_it = |request: &Request| {
        request.what == InstructionKind::Load(space) && request.active.count_ones() == lanes
    };
    let mut requests = report.requests.into_iter().filter(is_it);
    requests
        .nth(at)
        .with_context(|| format!("`{name}` has fewer requests"))
}

/// A shuffle, if the drawing is of one.
fn shuffle(name: &str) -> Result<Option<Request>> {
    let reduced = |by: unsafe fn(Sum, f32) -> f32| {
        warp(|x, y| {
            let lane = lane_id() as usize;
            // SAFETY: all lanes of the warp arrive.
            y.set(lane, unsafe { by(Sum, x.get(lane)) });
        })
    };
    let (report, at) = match name {
        "shuffle-down" => (warp(kernels::shuffle_down)?, 0),
        "reduce-down-16" => (reduced(reduce_down::<f32, Sum>)?, 0),
        "reduce-down-1" => (reduced(reduce_down::<f32, Sum>)?, 4),
        "butterfly-16" => (reduced(all_reduce::<f32, Sum>)?, 0),
        "butterfly-1" => (reduced(all_reduce::<f32, Sum>)?, 4),
        _ => return Ok(None),
    };
    let is_shuffle = |request: &Request| request.what == InstructionKind::Shuffle;
    let mut shuffles = report.requests.into_iter().filter(is_shuffle);
    let found = shuffles.nth(at);
    found
        .map(Some)
        .with_context(|| format!("`{name}` has fewer shuffles"))
}

/// The report of a block of `reduce_1`, whose requests begin with the loads that are 8 elements apart.
fn third_step_of_reduce_1() -> Result<Report> {
    let (mut report, _) = rung("reduce_1")?;
    report
        .requests
        .retain(|request| request.addresses[1].wrapping_sub(request.addresses[0]) == 8 * 4);
    Ok(report)
}

/// The report of one full block of a rung, and the number of its elements.
fn rung(kernel: &str) -> Result<(Report, usize)> {
    let per_thread = match kernel {
        "reduce_3" | "reduce_4" => 2,
        "reduce_5_x4" => 4,
        "reduce_5_x8" => 8,
        _ => 1,
    };
    let n = per_thread * THREADS as usize;
    let (x, y) = (Buffer::from(&vec![1; n]), Buffer::from(&[0]));
    let run = |body: unsafe fn(Sum, Global<i32>, Global<i32>, Shared<i32>)| {
        Simulator::new()
            .block(THREADS)
            .dynamic_shared_memory(4 * THREADS as usize)
            .check_all()
            .record(KEPT)
            // SAFETY: the block has 256 threads, and shared memory for an element of each.
            .run(|| unsafe { body(Sum, handle(&x), handle(&y), Shared::dynamic()) })
    };
    let report = match kernel {
        "reduce_naive" => run(|op, x, y, _| {
            // SAFETY: as in `run`.
            unsafe { harris::naive::reduce_naive::<i32, Sum>(op, x, y) }
        }),
        "reduce_shared_memory" => run(harris::shared_memory::reduce_shared_memory::<i32, Sum>),
        "reduce_0" => run(harris::reduce_0::reduce_0::<i32, Sum>),
        "reduce_1" => run(harris::reduce_1::reduce_1::<i32, Sum>),
        "reduce_2" => run(harris::reduce_2::reduce_2::<i32, Sum>),
        "reduce_3" => run(harris::reduce_3::reduce_3::<i32, Sum>),
        "reduce_4" => run(harris::reduce_4::reduce_4::<i32, Sum>),
        "reduce_5_x4" => run(harris::reduce_5::reduce_5_unrolled::<i32, Sum, 4>),
        "reduce_5_x8" => run(harris::reduce_5::reduce_5_unrolled::<i32, Sum, 8>),
        _ => bail!("there is no rung `{kernel}`"),
    }?;
    let sum = y.to_vec()[0];
    if sum as usize != n {
        bail!("`{kernel}` gives {sum} for {n} ones");
    }
    Ok((report, n))
}

/// A table of what the simulator counts of a block of each of these rungs, a column for each.
///
/// # Errors
///
/// If there is no such rung.
pub fn counts(rungs: &[&str]) -> Result<String> {
    const QUANTITIES: [&str; 9] = [
        "elements",
        "sectors of global memory",
        "lanes of atomics on global memory",
        "instructions on shared memory",
        "lanes of each, on average",
        "wavefronts",
        "of these, for conflicts",
        "barriers, counted for each warp",
        "shuffles",
    ];
    let mut rows = QUANTITIES.map(|name| vec![name.to_owned()]);
    let mut head = vec!["one block of 256 threads".to_owned()];
    for name in rungs {
        let (report, n) = rung(name)?;
        let counters: Counters = report.counters.context("counters are enabled")?;
        let (global, shared) = (counters.global(), counters.shared());
        let of = |what| counters.of(what);
        let lanes = match shared.requests {
            0 => "-".into(),
            _ => format!("{:.1}", shared.lanes_per_request()),
        };
        let cells = [
            n.to_string(),
            global.sectors.to_string(),
            of(InstructionKind::Atomic(Space::Global)).lanes.to_string(),
            shared.requests.to_string(),
            lanes,
            shared.wavefronts.to_string(),
            shared.conflicts().to_string(),
            of(InstructionKind::Barrier).requests.to_string(),
            of(InstructionKind::Shuffle).requests.to_string(),
        ];
        head.push(format!("`{name}`"));
        rows.iter_mut()
            .zip(cells)
            .for_each(|(row, cell)| row.push(cell));
    }
    Ok(markdown(&head, rows))
}

/// What the simulator counts of copies of 4096 `i32`.
///
/// # Errors
///
/// If a launch fails.
pub fn copies() -> Result<String> {
    const N: usize = 4096;
    let x = Buffer::from(&(0..N as i32).collect::<Vec<_>>());
    type Copy = unsafe fn(Global<i32>, Global<i32>);
    let kernels: [(&str, Copy); 3] = [
        ("one element", copy::copy_scalar),
        ("8 bytes", copy::copy_vec2),
        ("16 bytes", copy::copy_vec4),
    ];
    let mut rows = Vec::new();
    for (name, kernel) in kernels {
        let y = Buffer::uninitialised(N);
        let launch = Simulator::new().grid(4).block(128).check_all().count();
        // SAFETY: both arrays have as many elements, and the kernels allow any grid.
        let report = launch.run(|| unsafe { kernel(handle(&x), handle(&y)) })?;
        if y.to_vec() != x.to_vec() {
            bail!("a copy by {name} is wrong");
        }
        let counters = report.counters.context("counters are enabled")?;
        let of = |what| counters.of(what);
        let [loads, stores] =
            [InstructionKind::Load, InstructionKind::Store].map(|kind| of(kind(Space::Global)));
        rows.push(vec![
            name.to_owned(),
            loads.requests.to_string(),
            stores.requests.to_string(),
            loads.sectors.to_string(),
            format!("{:.0}", loads.sectors_per_request()),
        ]);
    }
    let head = [
        "a thread copies",
        "loads of a warp",
        "stores",
        "sectors loaded",
        "by each load",
    ];
    Ok(markdown(&head, rows))
}

/// Floats of very different sizes, so that each order of their additions rounds in its own way.
fn floats(n: usize) -> Vec<f32> {
    const SCALES: [f32; 7] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
    let float = |i: usize| (i * 7919 % 997) as f32 * SCALES[i % 7];
    (0..n).map(float).collect()
}

/// The library's sums of the first tiles of an array of floats.
///
/// # Errors
///
/// If the simulator finds something.
pub fn tile_sums(tiles: usize) -> Result<Vec<f32>> {
    let mut x = floats(tiles * items_of_tile::<f32>());
    // Some cancel, so that the tiles' sums are of different sizes too.
    for x in x.iter_mut().step_by(2) {
        *x = -*x;
    }
    let x = Buffer::from(&x);
    let sums = Buffer::uninitialised(tiles);
    let launch = Simulator::new().grid(tiles as u32).block(32).check_all();
    launch.run(|| {
        let tile = block_idx_x() as usize;
        // SAFETY: all lanes of the warp arrive, with the tile of their block.
        let sum = unsafe { reduce_tile::<f32, Sum, 4, 4>(Sum, handle(&x), tile) };
        if lane_id() == 0 {
            handle(&sums).set(tile, sum);
        }
    })?;
    Ok(sums.to_vec())
}

/// The bits of sums of the same floats by two kernels, in several orders of the threads.
///
/// # Errors
///
/// If a launch fails.
pub fn bits() -> Result<String> {
    let x = Buffer::from(&floats(THREADS as usize));
    let orders = [
        ("lowest thread first", Schedule::Forward),
        ("highest first", Schedule::Reverse),
        ("random", Schedule::Random(1)),
        ("random again", Schedule::Random(2)),
    ];
    let mut rows = Vec::new();
    for (name, schedule) in orders {
        let mut row = vec![name.to_owned()];
        for kernel in [kernels::by_atomics, kernels::by_tree] {
            let sum = Buffer::from(&[0.0_f32]);
            let launch = Simulator::new()
                .block(THREADS)
                .schedule(schedule)
                .check_all();
            launch.run(|| kernel(handle(&x), handle(&sum)))?;
            let sum = sum.to_vec()[0];
            row.push(format!("{sum} (`{:#010x}`)", sum.to_bits()));
        }
        rows.push(row);
    }
    Ok(markdown(
        &["order of the threads", "`by_atomics`", "`by_tree`"],
        rows,
    ))
}

/// What the simulator says of a wrong kernel.
///
/// # Errors
///
/// If there is no such kernel, or it has no bug.
pub fn finding(name: &str) -> Result<String> {
    let x = Buffer::from(&[1; 48]);
    let y = Buffer::from(&[0; 64]);
    let both = Buffer::from(&[1; 64]);
    let launch = Simulator::new().block(64).check_all().kernel(name);
    let outcome: Result<Report, Failure> = match name {
        "missing_barrier" => launch.run(|| kernels::missing_barrier(handle(&both), handle(&y))),
        "missing_guard" => launch.run(|| kernels::missing_guard(handle(&x), handle(&y))),
        "lost_updates" => launch.run(|| kernels::lost_updates(handle(&both), handle(&y))),
        "missing_fence" => {
            let (sums, count) = (Buffer::uninitialised(5), Buffer::from(&[0_u32]));
            let launch = Simulator::new().grid(4).check_all().kernel(name);
            launch.run(|| kernels::missing_fence(handle(&both), handle(&sums), handle(&count)))
        }
        "early_exit" => launch.run(|| kernels::early_exit(handle(&x), handle(&y))),
        _ => bail!("there is no kernel `{name}` with a bug"),
    };
    let Err(failure) = outcome else {
        bail!("the simulator finds nothing in `{name}`");
    };
    let races = |finding: &&cuda_sim::Finding| matches!(finding.bug, cuda_sim::Bug::Race { .. });
    let finding = failure
        .findings
        .iter()
        .find(races)
        .or(failure.findings.first());
    let text = finding.context("a failure has a finding")?.to_string();
    // An address differs from run to run.
    Ok(without_addresses(&text))
}

/// The text with `0x...` for addresses, in lines that fit on a page; masks, of eight digits, stay.
fn without_addresses(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("0x") {
        Some(digits) if digits.trim_end_matches(&[',', ';'][..]).len() > 8 => {
            format!(
                "0x...{}",
                &word[word.trim_end_matches(&[',', ';'][..]).len()..]
            )
        }
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines()
        .map(line)
        .map(|line| wrapped(&line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The line in pieces that fit on a page.
fn wrapped(line: &str) -> String {
    const WIDTH: usize = 84;
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        if width > 0 && width + 1 + word.chars().count() > WIDTH {
            text += "\n  ";
            width = 2;
        } else if !text.is_empty() || width > 0 {
            text.push(' ');
            width += 1;
        }
        text += word;
        width += word.chars().count();
    }
    let indent = line.len() - line.trim_start().len();
    " ".repeat(indent) + text.trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_left_out() {
        let text = "at 0x7f00aa112200, mask 0xffffffff\n  end";
        assert_eq!(without_addresses(text), "at 0x..., mask 0xffffffff\n  end");
    }

    #[test]
    fn long_lines_are_wrapped() {
        assert_eq!(wrapped("    at a.rs:1:2"), "    at a.rs:1:2");
        let words = vec!["lane"; 40].join(" ");
        let text = wrapped(&words);
        assert!(
            text.lines().count() == 3 && text.lines().all(|line| line.len() <= 86),
            "{text}"
        );
        assert_eq!(text.split_whitespace().count(), 40);
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(drawing("no").is_err() && counts(&["no"]).is_err() && finding("no").is_err());
    }

    #[test]
    fn the_last_block_adds_all_partials() {
        let x: Vec<i32> = (1..=6).collect();
        let x = Buffer::from(&x);
        let count = Buffer::from(&[0_u32]);
        for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(3)] {
            let sums = Buffer::uninitialised(7);
            let launch = Simulator::new().grid(6).schedule(schedule).check_all();
            let kernel = || kernels::last_block(handle(&x), handle(&sums), handle(&count));
            launch.run(kernel).unwrap();
            assert_eq!((sums.to_vec()[0], count.to_vec()[0]), (21, 0));
        }
    }

    #[test]
    fn only_the_sum_by_atomics_depends_on_the_order() {
        let text = bits().unwrap();
        let column = |at: usize| -> std::collections::BTreeSet<&str> {
            text.lines()
                .skip(2)
                .filter_map(|line| line.split('|').nth(at))
                .collect()
        };
        assert!(column(2).len() > 1 && column(3).len() == 1, "{text}");
    }

    #[test]
    fn drawings_show_what_they_are_for() {
        let cost = |name| drawing(name).unwrap().cost();
        assert_eq!(
            ["neighbours", "every-fourth", "vectors"].map(cost),
            [4, 16, 16]
        );
        assert_eq!(drawing("every-second-lane").unwrap().active, 0x5555_5555);
        let read = |name| drawing(name).unwrap().addresses.map(|lane| lane as u32);
        assert_eq!(read("shuffle-down")[..8], [2, 3, 4, 5, 6, 7, 6, 7]);
        assert_eq!(read("reduce-down-1")[..3], [1, 2, 3]);
        assert_eq!(read("butterfly-16")[..2], [16, 17]);
        assert_eq!(read("butterfly-1")[..2], [1, 0]);
        let shared = ["same-word", "row", "column", "padded-column"].map(cost);
        assert_eq!(shared, [1, 1, 32, 1]);
        assert_eq!(
            ["reduce_0-step-3", "reduce_1-step-3", "reduce_2-step-3"].map(cost),
            [1, 8, 1]
        );
    }
}
