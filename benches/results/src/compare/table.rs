//! A comparison as a table for a terminal.

use super::{Comparison, Entry, Verdict};
use crate::schema::Time;
use crate::table::markdown;
use crate::words::{conditions, number, thousands};

const HEAD: [&str; 13] = [
    "suite", "by", "kernel", "op", "keys", "n", "threads", "clock", "old us", "new us", "new/old",
    "95 %", "verdict",
];

impl Comparison {
    /// A line for every entry that is neither [`Verdict::Same`] nor [`Verdict::Unstable`].
    pub fn changes(&self) -> String {
        let left_out = [Verdict::Same, Verdict::Unstable];
        self.table_of(|entry| !left_out.contains(&entry.verdict))
    }

    pub(super) fn table_of(&self, shown: impl Fn(&Entry) -> bool) -> String {
        let shown = self.entries.iter().filter(|entry| shown(entry));
        markdown(HEAD, shown.map(line), 5..12)
    }

    /// `2 slower, 1 faster, 40 same`
    pub fn summary(&self) -> String {
        let counts = Verdict::ALL.map(|verdict| (self.count(verdict), verdict.name()));
        let counts: Vec<_> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        if counts.is_empty() {
            return "no rows".into();
        }
        counts.join(", ")
    }
}

fn line(entry: &Entry) -> [String; HEAD.len()] {
    let row = &entry.row;
    let us = |time: Option<Time>| time.map_or(String::new(), |time| number(time.median_us));
    let mut verdict = entry.verdict.name().to_owned();
    if entry.regression {
        verdict += " (!)";
    }
    [
        format!("{} {}", row.suite, row.backend),
        row.by.title().into(),
        row.label(),
        row.subject(),
        row.keys.clone().unwrap_or_default(),
        thousands(row.n),
        row.threads
            .map_or(String::new(), |threads| threads.to_string()),
        conditions(row.cache, row.timing),
        us(entry.old),
        us(entry.new),
        entry
            .ratio
            .map_or(String::new(), |ratio| format!("{:.3}", ratio.median)),
        entry.ratio.map_or(String::new(), |ratio| {
            format!("{:.3} to {:.3}", ratio.low, ratio.high)
        }),
        verdict,
    ]
}
