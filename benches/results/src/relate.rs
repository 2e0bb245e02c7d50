//! What a row is compared with: its peers' rows and its ceiling.

use std::collections::HashMap;
use std::hash::Hash;

use crate::schema::{By, Results, Row, Suite};

/// Kernels that stand beside a rung, with the rung: compared with it, and with nothing after them.
const BESIDE: [(&str, &str); 2] = [
    ("reduce_0_modulo", "reduce_0"),
    ("reduce_4_redux", "reduce_4"),
];

/// What does nothing but be launched.
pub const EMPTY_KERNEL: &str = "empty_kernel";

/// Finds the rows of a group without going through all others.
pub struct Related<'a> {
    groups: HashMap<usize, Vec<&'a Row>>,
}

impl<'a> Related<'a> {
    /// Of these results.
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

    /// The row of the same group by `peer` that `row` is measured against: with the same operator, element,
    /// keys and clock, on the same backend. nvcc's is the same kernel of as many threads. Another's is its row of the
    /// same variant, else its first.
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

    /// The time of a row of ours over its rival's: below 1, ours is the faster. `None` where either
    /// has no time.
    pub fn ratio(&self, row: &Row, peer: By) -> Option<f64> {
        if row.by != By::Warpfold {
            return None;
        }
        let ratio = row.median_us()? / self.rival(row, peer)?.median_us()?;
        ratio.is_finite().then_some(ratio)
    }

    /// The ceiling of the row's group, by the same clock.
    pub fn ceiling(&self, row: &Row) -> Option<&'a Row> {
        let matching = |other: &&&Row| {
            other.by == By::Ceiling && (other.cache, other.timing) == (row.cache, row.timing)
        };
        self.group(row.group).iter().find(matching).copied()
    }

    /// The empty kernel of the row's group, by the same clock.
    pub fn floor(&self, row: &Row) -> Option<&'a Row> {
        let matching = |other: &&&Row| {
            other.by == By::Ceiling
                && other.kernel == EMPTY_KERNEL
                && (other.cache, other.timing) == (row.cache, row.timing)
        };
        self.group(row.group).iter().find(matching).copied()
    }

    /// Its speed over the ceiling's, which has none itself.
    pub fn of_ceiling(&self, row: &Row) -> Option<f64> {
        if row.by == By::Ceiling {
            return None;
        }
        let part = row.gb_per_s()? / self.ceiling(row)?.gb_per_s()?;
        part.is_finite().then_some(part)
    }

    /// The time of the rung before over the row's: above 1, the row is the faster. `None` where there is no
    /// rung before, and where either has no time.
    pub fn gain(&self, row: &Row) -> Option<f64> {
        let gain = self.rung_before(row)?.median_us()? / row.median_us()?;
        gain.is_finite().then_some(gain)
    }

    /// The row of ours that a rung's gain is measured against, of as many threads. The loop of reduce_5 and
    /// its unrolled forms both follow reduce_4; within each, the row before comes before. A kernel of the
    /// suite kepler is compared with its own narrower form.
    fn rung_before(&self, row: &Row) -> Option<&'a Row> {
        let precedes = |other: &Row| match rung_beside(&row.kernel) {
            Some(rung) => other.kernel == rung,
            None if row.suite == Suite::Kepler => without_width(other) == without_width(row),
            None => {
                rung_beside(&other.kernel).is_none()
                    && (!other.kernel.starts_with("reduce_5") || is_loop(other) == is_loop(row))
            }
        };
        let is_rung = matches!(row.suite, Suite::Ladder | Suite::Kepler) && row.by == By::Warpfold;
        let rows = self.group(row.group);
        let place = rows.iter().position(|other| std::ptr::eq(*other, row));
        let earlier = rows[..place.filter(|_| is_rung)?].iter().rev();
        let mut alike = earlier.filter(|other| {
            (other.by, other.threads, other.cache, other.timing)
                == (row.by, row.threads, row.cache, row.timing)
        });
        alike.find(|other| precedes(other)).copied()
    }
}

fn rung_beside(kernel: &str) -> Option<&'static str> {
    let (_, rung) = BESIDE.iter().find(|(own, _)| *own == kernel)?;
    Some(rung)
}

/// `stable` of `stable_vec4`.
fn without_width(row: &Row) -> Option<&str> {
    row.kernel.split("_vec").next()
}

fn is_loop(row: &Row) -> bool {
    row.kernel == "reduce_5"
}

/// Rows that have this in common, in the order of their first ones.
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

    /// The rung before each of these kernels, beside nvcc's.
    fn before(suite: Suite, kernels: &[&str]) -> Vec<String> {
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
        let before = |row: &Row| related.rung_before(row).map(|row| (row.by, &*row.kernel));
        for reference in results.rows.iter().skip(1).step_by(2) {
            assert_eq!(before(reference), None);
        }
        let ours = results.rows.iter().step_by(2).map(|row| match before(row) {
            Some((by, kernel)) => {
                assert_eq!(by, By::Warpfold);
                kernel.to_owned()
            }
            None => "none".into(),
        });
        ours.collect()
    }

    #[test]
    fn rungs_follow_rungs_and_variants_stand_beside_theirs() {
        let followed = [
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
            ("reduce_5", "reduce_5"),
            ("reduce_5_x1", "reduce_4"),
            ("reduce_5_x2", "reduce_5_x1"),
            ("reduce_5_x4", "reduce_5_x2"),
        ];
        assert_eq!(
            before(Suite::Ladder, &followed.map(|(kernel, _)| kernel)),
            followed.map(|(_, rung)| rung)
        );
    }

    #[test]
    fn wider_kernels_follow_narrower_ones() {
        let kernels = ["stable", "stable_vec2", "stable_vec4", "warp_atomic"];
        let expected = ["none", "stable", "stable_vec2", "none"];
        assert_eq!(before(Suite::Kepler, &kernels), expected);
    }

    #[test]
    fn a_gain_compares_times_of_one_clock() {
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
        assert_eq!(related.gain(of("single_pass")), None, "no rung");
    }
}
