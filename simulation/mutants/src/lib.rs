//! Seeded bugs in the kernels, which the simulator must find.
//!
//! A mutant is data (`build/table/`): a file of kernels, a piece of its text, and the replacement. The build
//! script makes a copy of the kernels for each mutant; this package consists of these copies. `cargo test -p
//! kernels-mutants` launches each copy until a check or a wrong result shows the bug, and prints what found
//! it.
//!
//! If a mutant's text is no longer in the source, the build fails: change the mutants together with their
//! kernel. To compile and run only those of some files, name parts of their paths:
//! `WARPFOLD_MUTANTS=segments,runs cargo test -p kernels-mutants`.

pub mod textbook;

use kernels_gpu::entry::{Function, Values};
use textbook::Textbook;

/// A kernel with a seeded bug.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The file and the bug: `reduce_2/no_barrier_in_tree`.
    pub id: &'static str,
    /// A description of the bug.
    pub breaks: &'static str,
    /// The reason why nothing finds it, if so.
    pub known_miss: Option<&'static str>,
    /// The programs with the bug.
    pub programs: Programs,
}

/// The programs that run a file's code.
#[derive(Clone, Copy, Debug)]
pub enum Programs {
    /// Entries with their names in the lists. Not every kernel has every operator.
    Entries(&'static [(&'static str, Function)]),
    /// A textbook kernel, by its name.
    Textbook(&'static str, Textbook),
}

/// Reads an entry's operator, in the copy's type.
///
/// # Safety
///
/// The value exists, unless its type has no bytes.
unsafe fn operator<O: Copy>(values: &mut Values) -> O {
    if size_of::<O>() == 0 {
        // SAFETY: a type without bytes has only one value, which can be read anywhere.
        return unsafe { std::ptr::NonNull::<O>::dangling().read() };
    }
    // SAFETY: the caller's contract.
    unsafe { values.take() }
}

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
