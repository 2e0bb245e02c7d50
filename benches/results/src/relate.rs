//! What a row is compared with: its peers' rows and its ceiling.

use std::collections::HashMap;

use crate::schema::{By, Results, Row};

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

    /// The one of [`Results::peers_of`] by `peer`, on the same backend, that `row` is measured
    /// against. nvcc's is the twin: the same kernel of as many threads. Another's is its row of the
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
            let twin = |other: &&&Row| {
                (&other.kernel, &other.variant, other.threads, other.chunks)
                    == (&row.kernel, &row.variant, row.threads, row.chunks)
            };
            return peers.find(twin).copied();
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

    /// See [`Results::ceiling_of`].
    pub fn ceiling(&self, row: &Row) -> Option<&'a Row> {
        let matching = |other: &&&Row| {
            other.by == By::Ceiling && (other.cache, other.timing) == (row.cache, row.timing)
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
                let mut peers = results.peers_of(row).filter(|other| other.by == peer);
                if let Some(rival) = related.rival(row, peer) {
                    assert!(peers.any(|other| std::ptr::eq(other, rival)));
                } else if peer != By::Nvcc {
                    assert_eq!(peers.count(), 0, "{row:?}");
                }
            }
            let ceiling = results.ceiling_of(row).map(std::ptr::from_ref);
            assert_eq!(related.ceiling(row).map(std::ptr::from_ref), ceiling);
        }
    }

    #[test]
    fn twins_and_variants() {
        let results = example::results();
        let related = Related::new(&results);
        let mut twins = 0;
        for row in results.rows.iter().filter(|row| row.by == By::Warpfold) {
            if let Some(twin) = related.rival(row, By::Nvcc) {
                assert_eq!((&twin.kernel, twin.threads), (&row.kernel, row.threads));
                twins += 1;
            }
            let part = related.of_ceiling(row);
            assert!(part.is_none_or(|part| part > 0.0), "{part:?}");
        }
        assert!(twins > 0);
        let ceiling = results.rows.iter().find(|row| row.by == By::Ceiling);
        assert_eq!(ceiling.and_then(|row| related.of_ceiling(row)), None);
    }
}
