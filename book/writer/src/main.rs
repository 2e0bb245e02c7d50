//! `cargo run -p warpfold-book`: writes the generated parts of the book's pages. With `-- --site DIR`, also the folder from
//! which mdBook makes the web site.

use anyhow::{Context, Result, bail};
use std::path::Path;
use warpfold_book::pages::Book;
use warpfold_book::site;

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let site = match args.as_slice() {
        [] => None,
        [option, folder] if option == "--site" => Some(folder),
        _ => bail!("the arguments must be none, or `--site DIR`"),
    };
    let book = Book::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    // A part may depend on other pages, such as the time to read them, so it may change in the second round.
    while write(&book)? {}
    match site {
        Some(folder) => site::write(&book, Path::new(folder)),
        None => Ok(()),
    }
}

/// Writes what differs; whether anything did.
fn write(book: &Book) -> Result<bool> {
    let mut any = false;
    for file in book.written()? {
        if std::fs::read(&file.path).ok().as_deref() != Some(file.text.as_bytes()) {
            let context = || format!("cannot write {}", file.path.display());
            std::fs::write(&file.path, &file.text).with_context(context)?;
            println!("{}", file.path.display());
            any = true;
        }
    }
    Ok(any)
}
