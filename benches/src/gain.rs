//! Which row another's gain is measured against.

use crate::report::{By, Row};

/// Kernels that stand beside a rung, with the rung: compared with it, and with nothing after them.
const VARIANTS: [(&str, &str); 2] = [
    ("reduce_0_modulo", "reduce_0"),
    ("reduce_4_redux", "reduce_4"),
];

/// The place of the row that `rows[i]`, one of ours, is compared with: the rung before, of as many
/// threads. The loop of reduce_5 and its unrolled forms both follow reduce_4; within each, the row
/// before comes before. What is no rung of the ladder is compared with its own narrower form.
pub fn rung_before(rows: &[Row], i: usize) -> Option<usize> {
    let row = &rows[i];
    let own_rung = rung_of_variant(&row.kernel);
    let precedes = |other: &Row| match own_rung {
        Some(rung) => other.kernel == rung,
        None if !row.kernel.starts_with("reduce_") => {
            without_width(&other.kernel) == without_width(&row.kernel)
        }
        None => {
            rung_of_variant(&other.kernel).is_none()
                && (!other.kernel.starts_with("reduce_5") || is_loop(other) == is_loop(row))
        }
    };
    rows[..i].iter().rposition(|other| {
        (row.by, other.by) == (By::Warpfold, By::Warpfold)
            && other.threads == row.threads
            && precedes(other)
    })
}

fn rung_of_variant(kernel: &str) -> Option<&'static str> {
    let (_, rung) = VARIANTS.iter().find(|(variant, _)| *variant == kernel)?;
    Some(rung)
}

/// `stable` of `stable_vec4`.
fn without_width(kernel: &str) -> &str {
    kernel.split("_vec").next().unwrap_or(kernel)
}

fn is_loop(row: &Row) -> bool {
    row.kernel == "reduce_5"
}

#[cfg(test)]
mod tests {
    use warpfold::Algorithm;

    use super::*;

    fn rows(kernels: impl IntoIterator<Item = &'static str>) -> Vec<Row> {
        let both = |kernel| [By::Warpfold, By::Nvcc].map(|by| Row::new(kernel, by));
        kernels.into_iter().flat_map(both).collect()
    }

    fn before(rows: &[Row], i: usize) -> Option<&str> {
        rung_before(rows, i).map(|place| {
            assert_eq!(rows[place].by, By::Warpfold);
            rows[place].kernel.as_str()
        })
    }

    #[test]
    fn variants_stand_beside_their_rung() {
        let rows = rows(Algorithm::LADDER.iter().map(|a| a.kernel_name()));
        let ours = (0..rows.len()).filter(|&i| rows[i].by == By::Warpfold);
        let found: Vec<_> = ours
            .map(|i| (rows[i].kernel.as_str(), before(&rows, i).unwrap_or("none")))
            .collect();
        assert_eq!(
            found,
            [
                ("reduce_naive", "none"),
                ("reduce_shared_memory", "reduce_naive"),
                ("reduce_0", "reduce_shared_memory"),
                ("reduce_0_modulo", "reduce_0"),
                ("reduce_1", "reduce_0"),
                ("reduce_2", "reduce_1"),
                ("reduce_3", "reduce_2"),
                ("reduce_4", "reduce_3"),
                ("reduce_4_redux", "reduce_4"),
                ("reduce_5", "reduce_4"),
                ("reduce_5_x1", "reduce_4"),
                ("reduce_5_x2", "reduce_5_x1"),
                ("reduce_5_x4", "reduce_5_x2"),
                ("reduce_5_x8", "reduce_5_x4"),
                ("reduce_5_x16", "reduce_5_x8"),
            ]
        );
        assert!((0..rows.len()).all(|i| rows[i].by == By::Warpfold || before(&rows, i).is_none()));
    }

    #[test]
    fn widths_follow_narrower_ones() {
        let rows = rows(Algorithm::KEPLER.iter().map(|a| a.kernel_name()));
        let found: Vec<_> = (0..rows.len())
            .step_by(2)
            .map(|i| before(&rows, i))
            .collect();
        let of = |kernel: &'static str, vec2| [None, Some(kernel), Some(vec2)];
        let expected = [
            of("stable", "stable_vec2"),
            of("warp_atomic", "warp_atomic_vec2"),
            of("block_atomic", "block_atomic_vec2"),
        ];
        assert_eq!(found, expected.concat());
    }

    #[test]
    fn loops_follow_loops() {
        let rows = rows([
            "reduce_4",
            "reduce_5",
            "reduce_5",
            "reduce_5_x2",
            "reduce_5_x4",
        ]);
        assert_eq!(rung_before(&rows, 4), Some(2));
        assert_eq!(before(&rows, 6), Some("reduce_4"));
        assert_eq!(before(&rows, 8), Some("reduce_5_x2"));
    }
}
