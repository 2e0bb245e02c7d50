//! Tests of records, tables and figures, also with the record that the pages name.

use std::fs;
use std::path::Path;

use super::*;
use crate::table::insert;

fn row(op: &str, parts: &str, results: usize, rows_us: Option<f64>, peers: &[Timed]) -> Row {
    Row {
        op: op.into(),
        element: "f32".into(),
        parts: parts.into(),
        n: 1 << 10,
        results,
        // Rows: 8000 bytes.
        bytes: 8000 + 4 * (results + 1),
        read_us: 2.0,
        call_us: 4.0,
        rows_us,
        peers: peers.into(),
    }
}

fn parts(rows: Vec<Row>) -> Parts {
    let peer = |by, version: Option<&str>, absent: Option<&str>| Peer {
        by,
        version: version.map(Into::into),
        absent: absent.map(Into::into),
    };
    Parts {
        date: "2026-11-25T03:36:35Z".into(),
        command_line: "warpfold-bench segments --peers".into(),
        machine: Machine {
            os: "Linux".into(),
            cpu: "a CPU".into(),
            logical_cpus: 2,
            memory_bytes: 1 << 30,
            free_memory_bytes: 1 << 29,
        },
        device: "a GPU".into(),
        peers: vec![
            peer(By::Cub, Some("CUB 3.0.1, nvcc release 13.0"), None),
            peer(By::Cupy, None, Some("it has no module")),
        ],
        notes: vec![],
        rounds: 9,
        rows,
    }
}

fn folder() -> Folder {
    let timed = |form, us| Timed {
        by: By::Cub,
        form,
        us,
    };
    let both = [timed(Form::Call, 8.0), timed(Form::Rows, 1.0)];
    let segments = parts(vec![
        row("sum", "of 4", 256, Some(2.5), &both),
        row("sum", "of 16", 64, Some(2.0), &both[..1]),
        row("sum", "uniform 0..32", 64, None, &both[..1]),
        row("arg_max", "of 4", 256, Some(2.0), &[]),
    ]);
    Folder {
        segments: Some(segments),
        ..Folder::default()
    }
}

/// The cells of the lines below the heads.
fn cells(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn a_table_has_shares_and_ratios() {
    let tables = tables(&folder());
    let names: Vec<_> = tables.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["segments", "rows"]);
    let (segments, rows) = (&tables[0].1, &tables[1].1);
    let heads = segments.lines().next().unwrap();
    let heads: Vec<_> = heads.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(heads, ["segments", "sum f32", "/ CUB", "arg_max f32"]);
    assert_eq!(
        cells(segments),
        [
            ["of 4", "0.50", "0.50", "0.50"],
            ["of 16", "0.50", "0.50", "-"],
            ["uniform 0..32", "0.50", "0.50", "-"],
        ]
    );
    assert_eq!(
        cells(rows),
        [
            ["of 4", "0.71", "2.50", "0.89"],
            ["of 16", "0.97", "-", "-"]
        ]
    );
    let about = "a GPU, 2026-11-25, 2¹⁰ items; medians of 9 rounds, CUB 3.0.1, nvcc release 13.0.";
    assert!(segments.ends_with(about), "{segments}");
}

#[test]
fn the_growth_of_times_has_its_spread() {
    let of_size = |n: usize, us: f64| Row {
        n,
        bytes: 4 * n,
        call_us: us,
        ..row("sum", "mean of 16", n / 16, None, &[])
    };
    let rows = [of_size(1 << 10, 1.0), of_size(1 << 12, 5.0)];
    let table = growth_table(&rows);
    let lines = cells(&table);
    // 1 us for 4096 bytes, 5 us for 16384.
    assert_eq!(lines[0], ["mean of 16", "244.1406", "305.1758", "0.250"]);
    assert_eq!(lines[1][0], "mean of 16, read");
    assert_eq!(lines[1][3], "3.000");
}

#[test]
fn a_folder_has_the_records_that_it_has() {
    let text = serde_json::to_string(&folder().segments).unwrap();
    let read = |name: &str| Ok((name == "segments.json").then(|| text.clone()));
    assert_eq!(Folder::parse(read).unwrap(), folder());
    let broken = |name: &str| Ok((name == "groups.json").then(|| "{}".to_owned()));
    assert!(Folder::parse(broken).unwrap_err().contains("groups.json"));
    let unreadable = |_: &str| Err("no such device".to_owned());
    assert_eq!(Folder::parse(unreadable).unwrap_err(), "no such device");
}

#[cfg(feature = "report")]
#[test]
fn a_figure_has_a_line_for_each_peer_and_the_ceiling() {
    let figures = crate::report::parts_figures(&folder()).unwrap();
    let names: Vec<_> = figures.iter().map(|figure| &*figure.name).collect();
    assert_eq!(names, ["segments-sum-f32", "segments-arg-max-f32"]);
    let points = |name: &str| {
        let mut series = figures[0].series.iter();
        series
            .find(|series| series.name == name)
            .map(|series| series.points.clone())
    };
    let by_offsets = "segments of one length, by offsets";
    // Bytes and microseconds.
    let at = |us: f64| Some(vec![(4.0, 9028.0 / us / 1e3), (16.0, 8260.0 / us / 1e3)]);
    assert_eq!(points(&format!("{by_offsets} / warpfold")), at(4.0));
    assert_eq!(points(&format!("{by_offsets} / CUB")), at(8.0));
    assert_eq!(points(&format!("{by_offsets} / read ceiling")), at(2.0));
    assert_eq!(points("the same as rows / CUB"), Some(vec![(4.0, 8.0)]));
    assert_eq!(points(&format!("{by_offsets} / CuPy")), None);
    assert!(figures[0].svg.contains("items of a part"));
}

#[test]
fn pages_show_the_record_that_they_name() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, required) in [
        ("segments.md", &["segments", "rows", "axes", "runs"][..]),
        ("groups.md", &["groups"]),
    ] {
        let page = fs::read_to_string(docs.join(name)).unwrap();
        let (_, rest) = page.rsplit_once("[record](").unwrap();
        let (named, _) = rest.split_once(')').unwrap();
        let records = docs.join(named);
        let folder = Folder::parse(|file| Ok(fs::read_to_string(records.join(file)).ok())).unwrap();
        let mut shown = vec![];
        for (place, text) in tables(&folder) {
            if let Some(new) = insert(&page, place, &text) {
                assert!(
                    new == page,
                    "renew {place}: cargo xtask parts --read {named} --page docs/{name}"
                );
                shown.push(place);
            }
        }
        // Others would stay as somebody wrote them.
        let places = page
            .matches(": the command writes what follows -->")
            .count();
        assert_eq!(shown.len(), places, "{name} has {shown:?}");
        assert!(
            required.iter().all(|place| shown.contains(place)),
            "{name} has {shown:?}"
        );
    }
}
