//! Tables that are sorted by the mouse and by the keyboard.

use libtest_mimic::Failed;
use serde::Deserialize;

use crate::page::Page;

#[derive(Deserialize)]
struct Table {
    caption: String,
    heads: Vec<String>,
    /// Heads that a key can reach.
    buttons: usize,
}

/// What is seen of a column.
#[derive(Deserialize)]
struct Order {
    /// `aria-sort` of each head.
    sorts: Vec<Option<String>>,
    /// Whether the column is.
    ascending: bool,
    descending: bool,
    /// Stands for every row, in whatever order.
    rows: u32,
}

#[derive(Deserialize)]
struct Seen {
    order: Order,
    /// Where the head's button can be pressed.
    place: Option<(f64, f64)>,
}

/// How a head is pressed by hand, one after the other.
const PRESSES: [(&str, Press); 4] = [
    ("by a click", Press::Mouse),
    ("by a second click", Press::Mouse),
    ("by Enter", Press::Key("Enter")),
    ("by the space bar", Press::Key(" ")),
];

enum Press {
    Mouse,
    Key(&'static str),
}

/// Sorts every table by its first column by hand, and then by every column by a script, which is
/// quicker.
pub fn check(page: &Page, faults: &mut Vec<String>) -> Result<(), Failed> {
    let tables: Vec<Table> = page.ask("heads()")?;
    for (place, table) in tables.iter().enumerate() {
        let (buttons, heads) = (table.buttons, table.heads.len());
        let mut wrong = |what: String| faults.push(format!("{}: {what}", table.caption));
        if buttons != heads || buttons == 0 {
            wrong(format!("{buttons} of {heads} heads are buttons"));
            continue;
        }
        by_hand(page, table, place, &mut wrong)?;
        let columns: Vec<Vec<Order>> = page.ask(&format!("clicked({place})"))?;
        for (column, orders) in columns.iter().enumerate() {
            for pair in orders.windows(2) {
                judge(table, column, &pair[0], &pair[1], "by a script", &mut wrong);
            }
        }
    }
    Ok(())
}

fn by_hand(
    page: &Page,
    table: &Table,
    place: usize,
    wrong: &mut impl FnMut(String),
) -> Result<(), Failed> {
    let see = || page.ask::<Seen>(&format!("see({place}, 0)"));
    let mut before = see()?;
    for (how, press) in PRESSES {
        match (press, before.place) {
            (Press::Key(key), _) => page.press(key)?,
            (Press::Mouse, Some(place)) => page.click(place)?,
            (Press::Mouse, None) => wrong("something covers the first head".into()),
        }
        let after = see()?;
        judge(table, 0, &before.order, &after.order, how, wrong);
        before = after;
    }
    page.press("Tab")?;
    if table.heads.len() > 1 && !page.ask::<bool>(&format!("isFocused({place}, 1)"))? {
        wrong("Tab does not go from head to head".into());
    }
    Ok(())
}

/// Pressing a head sorts: the other way round where its column was sorted, without losing a row.
fn judge(
    table: &Table,
    column: usize,
    before: &Order,
    after: &Order,
    how: &str,
    wrong: &mut impl FnMut(String),
) {
    let claim = |order: &Order| order.sorts.get(column).cloned().flatten();
    let (direction, is_so) = match claim(before).as_deref() {
        Some("ascending") => ("descending", after.descending),
        _ => ("ascending", after.ascending),
    };
    let claims = |sort: &&Option<String>| sort.as_deref().is_some_and(|sort| sort != "none");
    let mut wrong = |what: &str| wrong(format!("{}: {how}: {what}", table.heads[column]));
    if claim(after).as_deref() != Some(direction) {
        wrong(&format!("aria-sort is {:?}, not {direction}", claim(after)));
    }
    if !is_so {
        wrong(&format!("the column is not {direction}"));
    }
    if after.sorts.iter().filter(claims).count() > 1 {
        wrong("more than one column claims to be sorted");
    }
    if before.rows != after.rows {
        wrong("the rows are others");
    }
}
