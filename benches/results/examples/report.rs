//! Writes the report of a `results.json`, or of made-up results:
//! `cargo run -p warpfold-results --example report -- report.html [results.json [old.json]]`
//!
//! Writes the figures to the same folder, and prints the times.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use warpfold_results::{compare, example, read, report, table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let page = args
        .next()
        .ok_or("no file name for the report; usage: report.html [results.json [old.json]]")?;
    let results = match args.next() {
        Some(file) => read::read(Path::new(&file))?,
        None => example::results(),
    };
    let old = match args.next() {
        Some(file) => Some(read::read(Path::new(&file))?),
        None => None,
    };
    let comparison = old.map(|old| compare::compare(&old, &results));
    fs::write(&page, report::html(&results, comparison.as_ref())?)?;
    println!("{}", table::tables(&results, |_| true));
    for figure in report::figures(&results)? {
        let file = |end| Path::new(&page).with_file_name(format!("{}.{end}", figure.name));
        fs::write(file("svg"), &figure.svg)?;
        fs::write(file("png"), figure.png()?)?;
    }
    Ok(())
}
