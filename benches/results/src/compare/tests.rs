use super::*;
use crate::example;
use crate::schema::Wrong;

fn time(low: f64, median: f64, high: f64, unstable: bool) -> Time {
    Time {
        median_us: median,
        interval_us: (low, high),
        min_us: low,
        max_us: high,
        unstable,
    }
}

/// Results with one row for each of these times; the keys of the rows are `distinct` or all equal.
fn results(times: &[Option<Time>], distinct: bool) -> Results {
    let mut results = example::results();
    let row = results.rows[0].clone();
    results.rows = (0u64..)
        .zip(times)
        .map(|(i, time)| Row {
            n: if distinct { i } else { 7 },
            time: *time,
            wrong: None,
            ..row.clone()
        })
        .collect();
    results
}

fn verdict(old: Time, new: Time) -> (Verdict, bool) {
    let results = [old, new].map(|time| results(&[Some(time)], true));
    let comparison = compare(&results[0], &results[1]);
    let [entry] = &comparison.entries[..] else {
        panic!("{comparison:?}")
    };
    assert_eq!(comparison.has_regression(), entry.regression);
    (entry.verdict, entry.regression)
}

#[test]
fn only_a_whole_interval_beyond_the_tolerance_counts() {
    let old = time(99.0, 100.0, 101.0, false);
    let cases = [
        (time(105.0, 106.0, 107.0, false), Verdict::Slower),
        // 104 / 101 is less than 1.03.
        (time(104.0, 106.0, 107.0, false), Verdict::Same),
        (time(105.0, 106.0, 107.0, true), Verdict::Unstable),
        (time(90.0, 91.0, 92.0, false), Verdict::Faster),
        (time(90.0, 97.0, 99.0, false), Verdict::Same),
        (old, Verdict::Same),
        (time(0.0, f64::NAN, 1.0, false), Verdict::Unstable),
    ];
    for (new, expected) in cases {
        assert_eq!(
            verdict(old, new),
            (expected, expected == Verdict::Slower),
            "{new:?}"
        );
    }
    let unstable = Time {
        unstable: true,
        ..old
    };
    let slower = time(150.0, 150.0, 150.0, false);
    assert_eq!(verdict(unstable, slower).0, Verdict::Unstable);
    let zero = time(0.0, 0.0, 0.0, false);
    assert_eq!(verdict(zero, zero).0, Verdict::Unstable);
}

#[test]
fn times_that_include_the_host_have_a_larger_tolerance() {
    let verdict = |backend, timing, us: f64| {
        let of = |us: f64| {
            let mut results = results(&[Some(time(us, us, us, false))], true);
            (results.rows[0].backend, results.rows[0].timing) = (backend, timing);
            results
        };
        compare(&of(100.0), &of(us)).entries[0].verdict
    };
    use crate::schema::Backend::{Cpu, Cuda};
    use crate::schema::Timing::{Call, Device, Graph, Launch, Stream};
    for timing in [Launch, Stream, Call] {
        assert_eq!(verdict(Cuda, timing, 111.0), Verdict::Same, "{timing}");
        assert_eq!(verdict(Cuda, timing, 113.0), Verdict::Slower, "{timing}");
    }
    for (backend, timing) in [(Cuda, Device), (Cuda, Graph), (Cpu, Call)] {
        assert_eq!(verdict(backend, timing, 104.0), Verdict::Slower, "{timing}");
    }
}

#[test]
fn the_interval_of_the_ratio_has_the_extreme_quotients() {
    let old = time(90.0, 100.0, 110.0, false);
    let new = time(190.0, 200.0, 210.0, false);
    let ratio = Ratio::of(old, new);
    assert_eq!(ratio.median, 2.0);
    assert_eq!(ratio.low, 190.0 / 110.0);
    assert_eq!(ratio.high, 210.0 / 90.0);
}

#[test]
fn rows_with_one_key_are_matched_in_their_order() {
    let times = |medians: &[f64]| -> Vec<_> {
        let times = medians.iter();
        times.map(|m| Some(time(*m, *m, *m, false))).collect()
    };
    let old = results(&times(&[1.0, 2.0, 3.0]), false);
    let new = results(&times(&[1.0, 4.0]), false);
    let verdicts = |old: &Results, new: &Results| -> Vec<_> {
        let comparison = compare(old, new);
        comparison.entries.iter().map(|e| e.verdict).collect()
    };
    assert_eq!(
        verdicts(&old, &new),
        [Verdict::Same, Verdict::Slower, Verdict::OnlyOld]
    );
    assert_eq!(
        verdicts(&new, &old),
        [Verdict::Same, Verdict::Faster, Verdict::OnlyNew]
    );
}

#[test]
fn a_run_is_the_same_as_itself() {
    let results = example::results();
    let comparison = compare(&results, &results);
    assert_eq!(comparison.entries.len(), results.rows.len());
    assert!(!comparison.has_regression());
    assert_eq!(comparison.notes, Vec::<String>::new());
    for (entry, row) in comparison.entries.iter().zip(&results.rows) {
        let expected = match (&row.wrong, row.time) {
            (Some(_), _) => Verdict::Wrong,
            (None, Some(time)) if time.unstable => Verdict::Unstable,
            _ => Verdict::Same,
        };
        assert_eq!(entry.verdict, expected);
        assert!(entry.row.key() == row.key());
    }
    let sum: usize = Verdict::ALL.map(|v| comparison.count(v)).iter().sum();
    assert_eq!(sum, comparison.entries.len());
    // The head, a rule, the rows.
    let table = comparison.table_of(|_| true);
    assert_eq!(table.lines().count(), 2 + results.rows.len(), "{table}");
}

#[test]
fn a_row_that_became_wrong_is_a_regression() {
    let old = results(&[Some(time(1.0, 1.0, 1.0, false))], true);
    let mut new = results(&[None], true);
    new.rows[0].wrong = Some(Wrong {
        runs: 1,
        of: 2,
        got: "3".into(),
        expected: "4".into(),
    });
    assert!(compare(&old, &new).has_regression());
    assert!(!compare(&new, &old).has_regression());
    assert!(!compare(&new, &new).has_regression());
    assert_eq!(compare(&new, &old).count(Verdict::Wrong), 1);
}

#[test]
fn differences_are_noted() {
    let old = example::results();
    let mut new = old.clone();
    if let Some(device) = &mut new.device {
        device.name = "Another".into();
        device.driver = "99.9".into();
    }
    new.machine.cpu = "another".into();
    new.complete = false;
    new.rows.iter_mut().for_each(|row| row.n += 1);
    new.peers.pop();
    let notes = compare(&old, &new).notes.join("\n");
    for part in ["Another", "99.9", "machine", "incomplete", "only the new"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn empty_results() {
    let empty = results(&[], true);
    let comparison = compare(&empty, &empty);
    assert!(comparison.entries.is_empty() && !comparison.has_regression());
    assert_eq!(comparison.summary(), "no rows");
    let some = example::results();
    let comparison = compare(&empty, &some);
    let only = comparison.count(Verdict::OnlyNew) + comparison.count(Verdict::Wrong);
    assert_eq!(only, some.rows.len());
}

#[test]
fn a_slower_peer_is_noted_but_is_not_a_regression() {
    let times = |us| [Some(time(us, us, us, false))];
    let mut old = results(&times(1.0), true);
    let mut new = results(&times(2.0), true);
    assert!(compare(&old, &new).has_regression());
    for results in [&mut old, &mut new] {
        results.rows[0].by = By::Torch;
    }
    let comparison = compare(&old, &new);
    assert_eq!(comparison.count(Verdict::Slower), 1);
    assert!(!comparison.has_regression());
    assert!(
        comparison.notes[0].contains("slower in 1 rows"),
        "{:?}",
        comparison.notes
    );
}
