//! Instructions of the copies' loops, as ptxas has compiled them: `book/sass`.

use crate::tables::markdown;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The entries, and how many elements of 4 bytes a load has.
const COPIES: [(&str, usize); 3] = [
    ("copy_scalar_b32", 1),
    ("copy_vec2_b32", 2),
    ("copy_vec4_b32", 4),
];

/// A table of the loops of the repository at `root`.
pub fn table(root: &Path) -> Result<String> {
    let mut rows = Vec::new();
    for (entry, elements) in COPIES {
        let file = format!("book/sass/{entry}.sass");
        let text =
            fs::read_to_string(root.join(&file)).with_context(|| format!("cannot read {file}"))?;
        let loads: Vec<_> = text.lines().filter(|line| line.contains("LDG")).collect();
        let load = loads
            .first()
            .with_context(|| format!("{file} has no load"))?;
        let load = load.split_whitespace().find(|word| word.starts_with("LDG"));
        let (instructions, copied) = (text.lines().count(), loads.len() * elements);
        rows.push(vec![
            format!("[`{}`](../../{file})", entry.trim_end_matches("_b32")),
            format!("`{}`", load.unwrap_or_default()),
            instructions.to_string(),
            copied.to_string(),
            format!("{:.0}", 16.0 * instructions as f64 / copied as f64),
        ]);
    }
    let head = [
        "",
        "a load",
        "instructions in a pass of the loop",
        "elements in a pass",
        "instructions for 16 elements",
    ];
    Ok(markdown(&head, rows))
}
