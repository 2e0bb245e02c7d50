//! Unusual results.

use proptest::prelude::*;

use super::*;
use crate::schema::{Backend, Row, Wrong};

/// Every string of the results begins with markup.
#[test]
fn strings_are_escaped() {
    const EVIL: &str = "\"'><script>alert(1)</script><!--&\u{2028}";
    let mut results = example::results();
    let evil = |text: &mut String| text.insert_str(0, EVIL);
    for row in &mut results.rows {
        for text in [&mut row.variant, &mut row.op, &mut row.keys]
            .into_iter()
            .flatten()
        {
            evil(text);
        }
        evil(&mut row.kernel);
        evil(&mut row.element);
        row.counts = row
            .counts
            .iter()
            .map(|(name, count)| (format!("{EVIL}{name}"), *count))
            .collect();
        if let Some(wrong) = &mut row.wrong {
            evil(&mut wrong.got);
            evil(&mut wrong.expected);
        }
    }
    for peer in &mut results.peers {
        [&mut peer.version, &mut peer.absent]
            .into_iter()
            .flatten()
            .for_each(evil);
    }
    results.notes.iter_mut().for_each(evil);
    results
        .clocks
        .iter_mut()
        .flat_map(|at| &mut at.throttled)
        .for_each(evil);
    results
        .profiled
        .iter_mut()
        .for_each(|profiled| evil(&mut profiled.entry));
    if let Some(device) = &mut results.device {
        [
            &mut device.name,
            &mut device.driver,
            &mut device.ptx_arch,
            &mut device.stream,
        ]
        .into_iter()
        .for_each(evil);
    }
    results.method.input = Some(EVIL.into());
    [&mut results.machine.os, &mut results.machine.cpu]
        .into_iter()
        .for_each(evil);
    [&mut results.date, &mut results.version, &mut results.commit]
        .into_iter()
        .for_each(evil);
    [&mut results.compiler, &mut results.command_line]
        .into_iter()
        .for_each(evil);
    let page = html(&results, Some(&compare(&results, &results))).unwrap();
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the points and the sorting"
    );
    assert_eq!(page.matches("<!--").count(), 0);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    let expected = 2 * results.rows.len() + results.profiled.len();
    assert_eq!(lines(&page).len(), expected);
    let points = points(&page);
    assert!(
        points
            .values()
            .any(|series| series.keys().any(|name| name.contains(EVIL)))
    );
    for figure in figures(&results).unwrap() {
        assert!(!figure.svg.contains("<script"), "{}", figure.svg);
        assert!(
            figure
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-')
        );
    }
}

fn all_wrong(row: &mut Row) {
    row.time = None;
    row.wrong = Some(Wrong {
        runs: 1,
        of: 1,
        got: "1".into(),
        expected: "2".into(),
    });
}

#[test]
fn odd_results_have_a_page() {
    let mut none = example::results();
    none.rows.clear();
    none.clocks.clear();
    none.peers.clear();
    none.device = None;
    assert!(figures(&none).unwrap().is_empty());
    assert!(
        html(&none, Some(&compare(&none, &none)))
            .unwrap()
            .contains("There are no rows")
    );

    let changes: [fn(&mut Row); 6] = [
        all_wrong,
        |row| row.n = 0,
        |row| row.bytes = 0,
        |row| row.n = 1 << 20,
        |row| (row.n, row.bytes) = (u64::MAX, u64::MAX),
        |row| row.backend = Backend::Sim,
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut results = example::results();
        results.rows.iter_mut().for_each(change);
        let page = html(&results, None).unwrap();
        let expected = results.rows.len() + results.profiled.len();
        assert_eq!(lines(&page).len(), expected, "{index}");
    }
    let mut results = example::results();
    results.rows.retain(|row| row.by != By::Ceiling);
    assert!(!html(&results, None).unwrap().contains("read ceiling"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A few rows with arbitrary numbers.
    #[test]
    fn any_numbers_have_a_page(
        odd in prop::collection::vec(
            (
                any::<prop::sample::Index>(),
                any::<u64>(),
                any::<u64>(),
                any::<f64>(),
                any::<f64>(),
                any::<bool>(),
            ),
            0..12,
        )
    ) {
        let mut results = example::results();
        let rows = std::mem::take(&mut results.rows);
        for (index, n, bytes, low, high, unstable) in odd {
            let mut row = index.get(&rows).clone();
            row.n = n;
            row.bytes = bytes;
            row.group = 0;
            row.time = row.time.map(|_| Time {
                median_us: low,
                interval_us: (low, high),
                min_us: low,
                max_us: high,
                unstable,
            });
            results.rows.push(row);
        }
        let page = html(&results, Some(&compare(&results, &results))).unwrap();
        prop_assert_eq!(lines(&page).len(), 2 * results.rows.len() + results.profiled.len());
        for figure in figures(&results).unwrap() {
            prop_assert_eq!(figure.svg.matches(r#"class="point""#).count(), figure.points());
        }
        prop_assert!(crate::csv::csv(&results).is_ok());
    }
}
