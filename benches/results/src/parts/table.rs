//! The tables of pages and of the terminal.

use super::{Folder, Form, Groups, Parts, Row};
use crate::schema::By;
use crate::table::markdown;
use crate::words::size;

/// The texts of a folder's records, and the names of their places in pages.
pub fn tables(folder: &Folder) -> Vec<(&'static str, String)> {
    let by_offsets = |parts: &Parts| shares(parts, Form::Call, "segments");
    let rows = |parts: &Parts| shares(parts, Form::Rows, "rows");
    let axes = |parts: &Parts| shares(parts, Form::Call, "shape and axes");
    let runs = |parts: &Parts| shares(parts, Form::Call, "runs");
    let growth = |parts: &Parts| {
        let table = growth_table(&parts.rows);
        format!("{table} {}", about(parts))
    };
    let texts = [
        ("segments", folder.segments.as_ref().map(by_offsets)),
        ("rows", folder.segments.as_ref().map(rows)),
        ("axes", folder.axes.as_ref().map(axes)),
        ("runs", folder.runs.as_ref().map(runs)),
        ("growth", folder.growth.as_ref().map(growth)),
        ("groups", folder.groups.as_ref().map(groups)),
    ];
    let texts = texts.into_iter();
    texts
        .filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

/// A line for each of the parts. The columns of an operator: our speed as a share of that of a read of as many bytes, and
/// our time over that of each peer.
fn shares(parts: &Parts, form: Form, what: &str) -> String {
    let is_timed = |row: &&Row| row.us(form).is_some();
    let rows: Vec<_> = parts.rows.iter().filter(is_timed).collect();
    let names = distinct(rows.iter().map(|row| row.parts.as_str()));
    let mut heads = vec![what.to_owned()];
    let mut columns = vec![];
    for (op, element) in distinct(rows.iter().map(|row| (&*row.op, &*row.element))) {
        let of_name = |name: &str| {
            let is_it = |row: &&&Row| (&*row.op, &*row.element, &*row.parts) == (op, element, name);
            rows.iter().find(is_it).copied()
        };
        let cells = |value: &dyn Fn(&Row) -> Option<f64>| -> Vec<_> {
            names
                .iter()
                .map(|name| of_name(name).and_then(value))
                .collect()
        };
        heads.push(format!("{op} {element}"));
        columns.push(cells(&|row| row.share(form)));
        for by in By::PEERS {
            let ratios = cells(&|row| row.ratio(by, form));
            if ratios.iter().any(Option::is_some) {
                heads.push(format!("/ {}", by.title()));
                columns.push(ratios);
            }
        }
    }
    let lines = names.iter().enumerate().map(|(line, name)| {
        let cells = columns.iter().map(|column| cell(column[line], 2));
        [(*name).to_owned()]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
    });
    let right = 1..heads.len();
    format!("{}\n\n{}", markdown(heads, lines, right), about(parts))
}

/// The device, the size, the peers.
fn about(parts: &Parts) -> String {
    let sizes = distinct(parts.rows.iter().map(|row| row.n));
    let items = match sizes[..] {
        [n] => format!(", {} items", size(n as u64)),
        _ => String::new(),
    };
    let peers = parts
        .peers
        .iter()
        .filter_map(|peer| peer.version.as_deref());
    let peers = peers.map(|version| format!(", {version}"));
    format!(
        "{}, {}{items}; medians of {} rounds{}.",
        parts.device,
        day(&parts.date),
        parts.rounds,
        peers.collect::<String>()
    )
}

/// The times in milliseconds.
fn groups(groups: &Groups) -> String {
    let heads = [
        "groups",
        "keys",
        "`group_by`, level `Fast`",
        "`group_by`, reproducible",
        "`group` alone",
        "CUB",
        "`Fast` / CUB",
        "reproducible / CUB",
    ];
    let lines = groups.rows.iter().map(|row| {
        let ms = |us: f64| Some(us / 1e3);
        let over_cub = |us: f64| Some(us / row.cub_us?);
        let numbers = [
            ms(row.group_by_fast_us),
            ms(row.group_by_us),
            ms(row.group_us),
            row.cub_us.and_then(ms),
            over_cub(row.group_by_fast_us),
            over_cub(row.group_by_us),
        ];
        let names = [row.groups.to_string(), row.distribution.to_string()];
        let numbers = numbers.map(|number| cell(number, 2));
        names.into_iter().chain(numbers).collect::<Vec<_>>()
    });
    let table = markdown(heads, lines, 2..heads.len());
    let pairs = groups.rows.first().map_or(0, |row| row.n as u64);
    let cub = groups
        .cub
        .iter()
        .map(|version| match version.contains("CUB") {
            true => format!(", {version}"),
            false => format!(", CUB {version}"),
        });
    format!(
        "{table}\n\nMilliseconds. {}, {}, {} pairs; medians of {} rounds{}.",
        groups.device,
        day(&groups.date),
        size(pairs),
        groups.rounds,
        cub.collect::<String>()
    )
}

/// The day of a time in RFC 3339.
fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or_default()
}

/// The time per byte against the number of items, for each of these parts and for reads of as many bytes.
pub fn growth_table(rows: &[Row]) -> String {
    let parts = distinct(rows.iter().map(|row| row.parts.as_str()));
    let sizes = distinct(rows.iter().map(|row| row.n));
    let heads = sizes.iter().map(|n| size(*n as u64));
    let heads = ["segments".to_owned()].into_iter().chain(heads);
    let heads = heads.chain(["max / min - 1".into()]);
    let call: fn(&Row) -> f64 = |row| row.call_us;
    let times = [("", call), (", read", |row| row.read_us)];
    let lines = parts.iter().flat_map(|parts| {
        times.map(|(what, us)| {
            let of_size = |n: &usize| {
                let mut rows = rows.iter().filter(|row| row.parts == *parts);
                let row = rows.find(|row| row.n == *n)?;
                Some(us(row) * 1e6 / row.bytes as f64)
            };
            let times: Vec<_> = sizes.iter().map(of_size).collect();
            let known = || times.iter().flatten().copied();
            let least = known().fold(f64::INFINITY, f64::min);
            let most = known().fold(0.0, f64::max);
            let cells = times.iter().map(|time| cell(*time, 4));
            let cells = [format!("{parts}{what}")].into_iter().chain(cells);
            cells
                .chain([cell(Some(most / least - 1.0), 3)])
                .collect::<Vec<_>>()
        })
    });
    let table = markdown(heads, lines, 1..sizes.len() + 2);
    format!("{table}\n\nPicoseconds per byte.")
}

/// Each value once, in the order of the first.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = vec![];
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// A number with so many decimals, or `-`.
fn cell(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.decimals$}"))
}
