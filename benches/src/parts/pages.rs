//! `warpfold-bench parts`: tables and figures of records of `segments`, `axes`, `runs` and `groups`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use warpfold_results::parts::{Folder, tables};
use warpfold_results::report::parts_figures;
use warpfold_results::table::insert;

use crate::options::{BadOption, PagesOptions};
use crate::print_line;

/// Shows the records of a folder, and writes figures and pages.
pub fn run(options: &PagesOptions) -> Result<()> {
    let folder = read(&options.read)?;
    let tables = tables(&folder);
    if tables.is_empty() {
        let name = options.read.display();
        return Err(BadOption::new(format!("{name} has no record of parts of an array")).into());
    }
    let mut pages = vec![];
    for file in &options.page {
        let name = file.display();
        let page = fs::read_to_string(file).with_context(|| format!("cannot read {name}"));
        let page = with_tables(&page.map_err(BadOption::new)?, &tables);
        let none = || BadOption::new(format!("{name} lacks the markers of these tables"));
        pages.push((file, page.ok_or_else(none)?));
    }
    for (name, text) in &tables {
        print_line(&format!("{name}\n\n{text}\n"))?;
    }
    if let Some(out) = &options.out {
        write_figures(out, &folder)?;
    }
    for (file, page) in pages {
        fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn read(folder: &Path) -> Result<Folder> {
    let read = |name: &str| match fs::read_to_string(folder.join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {name}: {error}")),
    };
    let in_folder = |error| format!("{}: {error}", folder.display());
    Ok(Folder::parse(read).map_err(|error| BadOption::new(in_folder(error)))?)
}

/// The page with every table for which it has markers; `None` if it has none.
fn with_tables(page: &str, tables: &[(&str, String)]) -> Option<String> {
    tables.iter().fold(None, |written, (name, text)| {
        let before = written.as_deref().unwrap_or(page);
        insert(before, name, text).or(written)
    })
}

fn write_figures(out: &Path, folder: &Folder) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let save = |name: String, bytes: &[u8]| {
        let file = out.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    };
    for figure in parts_figures(folder)? {
        save(format!("{}.svg", figure.name), figure.svg.as_bytes())?;
        save(format!("{}.png", figure.name), &figure.png()?)?;
    }
    Ok(print_line(&out.display().to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of this repository.
    const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/records/h200/2026-11-28/parts");

    #[test]
    fn a_record_becomes_pages_and_figures() {
        let out = tempfile::tempdir().unwrap();
        let page = out.path().join("page.md");
        let place = |name: &str| {
            format!("<!-- {name}: the command writes what follows -->\n<!-- {name}: end -->\n")
        };
        fs::write(&page, place("runs") + &place("groups") + &place("other")).unwrap();
        let options = PagesOptions {
            read: RECORD.into(),
            out: Some(out.path().join("a/b")),
            page: vec![page.clone()],
        };
        run(&options).unwrap();
        let text = fs::read_to_string(&page).unwrap();
        assert!(
            text.contains("| mean of 4 ") && text.contains("| 16 "),
            "{text}"
        );
        assert!(text.ends_with(&place("other")), "{text}");
        for name in ["segments-sum-f32", "segments-arg-max-f32", "runs-sum-f32"] {
            let file = |end| fs::read(out.path().join(format!("a/b/{name}.{end}"))).unwrap();
            assert!(file("svg").starts_with(b"<svg") && file("png").starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn a_folder_without_records_or_a_page_without_markers_is_refused() {
        let empty = tempfile::tempdir().unwrap();
        let page = empty.path().join("page.md");
        fs::write(&page, "# A page\n").unwrap();
        for (read, page, reason) in [
            (empty.path(), vec![], "has no record"),
            (Path::new(RECORD), vec![page], "lacks the markers"),
        ] {
            let options = PagesOptions {
                read: read.into(),
                out: None,
                page,
            };
            let error = run(&options).unwrap_err();
            assert!(
                error.is::<BadOption>() && error.to_string().contains(reason),
                "{error}"
            );
        }
    }
}
