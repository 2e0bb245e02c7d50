//! The rows that a row is compared with: those of its peers, and its ceiling.

use std::collections::HashMap;
use std::hash::Hash;

use crate::schema::{By, Results, Row, Suite};

/// Variants of a rung, each with the rung it is compared with. No later rung is compared with them.
const VARIANTS: [(&str, &str); 3] = [
    ("reduce_0_modulo", "reduce_0"),
    ("reduce_2_warp", "reduce_2"),
    ("reduce_4_redux", "reduce_4"),
];

/// The kernel that does nothing, whose time is that of a launch.
pub const EMPTY_KERNEL: &str = "empty_kernel";

/// An index of rows by group.
pub struct Related<'a> {
    groups: HashMap<usize, Vec<&'a Row>>,
}

impl<'a> Related<'a> {
    /// Builds the index.
    pub fn new(results: &'a Results) -> Self {
        let mut groups: HashMap<_, Vec<_>> = HashMap::new();
        for row in &results.rows {
            groups.entry(row.group).or_default().push(row);
        }
        Related { groups }
    }

    fn group(&self, group: usize) -> &[&'a Row] {
        self.groups.get(&group).map_or(&[], Vec::as_slice)
    }

    /// The row by `peer` that `row` is compared with: of the same group, with the same operator, element,
    /// keys and clock, on the same backend. For nvcc it has also the same kernel and threads. For the other
    /// peers it is the row with the same variant, or else the first.
    pub fn rival(&self, row: &Row, peer: By) -> Option<&'a Row> {
        let comparable = |other: &&&Row| {
            other.by == peer
                && other.by != row.by
                && other.backend == row.backend
                && (other.cache, other.timing) == (row.cache, row.timing)
                && (&other.op, &other.element, &other.keys) == (&row.op, &row.element, &row.keys)
        };
        let mut peers = self.group(row.group).iter().filter(comparable);
        if peer == By::Nvcc {
            let reference = |other: &&&Row| {
                (&other.kernel, &other.variant, other.threads, other.chunks)
                    == (&row.kernel, &row.variant, row.threads, row.chunks)
            };
            return peers.find(reference).copied();
        }
        let first = peers.clone().next();
        peers
            .find(|other| other.variant == row.variant)
            .or(first)
            .copied()
    }

    /// The time of one of our rows over its rival's: below 1, ours is faster. `None` if either has no time.
    pub fn ratio(&self, row: &Row, peer: By) -> Option<f64> {
        if row.by != By::Warpfold {
            return None;
        }
        let ratio = row.median_us()? / self.rival(row, peer)?.median_us()?;
        ratio.is_finite().then_some(ratio)
    }

    /// The ceiling of the row's group, with the same clock.
    pub fn ceiling(&self, row: &Row) -> Option<&'a Row> {
        let matching = |other: &&&Row| {
            other.by == By::Ceiling && (other.cache, other.timing) == (row.cache, row.timing)
        };
        self.group(row.group).iter().find(matching).copied()
    }

    /// The empty kernel of the row's group, with the same clock.
    pub fn floor(&self, row: &Row) -> Option<&'a Row> {
        let matching = |other: &&&Row| {
            other.by == By::Ceiling
                && other.kernel == EMPTY_KERNEL
                && (other.cache, other.timing) == (row.cache, row.timing)
        };
        self.group(row.group).iter().find(matching).copied()
    }

    /// The row's speed over the ceiling's; `None` for a ceiling.
    pub fn of_ceiling(&self, row: &Row) -> Option<f64> {
        if row.by == By::Ceiling {
            return None;
        }
        let part = row.gb_per_s()? / self.ceiling(row)?.gb_per_s()?;
        part.is_finite().then_some(part)
    }

    /// The time of the previous rung over the row's: above 1, the row is faster. `None` if there is no
    /// previous rung, or if either has no time.
    pub fn gain(&self, row: &Row) -> Option<f64> {
        let gain = self.previous_rung(row)?.median_us()? / row.median_us()?;
        gain.is_finite().then_some(gain)
    }

    /// Our row with the same number of threads that a rung's gain is measured against. The looping and the
    /// unrolled forms of reduce_5 are two sequences, which both follow reduce_4. A kernel of the suite kepler
    /// is compared with its narrower form.
    fn previous_rung(&self, row: &Row) -> Option<&'a Row> {
        let precedes = |other: &Row| match rung_of_variant(&row.kernel) {
            Some(rung) => other.kernel == rung,
            None if row.suite == Suite::Kepler => without_width(other) == without_width(row),
            None => {
                rung_of_variant(&other.kernel).is_none()
                    && (!other.kernel.starts_with("reduce_5") || is_loop(other) == is_loop(row))
            }
        };
        let is_rung = matches!(row.suite, Suite::Ladder | Suite::Kepler) && row.by == By::Warpfold;
        let rows = self.group(row.group);
        let index = rows.iter().position(|other| std::ptr::eq(*other, row));
        let earlier = rows[..index.filter(|_| is_rung)?].iter().rev();
        let mut comparable = earlier.filter(|other| {
            (other.by, other.threads, other.cache, other.timing)
                == (row.by, row.threads, row.cache, row.timing)
        });
        comparable.find(|other| precedes(other)).copied()
    }
}

fn rung_of_variant(kernel: &str) -> Option<&'static str> {
    let (_, rung) = VARIANTS.iter().find(|(variant, _)| *variant == kernel)?;
    Some(rung)
}

/// `stable` for `stable_vec4`.
fn without_width(row: &Row) -> Option<&str> {
    row.kernel.split("_vec").next()
}

fn is_loop(row: &Row) -> bool {
    row.kernel == "reduce_5"
}

/// Groups rows by `key`, in the order in which the keys first occur.
pub fn grouped<'a, K: Eq + Hash>(
    rows: &[&'a Row],
    key: impl Fn(&'a Row) -> K,
) -> Vec<Vec<&'a Row>> {
    let mut indices = HashMap::new();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for &row in rows {
        let index = *indices.entry(key(row)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn rivals_are_among_the_peers() {
        let results = example::results();
        let related = Related::new(&results);
        for row in &results.rows {
            for peer in By::PEERS {
                let mut peers = results.rows.iter().filter(|other| {
                    other.by == peer
                        && other.by != row.by
                        && (other.group, &other.op, &other.keys) == (row.group, &row.op, &row.keys)
                        && (other.cache, other.timing) == (row.cache, row.timing)
                });
                if let Some(rival) = related.rival(row, peer) {
                    assert!(peers.any(|other| std::ptr::eq(other, rival)));
                } else if peer != By::Nvcc {
                    assert_eq!(peers.count(), 0, "{row:?}");
                }
            }
            let ceiling = results.rows.iter().find(|other| {
                other.by == By::Ceiling
                    && (other.group, other.cache, other.timing)
                        == (row.group, row.cache, row.timing)
            });
            assert_eq!(
                related.ceiling(row).map(std::ptr::from_ref),
                ceiling.map(std::ptr::from_ref)
            );
        }
    }

    #[test]
    fn reference_kernels_and_variants() {
        let results = example::results();
        let related = Related::new(&results);
        let mut references = 0;
        for row in results.rows.iter().filter(|row| row.by == By::Warpfold) {
            if let Some(reference) = related.rival(row, By::Nvcc) {
                assert_eq!(
                    (&reference.kernel, reference.threads),
                    (&row.kernel, row.threads)
                );
                references += 1;
            }
            let part = related.of_ceiling(row);
            assert!(part.is_none_or(|part| part > 0.0), "{part:?}");
        }
        assert!(references > 0);
        let ceiling = results.rows.iter().find(|row| row.by == By::Ceiling);
        assert_eq!(ceiling.and_then(|row| related.of_ceiling(row)), None);
    }

    /// The previous rung of each of these kernels, in a group that has nvcc's kernels as well.
    fn previous_rungs(suite: Suite, kernels: &[&str]) -> Vec<String> {
        let mut results = example::results();
        let of_suite = |row: &&Row| row.suite == suite && row.by == By::Warpfold;
        let first = results.rows.iter().find(of_suite).cloned().unwrap();
        results.rows = kernels
            .iter()
            .flat_map(|kernel| {
                [By::Warpfold, By::Nvcc].map(|by| Row {
                    by,
                    kernel: (*kernel).into(),
                    ..first.clone()
                })
            })
            .collect();
        let related = Related::new(&results);
        let previous = |row: &Row| related.previous_rung(row).map(|row| (row.by, &*row.kernel));
        for reference in results.rows.iter().skip(1).step_by(2) {
            assert_eq!(previous(reference), None);
        }
        let ours = results
            .rows
            .iter()
            .step_by(2)
            .map(|row| match previous(row) {
                Some((by, kernel)) => {
                    assert_eq!(by, By::Warpfold);
                    kernel.to_owned()
                }
                None => "none".into(),
            });
        ours.collect()
    }

    #[test]
    fn rungs_follow_rungs_and_variants_are_skipped() {
        let expected = [
            ("reduce_naive", "none"),
            ("reduce_shared_memory", "reduce_naive"),
            ("reduce_0", "reduce_shared_memory"),
            ("reduce_0_modulo", "reduce_0"),
            ("reduce_1", "reduce_0"),
            ("reduce_2", "reduce_1"),
            ("reduce_2_warp", "reduce_2"),
            ("reduce_3", "reduce_2"),
            ("reduce_4", "reduce_3"),
            ("reduce_4_redux", "reduce_4"),
            ("reduce_5", "reduce_4"),
            ("reduce_5", "reduce_5"),
            ("reduce_5_x1", "reduce_4"),
            ("reduce_5_x2", "reduce_5_x1"),
            ("reduce_5_x4", "reduce_5_x2"),
        ];
        assert_eq!(
            previous_rungs(Suite::Ladder, &expected.map(|(kernel, _)| kernel)),
            expected.map(|(_, rung)| rung)
        );
    }

    #[test]
    fn wider_kernels_follow_narrower_ones() {
        let kernels = ["stable", "stable_vec2", "stable_vec4", "warp_atomic"];
        let expected = ["none", "stable", "stable_vec2", "none"];
        assert_eq!(previous_rungs(Suite::Kepler, &kernels), expected);
    }

    #[test]
    fn a_gain_compares_times_with_one_clock() {
        let results = example::results();
        let related = Related::new(&results);
        let of = |kernel: &str| {
            results
                .rows
                .iter()
                .find(|row| row.kernel == kernel)
                .unwrap()
        };
        let (slow, fast) = (of("reduce_2"), of("reduce_3"));
        let gain = slow.median_us().unwrap() / fast.median_us().unwrap();
        assert_eq!(related.gain(fast), Some(gain));
        assert_eq!(related.gain(of("reduce_naive")), None);
        assert_eq!(related.gain(of("single_pass")), None, "not a rung");
    }
}
