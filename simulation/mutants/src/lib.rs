//! Bugs seeded into the kernels, to be found by the simulator.
//!
//! A mutant is data (`build/table/`): a file of kernels, a piece of its text, and what stands there
//! instead. The build script makes a copy of the kernels for each, and this package is those
//! copies. `cargo test -p kernels-mutants` launches each until something shows that it is wrong,
//! and prints what did.
//!
//! A mutant whose text is not in the source any more fails the test, too: whoever changes a kernel
//! changes its mutants with it.

pub mod textbook;

use kernels_gpu::entry::{Function, keyed, single_pass};
use textbook::Textbook;

/// A kernel with a bug.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The file and what was done to it: `reduce_2/no_barrier_in_tree`.
    pub id: &'static str,
    /// What is wrong, in a line.
    pub breaks: &'static str,
    /// Why nothing finds it.
    pub known_miss: Option<&'static str>,
    /// What has the bug.
    pub programs: Programs,
}

/// What runs a file's code.
#[derive(Clone, Copy, Debug)]
pub enum Programs {
    /// Entries of the table, each under its name in it. None where the table has no such entry:
    /// not every kernel has every operator.
    Entries(&'static [Option<(&'static str, Function)>]),
    /// The same of the keyed table.
    Keyed(&'static [Option<(&'static str, keyed::Function)>]),
    /// The same of the copies.
    Copies(&'static [Option<(&'static str, Function)>]),
    /// The same of the triples.
    Triples(&'static [Option<(&'static str, Function)>]),
    /// The same of the single passes.
    SinglePasses(&'static [Option<(&'static str, single_pass::Function)>]),
    /// A textbook kernel, by its name.
    Textbook(&'static str, Textbook),
}

/// Looks an entry up in a copy's own table. In a constant, so that no other entry of the copy is
/// compiled.
macro_rules! entry {
    ($copy:ident $family:ident, $name:literal) => {
        const {
            let entries = copies::$copy::entry::$family::ENTRIES;
            let mut i = 0;
            loop {
                if i == entries.len() {
                    break None;
                }
                if same(entries[i].name, $name) {
                    break Some(($name, entries[i].function));
                }
                i += 1;
            }
        }
    };
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
