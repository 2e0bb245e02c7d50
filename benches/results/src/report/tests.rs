mod odd;

use std::collections::BTreeMap;

use super::*;
use crate::compare::compare;
use crate::example;
use crate::schema::{By, Time};
use crate::words;

type Points = BTreeMap<String, BTreeMap<String, Vec<(f64, f64)>>>;

fn points(page: &str) -> Points {
    let (_, json) = page
        .split_once(r#"<script type="application/json" id="points">"#)
        .unwrap();
    let (json, _) = json.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// A number from JSON may differ in its last digit.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-12
}

/// The lines of all tables, without the heads.
fn lines(page: &str) -> Vec<&str> {
    let tables = page.split(r#"<table class="sortable">"#).skip(1);
    let bodies = tables.map(|table| {
        let (_, body) = table.split_once("<tbody>").unwrap();
        body.split_once("</tbody>").unwrap().0
    });
    bodies.flat_map(|body| body.split("<tr").skip(1)).collect()
}

#[test]
fn every_row_has_a_line_in_a_table() {
    let results = example::results();
    let page = html(&results, None).unwrap();
    let lines = lines(&page);
    assert_eq!(lines.len(), results.rows.len() + results.profiled.len());
    for row in &results.rows {
        let median = row.median_us().map(|us| format!(r#"data-value="{us}""#));
        let is_line = |line: &&&str| {
            line.contains(&row.label())
                && line.contains(&words::thousands(row.n))
                && median.iter().all(|median| line.contains(median))
        };
        assert!(lines.iter().any(|line| is_line(&line)), "{row:?}");
    }
    let marked = |class: &str, text: &str| {
        let with = |line: &&&str| line.starts_with(&format!(r#" class="{class}""#));
        let marked: Vec<_> = lines.iter().filter(with).collect();
        assert!(marked.iter().all(|line| line.contains(text)), "{marked:?}");
        marked.len()
    };
    assert_eq!(marked("unstable", "~ unstable"), 1);
    assert_eq!(
        marked("wrong", "✗ wrong in 1 of 25 runs: got 41, expected 42"),
        1
    );
}

#[test]
fn every_row_has_a_point() {
    let results = example::results();
    let page = html(&results, None).unwrap();
    let points = points(&page);
    let all: Vec<_> = points
        .values()
        .flat_map(BTreeMap::values)
        .flatten()
        .collect();
    for row in results.rows.iter().filter(|row| row.time.is_some()) {
        let Some(speed) = row.gb_per_s() else {
            continue;
        };
        let by_bar = matches!(row.suite, Suite::Ladder | Suite::Keyed);
        if by_bar && row.by == By::Ceiling {
            let text = format!("{} GB/s", words::number(speed));
            assert!(page.contains(&text), "{row:?}");
            continue;
        }
        // The empty kernel is drawn in charts of times, and as a ceiling of speeds only if there is no other.
        let time = row.median_us().filter(|_| row.kernel == "empty_kernel");
        let is_row = |(x, y): &(f64, f64)| {
            let is_height = is_near(*y, speed) || time.is_some_and(|time| is_near(*y, time));
            is_height && (by_bar || *x == row.n as f64)
        };
        assert!(all.iter().any(|point| is_row(point)), "{row:?}");
    }
}

#[test]
fn figures_list_their_points() {
    let results = example::results();
    let figures = figures(&results).unwrap();
    let page = html(&results, None).unwrap();
    let points = points(&page);
    assert_eq!(points.len(), figures.len(), "names are distinct");
    for figure in &figures {
        let drawn = figure.svg.matches(r#"class="point""#).count();
        assert_eq!(drawn, figure.points(), "{}", figure.name);
        assert!(drawn > 0);
        let element = format!(r#"<figure id="{}" data-points="{drawn}">"#, figure.name);
        assert!(page.contains(&element), "{element}");
        assert!(page.contains(&figure.svg));
        for series in &figure.series {
            let parsed = &points[&figure.name][&series.name];
            assert_eq!(parsed.len(), series.points.len());
            for ((x, y), parsed) in series.points.iter().zip(parsed) {
                assert!(*x == parsed.0 && is_near(parsed.1, *y), "{parsed:?}");
                let mark = format!(r#"data-x="{x}" data-y="{y}""#);
                assert!(figure.svg.contains(&mark), "{mark}");
            }
        }
        let ids: Vec<_> = ["title", "desc"]
            .map(|end| format!("{}-{end}", figure.name))
            .into();
        let labelled = format!(r#"aria-labelledby="{} {}""#, ids[0], ids[1]);
        assert!(figure.svg.contains(&labelled));
        for id in &ids {
            assert_eq!(page.matches(&format!(r#" id="{id}""#)).count(), 1, "{id}");
        }
    }
}

#[test]
fn charts_of_small_arrays_have_the_empty_kernel_below_our_times() {
    let results = example::results();
    let figures = figures_of(&results, Suite::Whole).unwrap();
    let times: Vec<_> = figures
        .iter()
        .filter(|figure| figure.name.ends_with("-time") && !figure.name.contains("ratio"))
        .collect();
    let names: Vec<_> = times.iter().map(|figure| figure.name.as_str()).collect();
    let subjects = [
        "sum-i32", "min-i32", "sum-f32", "min-f32", "sum-f64", "min-f64",
    ];
    assert_eq!(
        names,
        subjects.map(|subject| format!("whole-cuda-{subject}-time"))
    );
    let whole = |row: &&crate::schema::Row| {
        (row.suite, row.backend) == (Suite::Whole, crate::schema::Backend::Cuda)
    };
    let mut small = 0;
    for row in results.rows.iter().filter(whole) {
        let Some(us) = row.median_us() else { continue };
        let figures = times.iter().filter(|figure| match &row.op {
            Some(op) => figure.name == format!("whole-cuda-{op}-{}-time", row.element),
            None => figure.name.contains(&row.element),
        });
        let point = (row.n as f64, us);
        let mut series = figures.flat_map(|figure| &figure.series);
        let is_drawn = series.any(|series| series.points.contains(&point));
        assert_eq!(is_drawn, row.bytes <= 16 << 20, "{row:?}");
        small += usize::from(is_drawn);
    }
    assert_eq!(
        times.iter().map(|figure| figure.points()).sum::<usize>(),
        small
    );
    for figure in times {
        for panel in ["cold, device time", "warm, time with the launch"] {
            let series = |name: &str| {
                let name = format!("{panel} / {name}");
                let mut all = figure.series.iter();
                all.find(|series| series.name == name)
                    .unwrap_or_else(|| panic!("{name}"))
            };
            let (floor, ours) = (series("empty kernel"), series("warpfold, default"));
            for (floor, ours) in floor.points.iter().zip(&ours.points) {
                assert!(floor.0 == ours.0 && floor.1 < ours.1);
            }
        }
        for dash in [r#"stroke-dasharray="4 4""#, r#"stroke-dasharray="1 4""#] {
            assert!(
                figure.svg.contains(dash),
                "dashes of the ceiling and the empty kernel: {dash}"
            );
        }
    }
}

#[test]
fn maps_have_every_ratio() {
    let results = example::results();
    let related = Related::new(&results);
    let figures = figures_of(&results, Suite::Whole).unwrap();
    let mut cells = 0;
    for row in results.rows.iter().filter(|row| row.suite == Suite::Whole) {
        for peer in By::PEERS {
            let Some(ratio) = related.ratio(row, peer) else {
                continue;
            };
            let prefix = format!("whole-ratio-{peer}");
            let maps = figures
                .iter()
                .filter(|figure| figure.name.starts_with(&prefix));
            let bands = maps.flat_map(|map| map.series.iter().map(move |band| (map, band)));
            let mut found = bands.filter(|(_, band)| {
                band.name == row.subject() && band.points.contains(&(row.n as f64, ratio))
            });
            let (map, _) = found.next().unwrap_or_else(|| panic!("{row:?} {peer}"));
            assert!(map.svg.contains(&format!("\n{ratio:.2}")), "{}", map.svg);
            cells += 1;
        }
    }
    let drawn = figures
        .iter()
        .filter(|figure| figure.name.starts_with("whole-ratio"));
    assert_eq!(drawn.map(Figure::points).sum::<usize>(), cells);
}

#[test]
fn ceilings_and_gains_are_drawn() {
    let results = example::results();
    let figures = figures(&results).unwrap();
    let of = |prefix: &'static str| {
        figures
            .iter()
            .filter(move |figure| figure.name.starts_with(prefix))
    };
    for prefix in ["whole-cuda", "kepler"] {
        for figure in of(prefix) {
            let ceiling = figure
                .series
                .iter()
                .find(|series| series.name.ends_with("read ceiling"));
            assert!(
                ceiling.is_some_and(|series| series.points.len() > 1),
                "{}",
                figure.name
            );
            assert!(figure.svg.contains(r#"stroke-dasharray="4 4""#));
        }
    }
    assert_eq!(of("ladder").count(), 2, "one for each number of threads");
    for figure in of("ladder") {
        assert!(figure.svg.contains("read ceiling: "), "{}", figure.svg);
        // 935 GB/s after 161.
        assert!(figure.svg.contains(", 5.8"), "{}", figure.svg);
    }
    for part in ["Keys: random", "Keys: ordered", "Keys: shifted"] {
        assert!(
            of("keyed").all(|figure| figure.svg.contains(part)),
            "{part}"
        );
    }
    assert!(of("whole-cpu").all(|figure| figure.title.contains("CPU")));
}

#[test]
fn the_page_is_self_contained() {
    let results = example::results();
    let page = html(&results, Some(&compare(&results, &results))).unwrap();
    assert_eq!(
        page,
        html(&results, Some(&compare(&results, &results))).unwrap()
    );
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for part in ["http:", "https:", "url(", "@import", " src="] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn the_head_has_the_environment_the_peers_and_the_warnings() {
    let mut results = example::results();
    results.complete = false;
    let page = html(&results, None).unwrap();
    let parts = [
        &*results.date,
        &results.commit,
        &results.compiler,
        &results.command_line,
        &results.notes[0],
        "driver for CUDA 13.0",
        "CUB 3.0.1",
        "no module named cupy",
        "1935 to 1980 MHz",
        "throttled during the run: power cap",
        "incomplete",
        "1 wrong",
        "1 unstable",
        "the caches were flushed",
    ];
    for part in parts {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_profile_has_a_section() {
    let mut results = example::results();
    let page = html(&results, None).unwrap();
    for part in [
        r##"<a href="#profile">Under Nsight Compute</a>"##,
        r#"<section id="profile">"#,
        "over 400,000,000 elements",
        ">171,875,000<",
        // 1,606,395,664 bytes in 2305.536 us.
        r#"data-value="696.75"#,
    ] {
        assert!(page.contains(part), "{part}");
    }
    let profiled = std::mem::take(&mut results.profiled);
    assert!(!html(&results, None).unwrap().contains("profile"));

    let alone = profile_html(&profiled, "An example: <made up>");
    assert!(alone.contains("An example: &lt;made up&gt;"));
    let section = |page: &str| {
        let (_, section) = page.split_once(r#"<section id="profile">"#).unwrap();
        section.split_once("</section>").unwrap().0.to_owned()
    };
    assert_eq!(section(&alone), section(&page));
    let text = profile_markdown(&profiled);
    for one in &profiled {
        assert!(text.contains(&one.entry), "{text}");
    }
    let line = "| reduce_1_sum_i32          |     256 |        2306 |      71.2 |     89.2 |";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_comparison_has_a_section() {
    let old = example::results();
    let mut new = old.clone();
    let time = new.rows[0].time.as_mut().unwrap();
    *time = Time {
        median_us: time.median_us * 2.0,
        interval_us: (time.interval_us.0 * 2.0, time.interval_us.1 * 2.0),
        ..*time
    };
    let comparison = compare(&old, &new);
    assert!(comparison.has_regression());
    let page = html(&new, Some(&comparison)).unwrap();
    assert_eq!(lines(&page).len(), 2 * new.rows.len() + new.profiled.len());
    for part in [
        "There are regressions",
        "✗ slower",
        ">2.000<",
        &comparison.summary(),
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!html(&new, None).unwrap().contains(r#"id="compare""#));
}
