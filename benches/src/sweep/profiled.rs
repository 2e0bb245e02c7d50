//! `--profile`: profiles the measured kernels of the suites ladder and kepler with Nsight Compute.

use warpfold_results::schema::{Backend, By, Row, Suite};

use super::run::Sweep;
use crate::profile::{Entry, Size, profile_kernels};
use crate::rungs::chunks;

/// Profiles each suite's kernels at its largest size and first number of threads. A failure of Nsight Compute
/// becomes a note.
pub fn run(device: u32, sweep: &mut Sweep) {
    let mut is_any = false;
    for suite in [Suite::Ladder, Suite::Kepler] {
        let Some((kernels, size)) = measured(sweep.rows(), suite) else {
            continue;
        };
        is_any = true;
        let profiled = match sweep.is_over() {
            true => Err("the run had ended".into()),
            false => profile_kernels(&kernels, size, Some(device), sweep.seed())
                .map_err(|error| error.to_string()),
        };
        match profiled {
            Ok(profiled) => sweep.profiled(profiled),
            Err(reason) => sweep.note(format!("{} was not profiled: {reason}", suite.name())),
        }
    }
    if !is_any {
        sweep.note(
            "nothing was profiled: no kernel of the suites ladder and kepler was measured on a CUDA device",
        );
    }
}

/// The kernels of a suite and their size; `None` if the suite was not measured on the device.
fn measured(rows: &[Row], suite: Suite) -> Option<(Vec<Entry>, Size)> {
    let rows = rows
        .iter()
        .filter(|row| (row.suite, row.by, row.backend) == (suite, By::Warpfold, Backend::Cuda));
    let n = rows.clone().map(|row| row.n).max()?;
    let mut rows = rows.filter(|row| row.n == n).peekable();
    let threads = rows.peek()?.threads?;
    let mut kernels = Vec::new();
    for row in rows.filter(|row| row.threads == Some(threads)) {
        let name = format!("{}_{}_{}", row.kernel, row.op.as_deref()?, row.element);
        // A row with other chunks than its entry is another kernel.
        if let Ok(entry) = Entry::named(&name)
            && chunks(entry.algorithm) == row.chunks
            && !kernels.contains(&entry)
        {
            kernels.push(entry);
        }
    }
    let n = n as usize;
    Some((kernels, Size { n, threads })).filter(|(kernels, _)| !kernels.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_and_the_first_threads_are_profiled() {
        let of = |kernel: &str, n, threads, chunks| Row {
            op: Some("sum".into()),
            threads: Some(threads),
            chunks,
            ..Row::new(Suite::Ladder, kernel, "i32", n)
        };
        let mut rows = vec![
            of("reduce_1", 1 << 10, 512, None),
            of("reduce_2", 1 << 20, 128, None),
            of("reduce_2", 1 << 20, 128, None),
            of("reduce_5", 1 << 20, 128, Some(4)),
            of("reduce_5", 1 << 20, 128, Some(7)),
            of("reduce_3", 1 << 20, 256, None),
        ];
        rows.push(Row {
            by: By::Nvcc,
            ..of("reduce_4", 1 << 20, 128, None)
        });
        let (kernels, size) = measured(&rows, Suite::Ladder).unwrap();
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name()).collect();
        assert_eq!(names, ["reduce_2_sum_i32", "reduce_5_sum_i32"]);
        assert_eq!((size.n, size.threads), (1 << 20, 128));
        assert!(measured(&rows, Suite::Kepler).is_none());
    }
}
