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

use kernels_gpu::entry::{Function, Values};
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
    /// Entries, each under its name in the lists. There need not be all of them: not every kernel has every
    /// operator.
    Entries(&'static [(&'static str, Function)]),
    /// A textbook kernel, by its name.
    Textbook(&'static str, Textbook),
}

/// The value of an entry's operator, of a copy's type.
///
/// # Safety
///
/// It is there, if it holds anything.
unsafe fn operator<O: Copy>(values: &mut Values) -> O {
    if size_of::<O>() == 0 {
        // SAFETY: a value without bytes has but one, wherever it is read.
        return unsafe { std::ptr::NonNull::<O>::dangling().read() };
    }
    // SAFETY: the caller's promise.
    unsafe { values.take() }
}

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
