use std::fs;
use std::path::Path;

use super::read::parse;
use super::*;
use crate::example;
use crate::report::accuracy_figures;

/// Two sizes of two data in both types; of the authors, two levels and the loop.
fn record() -> Accuracy {
    let case = |data, element: &str, n, right: f64, wrong: f64| {
        let value = |x: f64| match element {
            "f32" => Value::F32(x as f32),
            _ => Value::F64(x),
        };
        let sum = |by, x| Sum {
            by,
            value: value(x),
        };
        Case {
            data,
            element: element.into(),
            n,
            condition: 1.0,
            exact: value(right),
            sums: vec![
                sum(By::Reproducible, right),
                sum(By::Exact, right),
                sum(By::Loop, wrong),
            ],
        }
    };
    let results = example::results();
    Accuracy {
        schema: SCHEMA.into(),
        date: results.date,
        version: results.version,
        commit: results.commit,
        compiler: results.compiler,
        command_line: "warpfold-bench accuracy".into(),
        machine: results.machine,
        device: results.device,
        seed: 7,
        peers: vec![Peer {
            by: By::Torch,
            version: None,
            absent: Some("python3 has no module".into()),
        }],
        notes: vec!["a note".into()],
        cases: vec![
            case(Data::Uniform, "f32", 1024, 512.0, 512.0 + 256.0 / 4194304.0),
            case(Data::Uniform, "f32", 32768, 16384.0, 16385.0),
            case(Data::Condition30, "f64", 1024, 8.0, -1e20),
            case(Data::Condition30, "f64", 32768, 8.0, f64::NAN),
        ],
    }
}

#[test]
fn a_record_can_be_read_back() {
    let mut record = record();
    record.cases.pop(); // a NaN is not equal to itself
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(parse(&json).unwrap(), record);
    let other = json.replace(SCHEMA, "another/2");
    assert!(parse(&other).unwrap_err().contains("another/2"));
    assert!(parse("{}").unwrap_err().contains(SCHEMA));
}

#[test]
fn the_table_has_every_error_and_who_is_absent() {
    let record = record();
    let table = table(&record.cases);
    let line = |n: usize| -> Vec<_> {
        let line = table.lines().nth(n).unwrap().split('|');
        line.map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let heads = line(0);
    assert_eq!(heads[4..], By::ALL.map(By::title));
    let first = ["uniform", "f32", "2¹⁰", "1e0"];
    assert_eq!(line(2)[..4], first);
    assert_eq!(line(2)[4..], ["-", "0", "0", "-", "-", "-", "-", "1", "-"]);
    assert_eq!(line(3)[11], "512");
    assert_eq!(line(4)[0], "condition 1e30");
    assert_eq!(line(4)[11], "1e35 !!");
    assert_eq!(line(5)[11], "not finite !!");
    let header = header(&record);
    for part in [
        "torch.sum: absent: python3 has no module",
        "a note",
        "seed 7",
    ] {
        assert!(header.contains(part), "{part} is not in:\n{header}");
    }
}

#[test]
fn a_page_has_the_largest_arrays_between_its_markers() {
    let record = record();
    assert_eq!(
        largest(&record).map(|case| case.n).collect::<Vec<_>>(),
        [32768; 2]
    );
    let page = "# A\n\n<!-- accuracy: the command writes what follows -->\nold\n<!-- accuracy: end -->\nB\n";
    let new = insert(page, "| new |").unwrap();
    assert!(new.starts_with("# A\n") && new.ends_with("-->\nB\n"));
    assert!(new.contains("\n\n| new |\n\n") && !new.contains("old"));
    assert_eq!(insert(&new, "| new |").unwrap(), new);
    assert_eq!(insert("# A", "| new |"), None);
}

#[test]
fn figures_show_every_finite_error() {
    let figures = accuracy_figures(&record()).unwrap();
    let names: Vec<_> = figures.iter().map(|figure| &*figure.name).collect();
    assert_eq!(names, ["accuracy-f32", "accuracy-f64"]);
    assert_eq!(figures[0].points(), 6);
    assert_eq!(figures[1].points(), 5, "a sum is not finite");
    assert!(figures[1].caption.contains("1 sums that are not finite"));
    let exact = figures[0]
        .series
        .iter()
        .find(|series| series.name == "uniform / Exact");
    assert_eq!(exact.unwrap().points, [(1024.0, 0.0), (32768.0, 0.0)]);
    assert!(figures[0].png().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_page_shows_the_record_that_it_names() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("accuracy.md")).unwrap();
    let (before, _) = page.split_once("/accuracy-f32.png)").unwrap();
    let (_, folder) = before.rsplit_once("](").unwrap();
    let record = fs::read_to_string(docs.join(folder).join("accuracy.json")).unwrap();
    let record = parse(&record).unwrap();
    let shown = insert(&page, &table(largest(&record)));
    assert!(
        shown.as_ref() == Some(&page),
        "renew it: cargo xtask accuracy --read {folder}/accuracy.json --page docs/accuracy.md"
    );
}
