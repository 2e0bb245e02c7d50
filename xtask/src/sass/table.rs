//! The table of the entries' resources and instructions.

use super::profile::Profile;
use comfy_table::{CellAlignment, Table, presets};
use std::collections::BTreeMap;
use std::fmt::Display;

const HEADER: [&str; 17] = [
    "entry", "regs", "spill", "local", "shared", "LDG bits", "STG bits", "generic", "LDS", "STS",
    "SHFL", "REDUX", "RED", "ATOM", "ATOMS", "BAR", "instr",
];

/// The table. Spill (stores and loads), local (stack) and shared (static) are in bytes. Zeros are blank.
pub(super) fn of(profiles: &[Profile]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEADER);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for profile in profiles {
        table.add_row(row(profile));
    }
    format!("{table}\n")
}

fn row(profile: &Profile) -> [String; 17] {
    let (r, c) = (&profile.resources, &profile.counts);
    [
        profile.name.clone(),
        number(r.registers as usize),
        number((r.spill_stores + r.spill_loads) as usize),
        number(r.stack as usize),
        number(r.shared as usize),
        each(&c.ldg),
        each(&c.stg),
        number(c.generic),
        number(c.lds),
        number(c.sts),
        each(&c.shfl),
        number(c.redux),
        number(c.red),
        number(c.atom),
        number(c.atoms),
        number(c.bar),
        number(c.instructions),
    ]
}

fn number(number: usize) -> String {
    match number {
        0 => String::new(),
        number => number.to_string(),
    }
}

/// `128 x4, 32` for four of one kind and one of another.
fn each<K: Display>(counts: &BTreeMap<K, usize>) -> String {
    let kinds = counts.iter().rev().map(|(kind, count)| match count {
        1 => kind.to_string(),
        count => format!("{kind} x{count}"),
    });
    kinds.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::profile::{Counts, Resources};
    use super::*;

    #[test]
    fn kinds_are_counted_and_zeros_are_blank() {
        let profile = Profile {
            name: "k".into(),
            resources: Resources {
                registers: 24,
                ..Resources::default()
            },
            counts: Counts {
                ldg: [(32, 1), (128, 4)].into(),
                instructions: 77,
                ..Counts::default()
            },
        };
        let row = row(&profile);
        assert_eq!(row[..3], ["k", "24", ""]);
        assert_eq!(row[5], "128 x4, 32");
        assert_eq!(row[16], "77");
        let text = of(&[profile]);
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
