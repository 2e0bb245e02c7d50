//! Tables of records' figures.

use crate::post::{DURATIONS, MINIMUM_SPEED_UP};
use crate::records::Records;
use anyhow::{Context, Result, bail};

/// The rungs as the book goes through them.
const RUNGS: [&str; 11] = [
    "reduce_naive",
    "reduce_shared_memory",
    "reduce_0",
    "reduce_0_modulo",
    "reduce_1",
    "reduce_2",
    "reduce_3",
    "reduce_4",
    "reduce_4_redux",
    "reduce_5_x4",
    "reduce_5_x8",
];

/// The table with this name.
///
/// # Errors
///
/// If there is no such table, or a record lacks a figure.
pub fn table(records: &Records, words: &[&str]) -> Result<String> {
    match words {
        ["ladder"] => ladder(records, &RUNGS),
        ["rung", kernels @ ..] => rung(records, kernels),
        ["in-flight"] => in_flight(records),
        ["durations"] => durations(records),
        ["kepler"] => kepler(records),
        ["keyed"] => keyed(records),
        ["search"] => search(records),
        ["triples"] => triples(records),
        ["copy"] => copy(records),
        ["minimum"] => minimum(records),
        _ => bail!("there is no table `{}`", words.join(" ")),
    }
}

/// A number with four digits at most, as the bench prints it.
pub fn short(number: f64) -> String {
    match number.abs() {
        n if n >= 1000.0 => format!("{number:.0}"),
        n if n >= 100.0 => format!("{number:.1}"),
        n if n >= 10.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// A table of Markdown.
pub fn markdown<T: AsRef<str>>(head: &[T], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
    let mut text = line(&head) + &format!("|{}\n", "---|".repeat(head.len()));
    for row in rows {
        text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text
}

fn ladder(records: &Records, kernels: &[&str]) -> Result<String> {
    let table = records.table("ladder")?;
    let rows = kernels.iter().map(|kernel| {
        Ok(vec![
            format!("`{kernel}`"),
            short(table.number(kernel, "cold")? / 1000.0),
            short(table.number(kernel, "GB/s")?),
            table.cell(kernel, "ceiling")?.replace('%', " %"),
            format!("{:.3}", table.number(kernel, "/ nvcc")?),
        ])
    });
    let head = [
        "400,000,000 `i32`",
        "ms",
        "GB/s",
        "of the read ceiling",
        "our time / nvcc's",
    ];
    Ok(markdown(&head, rows.collect::<Result<Vec<_>>>()?))
}

/// What the bench, Nsight Compute and the post say of some rungs, and where a warp's time goes.
fn rung(records: &Records, kernels: &[&str]) -> Result<String> {
    let [nsight, stalls] = [records.table("nsight")?, records.table("stalls")?];
    let mut text = String::from("Measured on an H200, all launches of a sum together:\n\n");
    text += &ladder(records, kernels)?;
    let mut rows = Vec::new();
    for kernel in kernels {
        rows.push(vec![
            format!("`{kernel}`, H200"),
            short(nsight.number(kernel, "duration µs")? / 1000.0),
            nsight.cell(kernel, "compute %")?.to_owned(),
            nsight.cell(kernel, "memory %")?.to_owned(),
        ]);
        if let Some(post) = DURATIONS.iter().find(|post| post.kernel == *kernel) {
            rows.push(vec![
                "the post's, RTX 5070".into(),
                format!("{:.2}", post.duration),
                format!("{:.2}", post.compute),
                format!("{:.2}", post.memory),
            ]);
        }
    }
    text += "\nOne launch under Nsight Compute, beside the post's:\n\n";
    text += &markdown(&["", "duration, ms", "compute, %", "memory, %"], rows);
    let mut head = vec!["a warp's life".to_owned()];
    head.extend(kernels.iter().map(|kernel| format!("`{kernel}`")));
    let quantities = [
        ("instructions", "instr/warp"),
        ("cycles", "cycles/warp"),
        ("of these, it waits for global memory", "global"),
        ("for a barrier", "barrier"),
        ("for shared memory", "shared"),
        ("for the instruction before", "wait"),
        ("for its turn", "ready"),
    ];
    let mut rows = Vec::new();
    for (name, column) in quantities {
        let mut row = vec![name.to_owned()];
        for kernel in kernels {
            row.push(stalls.cell(kernel, column)?.to_owned());
        }
        rows.push(row);
    }
    text += "\nWhere the time goes, on the H200:\n\n";
    text += &markdown(&head, rows);
    Ok(text)
}

/// What the number of loads in flight is worth.
fn in_flight(records: &Records) -> Result<String> {
    let (ladder, nsight) = (records.table("ladder")?, records.table("nsight")?);
    let mut rows = Vec::new();
    for loads in [1, 2, 4, 8, 16] {
        let kernel = format!("reduce_5_x{loads}");
        rows.push(vec![
            loads.to_string(),
            short(ladder.number(&kernel, "GB/s")?),
            ladder.cell(&kernel, "ceiling")?.replace('%', " %"),
            format!("{} %", nsight.cell(&kernel, "occupancy %")?),
        ]);
    }
    let head = [
        "loads in flight of a thread",
        "GB/s",
        "of the read ceiling",
        "occupancy",
    ];
    Ok(markdown(&head, rows))
}

/// The post's table beside ours.
fn durations(records: &Records) -> Result<String> {
    let nsight = records.table("nsight")?;
    let mut rows = Vec::new();
    for post in DURATIONS {
        rows.push(vec![
            format!("`{}`", post.kernel),
            format!("{:.2}", post.duration),
            format!("{:.2}", post.compute),
            format!("{:.2}", post.memory),
            short(nsight.number(post.kernel, "duration µs")? / 1000.0),
            nsight.cell(post.kernel, "compute %")?.to_owned(),
            nsight.cell(post.kernel, "memory %")?.to_owned(),
        ]);
    }
    let head = [
        "400,000,000 `i32`",
        "RTX 5070 (post): ms",
        "compute, %",
        "memory, %",
        "H200: ms",
        "compute, %",
        "memory, %",
    ];
    Ok(markdown(&head, rows))
}

fn kepler(records: &Records) -> Result<String> {
    let table = records.table("kepler")?;
    let mut rows = Vec::new();
    for kernel in ["stable", "warp_atomic", "block_atomic"] {
        let mut row = vec![format!("`{kernel}`")];
        for suffix in ["", "_vec2", "_vec4"] {
            let name = format!("{kernel}{suffix}");
            let (ms, ratio) = (
                table.number(&name, "ms")?,
                table.number(&name, "ours/nvcc")?,
            );
            row.push(format!("{ms:.3} ({ratio:.3})"));
        }
        rows.push(row);
    }
    let cub = table.number("cub::DeviceReduce::Sum", "ms")?;
    rows.push(vec![
        "CUB".into(),
        format!("{cub:.3}"),
        String::new(),
        String::new(),
    ]);
    let ceiling = table.number("read_ceiling", "ms")?;
    rows.push(vec![
        "read ceiling".into(),
        format!("{ceiling:.3}"),
        String::new(),
        String::new(),
    ]);
    let head = [
        "400,000,000 `i32`, ms (ratio to nvcc)",
        "by one element",
        "by two",
        "by four",
    ];
    Ok(markdown(&head, rows))
}

fn keyed(records: &Records) -> Result<String> {
    let table = records.table("keyed64")?;
    let names: Vec<String> = table
        .names()
        .filter(|name| !name.ends_with("_x3"))
        .map(String::from)
        .collect();
    let mut rows = Vec::new();
    for name in names {
        let mut row = vec![format!("`{}`", name.trim_start_matches("keyed_"))];
        for column in ["random us", "ordered us", "shifted us"] {
            row.push(table.cell(&name, column)?.to_owned());
        }
        rows.push(row);
    }
    let head = [
        "10,000,000 `f64`, µs (ratio to nvcc)",
        "random keys",
        "ordered",
        "shifted",
    ];
    Ok(markdown(&head, rows))
}

/// The search for peers alone, for three orders of the keys.
fn search(records: &Records) -> Result<String> {
    let mut rows = Vec::new();
    for kernel in ["find_peers_ballot", "find_peers_match", "find_peers_hash"] {
        let mut row = vec![format!("`{kernel}`")];
        for keys in ["random", "ordered", "shifted"] {
            let head = format!("op u32, keys {keys}");
            row.push(beside_nvcc(
                records,
                "h100/2026-11-26/posts/keyed.txt",
                &head,
                kernel,
            )?);
        }
        rows.push(row);
    }
    let head = [
        "10,000,000 keys, µs (ratio to nvcc)",
        "random keys",
        "ordered",
        "shifted",
    ];
    Ok(markdown(&head, rows))
}

/// Sums of triples, one by one and interleaved.
fn triples(records: &Records) -> Result<String> {
    let row = |kernel: &str| {
        let time = beside_nvcc(
            records,
            "h100/2026-11-26/posts/kepler.txt",
            "op sum i32",
            kernel,
        )?;
        Ok(vec![format!("`{kernel}`"), time])
    };
    let rows: Result<Vec<_>> = ["triple_in_turn", "triple_interleaved"]
        .map(row)
        .into_iter()
        .collect();
    let head = ["133,333,333 triples of `i32`", "µs (ratio to nvcc)"];
    Ok(markdown(&head, rows?))
}

/// The time of a kernel, and the ratio to that of nvcc's, in the first table behind a line of a record of the posts' kernels.
fn beside_nvcc(
    records: &Records,
    file: &'static str,
    behind: &str,
    kernel: &str,
) -> Result<String> {
    let table = records.behind(file, behind, "cold")?;
    let (time, ratio) = (table.cell(kernel, "cold")?, table.number(kernel, "/ nvcc")?);
    Ok(format!("{time} ({ratio:.3})"))
}

fn copy(records: &Records) -> Result<String> {
    let table = records.table("copy")?;
    let mut rows = Vec::new();
    for bytes in ["1,048,576", "16,777,216", "268,435,456", "1,073,741,824"] {
        let mut row = vec![bytes.to_owned()];
        for column in [
            "copy_scalar GB/s",
            "copy_vec2 GB/s",
            "copy_vec4 GB/s",
            "cudaMemcpy",
        ] {
            row.push(short(table.number(bytes, column)?));
        }
        rows.push(row);
    }
    let head = [
        "bytes; GB/s read and written",
        "4 bytes a thread",
        "8 bytes",
        "16 bytes",
        "`cudaMemcpy`",
    ];
    Ok(markdown(&head, rows))
}

/// The lines of the example `min_of_array`, and their names in the book.
const MINIMA: [(&str, &str); 5] = [
    ("CPU, one core", "one core of the H100's host"),
    ("CPU, all cores", "all 16 cores"),
    (
        "GPU, as in the post",
        "H100, `reduce_2_warp`, partial minima on the host, as in the post",
    ),
    ("GPU, warpfold's choice", "H100, the default algorithm"),
    ("with the copy to it", "the same, with the copy to the GPU"),
];

fn minimum(records: &Records) -> Result<String> {
    let minima = records.minima()?;
    let (_, core) = minima.first().context("the record has no lines")?;
    let mut rows = vec![vec![
        "the post: GPU against its CPU".into(),
        String::new(),
        format!("{MINIMUM_SPEED_UP} x"),
    ]];
    for (line, ms) in &minima {
        let known = MINIMA.iter().find(|(name, _)| name == line);
        let (_, name) = known.with_context(|| format!("the book has no name for `{line}`"))?;
        rows.push(vec![
            (*name).into(),
            short(*ms),
            format!("{} x", speed_up(core / ms)),
        ]);
    }
    let head = ["the minimum of 10^8 `f32`", "ms", "speed-up"];
    Ok(markdown(&head, rows))
}

/// One digit after the point where it matters.
fn speed_up(factor: f64) -> String {
    match factor {
        1.05..10.0 => format!("{factor:.1}"),
        _ => format!("{factor:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [9.953, 23.456, 351.04, 4558.4].map(short),
            ["9.953", "23.46", "351.0", "4558"]
        );
    }
}
