//! The book's generated parts are those of today, and its links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use warpfold_book::pages::Book;

fn book() -> Book {
    Book::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

#[test]
fn the_generated_parts_are_up_to_date() {
    let old: Vec<_> = book()
        .written()
        .unwrap()
        .into_iter()
        .filter(|file| fs::read_to_string(&file.path).ok().as_ref() != Some(&file.text))
        .map(|file| file.path)
        .collect();
    assert!(
        old.is_empty(),
        "`cargo run -p warpfold-book` writes these again: {old:#?}"
    );
}

#[test]
fn every_page_is_in_the_summary() {
    let book = book();
    let summary = fs::read_to_string(book.folder().join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary)
        .map(|link| book.folder().join(link))
        .collect();
    let pages: BTreeSet<PathBuf> = book.pages().unwrap().into_iter().collect();
    let missing: Vec<_> = pages
        .difference(&listed)
        .filter(|page| !page.ends_with("SUMMARY.md"))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(
        listed.is_subset(&pages),
        "SUMMARY.md lists pages that do not exist"
    );
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for page in book().pages().unwrap() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let found = match heading {
                "" => target.is_file(),
                heading => {
                    fs::read_to_string(&target).is_ok_and(|text| headings(&text).contains(heading))
                }
            };
            if !found {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_term_of_the_glossary_is_linked_and_in_order() {
    let book = book();
    let glossary = fs::read_to_string(book.folder().join("glossary.md")).unwrap();
    let terms: Vec<String> = headings(&glossary).into_iter().collect();
    let lines: Vec<&str> = glossary
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    assert!(terms.len() >= 30, "{} terms", terms.len());
    assert!(
        lines.is_sorted_by_key(|term| term.to_lowercase()),
        "{lines:?}"
    );
    let mut pages = String::new();
    for page in book.pages().unwrap() {
        pages += &fs::read_to_string(page).unwrap();
    }
    let unused: Vec<_> = lines
        .iter()
        .filter(|term| !pages.contains(&format!("glossary.md#{})", id(term))))
        .collect();
    assert!(unused.is_empty(), "no page links to {unused:?}");
}

#[test]
fn a_pages_first_use_of_a_term_links_to_the_glossary() {
    let book = book();
    let glossary = fs::read_to_string(book.folder().join("glossary.md")).unwrap();
    let mut unlinked = Vec::new();
    for page in book.pages().unwrap() {
        if ["SUMMARY.md", "glossary.md"]
            .iter()
            .any(|name| page.ends_with(name))
        {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        let prose = prose(&text);
        for term in glossary
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
        {
            if !text.contains(&format!("glossary.md#{})", id(term))) && is_used(&prose, term) {
                unlinked.push(format!("{}: {term}", page.display()));
            }
        }
    }
    assert!(unlinked.is_empty(), "{unlinked:#?}");
}

/// Whether the prose has the term, or its plural, as words of their own.
fn is_used(prose: &str, term: &str) -> bool {
    // Names in capitals are words only as such.
    let is_name = term.chars().all(char::is_uppercase);
    let (prose, term) = match is_name {
        true => (prose.to_owned(), term.to_owned()),
        false => (prose.to_lowercase(), term.to_lowercase()),
    };
    let is_inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    prose.match_indices(&term).any(|(at, _)| {
        let rest = &prose[at + term.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        !prose[..at].ends_with(is_inside) && !rest.starts_with(is_inside)
    })
}

/// A page without code, headings, links, quotations and generated parts.
fn prose(page: &str) -> String {
    let (mut prose, mut in_code) = (String::new(), false);
    for line in typed_lines(page) {
        let fence = line.starts_with("```");
        in_code ^= fence;
        if in_code || fence || line.starts_with('#') {
            continue;
        }
        let mut rest = line.as_str();
        while let Some(at) = rest.find(['`', '"', '[']) {
            prose += &rest[..at];
            let inner = &rest[at + 1..];
            let end = match &rest[at..=at] {
                "[" => inner
                    .find("](")
                    .and_then(|text| Some(text + inner[text..].find(')')?)),
                quote => inner.find(quote),
            };
            rest = end.map_or("", |end| &inner[end + 1..]);
        }
        prose += rest;
        prose.push('\n');
    }
    prose
}

#[test]
fn the_readme_counts_the_puzzles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let count = fs::read_dir(root.join("book/puzzles/exercises"))
        .unwrap()
        .count();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(
        readme.contains(&format!("{count} puzzles")),
        "README.md does not say {count} puzzles"
    );
}

#[test]
fn every_option_of_build_scripts_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("book/src/build-script.md")).unwrap();
    let mut options = 0;
    for file in [
        "host/embed/src/lib.rs",
        "toolchain/cuda_builder/src/builder.rs",
    ] {
        let source = fs::read_to_string(root.join(file)).unwrap();
        // An option takes the builder and returns it.
        let names = source.lines().filter_map(|line| {
            let (name, rest) = line.trim().strip_prefix("pub fn ")?.split_once('(')?;
            (rest.contains("self, ") && rest.ends_with("-> Self {")).then_some(name)
        });
        for name in names {
            assert!(page.contains(&format!("`{name}`")), "{file}: {name}");
            options += 1;
        }
    }
    assert!(options > 20, "{options} options");
}

#[test]
fn every_figure_is_written_from_a_record() {
    const UNITS: [&str; 7] = ["ms", "µs", "ns", "GB/s", "TB/s", "%", "cycles"];
    let mut typed = Vec::new();
    for page in book().pages().unwrap() {
        let text = fs::read_to_string(&page).unwrap();
        for line in typed_lines(&text) {
            let words: Vec<&str> = line
                .split(|c: char| c.is_whitespace() || "|(),;".contains(c))
                .collect();
            let is_number = |word: &str| word.parse::<f64>().is_ok();
            let percent = words
                .iter()
                .any(|word| word.strip_suffix('%').is_some_and(is_number));
            let figure = words
                .windows(2)
                .any(|two| is_number(two[0]) && UNITS.contains(&two[1]));
            if percent || figure {
                typed.push(format!("{}: {line}", page.display()));
            }
        }
    }
    assert!(typed.is_empty(), "write these by a directive: {typed:#?}");
}

/// The lines of a page without what is generated.
fn typed_lines(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, part)) = rest.split_once("<!-- write ") {
        text += before;
        rest = part.split_once("<!-- end -->").map_or("", |(_, rest)| rest);
    }
    text += rest;
    text.lines().map(String::from).collect()
}

/// The targets of a page's links, outside of code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines()
        .filter(move |line| {
            let fence = line.trim_start().starts_with("```");
            in_code ^= fence;
            !in_code && !fence
        })
        .flat_map(|line| {
            line.match_indices("](")
                .map(move |(at, opening)| &line[at + opening.len()..])
        })
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The ids of a page's headings.
fn headings(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| id(line.trim_start_matches('#').trim()))
        .collect()
}

/// A heading's id, as mdBook and forges make it.
fn id(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    heading
        .chars()
        .filter(kept)
        .collect::<String>()
        .to_lowercase()
        .replace(' ', "-")
}
